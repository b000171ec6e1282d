"""Which type of instance a cloud should make for so many cores and so much memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InstanceType:
    """A size that a cloud offers."""

    name: str
    cpu: int
    memory_mb: int


def smallest(types: Iterable[InstanceType], cpu: int, memory_mb: int) -> InstanceType | None:
    """The smallest that has at least what is asked for; None when none has. The same answer for the same types,
    whatever their order: fewest cores first, then least memory, then by name."""
    fitting = [one for one in types if one.cpu >= cpu and one.memory_mb >= memory_mb]
    return min(fitting, key=lambda one: (one.cpu, one.memory_mb, one.name), default=None)
