"""A checked syntax tree → nested Python functions that evaluate it.

Every function takes the frame: a list whose first entry counts the loop steps that are left, followed by the
variables. JSON data is read where it lies; only what CEL sees differently is converted, when it is selected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..library.standard import MISSING, find_key
from . import loops
from .functions import Overload, dispatch
from .loops import Frame, Run
from .tree import Call, Comprehension, Ident, ListNode, Literal, MapNode, Node, Select
from .typesystem import Type, is_free
from .values import NONE, CelError, Optional, TypeValue, Value, equal, type_name

MAX_STEPS = 200_000
"""Loop steps of one evaluation; about what Kubernetes' cost limit of one call allows."""


class Program:
    """An expression ready to run."""

    def __init__(self, tree: Node, variables: Sequence[str]) -> None:
        builder = _Builder(variables)
        self._run = builder.build(tree)
        self._spare = [None] * (builder.size - len(variables) - 1)

    def evaluate(self, *values: Value) -> Value:
        """The result for the values of the variables, in their order. Raises CelError and CostExceeded."""
        return self._run([MAX_STEPS, *values, *self._spare])


class _Builder:
    def __init__(self, variables: Sequence[str]) -> None:
        self._slots: dict[str, int] = {name: index for index, name in enumerate(variables, 1)}
        self._accumulators: set[int] = set()
        self.size = len(variables) + 1

    def build(self, node: Node) -> Run:
        match node:
            case Literal(value=value):
                return lambda frame: value
            case Ident():
                return self._ident(node)
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListNode():
                return self._list(node)
            case MapNode():
                return self._map(node)
            case Comprehension():
                return self._comprehension(node)
            case _:
                raise TypeError(f"{type(node).__name__} cannot be evaluated")

    def _ident(self, node: Ident) -> Run:
        slot = self._slots.get(node.name)
        if slot is None:
            value = TypeValue(node.name)
            return lambda frame: value
        if slot in self._accumulators:
            return loops.accumulator(slot)

        def read(frame: Frame) -> Value:
            return frame[slot]

        return read

    def _select(self, node: Select) -> Run:
        operand, kind, name = self.build(node.operand), node.operand.type, node.field
        if kind.is_object:
            field = kind.fields[name]
            if node.is_test:
                return lambda frame: (operand(frame) or {}).get(field.key) is not None
            return _member(operand, name, field.key, field.type)
        if node.is_test:
            return lambda frame: has_entry(operand(frame), name, kind)
        return lambda frame: entry(operand(frame), name, kind)

    def _call(self, node: Call) -> Run:
        special = getattr(self, _SPECIAL.get(node.function, ""), None)
        if special is not None:
            return special(node)  # type: ignore[no-any-return]
        operands = ([] if node.target is None else [node.target]) + node.args
        run = _implementation(node.overloads, operands)
        args = [self.build(operand) for operand in operands]
        match args:
            case []:
                return lambda frame: run()
            case [first]:
                return lambda frame: run(first(frame))
            case [first, second]:
                return lambda frame: run(first(frame), second(frame))
            case _:
                return lambda frame: run(*[arg(frame) for arg in args])

    def _and(self, node: Call) -> Run:
        return loops.conjunction(*map(self.build, node.args))

    def _or(self, node: Call) -> Run:
        return loops.disjunction(*map(self.build, node.args))

    def _not(self, node: Call) -> Run:
        operand = self.build(node.args[0])

        def negate(frame: Frame) -> bool:
            return not loops.boolean(operand(frame))

        return negate

    def _not_strictly_false(self, node: Call) -> Run:
        operand = self.build(node.args[0])

        def holds(frame: Frame) -> bool:
            try:
                return operand(frame) is not False
            except CelError:
                return True

        return holds

    def _choose(self, node: Call) -> Run:
        condition, first, second = map(self.build, node.args)

        def choose(frame: Frame) -> Value:
            return first(frame) if loops.boolean(condition(frame)) else second(frame)

        return choose

    def _equal(self, node: Call) -> Run:
        first, second = map(self.build, node.args)
        same = _comparison(node)
        return lambda frame: same(first(frame), second(frame))

    def _unequal(self, node: Call) -> Run:
        first, second = map(self.build, node.args)
        same = _comparison(node)
        return lambda frame: not same(first(frame), second(frame))

    def _add(self, node: Call) -> Run:
        merge = node.args[0].type.merge
        first, second = map(self.build, node.args)
        if merge is not None:
            return lambda frame: merge(first(frame), second(frame))
        run = _implementation(node.overloads, node.args)
        return lambda frame: run(first(frame), second(frame))

    def _index(self, node: Call) -> Run:
        operand, index = map(self.build, node.args)
        return lambda frame: element(operand(frame), index(frame))

    def _optional_index(self, node: Call) -> Run:
        operand, index = map(self.build, node.args)
        return lambda frame: optional_element(operand(frame), index(frame))

    def _optional_select(self, node: Call) -> Run:
        operand, kind = self.build(node.args[0]), node.args[0].type
        assert isinstance(node.args[1], Literal)
        name = node.args[1].value
        return lambda frame: optional_entry(operand(frame), name, kind)

    def _list(self, node: ListNode) -> Run:
        elements = [self.build(element) for element in node.elements]
        if not node.optional:
            return lambda frame: [element(frame) for element in elements]
        optional = node.optional

        def gather(frame: Frame) -> list[Value]:
            found = []
            for index, run in enumerate(elements):
                value = run(frame)
                if index not in optional:
                    found.append(value)
                elif value.is_present:
                    found.append(value.value)
            return found

        return gather

    def _map(self, node: MapNode) -> Run:
        entries = [(self.build(one.key), self.build(one.value), one.is_optional) for one in node.entries]

        def gather(frame: Frame) -> dict[Value, Value]:
            found: dict[Value, Value] = {}
            for key_of, value_of, is_optional in entries:
                key, value = key_of(frame), value_of(frame)
                if is_optional:
                    if not value.is_present:
                        continue
                    value = value.value
                found[key] = value
            return found

        return gather

    def _comprehension(self, node: Comprehension) -> Run:
        source, initial = self.build(node.range), self.build(node.initial)
        before = dict(self._slots)
        total = self._slots[node.accumulator] = self._slot()
        self._accumulators.add(total)
        variable = self._slots[node.variable] = self._slot()
        second = self._slots[node.second] = self._slot() if node.second else 0
        shape = loops.Shape(node, source, initial, total, variable, second)
        run = loops.build(shape, self.build)
        self._slots = before
        return run

    def _slot(self) -> int:
        self.size += 1
        return self.size - 1


