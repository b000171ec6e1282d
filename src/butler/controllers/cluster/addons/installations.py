"""Work on addons beside the controller: it takes minutes, and a visit to a cluster should not."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any

from msgspec import structs

from butler.addons.model import Addon, AddonState, Seen
from butler.api.cluster import ObservedAddon
from kubekit.clock import Chance, Clock, SystemChance, fraction
from kubekit.errors import KubeError
from kubekit.runtime.reconciler import Note

from ...errands import Errands
from .observed import KEPT, News, is_told, observed, seen_as

AT_ONCE = 8
"""Clusters that are worked on at the same time."""
_TRY_AGAIN, _AT_MOST = timedelta(seconds=15), timedelta(minutes=10)
"""When to try an addon again that could not be installed: each time later, up to this."""
_LOOK_AGAIN = timedelta(minutes=10)
"""When to look again at what is under way, should nothing be heard of it."""
_LOOK_AFTER = timedelta(minutes=10)
"""How often to look after what is installed, about."""
_SOONEST, _LATEST = 1.0, 60.0
"""Seconds until the next look at what was written and does not work: as many as it took so far, within these."""

Install = Callable[[Sequence[Addon]], Coroutine[Any, Any, Sequence[Seen]]]
Remove = Callable[[ObservedAddon], Awaitable[None]]


@dataclass(slots=True)
class _Rest:
    """Something that could not be done."""

    wanted: object
    until: float
    times: int = 1


@dataclass(slots=True)
class _Place:
    """What is known of one cluster."""

    found: dict[str, ObservedAddon | None] = field(default_factory=dict)
    """By name, what the cluster's status may not say yet; None of what is gone."""
    rests: dict[str, _Rest] = field(default_factory=dict)
    """By name, what could not be installed or removed, and when to try that again."""
    awaited: dict[str, tuple[Addon, float]] = field(default_factory=dict)
    """By name, what was written and does not work, or not yet, and since when."""
    lasting: set[str] = field(default_factory=set)
    """Names of what cannot change by itself."""
    look_at: float | None = None
    """When to look after everything else that is there."""
    await_at: float = 0.0
    """When to look at what is awaited."""
    notes: list[Note] = field(default_factory=list)
    """What happened that nobody heard of."""
    error: Exception | None = None
    """Why none of what was wanted last could even be tried."""


