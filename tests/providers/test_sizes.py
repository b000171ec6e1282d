"""Instance types by cores and memory."""

from __future__ import annotations

import pytest

from butler.providers.sizes import InstanceType, smallest

TYPES = [
    InstanceType("large", 8, 32768),
    InstanceType("memory", 4, 32768),
    InstanceType("plain", 4, 16384),
    InstanceType("also-plain", 4, 16384),
    InstanceType("small", 2, 8192),
]


@pytest.mark.parametrize(
    ("cpu", "memory_mb", "name"),
    [
        (1, 1024, "small"), (2, 8192, "small"), (2, 8193, "also-plain"), (3, 1, "also-plain"), (4, 20000, "memory"),
        (5, 1, "large"), (9, 1, None), (1, 40000, None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("order", [1, -1])
def test_the_smallest_that_fits_is_chosen(cpu: int, memory_mb: int, name: str | None, order: int) -> None:
    found = smallest(TYPES[::order], cpu, memory_mb)
    assert (found.name if found else None) == name
