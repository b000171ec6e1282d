"""The addons of one cluster beside each other: which keep each other out, and which wait for which."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from butler.addons.errors import AddonConflict, AddonRefused
from butler.engines.helm.protocol import Place


class DependencyCycle(AddonRefused):
    """Addons that wait for each other."""

    reason = "DependencyCycle"


@dataclass(frozen=True, slots=True)
class Resident:
    """An addon that is in a cluster or is to be, whoever asks for it."""

    title: str
    """For people."""
    rank: tuple[object, ...]
    """Of two that cannot be side by side, the one with the lower rank stays."""
    name: str = ""
    """Of the object that asks for it; empty for what comes with the cluster."""
    definition: str = ""
    """In the catalogue; empty for a chart that is not in it."""
    conflicts: tuple[str, ...] = ()
    """Definitions it cannot be beside."""
    needs: tuple[str, ...] = ()
    """Definitions that must be there before."""
    after: tuple[str, ...] = ()
    """Objects that must be installed before."""
    place: Place | None = None
    state: str = ""
    works: bool = False
    has_release: bool = False
    """Whether anything of it may be in the cluster."""


def rank_of(created: str, name: str, *, has_release: bool) -> tuple[object, ...]:
    """Whoever is there stays; of those that are not, the older one goes first."""
    return (1 if has_release else 2, created, name)


PLATFORM: tuple[object, ...] = (0,)
"""The rank of what comes with the cluster."""


def check_conflicts(me: Resident, others: Iterable[Resident]) -> None:
    """Raises AddonConflict."""
    for other in others:
        clash = _clash(me, other)
        if clash and other.rank < me.rank:
            raise AddonConflict(me.name, clash)


def _clash(me: Resident, other: Resident) -> str:
    if me.definition and me.definition == other.definition:
        return f"the cluster has {me.definition} already: {other.title}"
    if other.definition and other.definition in me.conflicts:
        return f"{me.definition} cannot be in one cluster with {other.definition}: {other.title}"
    if me.definition and me.definition in other.conflicts:
        return f"{other.definition} cannot be in one cluster with {me.definition}: {other.title}"
    if me.place is not None and me.place == other.place:
        return f"{me.place} is that of {other.title}"
    return ""


def check_cycles(me: Resident, others: Sequence[Resident]) -> None:
    """Raises DependencyCycle, which says who waits for whom."""
    way = _way_back(me, others)
    if way:
        raise DependencyCycle(me.name, f"waits for itself: {' after '.join((me.name, *way))}")


def _way_back(me: Resident, others: Sequence[Resident]) -> list[str]:
    """From one addon over those it waits for to itself."""
    seen: set[str] = set()
    ways = [[one] for one in _before(me, others, me)]
    while ways:
        way = ways.pop()
        last = way[-1]
        if last.name == me.name:
            return [one.name for one in way]
        if last.name not in seen:
            seen.add(last.name)
            ways += [[*way, one] for one in _before(last, others, me)]
    return []


def _before(one: Resident, others: Sequence[Resident], me: Resident) -> Iterator[Resident]:
    """The objects that one waits for, by name or as the only ones that bring what it needs."""
    everyone = [other for other in (*others, me) if other.name]
    yield from (other for other in everyone if other.name in one.after)
    brought = {other.definition for other in others if other.works and other is not me}
    yield from (other for other in everyone if other.definition in one.needs and other.definition not in brought)


def unmet(me: Resident, others: Sequence[Resident]) -> list[str]:
    """What it waits for, each with how that is."""
    named = {other.name: other for other in others if other.name}
    found = []
    for name in me.after:
        other = named.get(name)
        if other is None:
            found.append(f"{name} is not there, or is for another cluster")
        elif not other.works:
            found.append(f"{name} is {other.state or 'Pending'}")
    for need in me.needs:
        offered = [other for other in others if other.definition == need]
        if not offered:
            found.append(f"{need} is not in the cluster")
        elif not any(other.works for other in offered):
            found.append(f"{need} is {offered[0].state or 'Pending'}")
    return found


def dependents(me: Resident, others: Sequence[Resident]) -> list[str]:
    """Those that would lose what they need. One that this one itself waits for does not count: neither would ever
    go."""
    mine = {one.name for one in _before(me, others, me)}
    also = {other.definition for other in others if other.works}
    return sorted(
        other.name
        for other in others
        if other.name
        and other.has_release
        and other.name not in mine
        and (me.name in other.after or (me.definition in other.needs and me.definition not in also))
    )


def is_held(place: Place, others: Iterable[Resident]) -> bool:
    """Whether a release is that of another."""
    return any(one.place == place and one.has_release for one in others)
