"""Sizes and costs that are only known within bounds, reckoned as cel-go does: in 64 bits, the largest meaning any."""

from __future__ import annotations

import math
from typing import NamedTuple

LARGEST = 2**64 - 1


def times(cost: int, other: int) -> int:
    return min(cost * other, LARGEST)


def plus(*costs: int) -> int:
    return min(sum(costs), LARGEST)


def scaled(size: int, factor: float) -> int:
    """Rounded up."""
    product = math.ceil(float(size) * factor)
    return min(LARGEST, product)


class Size(NamedTuple):
    """How many characters, bytes, items or entries something has."""

    least: int
    most: int

    def __or__(self, other: Size) -> Size:
        """Either of two."""
        return Size(min(self.least, other.least), max(self.most, other.most))

    def plus(self, other: Size) -> Size:
        return Size(plus(self.least, other.least), plus(self.most, other.most))

    def times(self, other: Size) -> Size:
        return Size(times(self.least, other.least), times(self.most, other.most))

    def cost(self, factor: float) -> int:
        """What going over it costs at most."""
        return scaled(self.most, factor)


UNKNOWN = Size(0, LARGEST)


def exactly(size: int) -> Size:
    return Size(size, size)


class EntrySize(NamedTuple):
    """The sizes of what a list or map holds."""

    is_list: bool
    key: Size
    value: Size


def either(first: EntrySize | None, second: EntrySize | None) -> EntrySize | None:
    if first is None or second is None:
        return None
    return EntrySize(first.is_list, first.key | second.key, first.value | second.value)
