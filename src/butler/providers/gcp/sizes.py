"""Machine types for so many cores and so much memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..sizes import InstanceType, smallest

_FAMILIES: tuple[tuple[str, float, tuple[int, ...]], ...] = (
    ("e2-highcpu", 1, (2, 4, 8, 16, 32)),
    ("e2-standard", 4, (2, 4, 8, 16, 32)),
    ("e2-highmem", 8, (2, 4, 8, 16)),
    ("n2-highcpu", 1, (2, 4, 8, 16, 32, 48, 64, 80, 96)),
    ("n2-standard", 4, (2, 4, 8, 16, 32, 48, 64, 80, 96, 128)),
    ("n2-highmem", 8, (2, 4, 8, 16, 32, 48, 64, 80, 96)),
    ("n2-highmem", 6.75, (128,)),
)
"""Families of general purpose, with GB of memory for each core. Those with shared cores are left out: they do not have
what they say for long. They are the same everywhere and do not change, so nobody has to be asked, and the workers of
tenant clusters, which are described without asking, are of the same types."""


def _types(families: Iterable[tuple[str, float, tuple[int, ...]]]) -> Iterator[InstanceType]:
    for family, memory, sizes in families:
        yield from (InstanceType(f"{family}-{cpu}", cpu, int(cpu * memory * 1024)) for cpu in sizes)


TYPES: tuple[InstanceType, ...] = tuple(_types(_FAMILIES))


def machine_type(cpu: int, memory_mb: int) -> str:
    """The smallest type that has them; empty when none has."""
    found = smallest(TYPES, cpu, memory_mb)
    return found.name if found is not None else ""
