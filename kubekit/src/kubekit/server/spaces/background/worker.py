"""A queue of keys with one task behind it: each key once, again after a failure, later and later."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from kubekit.clock import Clock

log = logging.getLogger("kubekit.server")

Key = TypeVar("Key", bound=Hashable)

_FIRST_DELAY, _LONGEST_DELAY = 0.05, 30.0


class Worker(Generic[Key]):
    """Calls `work(key)` for every key that was added, one at a time. Costs nothing while there is none."""

    def __init__(self, name: str, work: Callable[[Key], Awaitable[None]], clock: Clock) -> None:
        self.name, self._work, self._clock = name, work, clock
        self._waiting: dict[Key, None] = {}
        self._failures: dict[Key, int] = {}
        self._task: asyncio.Task[None] | None = None
        self._put_off: set[asyncio.Task[None]] = set()
        self._is_stopped = False

    def add(self, key: Key) -> None:
        self._waiting[key] = None
        if self._task is None and not self._is_stopped:
            self._task = asyncio.get_running_loop().create_task(self._work_off())

    async def idle(self) -> None:
        """Wait until there is nothing to do but what is put off after a failure."""
        while self._task is not None:
            await asyncio.wait([self._task])

    @property
    def is_idle(self) -> bool:
        return self._task is None

    @property
    def is_stuck(self) -> bool:
        """Whether something waits and nobody will take it up."""
        return bool(self._waiting) and self._task is None

    def cancel(self) -> None:
        """Begin nothing any more, and break off what is under way."""
        self._is_stopped = True
        for task in self._tasks():
            task.cancel()

    async def stop(self) -> None:
        """Cancel, and wait for the end of what was under way."""
        self.cancel()
        if tasks := self._tasks():
            await asyncio.wait(tasks)

    def _tasks(self) -> list[asyncio.Task[None]]:
        return [*self._put_off, *([self._task] if self._task is not None else ())]

    async def _work_off(self) -> None:
        try:
            while self._waiting:
                key = next(iter(self._waiting))
                del self._waiting[key]
                await self._attempt(key)
        finally:
            self._task = None

    async def _attempt(self, key: Key) -> None:
        try:
            await self._work(key)
        except Exception as error:
            delay = self._delay(key)
            log.warning("%s key=%s error=%s again_in=%.2fs", self.name, key, error, delay)
            later = asyncio.get_running_loop().create_task(self._add_after(key, delay))
            self._put_off.add(later)
            later.add_done_callback(self._put_off.discard)
        else:
            self._failures.pop(key, None)

    def _delay(self, key: Key) -> float:
        count = self._failures.get(key, 0)
        self._failures[key] = count + 1
        return float(min(_FIRST_DELAY * 2**count, _LONGEST_DELAY))

    async def _add_after(self, key: Key, delay: float) -> None:
        await self._clock.sleep(delay)
        self.add(key)
