"""What a cluster is waiting for, since when, whose turn it is, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from butler.api.cluster import TenantCluster
from butler.api.shared import SYSTEM_NAMESPACE, TENANTS_NAMESPACE
from butler.engines.capi.kinds import Machine
from kubekit.client.protocol import Client, Selection
from kubekit.errors import Forbidden

from . import kinds, names
from .acceptance import Refused, accept, fetch_references
from .change_plan import fetch_parts
from .lookup import Snapshot
from .machine_troubles import Trouble, deletion_text, find_troubles
from .scope import Scope
from .status import READY
from .step import Step, Verdict, Whose
from .steps import STEPS

_NAMED = 3
"""So many machines are named."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """An answer in plain words."""

    summary: str
    waiting_for: str
    since: datetime | None
    whose: str
    next_command: str
    chain: tuple[str, ...] = ()
    """What the answer rests on: the step, and what is said below it."""


async def explain(client: Client, namespace: str, name: str, now: datetime) -> Explanation:
    """Why a cluster is as it is; only what the cluster itself says where we may not look further. Raises NotFound,
    Forbidden."""
    cluster = await client.get(TenantCluster, name, namespace)
    try:
        return await _looked_into(client, cluster, now)
    except Forbidden as error:
        return _told(cluster, error)


async def _looked_into(client: Client, cluster: TenantCluster, now: datetime) -> Explanation:
    if cluster.deleting:
        return await _deletion(client, cluster)
    sight = Snapshot()
    await fetch_references(client, sight, cluster)
    await sight.fetch(client, TenantCluster, cluster.metadata.namespace)
    try:
        accepted = accept(cluster, sight)
    except Refused as refused:
        return _refused(cluster, refused)
    meta = cluster.metadata
    inside = cluster.status.tenant_namespace or names.tenant_namespace(meta.name, meta.uid)
    await fetch_parts(client, sight, inside, accepted)
    scope = Scope(accepted, inside, sight)
    for step in STEPS:
        verdict = step.verdict(scope)
        if not verdict.done:
            return await _waiting(client, scope, step, verdict, now)
    return _running(cluster)


def _told(cluster: TenantCluster, error: Forbidden) -> Explanation:
    """What the cluster's own conditions say, for those who may see no more."""
    unmet = [one for step in STEPS if (one := cluster.status.condition(step.condition)) and one.status != "True"]
    ready = cluster.status.condition(READY)
    said = next(iter(unmet), ready)
    if said is None or said.status == "True":
        return _running(cluster)
    return Explanation(
        summary=f"{cluster.metadata.name} is not ready",
        waiting_for=said.message or said.reason,
        since=said.last_transition_time,
        whose="",
        next_command=f"butlerctl cluster get {cluster.metadata.name}{_flag(cluster)}",
        chain=(said.message or said.reason, f"you may not see more: {error}"),
    )


def _running(cluster: TenantCluster) -> Explanation:
    status = cluster.status
    if status.phase is None or not status.phase.is_usable:
        return Explanation(
            summary=f"{cluster.metadata.name} has everything it needs; its controller has not said so yet",
            waiting_for="the TenantCluster controller",
            since=_since(cluster, READY),
            whose=Whose.PLATFORM.value,
            next_command="butleradm status",
        )
    workers = f"{status.worker_nodes_ready or 0} of {status.worker_nodes_desired or 0} workers ready"
    return Explanation(
        summary=f"{cluster.metadata.name} is running: {workers}",
        waiting_for="nothing",
        since=_since(cluster, READY),
        whose="nobody's: there is nothing to do",
        next_command=f"butlerctl cluster kubeconfig {cluster.metadata.name}{_flag(cluster)}",
    )


def _refused(cluster: TenantCluster, refused: Refused) -> Explanation:
    paths = {problem.path for problem in refused.problems}
    command = f"butlerctl cluster edit {cluster.metadata.name}{_flag(cluster)}"
    if any("providerConfigRef" in path for path in paths):
        command = f"kubectl get providerconfigs -n {SYSTEM_NAMESPACE}"
    elif any("teamRef" in path for path in paths):
        command = "kubectl get teams"
    return Explanation(
        summary=f"{cluster.metadata.name} cannot be made as it is written",
        waiting_for=str(refused),
        since=_since(cluster, "Accepted"),
        whose=Whose.OWNER.value,
        next_command=command,
        chain=tuple(map(str, refused.problems)),
    )


