"""A queue of keys with one task behind it: each key once, again after a failure, later and later."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from butler.runtime.clock import Clock

log = logging.getLogger("butler.apiserver")

Key = TypeVar("Key", bound=Hashable)

_FIRST_DELAY, _LONGEST_DELAY = 0.05, 30.0


class Worker(Generic[Key]):
    """Calls `work(key)` for every key that was added, one at a time."""

    def __init__(self, name: str, work: Callable[[Key], Awaitable[None]], clock: Clock) -> None:
        self._name, self._work, self._clock = name, work, clock
        self._waiting: dict[Key, None] = {}
        self._failures: dict[Key, int] = {}
        self._wake = asyncio.Event()
        self._resting = asyncio.Event()

    def add(self, key: Key) -> None:
        self._waiting[key] = None
        self._resting.clear()
        self._wake.set()

    async def idle(self) -> None:
        """Wait until there is nothing to do but what is put off after a failure."""
        await self._resting.wait()

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as later:
            while True:
                while not self._waiting:
                    self._resting.set()
                    self._wake.clear()
                    await self._wake.wait()
                key = next(iter(self._waiting))
                del self._waiting[key]
                try:
                    await self._work(key)
                except Exception as error:
                    delay = self._delay(key)
                    log.warning("%s key=%s error=%s again_in=%.2fs", self._name, key, error, delay)
                    later.create_task(self._add_after(key, delay))
                else:
                    self._failures.pop(key, None)

    def _delay(self, key: Key) -> float:
        count = self._failures.get(key, 0)
        self._failures[key] = count + 1
        return float(min(_FIRST_DELAY * 2**count, _LONGEST_DELAY))

    async def _add_after(self, key: Key, delay: float) -> None:
        await self._clock.sleep(delay)
        self.add(key)
