"""What goes wrong between a provider and its infrastructure, call by call."""

from __future__ import annotations

from enum import Enum

from butler.errors import ProviderError, ProviderUnavailable, RateLimited

RETRY_AFTER = 2.0
"""Seconds that LIMITED asks to wait."""


class Fault(Enum):
    """What befalls one call."""

    BEFORE = "Before"
    """The connection ends, and nothing was done."""
    AFTER = "After"
    """It is done, and then the connection ends."""
    SILENT = "Silent"
    """It is done, and no answer comes within the provider's patience."""
    LIMITED = "Limited"
    """Too many calls: 429, come again in RETRY_AFTER seconds."""
    BROKEN = "Broken"
    """An error of the infrastructure itself, such as 500; nothing was done."""

    @property
    def error(self) -> type[ProviderError]:
        """What a provider makes of it."""
        return RateLimited if self is Fault.LIMITED else ProviderUnavailable


class Faults:
    """The plan. The infrastructure under test says `next` for each call it gets, and does what it is told."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.struck: list[str] = []
        """The calls that something befell."""
        self._planned: dict[int, Fault] = {}

    def strike(self, fault: Fault, after: int = 0) -> None:
        """Let it befall the call that comes after so many others."""
        self._planned[len(self.calls) + after] = fault

    def forget(self) -> None:
        """Nothing more goes wrong, and nothing was counted."""
        for memory in (self.calls, self.struck, self._planned):
            memory.clear()

    def next(self, call: str) -> Fault | None:
        """What befalls the call that just came; `call` is how it is shown when a rule does not hold."""
        fault = self._planned.pop(len(self.calls), None)
        self.calls.append(call)
        if fault is not None:
            self.struck.append(call)
        return fault
