"""Installing addons beside the controller: that takes minutes, and a visit to a cluster should not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal

from butler.api.cluster import ObservedAddon
from butler.engines.addons import Installed
from kubekit.clock import Clock

from ..settings import AddonSettings
from .progress import observed

AT_ONCE = 8
"""Clusters that are installed into at the same time."""
_BRIEFLY = 0.2
"""Seconds for which a visit waits: what is done by then is told together with everything else."""
_TRY_AGAIN = timedelta(minutes=1)
"""When to try an addon again that could not be installed."""
_LOOK_AGAIN = timedelta(minutes=10)
"""When to look again at what is under way, should nothing be heard of it."""

Install = Callable[[Sequence[AddonSettings]], Coroutine[Any, Any, Sequence[Installed]]]


@dataclass(slots=True)
class _Place:
    """What is known of one cluster."""

    task: asyncio.Task[None] | None = None
    found: dict[str, ObservedAddon] = field(default_factory=dict)
    """By name, what the cluster's status may not say yet."""
    failed: dict[str, tuple[AddonSettings, float]] = field(default_factory=dict)
    """By name, what could not be installed, and when to try that again."""
    error: Exception | None = None
    """Why none of what was wanted last could even be tried."""
    attended: bool = False
    """Whether a visit waits for the end of the task, and so needs not be woken by it."""


class Installations:
    """One for a cluster at a time, a few at once, none longer than controllers work.

    What came of one is kept until the cluster's status says it: whoever is started anew, or loses what it wrote, finds
    that an addon is missing and has it installed again, which changes nothing where it is there."""

    def __init__(self, clock: Clock, at_once: int = AT_ONCE) -> None:
        self.wake: Callable[[str], None] = lambda key: None
        """Brings the next visit to a cluster."""
        self._clock = clock
        self._turns = asyncio.Semaphore(at_once)
        self._places: dict[str, _Place] = {}
        self._group: asyncio.TaskGroup | None = None

    async def run(self) -> None:
        """For as long as controllers work: what is under way at their end is given up."""
        self._places.clear()
        async with asyncio.TaskGroup() as self._group:
            await asyncio.get_running_loop().create_future()

    def news(self, key: str, told: Sequence[ObservedAddon]) -> Mapping[str, ObservedAddon]:
        """What is known of a cluster's addons by now, where its status does not say so."""
        place = self._places.get(key)
        if place is None:
            return {}
        if place.task is None:
            place.found = {name: one for name, one in place.found.items() if one not in told}
        return dict(place.found)

    async def begin(self, key: str, wanted: Sequence[AddonSettings], install: Install) -> None:
        """Install what is wanted, unless something is being installed there, or it is too early to try again. Waits
        for the end of it, but only a moment."""
        place = self._places.setdefault(key, _Place())
        due = [one for one in wanted if not self._rests(place, one)]
        if place.task is not None or place.error is not None or not due:
            return
        assert self._group is not None, "controllers work only while this runs"
        place.found |= {one.name: observed(one, "Installing") for one in due}
        place.task = self._group.create_task(self._work(key, place, due, install))
        place.attended = True
        try:
            await asyncio.wait((place.task,), timeout=_BRIEFLY)
        finally:
            place.attended = False

    def take_error(self, key: str) -> Exception | None:
        """Why nothing could even be tried, once: whoever hears of it tries again when it is time."""
        place = self._places.get(key)
        if place is None:
            return None
        error, place.error = place.error, None
        return error

    def again(self, key: str) -> timedelta | None:
        """When the cluster should be visited again on account of what is installed there."""
        place = self._places.get(key)
        if place is None:
            return None
        if place.task is not None:
            return _LOOK_AGAIN
        now = self._clock.monotonic()
        rests = [until - now for _, until in place.failed.values() if until > now]
        return timedelta(seconds=min(rests)) if rests else None

    async def stop(self, key: str) -> None:
        """Give up what is being installed into a cluster, and forget what came of it."""
        place = self._places.pop(key, None)
        if place is not None and place.task is not None:
            place.task.cancel()
            await asyncio.wait((place.task,))

    def _rests(self, place: _Place, wanted: AddonSettings) -> bool:
        tried, until = place.failed.get(wanted.name, (None, 0.0))
        return tried == wanted and until > self._clock.monotonic()

    async def _work(self, key: str, place: _Place, wanted: Sequence[AddonSettings], install: Install) -> None:
        try:
            async with self._turns:
                came = {one.name: one for one in await install(wanted)}
                results = [(one, came[one.name]) for one in wanted]
        except Exception as error:
            # Whatever it is, the next visit to the cluster tells of it.
            place.error = error
            for one in wanted:
                del place.found[one.name]
        else:
            for one, came_of_it in results:
                self._note(place, one, came_of_it)
        finally:
            place.task = None
        if not place.attended:
            self.wake(key)

    def _note(self, place: _Place, wanted: AddonSettings, came_of_it: Installed) -> None:
        place.failed.pop(wanted.name, None)
        if came_of_it.problem:
            place.failed[wanted.name] = wanted, self._clock.monotonic() + _TRY_AGAIN.total_seconds()
        status: Literal["Failed", "Healthy"] = "Failed" if came_of_it.problem else "Healthy"
        place.found[wanted.name] = observed(wanted, status, came_of_it.problem or came_of_it.remark)
