"""What evaluating may cost, in the units of Kubernetes: one is about what reading a name or adding two numbers takes.

The first entry of a frame is what the evaluation may still spend. What a part of an expression costs whatever it is
given is summed up when the program is built; what depends on the data is charged before it is done or made, so that
no expression takes long or builds much before it is refused.
"""

from __future__ import annotations

from .values import CostExceeded, Optional, Value

PER_CALL = 1_000_000
"""The limit of one evaluation."""
PER_OBJECT = 10_000_000
"""The limit of all rules on one object, and of a policy on one request."""
PER_CONDITIONS = PER_OBJECT // 4
"""The limit of all match conditions of one webhook or policy."""

NAME, SELECTION, CALL, LIST, MAP = 1, 1, 1, 10, 30
FAILURE = 10
"""An error that is caught and carried on from."""
LETTERS = 10
"""So many letters are read or written for one unit."""

BLOCK = 1_000
"""So many letters are compared as a block for one unit."""

_STEP, _BEGINNING = PER_CALL // 10, 30
"""After so much others are looked after; what it takes to get to a rule counts as well."""

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

    __slots__ = ("_left", "_since_pause")

    def __init__(self, left: int = PER_OBJECT) -> None:
        self._left, self._since_pause = left, 0

    def is_pause_due(self) -> bool:
        """Whether so much has been done since the last time that somebody else may be waiting."""
        if self._since_pause < _STEP:
            return False
        self._since_pause = 0
        return True

    def spend(self, cost: int) -> None:
        """Raises OutOfBudget."""
        self._since_pause += cost + _BEGINNING
        self._left -= cost
        if self._left < 0:
            raise OutOfBudget(
                "validation failed due to running out of cost budget, no further validation rules will be run"
            )

    def spend_on_one(self, cost: int) -> None:
        """Raises CostExceeded when it is more than one evaluation may cost."""
        self.spend(cost)
        charge([PER_CALL], cost)


def weight(value: Value) -> int:
    """What it costs to look at all of a value."""
    kind = type(value)
    if kind is str or kind is bytes:
        return 1 + len(value) // LETTERS
    if kind is list:
        return 1 + sum(map(weight, value))
    if kind is dict:
        return 1 + sum(map(weight, value)) + sum(map(weight, value.values()))
    if kind is Optional:
        return 1 + weight(value.value) if value.is_present else 1
    return 1


def charge_comparison(frame: Frame, first: Value, second: Value, price: int) -> None:
    """For telling whether two values are equal: all is looked at unless the sizes differ. Raises CostExceeded."""
    kind = type(first)
    if kind is not type(second):
        return
    if kind is str or kind is bytes:
        charge(frame, min(len(first), len(second)) // LETTERS)
    elif kind is Optional or ((kind is list or kind is dict) and len(first) == len(second)):
        charge(frame, price * weight(first))


def charge_search(frame: Frame, value: Value, values: list[Value]) -> None:
    """For looking for a value in a list. Raises CostExceeded."""
    count = len(values)
    charge(frame, count)
    kind = type(value)
    if kind is str or kind is bytes:
        charge(frame, count * (len(value) // BLOCK))
    elif kind is list or kind is dict or kind is Optional:
        charge(frame, 2 * weight(values))


def charge_key(frame: Frame, key: Value, mapping: Value) -> None:
    """For looking up an entry; `true` and 1 are told apart by looking at all. Raises CostExceeded."""
    if type(key) is str:
        if len(key) > BLOCK:
            charge(frame, len(key) // BLOCK)
        return
    held = mapping.value if type(mapping) is Optional and mapping.is_present else mapping
    if type(held) is dict and key in (0, 1):
        charge(frame, len(held))
