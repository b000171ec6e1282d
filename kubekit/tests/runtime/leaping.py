"""An event loop for tests that wait for hours on a server that is really there: time stands still while the server has
something to say, and leaps to the next timer when it has not."""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from kubekit.client.config import Config
from kubekit.client.http import HttpClient
from kubekit.clock import SeededChance
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
    """Has what the tests use of `deterministic_loop.Loop`."""

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


@contextmanager
def opened(seed: int, traffic: Traffic) -> Iterator[Loop]:
    """What to use in place of `deterministic_loop.opened`."""
    loop = Loop(seed, traffic)
    try:
        yield loop
    finally:
        loop.run_until_complete(_end(loop))
        loop.close()


async def _end(loop: Loop) -> None:
    left = asyncio.all_tasks(loop) - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    for client in loop.clients:
        await client.close()
    # Transports say goodbye in callbacks of their own.
    await asyncio.sleep(0.01)


class RealSpace:
    """What to use in place of a space in memory, as far as tests need more of it than a client."""

    def __init__(self, config: Config, loop: Loop) -> None:
        self._config, self._loop = config, loop

    def client(self) -> HttpClient:
        made = HttpClient(self._config)
        self._loop.clients.append(made)
        return made