_SPECIAL = {
    "_&&_": "_and",
    "_||_": "_or",
    "!_": "_not",
    "@not_strictly_false": "_not_strictly_false",
    "_?_:_": "_choose",
    "_==_": "_equal",
    "_!=_": "_unequal",
    "_+_": "_add",
    "_[_]": "_index",
    "_[?_]": "_optional_index",
    "_?._": "_optional_select",
}


def _implementation(overloads: tuple[Overload, ...], operands: Sequence[Node]) -> Callable[..., Value]:
    """The one implementation the types leave, or one that looks at the values of each call."""
    certain = len(overloads) == 1 and not any(_is_uncertain(operand.type) for operand in operands)
    return overloads[0].run if certain else dispatch(overloads)


def _is_uncertain(kind: Type) -> bool:
    return is_free(kind) or any(map(_is_uncertain, kind.params))


def _comparison(node: Call) -> Callable[[Value, Value], bool]:
    return node.args[0].type.equal or node.args[1].type.equal or equal


def _member(operand: Run, name: str, key: str, kind: Type) -> Run:
    """A member of an object; null counts as absent."""
    convert = kind.convert

    def read(frame: Frame) -> Value:
        base = operand(frame)
        value = None if base is None else base.get(key)
        if value is None:
            raise CelError(f"no such key: {name}")
        return value

    if convert is None:
        return read
    return lambda frame: convert(read(frame))


def _find(base: Value, name: str, kind: Type) -> Value:
    """The member of an object or entry of a map, MISSING when there is none."""
    if type(base) is not dict:
        return MISSING
    if not kind.is_object:
        return base.get(name, MISSING)
    field = kind.fields[name]
    value = base.get(field.key)
    if value is None:
        return MISSING
    return value if field.type.convert is None else field.type.convert(value)


def entry(base: Value, name: str, kind: Type) -> Value:
    """`base.name` where base is a map, of unknown type, or optional. Raises CelError."""
    if type(base) is Optional:
        return optional_entry(base, name, kind)
    value = _find(base, name, kind)
    if value is MISSING:
        raise CelError(f"no such key: {name}")
    return value


def optional_entry(base: Value, name: str, kind: Type) -> Optional:
    if type(base) is Optional:
        if not base.is_present:
            return NONE
        base = base.value
    inner = kind.params[0] if kind.name == "optional_type" else kind
    value = _find(base, name, inner)
    return NONE if value is MISSING else Optional(value)


def has_entry(base: Value, name: str, kind: Type) -> bool:
    if type(base) is Optional:
        return optional_entry(base, name, kind).is_present
    return _find(base, name, kind) is not MISSING


def element(base: Value, index: Value) -> Value:
    """`base[index]`. Raises CelError."""
    if type(base) is list:
        return base[_position(base, index)]
    if type(base) is dict:
        value = find_key(base, index)
        if value is MISSING:
            raise CelError(f"no such key: {index}")
        return value
    if type(base) is Optional:
        return optional_element(base, index)
    raise CelError(f"no such key: {index}")


def _position(values: list[Value], index: Value) -> int:
    if type(index) is float and index.is_integer():
        index = int(index)
    if not isinstance(index, int) or isinstance(index, bool):
        raise CelError(f"unsupported index type '{type_name(index)}' in list")
    if not 0 <= index < len(values):
        raise CelError(f"index out of bounds: {index}")
    return index


def optional_element(base: Value, index: Value) -> Optional:
    if type(base) is Optional:
        if not base.is_present:
            return NONE
        base = base.value
    if type(base) is dict:
        value = find_key(base, index)
        return NONE if value is MISSING else Optional(value)
    if type(base) is not list:
        raise CelError("no such overload")
    try:
        return Optional(base[_position(base, index)])
    except CelError:
        return NONE
