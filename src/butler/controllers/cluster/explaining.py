"""What a cluster is waiting for, since when, whose turn it is, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from butler.api.cluster import TenantCluster
from butler.api.shared import SYSTEM_NAMESPACE, TENANTS_NAMESPACE
from butler.engines.capi.kinds import Machine
from butler.kube.client import Client, Selection

from . import kinds, names
from .acceptance import Refused, accept, fetch_surroundings
from .planning import fetch_parts
from .scope import Scope
from .sight import Snapshot
from .status import READY
from .step import Step, Verdict, Whose
from .steps import STEPS


@dataclass(frozen=True, slots=True)
class Explanation:
    """An answer in plain words."""

    summary: str
    waiting_for: str
    since: datetime | None
    whose: str
    next_command: str
    chain: tuple[str, ...] = ()
    """From the cluster down to what everything else waits for."""


async def explain(client: Client, namespace: str, name: str) -> Explanation:
    """Why a cluster is as it is. Raises NotFound."""
    cluster = await client.get(TenantCluster, name, namespace)
    if cluster.deleting:
        return await _deletion(client, cluster)
    sight = Snapshot()
    await fetch_surroundings(client, sight)
    try:
        accepted = accept(cluster, sight)
    except Refused as refused:
        return _refused(cluster, refused)
    inside = cluster.status.tenant_namespace or names.tenant_namespace(name, cluster.metadata.uid)
    await fetch_parts(client, sight, inside, accepted)
    scope = Scope(accepted, inside, sight)
    for step in STEPS:
        verdict = step.verdict(scope)
        if not verdict.done:
            return await _waiting(client, scope, step, verdict)
    return _running(cluster)


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


async def _waiting(client: Client, scope: Scope, step: Step, verdict: Verdict) -> Explanation:
    cluster = scope.cluster
    chain = [f"{step.title}: {verdict.message}"]
    whose = verdict.whose
    command = f"butlerctl cluster events {scope.name}{_flag(cluster)}"
    if step.condition == "WorkersReady":
        found = await _slow_machines(client, scope)
        chain += [text for text, _ in found]
        if any(failing for _, failing in found):
            whose = Whose.INFRASTRUCTURE
        if found:
            command = f"butlerctl cluster nodes {scope.name}{_flag(cluster)}"
    elif step.condition in {"ControlPlaneReady", "InfrastructureReady"}:
        chain += list(_object_conditions(scope))
    elif step.condition == "QuotaSatisfied":
        command = f"butlerctl cluster list{_flag(cluster)}"
    return Explanation(
        summary=f"{scope.name} waits for its {step.title.lower()}",
        waiting_for=chain[-1],
        since=_since(cluster, step.condition) or cluster.metadata.creation_timestamp,
        whose=whose.value,
        next_command=command,
        chain=tuple(chain),
    )


async def _slow_machines(client: Client, scope: Scope) -> list[tuple[str, bool]]:
    """Each machine that is not ready: what it says, and whether that sounds like more than waiting."""
    listed = await client.list(Machine, Selection(scope.namespace))
    found = []
    for machine in listed.items:
        told = [one for one in machine.status.conditions if one.type in _TELLING and one.status != "True"]
        if not told:
            continue
        ready = machine.status.condition("Ready")
        if ready is not None and ready.status == "True":
            continue
        one = told[0]
        text = f"Machine {machine.metadata.name} ({machine.status.phase}): {one.message or one.reason}"
        found.append((text, "ail" in one.reason or "ail" in one.message))
    return sorted(found, key=lambda each: each[1])


_TELLING = ("InfrastructureReady", "BootstrapConfigReady", "NodeReady", "NodeHealthy")


def _object_conditions(scope: Scope) -> Iterator[str]:
    for kind in (scope.templates.cluster_kind, kinds.KAMAJI_CONTROL_PLANE):
        live: dict[str, Any] = scope.live(kind, scope.name) or {}
        for one in (live.get("status") or {}).get("conditions") or ():
            if one["status"] == "False" and one.get("message") and one["type"] not in {"Paused", "Deleting"}:
                yield f"{kind.kind} {scope.name}: {one['type']}: {one['message']}"


async def _deletion(client: Client, cluster: TenantCluster) -> Explanation:
    inside = cluster.status.tenant_namespace or names.tenant_namespace(cluster.metadata.name, cluster.metadata.uid)
    left = await client.list(Machine, Selection(inside))
    chain = [f"Machine {one.metadata.name}: {_deleting_text(one)}" for one in left.items]
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


def _deleting_text(machine: Machine) -> str:
    said = machine.status.condition("Deleting")
    return (said.message or said.reason) if said else (machine.status.phase or "is going")


def _since(cluster: TenantCluster, condition: str) -> datetime | None:
    found = cluster.status.condition(condition)
    return found.last_transition_time if found else None


def _flag(cluster: TenantCluster) -> str:
    namespace = cluster.metadata.namespace
    return f" -n {namespace}" if namespace != TENANTS_NAMESPACE else ""
