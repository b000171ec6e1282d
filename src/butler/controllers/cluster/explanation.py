"""What a cluster is waiting for, since when, whose turn it is, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from butler import advice
from butler.api.addon import AddonDefinition
from butler.api.cluster import ObservedAddon, TenantCluster
from butler.api.shared import SYSTEM_NAMESPACE
from butler.engines.capi.kinds import Machine
from kubekit.client.protocol import Client, Selection
from kubekit.errors import FieldError, Forbidden
from kubekit.model.status import Condition

from . import kinds, names
from .acceptance import Refused, accept, fetch_references
from .addons.progress import attempt_at, declined_addons, missing_addons
from .change_plan import fetch_parts
from .lookup import Snapshot
from .machine_troubles import Trouble, deletion_text, find_troubles
from .scope import Scope
from .status import READY
from .step import Step, Verdict, Whose
from .steps import STEPS
from .steps.acceptance import Acceptance

_NAMED = 3
"""So many machines are named."""
_INSTALLING = (
    "whoever looks after the platform installs the Cluster API provider in the cluster it is on, and starts Butler's "
    "controllers again; until then, name a provider of another kind"
)


@dataclass(frozen=True, slots=True)
class Flags:
    """What commands have to say to mean the same cluster, or the same API."""

    cluster: str = ""
    api: str = ""
    kubectl: str = ""


NO_FLAGS = Flags()


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


async def explain(client: Client, namespace: str, name: str, now: datetime, flags: Flags = NO_FLAGS) -> Explanation:
    """Why a cluster is as it is; only what the cluster itself says where we may not look further. Raises NotFound,
    Forbidden."""
    cluster = await client.get(TenantCluster, name, namespace)
    try:
        return await _looked_into(client, cluster, now, flags)
    except Forbidden as error:
        return _told(cluster, error, flags)


async def _looked_into(client: Client, cluster: TenantCluster, now: datetime, flags: Flags) -> Explanation:
    """A refusal comes first: what was made before it goes on as it was, and says nothing of what is waited for."""
    if cluster.deleting:
        return await _deletion(client, cluster, flags)
    sight = Snapshot()
    await fetch_references(client, sight, cluster)
    await sight.fetch(client, TenantCluster, cluster.metadata.namespace)
    try:
        accepted = accept(cluster, sight)
    except Refused as refused:
        return _refused(cluster, str(refused), refused.problems, flags)
    if (said := _recorded_refusal(cluster)) is not None:
        return _refused(cluster, said.message, (), flags, said.reason)
    meta = cluster.metadata
    inside = cluster.status.tenant_namespace or names.tenant_namespace(meta.name, meta.uid)
    await sight.fetch(client, AddonDefinition)
    await fetch_parts(client, sight, inside, accepted)
    scope = Scope(accepted, inside, sight)
    for step in STEPS:
        verdict = step.verdict(scope)
        if not verdict.done:
            return await _waiting(client, scope, step, verdict, now, flags)
    return _running(cluster, flags)


def _recorded_refusal(cluster: TenantCluster) -> Condition | None:
    """What the controller refuses for reasons that only it can know, such as what was installed when it began."""
    said = cluster.status.condition(Acceptance.condition)
    is_current = cluster.status.observed_generation == cluster.metadata.generation
    return said if said is not None and said.status == "False" and is_current else None


def _told(cluster: TenantCluster, error: Forbidden, flags: Flags) -> Explanation:
    """What the cluster's own conditions say, for those who may see no more."""
    unmet = [one for step in STEPS if (one := cluster.status.condition(step.condition)) and one.status != "True"]
    ready = cluster.status.condition(READY)
    said = next(iter(unmet), ready)
    if said is None or said.status == "True":
        return _running(cluster, flags)
    return Explanation(
        summary=f"{cluster.metadata.name} is not ready",
        waiting_for=said.message or said.reason,
        since=said.last_transition_time,
        whose="",
        next_command=advice.get_cluster(cluster.metadata.name, flags.cluster),
        chain=(said.message or said.reason, f"you may not see more: {error}"),
    )


