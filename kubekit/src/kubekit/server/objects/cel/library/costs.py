"""What functions cost beside their fixed price, of the values of their arguments; the numbers are Kubernetes' own
unless more is done here."""

from __future__ import annotations

from typing import Any

from ..language.budget import LETTERS, LIST, PER_CALL, weight
from ..language.functions import Cost
from ..language.values import Value

Sized = Any


def fixed(cost: int) -> Cost:
    return lambda *_: cost


def reading(times: int) -> Cost:
    """Of going over the first argument so many times."""
    return lambda text, *_: len(text) * times // LETTERS


def search(text: str, part: str, *_: Value) -> int:
    """Of finding one text in another; at worst every place is compared with all of the part."""
    return (1 + len(text) // LETTERS) * (1 + len(part) // LETTERS)


def shorter(first: Sized, second: Sized) -> int:
    """Of comparing two texts."""
    return min(len(first), len(second)) // LETTERS


def sum_of(first: Sized, second: Sized) -> int:
    """Of a text made of two."""
    return (len(first) + len(second)) // LETTERS


def concatenation(first: list[Value], second: list[Value]) -> int:
    return (len(first) + len(second)) // 4


def traversal(values: Value, *_: Value) -> int:
    """Of looking at everything in a value."""
    return 3 * weight(values, PER_CALL // 3)


def copy(values: list[Value], *_: Value) -> int:
    return LIST + len(values)


def product(factor: int) -> Cost:
    """Of comparing the items of two lists with each other."""

    def cost(first: list[Value], second: list[Value]) -> int:
        pairs = factor * len(first) * len(second)
        if pairs > PER_CALL:
            return pairs
        return pairs + 6 * (weight(first, PER_CALL // 6) + weight(second, PER_CALL // 6))

    return cost


def square(values: list[Value], *keys: list[Value]) -> int:
    """Of comparing all items of a list, or the keys that stand for them, with each other."""
    compared = keys[0] if keys else values
    return LIST + 2 * len(compared) ** 2 + 2 * weight(compared)
