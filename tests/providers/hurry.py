"""An event loop on which time passes more quickly than sockets answer."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any

RATE = 25.0
"""Seconds for everybody on the loop in a second outside."""


class _Selector(selectors.DefaultSelector):
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(None if timeout is None else timeout / RATE)


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        super().__init__(_Selector())

    def time(self) -> float:
        return super().time() * RATE


class HurriedClock:
    """`kubekit.clock.Clock`: the time on such a loop, which begins now."""

    def __init__(self) -> None:
        self._began, self._at = datetime.now(UTC), self.monotonic()

    def now(self) -> datetime:
        return self._began + timedelta(seconds=self.monotonic() - self._at)

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def hurried(story: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=_Loop) as runner:
        runner.run(story)
