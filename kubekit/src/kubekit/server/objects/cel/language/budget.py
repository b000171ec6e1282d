"""What evaluating may cost, in the units of Kubernetes: one is about what reading a name or adding two numbers takes.

Calls, loops and some functions cost more than there, because they take longer here. The first entry of a frame is what
the evaluation may still spend. What a part of an expression costs whatever it is given is summed up when the program
is built; what depends on the data is charged before it is done or made, so that no expression takes long or builds
much before it is refused.
"""

from __future__ import annotations

from collections.abc import Collection

from .values import CostExceeded, Optional, Value

PER_CALL = 1_000_000
"""The limit of one evaluation."""
PER_OBJECT = 10_000_000
"""The limit of all rules on one object, and of a policy on one request."""
PER_CONDITIONS = PER_OBJECT // 4
"""The limit of all match conditions of one webhook or policy."""

NAME, SELECTION, CALL, LIST, MAP = 1, 1, 2, 10, 30
EXPRESSION, ITEM = 10, 5
"""What it takes to get to an expression, and to the next item of a loop."""
FAILURE = 30
"""An error that is caught and carried on from."""
LETTERS = 10
"""So many letters are read or written for one unit."""

BLOCK = 1_000
"""So many letters are compared as a block for one unit."""

_STEP = PER_CALL // 10
_MANY = 200

Frame = list[Value]


class OutOfBudget(CostExceeded):
    """Everything that may be spent on one object is spent."""


def charge(frame: Frame, cost: int) -> None:
    """Raises CostExceeded."""
    frame[0] -= cost
    if frame[0] < 0:
        raise exceeded()


def exceeded() -> CostExceeded:
    return CostExceeded("operation cancelled: actual cost limit exceeded")


class Budget:
    """What several evaluations may cost together."""

    __slots__ = ("left", "pause_at")

    def __init__(self, left: int = PER_OBJECT) -> None:
        self.left = left
        self.pause_at = left - _STEP
        """When no more than this is left, others should be looked after."""

    def pause(self) -> None:
        """Begin to count what is done in one go."""
        self.pause_at = self.left - _STEP

    def spend(self, cost: int) -> None:
        """Raises OutOfBudget."""
        self.left -= cost
        if self.left < 0:
            raise OutOfBudget(
                "validation failed due to running out of cost budget, no further validation rules will be run"
            )

    def spend_on_one(self, cost: int) -> None:
        """Raises CostExceeded when it is more than one evaluation may cost."""
        self.spend(cost)
        charge([PER_CALL], cost)


def weight(value: Value, most: int = PER_CALL) -> int:
    """What it costs to look at all of a value, or any number above the `most` that may be spent."""
    kind = type(value)
    if kind is str or kind is bytes:
        return 1 + len(value) // LETTERS
    if kind is list:
        return 1 + (sum(map(weight, value)) if len(value) < _MANY else _weights(value, most))
    if kind is dict:
        if len(value) < _MANY:
            return 1 + sum(map(weight, value)) + sum(map(weight, value.values()))
        return 1 + _weights(value, most) + _weights(value.values(), most)
    if kind is Optional:
        return 1 + weight(value.value) if value.is_present else 1
    return 1


def _weights(values: Collection[Value], most: int) -> int:
    """The same for many values, of which no more are looked at than are needed."""
    total = 0
    if len(values) > most:
        return len(values)
    for value in values:
        total += weight(value)
        if total > most:
            break
    return total


def charge_comparison(frame: Frame, first: Value, second: Value, price: int) -> None:
    """For telling whether two values are equal: all is looked at unless the sizes differ. Raises CostExceeded."""
    kind = type(first)
    if kind is not type(second):
        return
    if kind is str or kind is bytes:
        charge(frame, min(len(first), len(second)) // LETTERS)
    elif kind is Optional or ((kind is list or kind is dict) and len(first) == len(second)):
        charge(frame, price * weight(first, PER_CALL // price))


def charge_search(frame: Frame, value: Value, values: list[Value]) -> None:
    """For looking for a value in a list. Raises CostExceeded."""
    count = len(values)
    charge(frame, count)
    kind = type(value)
    if kind is str or kind is bytes:
        charge(frame, count * (len(value) // BLOCK))
    elif kind is list or kind is dict or kind is Optional:
        charge(frame, 3 * weight(values, PER_CALL // 3))


def charge_key(frame: Frame, key: Value, mapping: Value) -> None:
    """For looking up an entry; `true` and 1 are told apart by looking at all. Raises CostExceeded."""
    if type(key) is str:
        if len(key) > BLOCK:
            charge(frame, len(key) // BLOCK)
        return
    held = mapping.value if type(mapping) is Optional and mapping.is_present else mapping
    if type(held) is dict and key in (0, 1):
        charge(frame, len(held))
