"""The worker machines: a MachineDeployment for each pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from butler.addons.digests import digest
from butler.addons.selection import needs_cloud_controller
from butler.engines.capi.kinds import (
    AUTOSCALER_MAX_SIZE,
    AUTOSCALER_MIN_SIZE,
    BOOTSTRAP,
    CLUSTER_NAME,
    DEPLOYMENT_NAME,
)
from kubekit.model.resource import Address

from .. import kinds, names
from ..manifests import Manifest, Object
from ..scope import Scope
from ..settings import PoolSettings
from ..step import Step, Verdict

_DRAIN_SECONDS = 300


class Workers(Step):
    """Templates never change: a pool that is to look different gets new ones, and its machines are replaced one by
    one. The control plane goes first, so workers keep their version until it has the new one."""

    condition, title = "WorkersReady", "Workers"

    def manifests(self, scope: Scope) -> Sequence[Manifest]:
        return [made for pool in scope.settings.pools for made in _pool(scope, pool)]

    def verdict(self, scope: Scope) -> Verdict:
        counts = [_counts(scope, pool) for pool in scope.settings.pools]
        wanted, ready = counts_of(scope)
        if any(one.changing for one in counts) or len(stray(scope)):
            return Verdict(
                False, "WorkersProvisioning", f"{ready} of {wanted} workers are ready{_old(counts)}", changing=True
            )
        if any(one.ready < one.desired for one in counts):
            return Verdict(False, "WorkersNotReady", f"{ready} of {wanted} workers are ready")
        if scope.worker_version != scope.settings.version:
            return Verdict(False, "WorkersUpgrading", "waits for the control plane", changing=True)
        return Verdict(True, "WorkersReady", f"{ready} of {wanted} workers are ready")


@dataclass(frozen=True, slots=True)
class Counts:
    """The machines of one pool."""

    desired: int
    replicas: int
    current: int
    ready: int
    old: int
    """Machines that look different from what is wanted."""
    seen: bool
    """Whether Cluster API has taken in what is wanted."""

    @property
    def changing(self) -> bool:
        return not self.seen or self.old > 0 or self.replicas != self.desired or self.current != self.desired


def counts_of(scope: Scope) -> tuple[int, int]:
    """Workers wanted and ready, over all pools."""
    counts = [_counts(scope, pool) for pool in scope.settings.pools]
    return sum(one.desired for one in counts), sum(min(one.ready, one.desired) for one in counts)


def _counts(scope: Scope, pool: PoolSettings) -> Counts:
    live = scope.live(kinds.MACHINE_DEPLOYMENT, names.deployment(scope.name, pool.name)) or {"metadata": {}}
    status: Object = live.get("status") or {}
    spec: Object = live.get("spec") or {}
    desired = pool.replicas if pool.replicas is not None else spec.get("replicas", pool.least)
    seen = status.get("observedGeneration") == live["metadata"].get("generation") and spec.get("replicas") == desired
    template = ((spec.get("template") or {}).get("spec") or {}) if spec else {}
    return Counts(
        desired=desired,
        replicas=status.get("replicas") or 0,
        current=status.get("upToDateReplicas") or 0,
        ready=status.get("readyReplicas") or 0,
        old=_old_machines(scope, live) if spec else 0,
        seen=bool(seen and template.get("version") == scope.worker_version),
    )


def _old_machines(scope: Scope, deployment: Object) -> int:
    """How many machines are left that look different. The MachineDeployment's own figures do not tell: when it has
    taken in another template, it still counts machines of the old one as up to date for a moment, and new ones not."""
    look = msgspec.convert(deployment["spec"]["template"]["spec"], kinds.MachineLook)
    name = deployment["metadata"]["name"]
    sets: Sequence[kinds.MachineSetSeen] = scope.sight.within(kinds.MachineSetSeen, scope.namespace)
    return sum(
        one.machines
        for one in sets
        if one.metadata.labels.get(DEPLOYMENT_NAME) == name and one.spec.template.spec != look
    )


def _old(counts: Sequence[Counts]) -> str:
    old = sum(one.old for one in counts)
    return f", {old} to be replaced" if old else ""


def stray(scope: Scope) -> list[str]:
    """MachineDeployments of pools that are no longer wanted."""
    wanted = {names.deployment(scope.name, pool.name) for pool in scope.settings.pools}
    there = scope.sight.within(kinds.MACHINE_DEPLOYMENT, scope.namespace)
    return sorted(
        one["metadata"]["name"] for one in there if one["metadata"]["name"] not in wanted and names.is_ours(one)
    )


def outdated(scope: Scope) -> list[tuple[Address, str]]:
    """Templates that nothing refers to any more; none while machines are still being replaced."""
    if any(_counts(scope, pool).changing for pool in scope.settings.pools) or stray(scope):
        return []
    used = templates_in_use(scope)
    return [
        (kind, name)
        for kind in (kinds.KUBEADM_CONFIG_TEMPLATE, scope.templates.machine_template_kind)
        for one in scope.sight.within(kind, scope.namespace)
        if (kind, name := one["metadata"]["name"]) not in used and names.is_ours(one)
    ]


def templates_in_use(scope: Scope) -> set[tuple[Address, str]]:
    """The templates that machines are made from."""
    return {(one.kind, one.name) for pool in scope.settings.pools for one in _templates(scope, pool)}


def _pool(scope: Scope, pool: PoolSettings) -> tuple[Manifest, ...]:
    bootstrap, machine = _templates(scope, pool)
    name = names.deployment(scope.name, pool.name)
    labels = {**scope.labels, CLUSTER_NAME: scope.name, DEPLOYMENT_NAME: name}
    spec: Object = {
        "clusterName": scope.name,
        "selector": {"matchLabels": {CLUSTER_NAME: scope.name, DEPLOYMENT_NAME: name}},
        "rollout": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}},
        "template": {"metadata": {"labels": labels}, "spec": _machine(scope, pool, bootstrap, machine)},
    }
    annotations = {}
    if pool.replicas is None:
        annotations = {AUTOSCALER_MIN_SIZE: str(pool.least), AUTOSCALER_MAX_SIZE: str(pool.most)}
    else:
        spec["replicas"] = pool.replicas
    deployment = scope.wanted(kinds.MACHINE_DEPLOYMENT, name, spec=spec, annotations=annotations)
    return bootstrap, machine, deployment


def _machine(scope: Scope, pool: PoolSettings, bootstrap: Manifest, machine: Manifest) -> Object:
    spec: Object = {
        "clusterName": scope.name,
        "version": scope.worker_version,
        "bootstrap": {"configRef": {"apiGroup": BOOTSTRAP, "kind": bootstrap.kind.kind, "name": bootstrap.name}},
        "infrastructureRef": {"apiGroup": machine.kind.group, "kind": machine.kind.kind, "name": machine.name},
        "deletion": {"nodeDrainTimeoutSeconds": _DRAIN_SECONDS},
    }
    return {**spec, "failureDomain": pool.failure_domain} if pool.failure_domain else spec


def _templates(scope: Scope, pool: PoolSettings) -> tuple[Manifest, Manifest]:
    """How machines join, and what they look like."""
    joining = {"template": {"spec": _joining(scope, pool)}}
    machine = {"template": {"spec": scope.templates.machine(scope.blueprint, pool.for_provider())}}
    return (
        _template(scope, pool, kinds.KUBEADM_CONFIG_TEMPLATE, joining),
        _template(scope, pool, scope.templates.machine_template_kind, machine),
    )


def _template(scope: Scope, pool: PoolSettings, kind: Address, spec: Object) -> Manifest:
    """The first template has a plain name, and one that differs from it has its digest in the name."""
    plain = names.template(scope.name, pool.name)
    live = scope.live(kind, plain)
    # One that is missing although machines are made from it was deleted by someone, and comes back as it was.
    first = live is None and _referred(scope, pool, kind) in (None, plain)
    wanted = scope.wanted(kind, plain, spec=spec)
    if first or (live is not None and _mark(live) == _mark(wanted.body)):
        return wanted
    return scope.wanted(kind, f"{plain}-{digest(spec)}", spec=spec)


def _referred(scope: Scope, pool: PoolSettings, kind: Address) -> str | None:
    """The template of a kind that the machines of a pool are made from; None when there are none yet."""
    live = scope.live(kinds.MACHINE_DEPLOYMENT, names.deployment(scope.name, pool.name))
    if live is None:
        return None
    machine = live["spec"]["template"]["spec"]
    ref = (
        machine["bootstrap"].get("configRef") if kind == kinds.KUBEADM_CONFIG_TEMPLATE else machine["infrastructureRef"]
    )
    name: str | None = (ref or {}).get("name")
    return name


def _mark(obj: Object) -> str | None:
    mark: str | None = (obj["metadata"].get("annotations") or {}).get(names.APPLIED)
    return mark


def _joining(scope: Scope, pool: PoolSettings) -> Object:
    registration: Object = {}
    if pool.labels:
        labels = ",".join(f"{name}={value}" for name, value in pool.labels)
        registration["kubeletExtraArgs"] = [{"name": "node-labels", "value": labels}]
    if pool.taints:
        registration["taints"] = [_taint(*one) for one in pool.taints]
    spec: Object = {"joinConfiguration": {"nodeRegistration": registration}} if registration else {}
    if scope.settings.time_servers:
        spec["ntp"] = {"enabled": True, "servers": list(scope.settings.time_servers)}
    if pool.ssh_key:
        spec["users"] = [{"name": "butler", "sudo": "ALL=(ALL) NOPASSWD:ALL", "sshAuthorizedKeys": [pool.ssh_key]}]
    theirs = scope.templates.joining(scope.blueprint, pool.for_provider())
    is_told = needs_cloud_controller(scope.cluster, scope.accepted.provider)
    return _joined(spec, theirs if is_told else _without_cloud_provider(theirs))


def _without_cloud_provider(joining: Object) -> Object:
    """What an infrastructure adds, for a cluster in which nothing will tell the nodes about it."""
    configuration = joining.get("joinConfiguration") or {}
    registration = configuration.get("nodeRegistration") or {}
    if "kubeletExtraArgs" not in registration:
        return joining
    kept = [one for one in registration["kubeletExtraArgs"] if one["name"] != "cloud-provider"]
    return {
        **joining,
        "joinConfiguration": {**configuration, "nodeRegistration": {**registration, "kubeletExtraArgs": kept}},
    }


def _joined(ours: Object, theirs: Object) -> Object:
    """Both: what has the same name is joined too, lists one after the other."""
    joined = {**ours, **theirs}
    for name in ours.keys() & theirs.keys():
        if isinstance(ours[name], dict):
            joined[name] = _joined(ours[name], theirs[name])
        elif isinstance(ours[name], list):
            joined[name] = [*ours[name], *theirs[name]]
    return joined


def _taint(key: str, value: str, effect: str) -> Object:
    return {"key": key, "effect": effect, **({"value": value} if value else {})}
