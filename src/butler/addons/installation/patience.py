"""Waiting for what nobody tells of."""

from __future__ import annotations

from kubekit.clock import Clock

_FIRST, _LONGEST, _GROWTH = 0.5, 15.0, 1.5


class Patience:
    """Some seconds, spent in pauses that grow longer."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock, self._pause = clock, _FIRST
        self._end = clock.monotonic() + seconds

    @property
    def is_over(self) -> bool:
        return self._clock.monotonic() >= self._end

    async def pause(self) -> None:
        await self._clock.sleep(max(0.0, min(self._pause, self._end - self._clock.monotonic())))
        self._pause = min(self._pause * _GROWTH, _LONGEST)
