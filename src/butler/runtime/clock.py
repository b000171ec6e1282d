"""Time and chance, injected: nothing else in Butler reads the clock, sleeps or draws a random number."""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What time it is, and waiting for it to pass."""

    def now(self) -> datetime:
        """The wall clock, in UTC."""

    def monotonic(self) -> float:
        """Seconds that never go backwards."""

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Chance(Protocol):
    """Where random bytes come from."""

    def bytes(self, count: int) -> bytes: ...


class SystemChance:
    """Unpredictable bytes from the operating system."""

    def bytes(self, count: int) -> bytes:
        return secrets.token_bytes(count)


class SeededChance:
    """The same bytes for the same seed: for histories that must repeat, never for secrets."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - determinism is the purpose

    def bytes(self, count: int) -> bytes:
        return self._random.randbytes(count)
