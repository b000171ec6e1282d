"""An event loop for tests that wait for hours on a server that is really there: time stands still while the server has
something to say, and leaps to the next timer when it has not."""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from kubekit.client.config import Config
from kubekit.client.http import HttpClient
from kubekit.clock import Chance, Clock, SeededChance
from kubekit.testing import deterministic_loop

T = TypeVar("T")

QUIET = 0.1
"""Seconds without a word from the server after which it has nothing to say."""


class Traffic:
    """How many requests wait for their answer."""

    waiting = 0

    def counted(self, request: Callable[..., Coroutine[Any, Any, T]]) -> Callable[..., Coroutine[Any, Any, T]]:
        async def counting(*args: Any, **options: Any) -> T:
            self.waiting += 1
            try:
                return await request(*args, **options)
            finally:
                self.waiting -= 1

        return counting


class _Selector(selectors.DefaultSelector):
    """Tells of sockets, and of the passing of time."""

    def __init__(self, traffic: Traffic) -> None:
        super().__init__()
        self._traffic = traffic
        self._heard = time.monotonic()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        while not (events := super().select(0 if timeout == 0 else 0.01)) and timeout != 0:
            if timeout is not None and not self._traffic.waiting and time.monotonic() - self._heard > QUIET:
                self.now += timeout
                return []
        if events:
            self._heard = time.monotonic()
        return events


class Loop(asyncio.SelectorEventLoop):
    """Has what the tests use of `deterministic.Loop`."""

    def __init__(self, seed: int, traffic: Traffic) -> None:
        self._leaping = _Selector(traffic)
        super().__init__(self._leaping)
        self.clock = _Clock(self)
        self.chance = SeededChance(seed)
        self.clients: list[HttpClient] = []

    def time(self) -> float:
        return self._leaping.now


class _Clock:
    def __init__(self, loop: Loop) -> None:
        self._loop = loop

    now = deterministic_loop.Clock.now
    monotonic = deterministic_loop.Clock.monotonic
    sleep = deterministic_loop.Clock.sleep


def runner(traffic: Traffic) -> Callable[[Callable[[Loop], Coroutine[Any, Any, T]], int], T]:
    """What to use in place of `deterministic.run`."""

    def run(main: Callable[[Loop], Coroutine[Any, Any, T]], seed: int) -> T:
        loop = Loop(seed, traffic)
        try:
            return loop.run_until_complete(main(loop))
        finally:
            loop.run_until_complete(_end(loop))
            loop.close()

    return run


async def _end(loop: Loop) -> None:
    left = asyncio.all_tasks(loop) - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    for client in loop.clients:
        await client.close()
    # Transports say goodbye in callbacks of their own.
    await asyncio.sleep(0.01)


def space_on(config: Config) -> Callable[[Clock, Chance], Any]:
    """What to use in place of `MemorySpace`."""

    class RealSpace:
        def __init__(self, clock: Clock, chance: Chance) -> None:
            pass

        def client(self) -> HttpClient:
            made = HttpClient(config)
            loop = asyncio.get_running_loop()
            assert isinstance(loop, Loop)
            loop.clients.append(made)
            return made

    return RealSpace
