"""A work queue: each key once, never twice at a time, now or later, and the slower the more often it failed."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from enum import IntEnum
from heapq import heappop, heappush

from kubekit.clock import Chance, Clock, fraction

from .metrics import Metrics


class Lane(IntEnum):
    """What is worked on first."""

    FRESH = 0
    """Something changed."""
    ROUTINE = 1
    """A retry, a visit by appointment, the first look after a start."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long a key waits that failed: doubling from the first delay to the longest, each a little varied."""

    first: float = 0.05
    longest: float = 300.0
    variation: float = 0.2

    def delay(self, failures: int, chance: Chance) -> float:
        """Seconds to wait after so many failures before this one."""
        doubled = self.first * 2.0 ** min(failures, 40)
        return min(doubled, self.longest) * (1 + self.variation * fraction(chance))


USUAL_BACKOFF = Backoff()

_ROUTINE_SHARE = 8
"""One key in so many is taken from the routine lane even while there are fresh ones, so that none waits for ever."""

_FEW = 64
"""So many cancelled appointments more than real ones are not worth clearing away."""


class WorkQueue:
    """Keys to be worked on; all methods are called on the event loop.

    `get` hands out a key that nobody works on and `done` gives it back. A key added while someone works on it is
    handed out again afterwards. Taking a key also cancels its appointment (`add_after`): the work that is about to
    be done decides when the next is due. After `close` nothing is handed out.
    """

    def __init__(
        self,
        name: str,
        clock: Clock,
        chance: Chance,
        *,
        backoff: Backoff = USUAL_BACKOFF,
        metrics: Metrics | None = None,
    ) -> None:
        self.name, self._clock, self._chance = name, clock, chance
        self._backoff = backoff
        self._metrics = metrics or Metrics()
        self._ready: tuple[dict[str, float], dict[str, float]] = ({}, {})
        """By lane: keys in the order of their coming, with the time they came."""
        self._working: dict[str, float] = {}
        self._again: dict[str, Lane] = {}
        self._due: dict[str, float] = {}
        self._appointments: list[tuple[float, str]] = []
        self._failures: dict[str, int] = {}
        self._getters: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._taken = 0
        self._closed = False
        self._measure(self._metrics)

    def _measure(self, metrics: Metrics) -> None:
        metrics.depth.watch(lambda: len(self), self.name)
        metrics.unfinished.watch(self._unfinished, self.name)
        metrics.longest.watch(self.longest_work, self.name)
        self._queue_time = metrics.queue_time.of(self.name)
        self._work_time = metrics.work_time.of(self.name)

    def add(self, key: str, lane: Lane = Lane.FRESH) -> None:
        """The key is to be worked on, as soon as somebody is free and nobody works on it."""
        if self._closed:
            return
        self._metrics.adds.add(self.name)
        if key in self._working:
            self._again[key] = min(lane, self._again.get(key, lane))
        else:
            self._put(key, lane)

    def add_after(self, key: str, seconds: float) -> None:
        """The key is to be worked on in so many seconds; of several such wishes the earliest counts."""
        if seconds <= 0:
            self.add(key, Lane.ROUTINE)
            return
        due = self._clock.monotonic() + seconds
        if self._closed or due >= self._due.get(key, due + 1):
            return
        self._due[key] = due
        heappush(self._appointments, (due, key))
        if len(self._appointments) > 2 * len(self._due) + _FEW:
            self._appointments = sorted((due, key) for key, due in self._due.items())
        self._set_timer()

    def add_rate_limited(self, key: str) -> float:
        """The key failed: it is to be worked on again after a delay that doubles each time. Answers the delay."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        self._metrics.retries.add(self.name)
        delay = self._backoff.delay(failures, self._chance)
        self.add_after(key, delay)
        return delay

    def add_at_leisure(self, key: str) -> None:
        """No repetition is expected to help, but the world may have changed after the longest delay."""
        self.add_after(key, self._backoff.delay(40, self._chance))

    def forget(self, key: str) -> None:
        """The key succeeded: its next failure is its first."""
        self._failures.pop(key, None)

    def failures(self, key: str) -> int:
        return self._failures.get(key, 0)

    async def get(self) -> str | None:
        """The next key, once there is one; None when the queue is closed. Give it back with `done`."""
        while not self._closed:
            key = self._take()
            if key is not None:
                return key
            waiting = asyncio.get_running_loop().create_future()
            self._getters.append(waiting)
            try:
                await waiting
            except asyncio.CancelledError:
                self._pass_on(waiting)
                raise
        return None

    def done(self, key: str) -> None:
        """Nobody works on the key any more."""
        started = self._working.pop(key)
        self._work_time.observe(self._clock.monotonic() - started)
        lane = self._again.pop(key, None)
        if lane is not None and not self._closed:
            self._put(key, lane)

    def close(self) -> None:
        """Hand out nothing more and forget what waits; work under way goes on."""
        self._closed = True
        for lane in self._ready:
            lane.clear()
        self._due.clear()
        self._appointments.clear()
        self._again.clear()
        if self._timer is not None:
            self._timer.cancel()
        for waiting in self._getters:
            if not waiting.done():
                waiting.set_result(None)
        self._getters.clear()

    def __len__(self) -> int:
        """Keys that are ready."""
        return len(self._ready[0]) + len(self._ready[1])

    @property
    def working(self) -> int:
        return len(self._working)

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is ready, under way or arranged for later."""
        return not (self._working or self._due or len(self))

    def longest_work(self) -> float:
        """Seconds the oldest work is under way; 0 when there is none."""
        return self._clock.monotonic() - min(self._working.values()) if self._working else 0.0

    def longest_wait(self) -> float:
        """Seconds the oldest ready key has waited; 0 when there is none."""
        firsts = [next(iter(lane.values())) for lane in self._ready if lane]
        return self._clock.monotonic() - min(firsts) if firsts else 0.0

    def _unfinished(self) -> float:
        now = self._clock.monotonic()
        return sum(now - started for started in self._working.values())

    def _put(self, key: str, lane: Lane) -> None:
        fresh, routine = self._ready
        if key in fresh or (lane is Lane.ROUTINE and key in routine):
            return
        # A key that waits as routine and then changes moves up, with the time it has waited already.
        came = routine.pop(key, None) if lane is Lane.FRESH else None
        self._ready[lane][key] = self._clock.monotonic() if came is None else came
        self._wake_one()

    def _take(self) -> str | None:
        fresh, routine = self._ready
        if not fresh and not routine:
            return None
        self._taken += 1
        turn = routine if routine and (not fresh or self._taken % _ROUTINE_SHARE == 0) else fresh
        key = next(iter(turn))
        came = turn.pop(key)
        now = self._clock.monotonic()
        self._queue_time.observe(now - came)
        self._working[key] = now
        self._due.pop(key, None)
        return key

    def _wake_one(self) -> None:
        while self._getters:
            waiting = self._getters.popleft()
            if not waiting.done():
                waiting.set_result(None)
                return

    def _pass_on(self, waiting: asyncio.Future[None]) -> None:
        """A getter was cancelled: if it had been woken already, the key it was woken for needs another."""
        if waiting.done() and not waiting.cancelled():
            self._wake_one()
        elif waiting in self._getters:
            self._getters.remove(waiting)

    def _set_timer(self) -> None:
        """Wake up when the first appointment is due."""
        while self._appointments and self._due.get(self._appointments[0][1]) != self._appointments[0][0]:
            heappop(self._appointments)
        if not self._appointments:
            return
        due = self._appointments[0][0]
        loop = asyncio.get_running_loop()
        at = loop.time() + max(due - self._clock.monotonic(), 0.0)
        if self._timer is not None:
            if not self._timer.cancelled() and self._timer.when() <= at:
                return
            self._timer.cancel()
        self._timer = loop.call_at(at, self._keep_appointments)

    def _keep_appointments(self) -> None:
        self._timer = None
        now = self._clock.monotonic()
        while self._appointments and self._appointments[0][0] <= now:
            due, key = heappop(self._appointments)
            if self._due.get(key) == due:
                del self._due[key]
                self.add(key, Lane.ROUTINE)
        self._set_timer()
