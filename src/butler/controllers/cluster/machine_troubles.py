"""The machines that hold up a cluster, and whether waiting will help."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec

from butler.engines.capi.kinds import Machine
from kubekit.client.protocol import Client, Selection
from kubekit.model.status import Condition

from .lookup import Snapshot
from .scope import Scope
from .step import Whose

PATIENCE = timedelta(minutes=10)
"""What takes longer than this does not just take its time."""

_TELLING = ("InfrastructureReady", "BootstrapConfigReady", "NodeReady", "NodeHealthy")
_SUMMARIES = {"Ready", "Available", "Paused", "Deleting"}
_NODE_DELETED = "NodeDeleted"
_ON_THE_WAY = ("NotReady", "Provisioning")
"""Reasons of an infrastructure that only say that it is not done; so do all that begin with Waiting."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A machine that is not ready, and what it says."""

    machine: str
    text: str
    whose: Whose = Whose.NOBODY
    is_lost: bool = False
    """Whether it was there once and only another one can take its place."""

    @property
    def is_serious(self) -> bool:
        return self.whose is not Whose.NOBODY


async def find_troubles(client: Client, scope: Scope, now: datetime) -> list[Trouble]:
    """Every machine of a cluster that is not ready, the worst first."""
    sight, kind = Snapshot(), scope.templates.machine_kind
    await sight.fetch(client, kind, scope.namespace)
    machines = (await client.list(Machine, Selection(scope.namespace))).items
    behind = {one["metadata"]["name"]: one for one in sight.within(kind, scope.namespace)}
    found = [_trouble(one, behind.get(_infrastructure(one)) or {}, now) for one in machines if not _is_ready(one)]
    return sorted(found, key=lambda one: (not one.is_serious, one.machine))


def _trouble(machine: Machine, infrastructure: Mapping[str, Any], now: datetime) -> Trouble:
    name, lead = machine.metadata.name, f"Machine {machine.metadata.name} ({machine.status.phase or 'Pending'})"
    if machine.deleting:
        return Trouble(name, f"{lead}: {deletion_text(machine)}")
    below = next(_unmet(_conditions_of(infrastructure)), None)
    said = below or next((one for one in machine.status.conditions if one.type in _TELLING and _is_unmet(one)), None)
    if said is None:
        return Trouble(name, f"{lead}: nothing is said of it yet")
    is_broken = said is below and not _is_on_the_way(said.reason)
    is_lost = said.reason == _NODE_DELETED or (is_broken and machine.spec.provider_id is not None)
    whose = Whose.NOBODY
    if said.reason == _NODE_DELETED:
        whose = Whose.OWNER
    elif is_broken or _is_overdue(said, now):
        whose = Whose.INFRASTRUCTURE
    return Trouble(name, f"{lead}: {said.message or said.reason}", whose, is_lost)


def deletion_text(machine: Machine) -> str:
    """What a machine that is to go still waits for."""
    said = machine.status.condition("Deleting")
    return (said.message or said.reason) if said else (machine.status.phase or "is going")


def _is_ready(machine: Machine) -> bool:
    ready = machine.status.condition("Ready")
    return ready is not None and ready.status == "True" and not machine.deleting


def _infrastructure(machine: Machine) -> str:
    ref = machine.spec.infrastructure_ref
    return ref.name if ref is not None else ""


def _conditions_of(infrastructure: Mapping[str, Any]) -> Iterator[Condition]:
    for one in (infrastructure.get("status") or {}).get("conditions") or ():
        yield msgspec.convert(one, Condition)


def _unmet(conditions: Iterable[Condition]) -> Iterator[Condition]:
    """What is not as it should be, without what only sums that up."""
    return (one for one in conditions if one.type not in _SUMMARIES and _is_unmet(one) and one.message)


def _is_unmet(one: Condition) -> bool:
    return one.status != "True"


def _is_on_the_way(reason: str) -> bool:
    return reason.startswith("Waiting") or reason in _ON_THE_WAY


def _is_overdue(one: Condition, now: datetime) -> bool:
    since = one.last_transition_time
    return since is not None and now - since > PATIENCE