class Installations:
    """One piece of work for a cluster at a time, a few at once, none longer than controllers work.

    What came of one is kept until the cluster's status says it: whoever is started anew, or loses what it wrote, finds
    that an addon is missing and has it installed again, which changes nothing where it is there."""

    def __init__(self, clock: Clock, chance: Chance | None = None, at_once: int = AT_ONCE) -> None:
        self.errands: Errands[str, None] = Errands(at_once)
        self._clock, self._chance = clock, chance or SystemChance()
        self._places: dict[str, _Place] = {}

    async def run(self) -> None:
        """For as long as controllers work: what is under way at their end is given up."""
        self._places.clear()
        await self.errands.run()

    def news(self, key: str, told: Sequence[ObservedAddon]) -> News:
        """What is known of a cluster's addons by now, where its status does not say so."""
        place = self._places.get(key)
        if place is None:
            return {}
        if not self._is_busy(key):
            by_name = {one.name: one for one in told}
            place.found = {name: one for name, one in place.found.items() if not is_told(one, name, by_name)}
        # What is awaited, or tried again later, is under way though no task is at work on it.
        begun = {*place.awaited, *place.rests}
        waiting = {one.name: one for one in told if one.name in begun and one.status == "Installing"}
        return {**waiting, **place.found}

    async def begin(self, key: str, wanted: Sequence[Addon], install: Install) -> None:
        """Install what is wanted, unless something is under way there, or it is too early to try again. Waits for the
        end of it, but only a moment."""
        place = self._places.setdefault(key, _Place())
        due = [one for one in wanted if not self._rests(place, one.name, one) and not _is_awaited(place, one)]
        if self._is_busy(key) or place.error is not None or not due:
            return
        place.found |= {one.name: observed(one, "Installing") for one in due}
        await self._start(key, place, partial(self._install, place, due, install))

    async def remove(self, key: str, unwanted: Sequence[ObservedAddon], remove: Remove) -> None:
        """Take out what nobody wants any more, as `begin` installs."""
        place = self._places.setdefault(key, _Place())
        due = [one for one in unwanted if not self._rests(place, one.name, one.release)]
        if not self._is_busy(key) and place.error is None and due:
            await self._start(key, place, partial(self._remove, place, due, remove))

    async def look_after(self, key: str, installed: Sequence[Addon], look: Install) -> None:
        """Look at what is there, when it is time for that."""
        place, now = self._places.setdefault(key, _Place()), self._clock.monotonic()
        installed = [one for one in installed if one.name not in place.lasting]
        if not installed:
            place.look_at = None
            return
        if place.look_at is None:
            place.look_at = now + fraction(self._chance) * _LOOK_AFTER.total_seconds()
        awaited = [one for one in installed if _is_awaited(place, one)]
        place.awaited = {one.name: place.awaited[one.name] for one in awaited}
        due = installed if now >= place.look_at else awaited if now >= place.await_at else ()
        if self._is_busy(key) or not due:
            return
        if due is installed:
            place.look_at = now + self._period()
        await self._start(key, place, partial(self._look, place, due, look))

    def take_error(self, key: str) -> Exception | None:
        """Why nothing could even be tried, once: whoever hears of it tries again when it is time."""
        place = self._places.get(key)
        if place is None:
            return None
        error, place.error = place.error, None
        return error

    def take_notes(self, key: str) -> tuple[Note, ...]:
        """What happened since somebody asked."""
        place = self._places.get(key)
        if place is None:
            return ()
        notes, place.notes = tuple(place.notes), []
        return notes

    def again(self, key: str) -> timedelta | None:
        """When the cluster should be visited again on account of its addons."""
        place = self._places.get(key)
        if place is None:
            return None
        if self._is_busy(key):
            return _LOOK_AGAIN
        now = self._clock.monotonic()
        times = [one.until - now for one in place.rests.values() if one.until > now]
        times += [max(0.0, place.look_at - now)] if place.look_at is not None else []
        times += [max(0.0, place.await_at - now)] if place.awaited else []
        # Rounded up: whoever comes too early only comes again.
        return timedelta(milliseconds=math.ceil(min(times) * 1000)) if times else None

    async def stop(self, key: str) -> None:
        """Give up what is under way in a cluster, and forget what came of it."""
        self._places.pop(key, None)
        await self.errands.stop(key)

    def _is_busy(self, key: str) -> bool:
        return self.errands.under_way(key) is not None

    def _rests(self, place: _Place, name: str, wanted: object) -> bool:
        rest = place.rests.get(name)
        return rest is not None and rest.wanted == wanted and rest.until > self._clock.monotonic()

    def _period(self) -> float:
        """Never the same, so that clusters that began together do not stay together."""
        return (0.75 + fraction(self._chance) / 2) * _LOOK_AFTER.total_seconds()

    async def _start(self, key: str, place: _Place, work: Callable[[], Awaitable[None]]) -> None:
        async def done() -> None:
            try:
                await work()
            except Exception as error:
                # Whatever it is, the next visit to the cluster tells of it.
                place.error = error

        await self.errands.begin(key, key, done)

    async def _install(self, place: _Place, wanted: Sequence[Addon], install: Install) -> None:
        try:
            came = {one.name: one for one in await install(wanted)}
            results = [(one, came[one.name]) for one in wanted]
        except Exception:
            for one in wanted:
                del place.found[one.name]
            raise
        for one, seen in results:
            self._note(place, one, seen)
            before = place.rests.pop(one.name, None)
            if seen.state is AddonState.FAILED or seen.outdated:
                self._rest(place, one.name, one, before)

    async def _remove(self, place: _Place, unwanted: Iterable[ObservedAddon], remove: Remove) -> None:
        for one in unwanted:
            try:
                await remove(one)
            except KubeError as error:
                place.found[one.name] = structs.replace(one, message=f"{KEPT}{error}")
                self._rest(place, one.name, one.release, place.rests.get(one.name))
            else:
                place.found[one.name] = None
                place.rests.pop(one.name, None)
                place.notes.append(Note("AddonRemoved", f"{one.name} {one.version}: nobody asks for it any more"))

    async def _look(self, place: _Place, installed: Sequence[Addon], look: Install) -> None:
        try:
            came = {one.name: one for one in await look(installed)}
        except KubeError:
            # A cluster that does not answer is looked at again; that it does not, others tell.
            return
        for one in installed:
            if (seen := came.get(one.name)) is not None:
                self._note(place, one, seen)
                if seen.repaired:
                    place.notes.append(Note("AddonRepaired", f"{one.name} {one.version}: {seen.repaired}"))

    def _note(self, place: _Place, wanted: Addon, seen: Seen) -> None:
        """What is known of an addon now, and when to look at it again."""
        now = self._clock.monotonic()
        (place.lasting.add if seen.lasting else place.lasting.discard)(wanted.name)
        _, since = place.awaited.pop(wanted.name, (None, now))
        if seen.state in (AddonState.INSTALLING, AddonState.DEGRADED) and not seen.outdated:
            place.awaited[wanted.name] = wanted, since
            place.await_at = now + min(max(now - since, _SOONEST), _LATEST)
        place.found[wanted.name] = seen_as(wanted, seen)

    def _rest(self, place: _Place, name: str, wanted: object, before: _Rest | None) -> None:
        times = before.times + 1 if before is not None and before.wanted == wanted else 1
        pause = min(_TRY_AGAIN * 2 ** min(times - 1, 8), _AT_MOST)
        place.rests[name] = _Rest(wanted, self._clock.monotonic() + pause.total_seconds(), times)


def _is_awaited(place: _Place, wanted: Addon) -> bool:
    waiting = place.awaited.get(wanted.name)
    return waiting is not None and waiting[0] == wanted
