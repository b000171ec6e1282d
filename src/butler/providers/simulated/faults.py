"""What stands between an account and the data centre: slowness, limits, outages and lost answers."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TypeVar

from butler.errors import ProviderUnavailable, RateLimited
from kubekit.clock import Chance, Clock, fraction

from .datacentre import NAME
from .section import Knobs
from .traffic import Traffic

Answer = TypeVar("Answer")


class Trouble(Enum):
    """What goes wrong with a call."""

    NONE = "None"
    BEFORE = "Before"
    """It fails and did nothing."""
    AFTER = "After"
    """It did what it should, but the answer is lost."""
    TWICE = "Twice"
    """It arrives twice."""
    LIMITED = "Limited"
    """It is told to come again."""


Weather = Callable[[str, Knobs], Trouble]
"""What goes wrong with a call of a verb."""


def by_chance(chance: Chance) -> Weather:
    """As often as the section says."""

    def weather(verb: str, knobs: Knobs) -> Trouble:
        section = knobs.section
        drawn = fraction(chance) * 100
        for trouble, percent in (
            (Trouble.BEFORE, section.failure_percent),
            (Trouble.AFTER, section.lost_answer_percent),
            (Trouble.TWICE, section.repeated_percent if verb == "create" else 0),
        ):
            drawn -= percent
            if drawn < 0:
                return trouble
        return Trouble.NONE

    return weather


class FaultyAccess:
    """Where one account makes its calls."""

    def __init__(self, clock: Clock, weather: Weather, traffic: Traffic) -> None:
        self._clock, self._weather, self._traffic = clock, weather, traffic
        self._second, self._calls = 0.0, 0

    async def ask(self, verb: str, machine: str, knobs: Knobs, effect: Callable[[], Answer]) -> Answer:
        """What `effect` answers, if all goes well. Raises ProviderUnavailable, RateLimited."""
        with self._traffic.call():
            return await self._answered(verb, machine, knobs, effect)

    async def _answered(self, verb: str, machine: str, knobs: Knobs, effect: Callable[[], Answer]) -> Answer:
        if knobs.call:
            await self._clock.sleep(knobs.call)
        self._check_rate(machine, knobs)
        trouble = self._weather(verb, knobs)
        if trouble is Trouble.BEFORE:
            raise ProviderUnavailable(NAME, machine, f"{verb}: connection refused")
        if trouble is Trouble.LIMITED:
            raise RateLimited(NAME, machine, f"{verb}: too many calls", 1.0)
        answer = effect()
        if trouble is Trouble.TWICE:
            answer = effect()
        if trouble is Trouble.AFTER:
            raise ProviderUnavailable(NAME, machine, f"{verb}: connection reset")
        return answer

    def _check_rate(self, machine: str, knobs: Knobs) -> None:
        limit = knobs.section.rate_limit
        if limit is None:
            return
        now = self._clock.monotonic()
        if now >= self._second + 1:
            self._second, self._calls = now, 0
        self._calls += 1
        if self._calls > limit:
            raise RateLimited(NAME, machine, f"more than {limit} calls a second", self._second + 1 - now)
