"""Errands: work that takes longer than a visit, done beside a controller."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from kubekit.errors import KubeError
from kubekit.runtime.logs import say

About = TypeVar("About")
Result = TypeVar("Result")

AT_ONCE = 128
"""Errands at the same time: most of them wait for something, and whoever does the work knows how much of it at once."""
BRIEFLY = 0.2
"""Seconds for which a visit waits: what is done by then is told together with everything else."""


@dataclass(frozen=True, slots=True)
class Ended(Generic[About, Result]):
    """What came of an errand: a result, or an error."""

    about: About
    result: Result | None = None
    error: Exception | None = None


class Errands(Generic[About, Result]):
    """One for an object at a time, so many at once, none longer than controllers work.

    What came of one is kept until the next one for the same object begins, or until it is stopped: a visit that cannot
    write what it learned leaves it to the next. Whoever is started anew knows of none, and begins what has to be done
    again; so errands must be idempotent."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self.wake: Callable[[str], None] = lambda key: None
        """Brings the next visit to an object."""
        self._turns = asyncio.Semaphore(at_once)
        self._under_way: dict[str, tuple[About, asyncio.Task[None]]] = {}
        self._ended: dict[str, Ended[About, Result]] = {}
        self._attended: set[str] = set()
        """Whose visit waits for the end, and so needs not be woken by it."""
        self._group: asyncio.TaskGroup | None = None
        self._works = asyncio.Event()

    async def run(self) -> None:
        """For as long as controllers work: what is under way at their end is given up."""
        self._under_way.clear()
        self._ended.clear()
        try:
            async with asyncio.TaskGroup() as self._group:
                self._works.set()
                await asyncio.get_running_loop().create_future()
        finally:
            self._works.clear()

    def under_way(self, key: str) -> About | None:
        found = self._under_way.get(key)
        return found[0] if found is not None else None

    def ended(self, key: str) -> Ended[About, Result] | None:
        """What came of the last one."""
        return self._ended.get(key)

    async def begin(self, key: str, about: About, work: Callable[[], Coroutine[Any, Any, Result]]) -> None:
        """Have it done, where nothing is under way. Waits for the end of it, but only a moment."""
        await self._works.wait()
        assert self._group is not None
        assert key not in self._under_way, f"{key} has an errand already"
        self._ended.pop(key, None)
        task = self._group.create_task(self._work(key, about, work))
        self._under_way[key] = about, task
        self._attended.add(key)
        try:
            await asyncio.wait((task,), timeout=BRIEFLY)
        finally:
            self._attended.discard(key)

    async def stop(self, key: str) -> None:
        """Give up what is under way, and forget what came of it."""
        self._ended.pop(key, None)
        _, task = self._under_way.pop(key, (None, None))
        if task is not None:
            task.cancel()
            await asyncio.wait((task,))

    async def _work(self, key: str, about: About, work: Callable[[], Coroutine[Any, Any, Result]]) -> None:
        try:
            async with self._turns:
                ended: Ended[About, Result] = Ended(about, await work())
        except Exception as error:
            if not isinstance(error, KubeError | TimeoutError):
                say(logging.ERROR, "errand failed", trace=error, key=key, error=type(error).__name__)
            ended = Ended(about, error=error)
        if self._under_way.get(key, (None, None))[1] is not asyncio.current_task():
            return
        del self._under_way[key]
        self._ended[key] = ended
        if key not in self._attended:
            self.wake(key)
