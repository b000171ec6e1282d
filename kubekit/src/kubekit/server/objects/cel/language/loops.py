"""Logic that carries on past errors, and loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .tree import Call, Comprehension, Ident, ListNode, Node
from .values import CelError, CostExceeded, Value, type_name

Frame = list[Value]
Run = Callable[[Frame], Value]


def boolean(value: Value) -> bool:
    if value is True or value is False:
        return value is True
    raise CelError("no such overload")


def conjunction(first: Run, second: Run) -> Run:
    """`&&`: false if either side is, whatever happens on the other."""

    def both(frame: Frame) -> bool:
        try:
            if boolean(first(frame)):
                return boolean(second(frame))
            return False
        except CelError:
            if _opposite(first, second, frame, False):
                return False
            raise

    return both


def disjunction(first: Run, second: Run) -> Run:
    """`||`: true if either side is, whatever happens on the other."""

    def either(frame: Frame) -> bool:
        try:
            if boolean(first(frame)):
                return True
            return boolean(second(frame))
        except CelError:
            if _opposite(first, second, frame, True):
                return True
            raise

    return either


def _opposite(first: Run, second: Run, frame: Frame, deciding: bool) -> bool:
    """Whether one side alone decides, now that the other has failed."""
    for side in (second, first):
        try:
            if side(frame) is deciding:
                return True
        except CelError:
            continue
    return False


def accumulator(slot: int) -> Run:
    """What a loop has gathered; a step that failed left its error there."""

    def read(frame: Frame) -> Value:
        value = frame[slot]
        if isinstance(value, CelError):
            raise value
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

    def each(self, frame: Frame) -> Iterable[None]:
        """Sets the variables for one item after the other. Raises CelError and CostExceeded."""
        values = self.source(frame)
        variable, second = self.variable, self.second
        for first, value in _items(values, paired=bool(second)):
            frame[0] -= 1
            if frame[0] < 0:
                raise CostExceeded("operation cancelled: actual cost limit exceeded")
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
        return enumerate(values) if paired else ((value, None) for value in values)
    if type(values) is dict:
        return values.items()
    raise CelError(f"got '{_GO_NAMES.get(type_name(values), type_name(values))}', expected iterable type")


def build(shape: Shape, compile_node: Callable[[Node], Run]) -> Run:
    """The loop, in the quickest of the forms that fit."""
    step = shape.node.step
    if isinstance(step, Call) and shape.is_total(shape.node.result):
        if step.function in ("_&&_", "_||_") and shape.is_total(step.args[0]):
            return _quantifier(shape, compile_node(step.args[1]), deciding=step.function == "_||_")
        gathered = _gathered(shape, step)
        if gathered is not None:
            condition, item = gathered
            return _gather(shape, compile_node(condition) if condition else None, compile_node(item))
    node = shape.node
    return _general(shape, compile_node(node.condition), compile_node(step), compile_node(node.result))


def _quantifier(shape: Shape, holds: Run, *, deciding: bool) -> Run:
    """`all` and `exists`: the first item that decides ends the loop, errors count only when none does."""

    def run(frame: Frame) -> bool:
        failure: CelError | None = None
        for _ in shape.each(frame):
            try:
                if boolean(holds(frame)) is deciding:
                    return deciding
            except CelError as error:
                failure = failure or error
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


def _gather(shape: Shape, condition: Run | None, item: Run) -> Run:
    """`map` and `filter`."""

    def run(frame: Frame) -> list[Value]:
        if condition is None:
            return [item(frame) for _ in shape.each(frame)]
        return [item(frame) for _ in shape.each(frame) if boolean(condition(frame))]

    return run


def _general(shape: Shape, condition: Run, step: Run, result: Run) -> Run:
    initial, total = shape.initial, shape.total

    def run(frame: Frame) -> Value:
        frame[total] = initial(frame)
        for _ in shape.each(frame):
            if not boolean(condition(frame)):
                break
            try:
                frame[total] = step(frame)
            except CelError as error:
                frame[total] = error
        return result(frame)

    return run
