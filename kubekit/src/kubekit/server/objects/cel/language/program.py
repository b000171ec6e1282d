"""A checked syntax tree → nested Python functions that evaluate it.

Every function takes the frame: a list whose first entry is what the evaluation may still cost, followed by the
variables. JSON data is read where it lies; only what CEL sees differently is converted, when it is selected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import budget, calls, loops
from .budget import PER_CALL, Budget, Frame, charge, charge_comparison, charge_key, charge_search, exceeded, weight
from .functions import Overload, call
from .loops import Block, Run
from .members import converted, element, entry, has_entry, optional_element, optional_entry
from .tree import Call, Comprehension, Ident, ListNode, Literal, MapNode, Node, Select
from .typesystem import Type, is_free, is_scalar
from .values import CelError, TypeValue, Value, equal


class Program:
    """An expression ready to run."""

    def __init__(self, tree: Node, variables: Sequence[str]) -> None:
        builder = _Builder(variables)
        self._run, price = builder.block(tree)
        self._limit = PER_CALL - budget.EXPRESSION - price
        self._spare = [None] * (builder.size - len(variables) - 1)

    def evaluate(self, shared: Budget, *values: Value) -> Value:
        """The result for the values of the variables, in their order; what it costs is taken from the budget.

        Raises CelError and CostExceeded."""
        frame = [self._limit, *values, *self._spare]
        try:
            return self._run(frame)
        except RecursionError:
            raise exceeded() from None
        finally:
            shared.spend(PER_CALL - frame[0] if frame[0] >= 0 else PER_CALL)


class _Builder:
    def __init__(self, variables: Sequence[str]) -> None:
        self._slots: dict[str, int] = {name: index for index, name in enumerate(variables, 1)}
        self._accumulators: set[int] = set()
        self._price = 0
        self.size = len(variables) + 1

    def block(self, node: Node) -> Block:
        """A part that may be left out or repeated, with what it costs each time."""
        outer, self._price = self._price, 0
        run = self._build(node)
        price, self._price = self._price, outer
        return Block(run, price)

    def _build(self, node: Node) -> Run:
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
        self._price += budget.NAME
        if slot in self._accumulators:
            return loops.accumulator(slot)

        def read(frame: Frame) -> Value:
            return frame[slot]

        return read

    def _select(self, node: Select) -> Run:
        operand, kind, name = self._build(node.operand), node.operand.type, node.field
        if not node.is_test:
            self._price += budget.SELECTION
        if kind.is_object:
            field = kind.fields[name]
            if node.is_test:
                return lambda frame: (operand(frame) or {}).get(field.key) is not None
            return _member(operand, name, field.key, field.type)
        if node.is_test:
            return lambda frame: has_entry(frame, operand(frame), name, kind)
        return lambda frame: entry(frame, operand(frame), name, kind)

    def _call(self, node: Call) -> Run:
        special = getattr(self, _SPECIAL.get(node.function, ""), None)
        if special is not None:
            return special(node)  # type: ignore[no-any-return]
        self._price += budget.CALL
        operands = ([] if node.target is None else [node.target]) + node.args
        args = [self._build(operand) for operand in operands]
        overloads = node.overloads
        if not _is_certain(overloads, operands):
            return calls.choice(overloads, args)
        return calls.build(overloads[0], args)

    def _and(self, node: Call) -> Run:
        return loops.conjunction(self._build(node.args[0]), self.block(node.args[1]))

    def _or(self, node: Call) -> Run:
        return loops.disjunction(self._build(node.args[0]), self.block(node.args[1]))

    def _not(self, node: Call) -> Run:
        self._price += budget.CALL
        operand = self._build(node.args[0])

        def negate(frame: Frame) -> bool:
            return not loops.boolean(operand(frame))

        return negate

    def _not_strictly_false(self, node: Call) -> Run:
        self._price += budget.CALL
        operand = self._build(node.args[0])

        def holds(frame: Frame) -> bool:
            try:
                return operand(frame) is not False
            except CelError:
                charge(frame, budget.FAILURE)
                return True

        return holds

    def _choose(self, node: Call) -> Run:
        condition = self._build(node.args[0])
        (first, first_price), (second, second_price) = map(self.block, node.args[1:])

        def choose(frame: Frame) -> Value:
            if loops.boolean(condition(frame)):
                frame[0] -= first_price
                return first(frame)
            frame[0] -= second_price
            return second(frame)

        return choose

    def _equal(self, node: Call) -> Run:
        first, second = map(self._build, node.args)
        same, price = _comparison(node), self._comparison_price(node)
        if not price:
            return lambda frame: same(first(frame), second(frame))

        def run(frame: Frame) -> bool:
            one, other = first(frame), second(frame)
            if type(one) is not str or len(one) > budget.LETTERS:
                charge_comparison(frame, one, other, price)
            return same(one, other)

        return run

    def _unequal(self, node: Call) -> Run:
        same = self._equal(node)
        return lambda frame: not same(frame)

    def _comparison_price(self, node: Call) -> int:
        """Of every part there is to compare; nothing when the types or a literal say how much that is."""
        self._price += budget.CALL
        kinds = [arg.type for arg in node.args]
        if any(map(is_scalar, kinds)):
            return 0
        for arg in node.args:
            if isinstance(arg, Literal):
                self._price += weight(arg.value)
                return 0
        return 5 + max(kind.price for kind in kinds)

    def _member_of(self, node: Call) -> Run:
        self._price += budget.CALL
        value, values = map(self._build, node.args)
        run, overloads = node.overloads[0].run, node.overloads
        if not _is_certain(overloads, node.args):

            def search(frame: Frame) -> Value:
                one, several = value(frame), values(frame)
                if type(several) is list:
                    charge_search(frame, one, several)
                else:
                    charge_key(frame, one, several)
                return call(frame, overloads, one, several)

            return search
        if isinstance(node.args[1], ListNode) and all(isinstance(one, Literal) for one in node.args[1].elements):
            self._price += len(node.args[1].elements)
            return lambda frame: run(value(frame), values(frame))
        if overloads[0].params[1].name == "map":

            def lookup(frame: Frame) -> Value:
                key, mapping = value(frame), values(frame)
                charge_key(frame, key, mapping)
                return run(key, mapping)

            return lookup

        def find(frame: Frame) -> Value:
            one, several = value(frame), values(frame)
            charge_search(frame, one, several)
            return run(one, several)

        return find

    def _add(self, node: Call) -> Run:
        merge = node.args[0].type.merge
        if merge is None:
            return self._call(Call(node.at, "", None, node.args, node.overloads))
        self._price += budget.CALL + budget.LIST
        first, second = map(self._build, node.args)

        def run(frame: Frame) -> Value:
            one, other = first(frame), second(frame)
            charge(frame, 2 * (weight(one) + weight(other)))
            return merge(one, other)

        return run

    def _index(self, node: Call) -> Run:
        return self._indexed(node, element)

    def _optional_index(self, node: Call) -> Run:
        return self._indexed(node, optional_element)

    def _indexed(self, node: Call, find: Callable[[Value, Value], Value]) -> Run:
        self._price += budget.CALL
        operand, index = map(self._build, node.args)
        if isinstance(node.args[1], Literal) or node.args[0].type.name == "list":
            return lambda frame: find(operand(frame), index(frame))

        def run(frame: Frame) -> Value:
            base, key = operand(frame), index(frame)
            if type(key) is not str or len(key) > budget.BLOCK:
                charge_key(frame, key, base)
            return find(base, key)

        return run

    def _optional_select(self, node: Call) -> Run:
        self._price += budget.SELECTION
        operand, kind = self._build(node.args[0]), node.args[0].type
        assert isinstance(node.args[1], Literal)
        name = node.args[1].value
        return lambda frame: optional_entry(frame, operand(frame), name, kind)

    def _list(self, node: ListNode) -> Run:
        self._price += budget.LIST
        if all(isinstance(element, Literal) for element in node.elements) and not node.optional:
            constant = [element.value for element in node.elements if isinstance(element, Literal)]
            return lambda frame: constant
        elements = [self._build(element) for element in node.elements]
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
        self._price += budget.MAP
        entries = [(self._build(one.key), self._build(one.value), one.is_optional) for one in node.entries]

        def gather(frame: Frame) -> dict[Value, Value]:
            found: dict[Value, Value] = {}
            for key_of, value_of, is_optional in entries:
                key, value = loops.map_key(key_of(frame)), value_of(frame)
                if is_optional:
                    if not value.is_present:
                        continue
                    value = value.value
                found[key] = value
            return found

        return gather

    def _comprehension(self, node: Comprehension) -> Run:
        source, initial = self._build(node.range), self._build(node.initial)
        before = dict(self._slots)
        total = self._slots[node.accumulator] = self._slot()
        self._accumulators.add(total)
        variable = self._slots[node.variable] = self._slot()
        second = self._slots[node.second] = self._slot() if node.second else 0
        shape = loops.Shape(node, source, initial, total, variable, second)
        run = loops.build(shape, self.block)
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
    "@in": "_member_of",
    "_+_": "_add",
    "_[_]": "_index",
    "_[?_]": "_optional_index",
    "_?._": "_optional_select",
}


def _is_certain(overloads: tuple[Overload, ...], operands: Sequence[Node]) -> bool:
    """Whether the types leave one implementation; else the values of each call decide."""
    return len(overloads) == 1 and not any(_is_uncertain(operand.type) for operand in operands)


def _is_uncertain(kind: Type) -> bool:
    return is_free(kind) or any(map(_is_uncertain, kind.params))


def _comparison(node: Call) -> Callable[[Value, Value], bool]:
    return node.args[0].type.equal or node.args[1].type.equal or equal


def _member(operand: Run, name: str, key: str, kind: Type) -> Run:
    """A member of an object; null counts as absent."""

    def read(frame: Frame) -> Value:
        base = operand(frame)
        value = None if base is None else base.get(key)
        if value is None:
            raise CelError(f"no such key: {name}")
        return value

    if kind.convert is None:
        return read
    return lambda frame: converted(frame, read(frame), kind)
