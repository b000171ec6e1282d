"""What is tried with an addon, and how long it rests after a failure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from butler.addons.model import Addon
from butler.engines.helm.protocol import Place

FIRST_REST, LONGEST_REST = timedelta(minutes=1), timedelta(minutes=15)
"""When something that failed is tried again: later each time."""
FIRST_LOOK, LONGEST_LOOK = timedelta(seconds=5), timedelta(minutes=1)
"""When an addon that does not work yet is looked at again."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """An errand for an addon."""

    verb: Literal["install", "look", "remove"]
    place: Place
    version: str = ""
    digest: str = ""
    generation: int = 0
    """Of the object that asks for it: whoever writes it anew wants to see it tried anew."""
    is_upgrade: bool = False
    repairs: bool = False
    """Whether what differs is to be put right, and what is gone to be installed again."""
    patience: timedelta = timedelta(minutes=10)
    """How long it may take to work once it is written."""
    name: str = ""
    """Of the addon that is removed, where that is known: the release of another is not touched."""
    holds_volumes: bool = False
    """Whether it must not be removed while there are volumes."""


def installing(addon: Addon, generation: int, *, is_upgrade: bool) -> Attempt:
    return Attempt(
        "install", addon.place, addon.version, addon.digest, generation, is_upgrade, patience=addon.release.timeout
    )


def looking(addon: Addon, generation: int, *, repairs: bool) -> Attempt:
    return Attempt(
        "look", addon.place, addon.version, addon.digest, generation, repairs=repairs, patience=addon.release.timeout
    )


@dataclass(slots=True)
class Memory:
    """What is remembered of one object; nothing is lost with it but patience."""

    failed: Attempt | None = None
    """What failed last."""
    failures: int = 0
    """How often in a row."""
    rests_until: float = 0.0
    look_at: float | None = None
    """When to look at what is installed; None where nobody knows."""
    unready: int = 0
    """How often in a row it was found not to work yet."""

    def fail(self, attempt: Attempt, now: float) -> None:
        self.failures = self.failures + 1 if self.failed == attempt else 1
        self.failed, self.look_at = attempt, None
        self.rests_until = now + _growing(FIRST_REST, LONGEST_REST, self.failures - 1)

    def succeed(self) -> None:
        self.failed, self.failures, self.rests_until = None, 0, 0.0

    def rests(self, attempt: Attempt, now: float) -> bool:
        """Whether it is too early to try this again."""
        return self.failed == attempt and now < self.rests_until

    def see_unready(self, now: float) -> None:
        self.look_at = now + _growing(FIRST_LOOK, LONGEST_LOOK, self.unready)
        self.unready += 1

    def see_settled(self, now: float, check: timedelta) -> None:
        self.unready = 0
        self.look_at = now + check.total_seconds()


def _growing(first: timedelta, longest: timedelta, times: int) -> float:
    return min(first.total_seconds() * (1 << min(times, 10)), longest.total_seconds())
