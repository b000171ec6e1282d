"""Logic that carries on past errors, and loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import repeat
from typing import NamedTuple

from . import budget
from .budget import Frame, charge, exceeded
from .tree import Call, Comprehension, Ident, ListNode, Node
from .values import CelError, Optional, Value, type_name

Run = Callable[[Frame], Value]


class Block(NamedTuple):
    """A part of an expression that may be left out or repeated, and what it costs each time, beside what it charges."""

    run: Run
    price: int


def boolean(value: Value) -> bool:
    if value is True or value is False:
        return value is True
    raise CelError("no such overload")


def conjunction(first: Run, second: Block) -> Run:
    """`&&`: false if either side is, whatever happens on the other."""
    other, price = second

    def both(frame: Frame) -> bool:
        try:
            if not boolean(first(frame)):
                return False
        except CelError:
            if _decides(second, frame, False):
                return False
            raise
        frame[0] -= price
        return boolean(other(frame))

    return both


def disjunction(first: Run, second: Block) -> Run:
    """`||`: true if either side is, whatever happens on the other."""
    other, price = second

    def either(frame: Frame) -> bool:
        try:
            if boolean(first(frame)):
                return True
        except CelError:
            if _decides(second, frame, True):
                return True
            raise
        frame[0] -= price
        return boolean(other(frame))

    return either


def _decides(second: Block, frame: Frame, deciding: bool) -> bool:
    """Whether the second side alone decides, now that the first has failed."""
    charge(frame, budget.FAILURE + second.price)
    try:
        return second.run(frame) is deciding
    except CelError:
        return False


def accumulator(slot: int) -> Run:
    """What a loop has gathered; a step that failed left its error there."""

    def read(frame: Frame) -> Value:
        value = frame[slot]
        if isinstance(value, CelError):
            raise value.with_traceback(None)
        return value

    return read


@dataclass(slots=True)
class Shape:
    """A loop and where in the frame its variables live."""

    node: Comprehension
    source: Run
    initial: Run
    total: int
    variable: int
    second: int

    def each(self, frame: Frame, price: int) -> Iterable[None]:
        """Sets the variables for one item after the other, each at a price. Raises CelError and CostExceeded."""
        values = self.source(frame)
        variable, second = self.variable, self.second
        for first, value in _items(values, paired=bool(second)):
            frame[0] -= price
            if frame[0] < 0:
                raise exceeded()
            frame[variable] = first
            if second:
                frame[second] = value
            yield

    def is_total(self, node: Node) -> bool:
        return isinstance(node, Ident) and node.name == self.node.accumulator


_GO_NAMES = {
    name: f"types.{name.removesuffix('_type').capitalize()}"
    for name in ("int", "uint", "double", "bool", "string", "bytes", "null_type")
}


def _items(values: Value, *, paired: bool) -> Iterable[tuple[Value, Value]]:
    if type(values) is list:
        return enumerate(values) if paired else zip(values, repeat(None))
    if type(values) is dict:
        return values.items()
    raise CelError(f"got '{_GO_NAMES.get(type_name(values), type_name(values))}', expected iterable type")


def map_key(key: Value) -> Value:
    """What a map may have as a key. Raises CelError."""
    if type(key) in (list, dict, Optional):
        raise CelError(f"unsupported key type: {type_name(key)}")
    return key


def build(shape: Shape, block: Callable[[Node], Block]) -> Run:
    """The loop, in the quickest of the forms that fit."""
    node, step = shape.node, shape.node.step
    if isinstance(step, Call) and shape.is_total(node.result):
        if step.function in ("_&&_", "_||_") and shape.is_total(step.args[0]):
            return _quantifier(shape, block(step.args[1]), deciding=step.function == "_||_")
        gathered = _gathered(shape, step)
        if gathered is not None:
            condition, item = gathered
            return _gather(shape, block(condition) if condition else None, block(item))
    return _general(shape, block(node.condition), block(step), block(node.result))


def _quantifier(shape: Shape, predicate: Block, *, deciding: bool) -> Run:
    """`all` and `exists`: the first item that decides ends the loop, errors count only when none does."""
    holds = predicate.run
    # Whether it has been decided is asked before each item: a name, a negation for `exists`, and the question.
    price = budget.ITEM + predicate.price + 2 * budget.NAME + (2 if deciding else 1) * budget.CALL

    def run(frame: Frame) -> bool:
        failure: CelError | None = None
        for _ in shape.each(frame, price):
            try:
                if boolean(holds(frame)) is deciding:
                    return deciding
            except CelError as error:
                failure = failure or error
                frame[0] -= budget.FAILURE
        if failure is not None:
            raise failure
        return not deciding

    return run


def _gathered(shape: Shape, step: Call) -> tuple[Node | None, Node] | None:
    """The condition and the item of a loop that appends to a list, None when it does something else."""
    if not isinstance(shape.node.initial, ListNode) or shape.node.initial.elements:
        return None
    condition: Node | None = None
    if step.function == "_?_:_" and shape.is_total(step.args[2]) and isinstance(step.args[1], Call):
        condition, step = step.args[0], step.args[1]
    if step.function != "_+_" or not shape.is_total(step.args[0]):
        return None
    added = step.args[1]
    if not isinstance(added, ListNode) or len(added.elements) != 1 or added.optional:
        return None
    return condition, added.elements[0]


def _gather(shape: Shape, condition: Block | None, item: Block) -> Run:
    """`map` and `filter`."""
    make, price = item.run, item.price + budget.NAME + budget.LIST + budget.CALL
    if condition is None:
        return lambda frame: [make(frame) for _ in shape.each(frame, budget.ITEM + price)]
    is_wanted, test_price = condition.run, budget.ITEM + condition.price

    def wanted(frame: Frame) -> list[Value]:
        found = []
        for _ in shape.each(frame, test_price):
            if boolean(is_wanted(frame)):
                frame[0] -= price
                found.append(make(frame))
        return found

    return wanted


def _general(shape: Shape, condition: Block, step: Block, result: Block) -> Run:
    initial, total = shape.initial, shape.total
    goes_on, advance, price = condition.run, step.run, budget.ITEM + condition.price + step.price

    def run(frame: Frame) -> Value:
        frame[total] = initial(frame)
        for _ in shape.each(frame, price):
            if not boolean(goes_on(frame)):
                break
            try:
                frame[total] = advance(frame)
            except CelError as error:
                frame[total] = error
                charge(frame, budget.FAILURE)
        frame[0] -= result.price
        return result.run(frame)

    return run
