"""A watchdog over an event loop: how long was it held, so that nobody else was served?

Time is what the whole process has computed, not what a clock on the wall shows: a machine that is busy with other
things holds no loop. And it is the process, not only the loop's own thread: what another thread does without letting go
of the interpreter holds the loop as well.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

LIMIT = 0.1
_BEAT = 0.002
_USUAL = 0.010
"""Seconds that `_exercise` takes where the limits were set."""


def _computed() -> float:
    """Seconds that this process has computed, in all its threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def slowness() -> float:
    """How much slower the processor is at this moment than the one the limits were set on; 1 when it is not."""
    return max(1.0, min(_exercise() for _ in range(3)) / _USUAL)


def _exercise() -> float:
    before, kept = _computed(), dict[int, int]()
    for number in range(100_000):
        kept[number & 255] = kept.get(number & 127, 0) ^ number
    return _computed() - before


class LoopHeld(AssertionError):
    """The loop was held for longer than anybody should wait."""


class Watchdog:
    """Beats on the running loop, and remembers how much was computed between two beats at most."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._loop = asyncio.get_running_loop()
        self._last = _computed()
        self._next = self._loop.call_soon(self._beat)

    def _beat(self) -> None:
        now = _computed()
        self.longest, self._last = max(self.longest, now - self._last), now
        self._next = self._loop.call_later(_BEAT, self._beat)

    def stop(self) -> None:
        self._beat()
        self._next.cancel()


@asynccontextmanager
async def watched(limit: float = LIMIT) -> AsyncIterator[Watchdog]:
    """What happens meanwhile must not hold the running loop for longer than `limit` seconds. Raises LoopHeld.

    The limit is that of a processor of usual speed, and longer where it is slower at this moment."""
    watchdog = Watchdog()
    try:
        yield watchdog
    finally:
        watchdog.stop()
    if watchdog.longest > limit and watchdog.longest > limit * slowness():
        raise LoopHeld(f"the event loop was held for {watchdog.longest * 1000:.0f} ms, more than {limit * 1000:.0f}")
