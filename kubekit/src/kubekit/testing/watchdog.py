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


def _computed() -> float:
    """Seconds that this process has computed, in all its threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


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
    """What happens meanwhile must not hold the running loop for longer than `limit` seconds. Raises LoopHeld."""
    watchdog = Watchdog()
    try:
        yield watchdog
    finally:
        watchdog.stop()
    if watchdog.longest > limit:
        raise LoopHeld(f"the event loop was held for {watchdog.longest * 1000:.0f} ms, more than {limit * 1000:.0f}")
