"""An event loop on a virtual clock: time jumps, chance is seeded, and the same seed gives the same history.

There is no I/O, no thread and no waiting. Whenever several tasks or timers are ready, a seeded choice says which runs
next, so that one seed explores one order of events; plain callbacks keep the order they were given in, because asyncio
promises that. When nothing is ready, the clock jumps to the next timer. When there is no timer either, nothing can ever
happen again, and that is an error.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from contextvars import Context
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from typing import Any, TypeVar, TypeVarTuple

from kubekit.clock import SeededChance

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

EPOCH = datetime(2030, 1, 1, tzinfo=UTC)


class NothingLeft(RuntimeError):
    """Everyone waits and nobody will ever wake them."""


class Clock:
    """The virtual time of a loop as a `kubekit.clock.Clock`."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=self._loop.time())

    def monotonic(self) -> float:
        return self._loop.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Task(asyncio.Task[T]):
    """A task whose hash is its number, because asyncio keeps tasks in sets and the order there must not depend on
    memory addresses."""

    def __init__(
        self,
        number: int,
        coro: Generator[Any, None, T] | Coroutine[Any, Any, T],
        loop: Loop,
        name: str,
        context: Context | None,
    ) -> None:
        # Before anything else, because to be a task is to be put into a set.
        self._number = number
        super().__init__(coro, loop=loop, name=name, context=context)

    def __hash__(self) -> int:
        return self._number


class Loop(asyncio.BaseEventLoop):
    """Runs what asyncio's own loop runs, as long as it needs neither sockets nor threads."""

    def __init__(self, seed: int) -> None:
        self._running = False
        super().__init__()
        self.clock = Clock(self)
        self.chance = SeededChance(seed)
        self._choose = random.Random(f"order {seed}").random  # noqa: S311 - determinism is the purpose
        self._now = 0.0
        self._runnable: list[asyncio.Handle] = []
        """Steps of tasks and timers that are due: in any order."""
        self._queued: deque[asyncio.Handle] = deque()
        """Plain callbacks: in the order they came."""
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._numbers = 0
        self._halting = False
        self.failures: list[dict[str, Any]] = []
        """What went wrong where nobody waited for it, such as a task whose exception was never looked at."""

    def run_forever(self) -> None:
        self._halting = False
        with self._current():
            while not self._halting:
                self._step()

    def _step(self) -> None:
        """Run one callback, having moved time to it if need be."""
        runnable, queued = self._runnable, self._queued
        while not runnable and not queued:
            self._advance()
        chosen = int(self._choose() * (len(runnable) + bool(queued)))
        if chosen == len(runnable):
            handle = queued.popleft()
        else:
            # Swapped with the last, so that taking one out of the middle costs nothing.
            runnable[chosen], runnable[-1] = runnable[-1], runnable[chosen]
            handle = runnable.pop()
        if not handle.cancelled():
            handle._run()

    def _advance(self) -> None:
        if not self._timers:
            waiting = sorted(asyncio.all_tasks(self), key=hash)
            raise NothingLeft(f"at {self._now:.3f}s: " + "; ".join(map(_describe, waiting)))
        self._now = max(self._now, self._timers[0][0])
        while self._timers and self._timers[0][0] <= self._now:
            handle = heappop(self._timers)[2]
            if not handle.cancelled():
                self._runnable.append(handle)

    @contextmanager
    def _current(self) -> Iterator[None]:
        hooks = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(firstiter=None, finalizer=self._end_generator)
        self._running = True
        asyncio._set_running_loop(self)
        try:
            yield
        finally:
            self._running = False
            asyncio._set_running_loop(None)
            sys.set_asyncgen_hooks(*hooks)

    def stop(self) -> None:
        self._halting = True

    def is_running(self) -> bool:
        return self._running

    def close(self) -> None:
        self._runnable.clear()
        self._queued.clear()
        self._timers.clear()
        super().close()

    def time(self) -> float:
        return self._now

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        if isinstance(getattr(callback, "__self__", None), asyncio.Task):
            self._runnable.append(handle)
        else:
            self._queued.append(handle)
        return handle

    def call_soon_threadsafe(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        return self.call_soon(callback, *args, context=context)

    def call_later(
        self, delay: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        self._numbers += 1
        heappush(self._timers, (when, self._numbers, handle))
        return handle

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Cancelled timers are skipped when their time comes."""

    def create_task(
        self,
        coro: Generator[Any, None, T] | Coroutine[Any, Any, T],
        *,
        name: object = None,
        context: Context | None = None,
    ) -> asyncio.Task[T]:
        self._numbers += 1
        return Task(self._numbers, coro, self, str(name or f"task-{self._numbers}"), context)

    def run_in_executor(self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts) -> asyncio.Future[T]:
        """At once, for want of a thread."""
        done: asyncio.Future[T] = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:
            done.set_exception(error)
        return done

    def _end_generator(self, generator: AsyncGenerator[Any, Any]) -> None:
        """One that was given up half-way still gets to its `finally`."""
        if not self.is_closed():
            self.create_task(_close(generator))

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        self.failures.append(context)


def run(main: Callable[[Loop], Coroutine[Any, Any, T]], seed: int) -> T:
    """What `main` answers in the history that belongs to a seed.

    Raises its exception, NothingLeft, or the failure of something nobody waited for."""
    with opened(seed) as loop:
        return loop.run_until_complete(main(loop))


@contextmanager
def opened(seed: int) -> Iterator[Loop]:
    """A loop to run things on one after the other; what is left of them is cancelled at the end.

    Raises the failure of something nobody waited for."""
    loop = Loop(seed)
    try:
        yield loop
    finally:
        loop.run_until_complete(_end(loop))
        loop.close()
    if loop.failures:
        raise RuntimeError(f"nobody waited for: {loop.failures[0].get('message')}") from loop.failures[0].get(
            "exception"
        )


async def _end(loop: Loop) -> None:
    """Cancel what is left and let it clean up."""
    left = sorted(asyncio.all_tasks(loop) - {asyncio.current_task()}, key=hash)
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


async def _close(generator: AsyncGenerator[Any, Any]) -> None:
    await generator.aclose()


def _describe(task: asyncio.Task[Any]) -> str:
    frames = task.get_stack(limit=1)
    return f"{task.get_name()} waits in {frames[0].f_code.co_qualname if frames else '?'}"
