"""What should hold inside a platform that runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

from butler.api.cluster import TenantCluster
from butler.api.provider import ProviderConfig
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
        return [failed("definitions", _some(wrong), "butleradm down, then up: they are installed at the start")]
    return [passed("definitions", "all are of this version")]


async def controllers(place: Home, client: Client) -> Iterable[Finding]:
    running = place.running()
    checks = await health.problems_of(running) if running else {"platform": "has ended"}
    wrong = [f"{name} {problem}" for name, problem in checks.items() if problem]
    if wrong:
        return [failed("controllers", _some(wrong), f"see {place.log}; if it stays so: butleradm down, then up")]
    return [passed("controllers", f"{len(checks)} caches and queues are well")]


async def providers(place: Home, client: Client) -> Iterable[Finding]:
    """Accounts that can be used."""
    configs = (await client.list(ProviderConfig)).items
    wrong = [config for config in configs if config.status.ready is False]
    if wrong:
        named, meta = _some([config.key for config in wrong]), wrong[0].metadata
        remedy = f"kubectl describe providerconfig {meta.name} -n {meta.namespace}"
        return [failed("providers", f"not ready: {named}", remedy)]
    return [passed("providers", f"{len(configs)} can be used")]


async def deletions(place: Home, client: Client) -> Iterable[Finding]:
    """Nothing that wants to go and cannot."""
    since = SystemClock().now() - _STUCK
    stuck = []
    for kind in (TenantCluster, Cluster, Machine):
        items: tuple[Any, ...] = (await client.list(kind)).items
        stuck += [f"{kind.__name__} {item.key}" for item in items if _is_older(item.metadata.deletion_timestamp, since)]
    for item in (await client.list(NAMESPACE)).items:
        if _is_older(_moment(item["metadata"].get("deletionTimestamp")), since):
            stuck.append(f"Namespace {item['metadata']['name']}")
    if stuck:
        remedy = "butlerctl cluster why NAME says what a cluster waits for"
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
        remedy = f"report it, please: Butler should leave none; see {place.log}"
        findings.append(failed("machines", f"without an owner: {_some(strays)}", remedy))
    if lost:
        namespace, _, name = lost[0].rpartition("/")
        remedy = f"have each replaced: kubectl delete machine -n {namespace} {name}"
        findings.append(failed("machines", f"gone from the data centre: {_some(lost)}", remedy))
    return findings or [passed("machines", f"{len(machines)}, each with an owner")]


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
    leftovers,
)
