"""A clock that is moved by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(2030, 1, 1, tzinfo=UTC)


class HandClock:
    """`kubekit.clock.Clock`: time passes when someone says so, and sleeping says so."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def pass_by(self, seconds: float) -> None:
        self._seconds += seconds

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=self._seconds)

    def monotonic(self) -> float:
        return self._seconds

    async def sleep(self, seconds: float) -> None:
        self.pass_by(seconds)
