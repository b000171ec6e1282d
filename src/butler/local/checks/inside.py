"""What should hold inside a platform that runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

from butler import advice
from butler.api.cluster import TenantCluster
from butler.api.machine import MachinePhase, MachineRequest
from butler.api.provider import ProviderConfig
from butler.api.shared import SYSTEM_NAMESPACE
from butler.controllers.machine import VM_DELETED
from butler.engines.capi.kinds import Cluster, Machine
from butler.providers.simulated.datacentre import DataCentre
from butler.simulation.infrastructure.kinds import SimulatedMachine
from kubekit.client.protocol import Client
from kubekit.clock import SystemClock
from kubekit.model.crd import DEFINITION

from .. import health, on_cluster
from ..home import Home
from ..installation import MANAGER, NAMESPACE, definition_of
from .finding import Finding, failed, passed

_STUCK = timedelta(minutes=10)
_SETTLED = timedelta(seconds=30)
_MANY = 5
"""How many names of things a finding shows."""


async def api(place: Home, client: Client) -> Iterable[Finding]:
    namespaces = await client.list(NAMESPACE)
    return [passed("API", f"answers, {len(namespaces.items)} namespaces")]


async def definitions(place: Home, client: Client) -> Iterable[Finding]:
    """Installed, and those of this version."""
    running = place.running()
    stored = {item["metadata"]["name"]: item for item in (await client.list(DEFINITION)).items}
    wrong = []
    for kind in on_cluster.definitions(await on_cluster.survey(client), running is not None and running.simulated):
        known = stored.get(kind.address.name)
        if known is None or known["metadata"].get("deletionTimestamp"):
            wrong.append(f"{kind.address.name} is missing")
            continue
        wanted = await client.apply(definition_of(kind), DEFINITION, manager=MANAGER, dry_run=True)
        if wanted["spec"] != known["spec"]:
            wrong.append(f"{kind.address.name} is of another version")
    if wrong:
        return [failed("definitions", _some(wrong), f"`{place.again}`: they are installed at the start")]
    return [passed("definitions", "all are of this version")]


async def controllers(place: Home, client: Client) -> Iterable[Finding]:
    running = place.running()
    checks = await health.problems_of(running) if running else {"platform": "has ended"}
    wrong = [f"{name} {problem}" for name, problem in checks.items() if problem]
    if wrong:
        remedy = f"see `{advice.platform_log(place.flag)}`; if it stays so: `{place.again}`"
        return [failed("controllers", _some(wrong), remedy)]
    return [passed("controllers", f"{len(checks)} caches and queues are well")]


async def providers(place: Home, client: Client) -> Iterable[Finding]:
    """Accounts that can be used."""
    configs = (await client.list(ProviderConfig)).items
    wrong = [config for config in configs if config.status.ready is False]
    if wrong:
        named, meta = _some([config.key for config in wrong]), wrong[0].metadata
        elsewhere = f" -n {meta.namespace}" if meta.namespace != SYSTEM_NAMESPACE else ""
        remedy = advice.get_provider(meta.name, _where(place) + elsewhere)
        return [failed("providers", f"not ready: {named}", remedy)]
    return [passed("providers", f"{len(configs)} can be used")]


async def deletions(place: Home, client: Client) -> Iterable[Finding]:
    """Nothing that wants to go and cannot."""
    since = SystemClock().now() - _STUCK
    stuck, clusters = [], []
    for kind in (TenantCluster, Cluster, Machine):
        items: tuple[Any, ...] = (await client.list(kind)).items
        late = [item.key for item in items if _is_older(item.metadata.deletion_timestamp, since)]
        stuck += [f"{kind.__name__} {key}" for key in late]
        clusters += late if kind is TenantCluster else []
    for item in (await client.list(NAMESPACE)).items:
        if _is_older(_moment(item["metadata"].get("deletionTimestamp")), since):
            stuck.append(f"Namespace {item['metadata']['name']}")
    if stuck:
        says = f"`{advice.why(clusters[0], _where(place))}` says what it waits for" if clusters else ""
        remedy = says or f"see `{advice.platform_log(place.flag)}`"
        return [failed("deletions", f"for more than 10 minutes: {_some(stuck)}", remedy)]
    return [passed("deletions", "none is stuck")]


async def leftovers(place: Home, client: Client) -> Iterable[Finding]:
    """No machine in the simulated data centre that nobody owns, and none that somebody believes in and is not."""
    if not place.datacentre.exists():
        return []
    # What was made a moment ago may not be in both yet.
    since = (SystemClock().now() - _SETTLED).timestamp()
    owners = {one.metadata.uid: one for one in (await client.list(SimulatedMachine)).items}
    with closing(DataCentre(place.datacentre)) as datacentre:
        machines = datacentre.machines()
    strays = [vm.name for vm in machines if vm.token not in owners and vm.created < since]
    tokens = {vm.token for vm in machines}
    lost = [one.key for uid, one in owners.items() if one.spec.provider_id and uid not in tokens and not one.deleting]
    findings = []
    if strays:
        remedy = f"report it, please: Butler should leave none; see `{advice.platform_log(place.flag)}`"
        findings.append(failed("machines", f"without an owner: {_some(strays)}", remedy))
    if lost:
        namespace, _, name = lost[0].rpartition("/")
        remedy = f"have each replaced: `{advice.replace_machine(name, namespace, _kubectl(place))}`"
        findings.append(failed("machines", f"gone from the data centre: {_some(lost)}", remedy))
    return findings or [passed("machines", f"{len(machines)}, each with an owner")]


async def requests(place: Home, client: Client) -> Iterable[Finding]:
    """Machines that somebody asked for and does not have: refused, lost, or late."""
    since = SystemClock().now() - _STUCK
    items: tuple[MachineRequest, ...] = (await client.list(MachineRequest)).items
    troubles = [(one, trouble) for one in items if (trouble := _trouble_of(one, since))]
    if not troubles:
        return [passed("requests", f"{len(items)} for machines, none in trouble")]
    worst, (_, is_lost) = troubles[0]
    meta, kubectl = worst.metadata, _kubectl(place)
    remedy = f"`{advice.describe_request(meta.name, meta.namespace, kubectl)}` says more"
    if is_lost:
        removal = advice.delete_request(meta.name, meta.namespace, kubectl)
        remedy = f"only whoever asked for it can say what that means; `{removal}` lets go of it"
    told = [f"{one.key} {summary}" for one, (summary, _) in troubles]
    return [failed("requests", _some(told), remedy)]


def _trouble_of(request: MachineRequest, since: datetime) -> tuple[str, bool] | None:
    """What is wrong with a request, and whether its machine was there once and is gone."""
    status, ready = request.status, request.status.condition("Ready")
    if request.deleting:
        return ("cannot go", False) if _is_older(request.metadata.deletion_timestamp, since) else None
    if status.phase is MachinePhase.FAILED:
        return f"has failed: {status.failure_message or status.failure_reason}", status.failure_reason == VM_DELETED
    if ready is not None and ready.status == "True":
        return None
    began = ready.last_transition_time if ready is not None else request.metadata.creation_timestamp
    if not _is_older(began, since):
        return None
    said = ready.message if ready is not None else "no controller has looked at it"
    return f"is {status.phase.value if status.phase else 'Pending'} for too long: {said}", False


def _where(place: Home) -> str:
    running = place.running()
    return place.elsewhere or (running.where if running is not None else "")


def _kubectl(place: Home) -> str:
    running = place.running()
    return place.elsewhere or (running.kubectl_where if running is not None else "")


def _is_older(moment: datetime | None, since: datetime) -> bool:
    return moment is not None and moment < since


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _some(names: list[str]) -> str:
    more = len(names) - _MANY
    return ", ".join(names[:_MANY]) + (f" and {more} more" if more > 0 else "")


CHECKS: tuple[Callable[[Home, Client], Awaitable[Iterable[Finding]]], ...] = (
    api,
    definitions,
    controllers,
    providers,
    deletions,
    requests,
    leftovers,
)
