"""Time and chance, injected: nothing else reads the clock, sleeps or draws a random number."""

from __future__ import annotations

import os
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
        import asyncio  # noqa: PLC0415 - a command that only asks for the time is spared it

        await asyncio.sleep(seconds)


class Chance(Protocol):
    """Where random bytes come from."""

    def bytes(self, count: int) -> bytes: ...


class SystemChance:
    """Unpredictable bytes from the operating system, fetched in bulk because each call to it is slow."""

    _BULK = 4096

    def __init__(self) -> None:
        self._buffer = b""
        self._at = 0

    def bytes(self, count: int) -> bytes:
        if self._at + count > len(self._buffer):
            self._buffer, self._at = os.urandom(max(self._BULK, count)), 0
        self._at += count
        return self._buffer[self._at - count : self._at]


class SeededChance:
    """The same bytes for the same seed: for histories that must repeat, never for secrets."""

    def __init__(self, seed: int) -> None:
        import random  # noqa: PLC0415 - as above

        self._random = random.Random(seed)  # noqa: S311 - determinism is the purpose

    def bytes(self, count: int) -> bytes:
        return self._random.randbytes(count)


def fraction(chance: Chance) -> float:
    """A number from 0 up to but not including 1, each as likely as the other."""
    return int.from_bytes(chance.bytes(6), "big") / 2**48


async def give_way() -> None:
    """Let everybody else who is waiting have a turn."""
    import asyncio  # noqa: PLC0415 - as above

    await asyncio.sleep(0)
