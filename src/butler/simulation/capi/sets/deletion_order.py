"""Which machines of a set go first when it shrinks."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from enum import IntEnum

from butler.engines.capi.kinds import Machine

from .. import names
from ..conditions import find

_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


class _Rank(IntEnum):
    """The lower, the sooner it goes."""

    GOING = 0
    MARKED = 1
    ILL = 2
    WELL = 3


def first_to_go(machines: Iterable[Machine], order: str | None) -> list[Machine]:
    """All machines, those that go first in front. Machines that are alike come by name, which is as good as chance."""
    found = sorted(machines, key=lambda one: one.metadata.name)
    if order in ("Newest", "Oldest"):
        found.sort(key=_created, reverse=order == "Newest")
    return sorted(found, key=_rank)


def _rank(machine: Machine) -> _Rank:
    if machine.deleting:
        return _Rank.GOING
    if names.DELETE_MACHINE in machine.metadata.annotations:
        return _Rank.MARKED
    return _Rank.WELL if _is_well(machine) else _Rank.ILL


def _is_well(machine: Machine) -> bool:
    healthy = find(machine.status.conditions, "NodeHealthy")
    return machine.status.node_ref is not None and (healthy is None or healthy.status != "False")


def _created(machine: Machine) -> datetime:
    return machine.metadata.creation_timestamp or _BEGINNING
