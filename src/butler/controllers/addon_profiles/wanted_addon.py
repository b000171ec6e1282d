"""A TenantAddon as a profile wants it: what is written, and whether it is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import structs

from butler.addons.digests import digest
from butler.api.addon import HelmChart, TenantAddon, TenantAddonPhase
from butler.api.addon_profile import AddonProfile, ProfileAddon
from butler.api.cluster import TenantCluster
from butler.api.model import GROUP
from butler.controllers.cluster.names import APPLIED
from kubekit.model.resource import Object
from kubekit.runtime.objects import owner_reference

PROFILE, CLUSTER, DEFINITION = f"{GROUP}/profile", f"{GROUP}/cluster", f"{GROUP}/addon-definition"
READY = "Ready"
_FAILURES = {TenantAddonPhase.FAILED, TenantAddonPhase.DEGRADED}


@dataclass(frozen=True, slots=True)
class Entry:
    """An addon of a profile, ready to be compared with those of many clusters."""

    addon: ProfileAddon
    helm: HelmChart | None
    digest: str
    """Differs when anything that the profile says of it does, so that what it no longer says is noticed too."""

    @property
    def name(self) -> str:
        return self.addon.name


def entry(addon: ProfileAddon) -> Entry:
    helm = addon.helm
    if helm is not None and not helm.release_name:
        helm = structs.replace(helm, release_name=addon.name)
    return Entry(addon, helm, digest(msgspec.to_builtins(addon)))


def name_of(cluster: TenantCluster, addon: str) -> str:
    return f"{cluster.metadata.name}-{addon}"


@dataclass(frozen=True, slots=True)
class Wanted:
    """An addon of a profile in one cluster."""

    entry: Entry
    cluster: TenantCluster
    depends_on: tuple[str, ...] = ()
    """TenantAddons."""

    @property
    def name(self) -> str:
        return name_of(self.cluster, self.entry.name)

    @property
    def key(self) -> str:
        return f"{self.cluster.metadata.namespace}/{self.name}"

    def labels(self, profile: str) -> dict[str, str]:
        labels = {PROFILE: profile, CLUSTER: self.cluster.metadata.name}
        return {**labels, DEFINITION: self.entry.addon.addon} if self.entry.addon.addon else labels

    def is_written(self, live: TenantAddon, profile: str) -> bool:
        """Whether all that the profile says is there; what others added does not count."""
        addon, spec, meta = self.entry.addon, live.spec, live.metadata
        return (
            meta.annotations.get(APPLIED) == self.entry.digest
            and spec.cluster_ref.name == self.cluster.metadata.name
            and spec.addon == addon.addon
            and (not addon.version or spec.version == addon.version)
            and (spec.helm == self.entry.helm or _covers(_wire(spec.helm), _wire(self.entry.helm)))
            and (addon.values is None or _covers(spec.values, addon.values))
            and (tuple(one.name for one in spec.depends_on) == self.depends_on or not self.depends_on)
            and _covers(meta.labels, self.labels(profile))
        )

    def body(self, profile: AddonProfile, live: TenantAddon | None) -> Object:
        """What is applied. Of an object that is there it names the uid: another of that name is not meant."""
        addon, place = self.entry.addon, self.cluster.metadata
        metadata: Object = {
            "name": self.name,
            "namespace": place.namespace,
            "labels": self.labels(profile.metadata.name),
            "annotations": {APPLIED: self.entry.digest},
            "ownerReferences": [owner_reference(profile)],
        }
        if live is not None:
            metadata["uid"] = live.metadata.uid
        spec: Object = {
            "clusterRef": {"name": place.name},
            "addon": addon.addon,
            "helm": _wire(self.entry.helm),
            "version": addon.version or None,
            "values": addon.values,
            "dependsOn": [{"name": one} for one in self.depends_on] or None,
        }
        kind = TenantAddon.address
        said = {name: value for name, value in spec.items() if value is not None}
        return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": said}

    def is_settled(self, live: TenantAddon) -> bool:
        """Whether the cluster has it, as its newest spec says."""
        status, version, ready = live.status, self.entry.addon.version, live.status.condition(READY)
        return (
            _is_current(live)
            and status.phase is TenantAddonPhase.INSTALLED
            and (ready is None or ready.status == "True")
            and (not version or (status.installed_version or "").removeprefix("v") == version.removeprefix("v"))
        )


def has_failed(live: TenantAddon) -> bool:
    """Whether what its newest spec asks for failed, or broke later."""
    return _is_current(live) and live.status.phase in _FAILURES


def _is_current(live: TenantAddon) -> bool:
    """Whether its status speaks of its newest spec; so must the condition, which may be left from before."""
    generation, ready = live.metadata.generation, live.status.condition(READY)
    is_old = ready is not None and ready.observed_generation not in (None, generation)
    return not live.deleting and live.status.observed_generation == generation and not is_old


def _wire(chart: HelmChart | None) -> Any:
    return None if chart is None else msgspec.to_builtins(chart)


def _covers(live: Any, wanted: Any) -> bool:
    if live == wanted:
        return True
    if not isinstance(live, Mapping) or not isinstance(wanted, Mapping):
        return False
    return all(name in live and _covers(live[name], value) for name, value in wanted.items())
