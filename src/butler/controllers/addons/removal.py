"""The end of an addon: who has to go before it, and what happens to its release."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from butler.api.addon import AddonDefinition
from butler.engines.helm.protocol import Cluster, Place
from kubekit.runtime.reconciler import Note, Outcome

from ..requests import FORCED
from . import residents
from . import status as pictures
from .attempts import Attempt
from .residents import Resident
from .upkeep import Subject, Upkeep

_LOOK_AGAIN = timedelta(minutes=10)
"""When to look again at what waits, should nothing happen before."""


@dataclass(frozen=True, slots=True)
class Removal:
    """An addon that is to go from a cluster that stays."""

    attempt: Attempt
    me: Resident
    others: Sequence[Resident]
    reach: Callable[[], Awaitable[Cluster]]
    hindrance: tuple[str, str] | None
    """What keeps it from being removed now: a word for programs, and a text."""


def removal_of(place: Place, name: str, definition: AddonDefinition | None) -> Attempt:
    """What holds the volumes of others does not go from under them."""
    holds_volumes = definition is not None and definition.spec.category == "storage"
    return Attempt("remove", place, name=name, holds_volumes=holds_volumes)


async def take_out(upkeep: Upkeep, obj: Subject, removal: Removal) -> Outcome:
    """Finished when `again` is None."""
    place = removal.attempt.place
    if obj.metadata.annotations.get(FORCED) == "true":
        upkeep.tell(obj, Note("Abandoned", f"{place} was let go without being removed.", "Warning"))
        return await let_go(upkeep, obj)
    if waiting := residents.dependents(removal.me, removal.others):
        return _held_back(upkeep, obj, "NeededByOthers", f"needed by {', '.join(waiting)}")
    if residents.is_held(place, removal.others):
        return await let_go(upkeep, obj)
    if removal.hindrance is not None:
        reason, message = removal.hindrance
        return _held_back(upkeep, obj, reason, message)
    outcome = await upkeep.remove(obj, removal.attempt, removal.reach)
    if outcome.again is None:
        upkeep.tell(obj, Note("AddonUninstalled", f"{place} is gone"))
    return outcome


async def let_go(upkeep: Upkeep, obj: Subject) -> Outcome:
    """Without removing anything."""
    await upkeep.forget(obj.key)
    return Outcome(obj.status)


def _held_back(upkeep: Upkeep, obj: Subject, reason: str, message: str) -> Outcome:
    return upkeep.outcome(obj, pictures.held_back(obj.status, reason, message), _LOOK_AGAIN)