async def _waiting(client: Client, scope: Scope, step: Step, verdict: Verdict, now: datetime) -> Explanation:
    cluster = scope.cluster
    chain = [f"{step.title}: {verdict.message}"]
    command = f"butlerctl cluster events {scope.name}{_flag(cluster)}"
    if step.condition == "WorkersReady":
        found = await find_troubles(client, scope, now)
        if found:
            return _held_up(scope, chain[0], found)
    elif step.condition in {"ControlPlaneReady", "InfrastructureReady"}:
        chain += list(_object_conditions(scope))
    elif step.condition == "QuotaSatisfied":
        command = f"butlerctl cluster list{_flag(cluster)}"
    return Explanation(
        summary=f"{scope.name} waits for its {step.title.lower()}",
        waiting_for=chain[-1],
        since=_since(cluster, step.condition) or cluster.metadata.creation_timestamp,
        whose=verdict.whose.value,
        next_command=command,
        chain=tuple(chain),
    )


def _held_up(scope: Scope, said: str, found: Sequence[Trouble]) -> Explanation:
    """By machines: the worst of them decides whose turn it is and what to do."""
    worst, cluster, provider = found[0], scope.cluster, scope.accepted.provider
    chain = [said, *(one.text for one in found[:_NAMED])]
    if len(found) > _NAMED:
        chain.append(f"and {len(found) - _NAMED} more machines that are not ready")
    whose, waiting_for = worst.whose, worst.text
    ready = provider.status.condition(READY)
    if ready is not None and ready.status == "False":
        chain.append(f"ProviderConfig {provider.metadata.name}: {ready.message}")
        if not worst.is_serious:
            whose, waiting_for = Whose.INFRASTRUCTURE, chain[-1]
    if worst.is_lost:
        # Cluster API makes another one for it.
        command = f"kubectl delete machine {worst.machine} -n {scope.namespace}"
    elif whose is Whose.NOBODY:
        command = f"butlerctl cluster nodes {scope.name}{_flag(cluster)}"
    else:
        command = f"kubectl describe providerconfig {provider.metadata.name} -n {provider.metadata.namespace}"
    return Explanation(
        summary=f"{scope.name} waits for its workers",
        waiting_for=waiting_for,
        since=_since(cluster, "WorkersReady") or cluster.metadata.creation_timestamp,
        whose=whose.value,
        next_command=command,
        chain=tuple(chain),
    )


def _object_conditions(scope: Scope) -> Iterator[str]:
    for kind in (scope.templates.cluster_kind, kinds.KAMAJI_CONTROL_PLANE):
        live: dict[str, Any] = scope.live(kind, scope.name) or {}
        for one in (live.get("status") or {}).get("conditions") or ():
            if one["status"] == "False" and one.get("message") and one["type"] not in {"Paused", "Deleting"}:
                yield f"{kind.kind} {scope.name}: {one['type']}: {one['message']}"


async def _deletion(client: Client, cluster: TenantCluster) -> Explanation:
    inside = cluster.status.tenant_namespace or names.tenant_namespace(cluster.metadata.name, cluster.metadata.uid)
    left = await client.list(Machine, Selection(inside))
    chain = [f"Machine {one.metadata.name}: {deletion_text(one)}" for one in left.items[:_NAMED]]
    said = cluster.status.condition(READY)
    waiting = said.message if said and said.reason == "Deleting" else "its controller"
    return Explanation(
        summary=f"{cluster.metadata.name} is being deleted",
        waiting_for=chain[-1] if chain else waiting,
        since=cluster.metadata.deletion_timestamp,
        whose=Whose.NOBODY.value,
        next_command=f"kubectl get machines,namespaces -n {inside}",
        chain=(waiting, *chain),
    )


def _since(cluster: TenantCluster, condition: str) -> datetime | None:
    found = cluster.status.condition(condition)
    return found.last_transition_time if found else None


def _flag(cluster: TenantCluster) -> str:
    namespace = cluster.metadata.namespace
    return f" -n {namespace}" if namespace != TENANTS_NAMESPACE else ""
