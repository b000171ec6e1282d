"""How many may call an account at the same time, and when nobody may."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from kubekit.clock import Clock

Wake = Callable[[str], None]

_FALLBACK = timedelta(minutes=1)
"""When to come again if nobody wakes one before."""

_WIDENED = 0.02
"""By how much each visit that ended well makes room for more."""


class Busy(Exception):
    """It is not one's turn: one will be woken, or comes again by oneself."""

    def __init__(self, again: timedelta) -> None:
        super().__init__(f"again in {again}")
        self.again = again


class Gate:
    """In front of one account: so many visitors at a time, in the order of their coming, and none while the
    infrastructure has asked to be left alone. Afterwards one goes first, others follow if all is well, and fewer at a
    time than before."""

    def __init__(self, at_once: int, clock: Clock) -> None:
        self._most, self._clock = at_once, clock
        self._width = float(at_once)
        """How many may be inside at present: half as many after a complaint, and by and by more again."""
        self._inside = 0
        self._waiting: dict[str, Wake] = {}
        self._closed_until = 0.0
        self._first = ""

    def enter(self, visitor: str, wake: Wake) -> None:
        """Raises Busy; else `leave` must follow."""
        rest = self._closed_until - self._clock.monotonic()
        if rest > 0 and self._first in ("", visitor):
            self._first = visitor
            raise Busy(timedelta(seconds=rest))
        if rest > 0 or self._inside >= int(self._width):
            self._waiting.setdefault(visitor, wake)
            raise Busy(_FALLBACK)
        self._waiting.pop(visitor, None)
        self._first = "" if self._first == visitor else self._first
        self._inside += 1

    def leave(self) -> None:
        self._inside -= 1
        if self._closed_until > self._clock.monotonic():
            return
        self._width = min(self._width + _WIDENED, self._most)
        for visitor in list(self._waiting)[: max(int(self._width) - self._inside, 0)]:
            self._waiting.pop(visitor)(visitor)

    def close(self, visitor: str, pause: timedelta) -> None:
        """Let nobody in for a while; then this visitor first."""
        now = self._clock.monotonic()
        if self._closed_until <= now:
            self._width = max(self._width / 2, 1.0)
        self._first = visitor
        self._closed_until = max(self._closed_until, now + pause.total_seconds())