def _running(cluster: TenantCluster, flags: Flags) -> Explanation:
    status = cluster.status
    if status.phase is None or not status.phase.is_usable:
        return Explanation(
            summary=f"{cluster.metadata.name} has everything it needs; its controller has not said so yet",
            waiting_for="the TenantCluster controller",
            since=_since(cluster, READY),
            whose=Whose.PLATFORM.value,
            next_command=advice.cluster_events(cluster.metadata.name, flags.cluster),
        )
    workers = f"{status.worker_nodes_ready or 0} of {status.worker_nodes_desired or 0} workers ready"
    return Explanation(
        summary=f"{cluster.metadata.name} is running: {workers}",
        waiting_for="nothing",
        since=_since(cluster, READY),
        whose="nobody's: there is nothing to do",
        next_command=advice.merge_kubeconfig(cluster.metadata.name, flags.cluster),
    )


def _refused(
    cluster: TenantCluster, message: str, problems: Sequence[FieldError], flags: Flags, reason: str = ""
) -> Explanation:
    about = " ".join(problem.path for problem in problems) or message
    command = advice.edit_cluster(cluster.metadata.name, flags.cluster)
    if "spec.providerConfigRef" in about:
        command = advice.list_providers(flags.api)
    elif "spec.teamRef" in about:
        command = advice.list_teams(flags.kubectl)
    whose, chain = Whose.OWNER, tuple(map(str, problems))
    if reason == "ProviderNotInstalled":
        whose, chain = Whose.PLATFORM, (message, _INSTALLING)
    goes_on = cluster.status.accepted_spec is not None
    said = "goes on as it was: its change is refused" if goes_on else "cannot be made as it is written"
    return Explanation(
        summary=f"{cluster.metadata.name} {said}",
        waiting_for=message,
        since=_since(cluster, Acceptance.condition),
        whose=whose.value,
        next_command=command,
        chain=chain,
    )


async def _waiting(
    client: Client, scope: Scope, step: Step, verdict: Verdict, now: datetime, flags: Flags
) -> Explanation:
    cluster = scope.cluster
    chain = [f"{step.title}: {verdict.message}"]
    command = advice.cluster_events(scope.name, flags.cluster)
    if step.condition == "WorkersReady":
        found = await find_troubles(client, scope, now)
        if found:
            return _held_up(scope, chain[0], found, flags)
    elif step.condition in {"ControlPlaneReady", "InfrastructureReady"}:
        chain += list(_object_conditions(scope))
    elif step.condition in {"NodeAddonsReady", "AddonsReady"}:
        chain += _addons(scope)
    elif step.condition == "QuotaSatisfied":
        command = advice.list_clusters(flags.cluster)
    return Explanation(
        summary=f"{scope.name} waits for its {step.title.lower()}",
        waiting_for=chain[-1],
        since=_since(cluster, step.condition) or cluster.metadata.creation_timestamp,
        whose=verdict.whose.value,
        next_command=command,
        chain=tuple(chain),
    )


def _held_up(scope: Scope, said: str, found: Sequence[Trouble], flags: Flags) -> Explanation:
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
        command = advice.replace_machine(worst.machine, scope.namespace, flags.kubectl)
    elif whose is Whose.NOBODY:
        command = advice.cluster_nodes(scope.name, flags.cluster)
    else:
        namespace = provider.metadata.namespace
        elsewhere = f" -n {namespace}" if namespace != SYSTEM_NAMESPACE else ""
        command = advice.get_provider(provider.metadata.name, flags.api + elsewhere)
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


def _addons(scope: Scope) -> list[str]:
    """What is said of each addon that is missing. The last is what to look at first: one that failed, or is next."""
    told = [(one, attempt_at(scope, one)) for one in reversed(missing_addons(scope))]
    told.sort(key=lambda pair: pair[1] is not None and pair[1].status == "Failed")
    declined = [str(one.error) for one in declined_addons(scope)]
    return [*(f"{one.name} {one.version}: {_addon_state(tried)}" for one, tried in told), *declined]


def _addon_state(tried: ObservedAddon | None) -> str:
    if tried is None:
        return "is yet to be installed"
    if tried.status == "Failed":
        return f"could not be installed: {tried.message}"
    if tried.status == "Pending":
        return "nothing here installs it"
    return f"is being installed: {tried.message}" if tried.message else "is being installed"


async def _deletion(client: Client, cluster: TenantCluster, flags: Flags) -> Explanation:
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
        next_command=advice.watch_cluster(cluster.metadata.name, flags.cluster),
        chain=(waiting, *chain),
    )


def _since(cluster: TenantCluster, condition: str) -> datetime | None:
    found = cluster.status.condition(condition)
    return found.last_transition_time if found else None
