"""What a change of a cluster would do, without doing any of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from msgspec import structs

from butler.addons.model import Addon
from butler.api.addon import AddonDefinition
from butler.api.cluster import ObservedAddon, TenantCluster
from butler.engines.capi.kinds import DEPLOYMENT_NAME
from butler.providers import registry
from kubekit.client.protocol import Client
from kubekit.model.resource import Address
from kubekit.runtime.objects import identity_of

from . import kinds, names
from .acceptance import Accepted, Refused, accept, fetch_references, refusal, with_only_provider
from .addons.observed import is_as
from .addons.progress import declined_addons, missing_addons, shown, to_remove
from .lookup import Snapshot
from .manifests import Manifest, Object, differences
from .scope import Scope
from .settings import PoolSettings
from .step import Step, Verdict
from .steps import STEPS
from .steps.workers import Workers, stray, templates_in_use

UNKNOWN_UID = "<uid>"
"""Stands for what only the creation of a cluster decides."""


class Action(Enum):
    """What happens to an object."""

    CREATE = "create"
    CHANGE = "change"
    DELETE = "delete"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class Change:
    """An object that would be written or deleted."""

    action: Action
    step: str
    kind: str
    namespace: str
    name: str
    fields: tuple[str, ...] = ()
    """Which fields would be different."""


@dataclass(frozen=True, slots=True)
class MachineChange:
    """Machines that would come, go, or be replaced by others."""

    action: Action
    pool: str
    name: str
    """Empty when it is not known yet which one."""
    count: int
    reason: str


@dataclass(frozen=True, slots=True)
class AddonChange:
    """An addon that would be installed, installed anew or removed."""

    action: Action
    name: str
    version: str
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that would happen, in this order."""

    changes: tuple[Change, ...]
    machines: tuple[MachineChange, ...]
    notes: tuple[str, ...] = ()
    addons: tuple[AddonChange, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.changes and not self.machines and not self.addons


class PlannedScope(Scope):
    """A cluster as it will be once its control plane has the wanted version."""

    @property
    def running_version(self) -> str:
        return self.settings.version

    @property
    def worker_version(self) -> str:
        return self.settings.version


async def plan_change(client: Client, wanted: TenantCluster) -> Plan:
    """What would happen if this cluster were created, or changed to this. Raises Invalid if it would be refused."""
    sight = Snapshot()
    await sight.fetch(client, TenantCluster, wanted.metadata.namespace)
    live: TenantCluster | None = sight.get(TenantCluster, wanted.key)
    if live is not None:
        wanted = _changed(live, wanted)
        await fetch_references(client, sight, wanted)
    else:
        wanted = structs.replace(wanted, metadata=structs.replace(wanted.metadata, uid=UNKNOWN_UID))
        await fetch_references(client, sight, wanted)
        wanted = with_only_provider(wanted, sight)
    try:
        accepted = accept(wanted, sight)
    except Refused as refused:
        raise refusal(wanted, refused) from None
    scope = PlannedScope(accepted, _namespace(wanted), sight)
    await sight.fetch(client, AddonDefinition)
    await fetch_parts(client, sight, scope.namespace, accepted)
    own = Change(Action.CREATE, "", wanted.kind, wanted.metadata.namespace, wanted.metadata.name)
    changes = [*([own] if live is None else ()), *_writes(scope)]
    if stopped := _stopped(scope):
        return Plan(tuple(changes), (), (stopped,))
    changes += _removals(scope)
    machines = [*_machines(scope), *_stray_machines(scope)]
    notes = (*_notes(machines, changes), *_addon_notes(scope))
    return Plan(tuple(changes), tuple(machines), notes, tuple(_addons(scope)))


def _changed(live: TenantCluster, wanted: TenantCluster) -> TenantCluster:
    """As the API would have it then: of another generation, if that changes anything."""
    if wanted.spec == live.spec:
        return live
    metadata = structs.replace(live.metadata, generation=live.metadata.generation + 1)
    return structs.replace(live, metadata=metadata, spec=wanted.spec)


async def plan_deletion(client: Client, namespace: str, name: str) -> Plan:
    """What would go with a cluster. Raises NotFound."""
    cluster = await client.get(TenantCluster, name, namespace)
    sight, inside = Snapshot(), _namespace(cluster)
    machines = []
    gone = []
    for kind in _parts(registry.names()):
        await sight.fetch(client, kind, inside)
        gone += [_deletion(kind, one) for one in sight.within(kind, inside)]
    await sight.fetch(client, kinds.MachineSeen, inside)
    for machine in sight.within(kinds.MachineSeen, inside):
        pool = _pool_of(machine.metadata.labels.get(DEPLOYMENT_NAME, ""), name)
        machines.append(MachineChange(Action.DELETE, pool, machine.metadata.name, 1, "the cluster goes"))
    await sight.fetch_one(client, kinds.NAMESPACE, inside)
    if (home := sight.get(kinds.NAMESPACE, inside)) is not None:
        gone.append(_deletion(kinds.NAMESPACE, home))
    gone.append(_deletion(cluster.address, cluster))
    note = f"everything else in namespace {inside} goes with it, and everything inside the cluster"
    return Plan(tuple(gone), tuple(machines), (note,))


async def fetch_parts(client: Client, sight: Snapshot, namespace: str, accepted: Accepted | None) -> None:
    """The objects that were made for a cluster."""
    if UNKNOWN_UID in namespace:
        return
    used = (accepted.provider.spec.provider,) if accepted else ()
    for kind in _parts(one.value for one in used if one is not None):
        await sight.fetch(client, kind, namespace)
    await sight.fetch(client, kinds.TenantControlPlane, namespace)
    for seen in (kinds.MachineSeen, kinds.MachineSetSeen, kinds.SecretSeen):
        await sight.fetch(client, seen, namespace)
    await sight.fetch_one(client, kinds.NAMESPACE, namespace)


def _parts(providers: Iterable[str]) -> list[Address]:
    """The kinds Butler writes, in the order in which they go."""
    templates = [registry.templates(one) for one in providers]
    return [
        kinds.MACHINE_DEPLOYMENT,
        kinds.KAMAJI_CONTROL_PLANE,
        *(one.cluster_kind for one in templates),
        kinds.CLUSTER,
        *(one.machine_template_kind for one in templates),
        kinds.KUBEADM_CONFIG_TEMPLATE,
    ]


def _namespace(cluster: TenantCluster) -> str:
    meta = cluster.metadata
    return cluster.status.tenant_namespace or names.tenant_namespace(meta.name, meta.uid)


def _stopped(scope: Scope) -> str:
    """Why nothing would follow; empty when something would."""
    for step in STEPS:
        verdict = step.verdict(scope)
        if _holds(step, verdict):
            return f"it would stop there, at {step.title}: {verdict.message}"
    return ""


def _holds(step: Step, verdict: Verdict) -> bool:
    """Whether what is behind a step has to wait for more than what is made before it."""
    return step.holds and not verdict.done and not verdict.changing


def _writes(scope: Scope) -> Iterator[Change]:
    for step in STEPS:
        if _holds(step, step.verdict(scope)):
            return
        for wanted in step.manifests(scope):
            if change := _write(scope, step, wanted):
                yield change


def _write(scope: Scope, step: Step, wanted: Manifest) -> Change | None:
    live = scope.sight.get(wanted.kind, wanted.key)
    place = (step.title, wanted.kind.kind, wanted.namespace, wanted.name)
    if live is None:
        return Change(Action.CREATE, *place)
    mark = f"metadata.annotations.{names.APPLIED}"
    changed = differences(live, wanted.body)
    if not changed:
        return None
    # Where only the mark differs, a field is no longer wanted.
    return Change(Action.CHANGE, *place, tuple(one for one in changed if one != mark))


def _removals(scope: Scope) -> Iterator[Change]:
    """What an earlier form of the cluster needed."""
    place = (Workers.title, kinds.MACHINE_DEPLOYMENT.kind, scope.namespace)
    for name in stray(scope):
        yield Change(Action.DELETE, *place, name)
    used = templates_in_use(scope)
    for kind in (kinds.KUBEADM_CONFIG_TEMPLATE, scope.templates.machine_template_kind):
        for one in scope.sight.within(kind, scope.namespace):
            if (kind, identity_of(one).name) not in used and names.is_ours(one):
                yield Change(Action.DELETE, Workers.title, kind.kind, scope.namespace, identity_of(one).name)


def _machines(scope: Scope) -> Iterator[MachineChange]:
    wanted = {one.name: one for one in Workers().manifests(scope)}
    for pool in scope.settings.pools:
        name = names.deployment(scope.name, pool.name)
        yield from _pool_machines(scope, pool, scope.live(kinds.MACHINE_DEPLOYMENT, name), wanted[name])


def _pool_machines(scope: Scope, pool: PoolSettings, live: Object | None, wanted: Manifest) -> Iterator[MachineChange]:
    if live is None:
        yield MachineChange(Action.CREATE, pool.name, "", pool.desired, "the pool is new")
        return
    there = live["spec"].get("replicas", 1)
    if pool.replicas is not None and pool.replicas > there:
        yield MachineChange(
            Action.CREATE, pool.name, "", pool.replicas - there, f"from {there} to {pool.replicas} workers"
        )
    if pool.replicas is not None and pool.replicas < there:
        yield MachineChange(
            Action.DELETE, pool.name, "", there - pool.replicas, f"from {there} to {pool.replicas} workers"
        )
    reason = _why_replaced(live["spec"]["template"]["spec"], wanted.body["spec"]["template"]["spec"])
    if not reason:
        return
    existing = [one for one in scope.machines() if one.metadata.labels.get(DEPLOYMENT_NAME) == wanted.name]
    staying = sorted(one.metadata.name for one in existing)[: pool.desired]
    if pool.replicas is not None and pool.replicas < there:
        # Which ones go and which ones are replaced is for Cluster API to choose.
        yield MachineChange(Action.REPLACE, pool.name, "", pool.replicas, reason)
        return
    for name in staying:
        yield MachineChange(Action.REPLACE, pool.name, name, 1, reason)


_REPLACING = {
    "version": "version",
    "infrastructureRef": "machine template",
    "bootstrap": "join configuration",
    "failureDomain": "failure domain",
}
"""Fields of a machine that cannot change while it lives, and what they are called."""


def _why_replaced(live: Object, wanted: Object) -> str:
    changed = [words for field, words in _REPLACING.items() if live.get(field) != wanted.get(field)]
    if changed == ["version"]:
        return f"version {live.get('version')} becomes {wanted.get('version')}"
    return f"{', '.join(changed)} changes" if changed else ""


def _stray_machines(scope: Scope) -> Iterator[MachineChange]:
    gone = set(stray(scope))
    for machine in scope.machines():
        deployment = machine.metadata.labels.get(DEPLOYMENT_NAME, "")
        if deployment in gone:
            pool = _pool_of(deployment, scope.name)
            yield MachineChange(Action.DELETE, pool, machine.metadata.name, 1, "its pool is no longer wanted")


def _pool_of(deployment: str, cluster: str) -> str:
    pool = deployment.removeprefix(f"{cluster}-")
    return "" if deployment == names.deployment(cluster, "") else pool


def _notes(machines: Sequence[MachineChange], changes: Sequence[Change]) -> Iterator[str]:
    replaced = any(one.action is Action.REPLACE for one in machines)
    upgraded = any(one.kind == kinds.KAMAJI_CONTROL_PLANE.kind and "spec.version" in one.fields for one in changes)
    if upgraded and replaced:
        yield "the control plane goes first; workers follow when it answers in the new version"
    if replaced:
        yield "workers are replaced one after the other, with one more than wanted meanwhile"


def _addons(scope: Scope) -> Iterator[AddonChange]:
    """In the order in which they are installed."""
    there = {one.name: one for one in scope.installed}
    for wanted in missing_addons(scope):
        found = there.get(wanted.name)
        if found is None:
            when = "before the first worker" if wanted.for_nodes else "with the first worker"
            yield AddonChange(Action.CREATE, wanted.name, wanted.version, when)
        else:
            yield AddonChange(Action.CHANGE, wanted.name, wanted.version, _why_installed(found, wanted))
    for found in to_remove(scope):
        yield AddonChange(Action.DELETE, found.name, found.version, "nobody asks for it any more")


def _why_installed(found: ObservedAddon, wanted: Addon) -> str:
    if found.version != wanted.version:
        return f"version {found.version} becomes {wanted.version}"
    return "it is not there yet" if is_as(found, wanted) else "other values"


def _addon_notes(scope: Scope) -> Iterator[str]:
    for declined in declined_addons(scope):
        yield f"cannot be installed: {declined.error}"
    wanted, going = {one.name for one in scope.settings.addons}, {one.name for one in to_remove(scope)}
    left = ", ".join(one.name for one in shown(scope) if one.name not in wanted | going)
    if left:
        yield f"no longer asked for, and left in the cluster: {left}"


def _deletion(kind: Address, obj: Any) -> Change:
    identity = identity_of(obj)
    return Change(Action.DELETE, "Deletion", kind.kind, identity.namespace, identity.name)
