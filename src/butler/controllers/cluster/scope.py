"""What one visit to a cluster has to go on."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from butler.addons.facts import cluster_facts
from butler.api.addon import AddonDefinition
from butler.api.cluster import ObservedAddon, TenantCluster
from butler.engines.kamaji.kinds import API_PATH, TenantControlPlane
from butler.providers.contract import Blueprint, Templates
from kubekit.model.resource import Address
from kubekit.runtime.objects import wire

from . import kinds, names, versions
from .acceptance import Accepted
from .addons.observed import News, version_there, with_news
from .addons.resolved import Resolved, Resolver
from .lookup import Lookup
from .manifests import Manifest, Object, manifest
from .settings import ClusterSettings


@dataclass(frozen=True)
class Scope:
    """A cluster that was accepted, and the objects that were made for it."""

    accepted: Accepted
    namespace: str
    sight: Lookup
    is_kept: bool = False
    """Whether what is asked for is refused, and the cluster is kept as it was."""
    news: News | None = None
    """What is known of addons by now, where the status does not say it yet; None where nothing but it is known."""
    resolver: Resolver = field(default_factory=Resolver)

    @property
    def cluster(self) -> TenantCluster:
        return self.accepted.cluster

    @property
    def name(self) -> str:
        return self.accepted.cluster.metadata.name

    @property
    def settings(self) -> ClusterSettings:
        return self.accepted.settings

    @property
    def templates(self) -> Templates:
        return self.accepted.templates

    @cached_property
    def asked(self) -> Object:
        """What the cluster is to be, as it is remembered once that was accepted: without Helm values, among which may
        be secrets."""
        spec: Object = wire(self.cluster.spec)
        for addon in spec.get("addons", {}).values():
            addon.pop("values", None)
        return spec

    @cached_property
    def labels(self) -> dict[str, str]:
        return names.object_labels(self.cluster)

    @cached_property
    def tenant_control_plane(self) -> TenantControlPlane | None:
        found: TenantControlPlane | None = self.sight.get(TenantControlPlane, f"{self.namespace}/{self.name}")
        return found

    @cached_property
    def endpoint(self) -> tuple[str, int] | None:
        """Where the tenant's API server is, as soon as Kamaji knows."""
        control_plane = self.tenant_control_plane
        text = control_plane.status.control_plane_endpoint if control_plane else None
        if not text:
            return None
        host, _, port = text.rpartition(":")
        return host, int(port)

    @cached_property
    def address(self) -> str | None:
        """The tenant's API server, and no other: behind https:// it is a URL."""
        if self.endpoint is None or self.tenant_control_plane is None:
            return None
        host, port = self.endpoint
        return f"{host}:{port}{self.tenant_control_plane.metadata.annotations.get(API_PATH, '')}"

    @cached_property
    def running_version(self) -> str:
        """The version the control plane runs; empty until it does."""
        control_plane = self.tenant_control_plane
        resources = control_plane.status.kubernetes_resources if control_plane else None
        version = resources.version.version if resources and resources.version else None
        parsed = versions.parse(version) if version else None
        return str(parsed) if parsed else ""

    @cached_property
    def control_plane_state(self) -> str:
        """How the control plane is, in Kamaji's word; empty until it says anything."""
        control_plane = self.tenant_control_plane
        resources = control_plane.status.kubernetes_resources if control_plane else None
        return (resources.version.status or "") if resources and resources.version else ""

    @cached_property
    def installed(self) -> tuple[ObservedAddon, ...]:
        """What was last found of addons. Nothing is in a cluster whose control plane does not run yet, or has to be
        made anew because someone deleted it."""
        if not self.running_version:
            return ()
        state = self.cluster.status.observed_state
        said = state.addons if state is not None else ()
        return said if self.news is None else with_news(said, self.news)

    @cached_property
    def addons(self) -> Resolved:
        """What it is to have inside, as far as the catalogue can say."""
        facts = cluster_facts(
            self.cluster,
            self.accepted.provider,
            version=self.running_version or self.settings.version,
            workers=self.settings.workers,
            # Nothing is installed before it is known.
            endpoint=self.endpoint or ("", 0),
        )
        there = {one.name: version_there(one) for one in self.installed}
        return self.resolver.resolved(self.cluster.key, self.settings.addons, self.definition, facts, there)

    def definition(self, addon: str) -> AddonDefinition | None:
        found: AddonDefinition | None = self.sight.get(AddonDefinition, addon)
        return found

    @cached_property
    def worker_version(self) -> str:
        """The version workers are to have: the wanted one as soon as the control plane has it."""
        wanted = self.settings.version
        return self.running_version or wanted

    @cached_property
    def blueprint(self) -> Blueprint:
        return self.settings.blueprint(self.cluster, self.accepted.provider, self.namespace)

    def live(self, kind: Address, name: str) -> Object | None:
        """An object in the tenant's namespace as it is."""
        found: Object | None = self.sight.get(kind, f"{self.namespace}/{name}")
        return found

    def wanted(self, kind: Address, name: str, **content: Any) -> Manifest:
        """An object in the tenant's namespace as it should be."""
        return manifest(kind, name, self.namespace, self.labels, **content)

    def machines(self) -> list[kinds.MachineSeen]:
        return list(self.sight.within(kinds.MachineSeen, self.namespace))
