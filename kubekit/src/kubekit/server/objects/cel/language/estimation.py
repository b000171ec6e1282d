"""What an expression may cost at most, given how large its data may be; the numbers are Kubernetes' own.

They decide which rules may be written at all, and so follow cel-go closely, also where it could know better.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .call_estimates import Operand, estimate_call
from .sizes import UNKNOWN, EntrySize, Size, either, exactly, plus, times
from .tree import Call, Comprehension, Ident, ListNode, Literal, MapNode, Node, Select
from .typesystem import is_scalar

SizeAt = Callable[[tuple[str, ...]], int | None]
"""How large the part of the data at a path may be; None when that is not known."""

_ACCUMULATORS = ("@result", "__result__")
_LIST, _MAP = 10, 30


def estimate(tree: Node, size_at: SizeAt) -> int:
    """The most an expression may cost. Paths begin with the name of a variable, which `size_at` is not told."""
    return _Estimator(size_at).cost(tree)


class Path:
    """Names that lead to a part of the data. As slices do in Go, two may share what they are written on, so that
    one that grows changes the other; what Kubernetes makes of loops within loops depends on it."""

    __slots__ = ("_length", "_names")

    def __init__(self, *names: str) -> None:
        self._names, self._length = list(names), len(names)

    def __bool__(self) -> bool:
        return self._length > 0

    def __truediv__(self, name: str) -> Path:
        longer = Path()
        if self._length == len(self._names):
            room = max(1, 2 * self._length)
            longer._names = [*self._names, *[""] * (room - self._length)]
        else:
            longer._names = self._names
        longer._names[self._length] = name
        longer._length = self._length + 1
        return longer

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._names[: self._length])


@dataclass(slots=True)
class _Local:
    """A variable of a loop."""

    path: Path
    size: Size | None
    entry: EntrySize | None = None


class _Estimator:
    def __init__(self, size_at: SizeAt) -> None:
        self._size_at = size_at
        self._paths: dict[int, Path] = {}
        self._sizes: dict[int, Size] = {}
        self._entries: dict[int, EntrySize] = {}
        self._locals: dict[str, list[_Local]] = {}

    def cost(self, node: Node) -> int:
        match node:
            case Ident():
                local = self._local(node.name)
                self._paths[id(node)] = Path(node.name) if local is None else local.path
                return 1
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListNode():
                return self._list(node)
            case MapNode():
                return self._map(node)
            case Comprehension():
                return self._loop(node)
            case _:
                return 0

    def _local(self, name: str) -> _Local | None:
        known = self._locals.get(name)
        return known[-1] if known else None

    def _path(self, node: Node) -> Path:
        local = self._local(node.name) if isinstance(node, Ident) else None
        return self._paths.get(id(node), Path()) if local is None else local.path

    def size(self, node: Node) -> Size | None:
        """None when nothing is known of it."""
        known = self._sizes.get(id(node))
        if known is not None:
            return known
        written = _written_size(node)
        if written is not None:
            return exactly(written)
        found = self.size_at(self._path(node))
        if found is not None:
            self._sizes[id(node)] = found
            return found
        if is_scalar(node.type):
            return exactly(1)
        local = self._local(node.name) if isinstance(node, Ident) else None
        return None if local is None else local.size

    def size_at(self, path: Path) -> Size | None:
        most = self._size_at(path.names[1:]) if path else None
        return None if most is None else Size(0, most)

    def _bound(self, node: Node) -> Size:
        return self.size(node) or UNKNOWN

    def _entry(self, node: Node) -> EntrySize | None:
        known = self._entries.get(id(node))
        if known is None and isinstance(node, Ident) and (local := self._local(node.name)) is not None:
            return local.entry
        return known

    def _keep(self, node: Node, size: Size | None, entry: EntrySize | None = None) -> None:
        if size is not None:
            self._sizes[id(node)] = size
        if entry is not None:
            self._entries[id(node)] = entry

    def _select(self, node: Select) -> int:
        cost = self.cost(node.operand)
        if node.is_test:
            return cost
        kind = node.operand.type
        self._paths[id(node)] = self._path(node.operand) / node.field
        return plus(cost, 1) if kind.name == "map" or kind.is_object or kind.is_variable else cost

    def _list(self, node: ListNode) -> int:
        cost = plus(_LIST, *map(self.cost, node.elements))
        self._entries[id(node)] = EntrySize(True, exactly(1), self._joined(node.elements))
        return cost

    def _map(self, node: MapNode) -> int:
        keys, values = [one.key for one in node.entries], [one.value for one in node.entries]
        cost = plus(_MAP, *map(self.cost, keys), *map(self.cost, values))
        self._entries[id(node)] = EntrySize(False, self._joined(keys), self._joined(values))
        return cost

    def _joined(self, nodes: list[Node]) -> Size:
        sizes = [self._bound(node) for node in nodes]
        return Size(min(size.least for size in sizes), max(size.most for size in sizes)) if sizes else exactly(0)

    def _call(self, node: Call) -> int:
        if node.function == "dyn":
            cost = plus(1, self.cost(node.args[0]))
            self._keep(node, self.size(node.args[0]), self._entry(node.args[0]))
            return cost
        costs = [self.cost(arg) for arg in node.args]
        if node.function in ("_&&_", "_||_"):
            return plus(*costs)
        if node.function == "_?_:_":
            return self._choice(node, costs)
        if node.target is not None:
            costs.append(self.cost(node.target))
        if node.function == "_?._":
            return plus(1, *costs)
        if node.function == "_+_":
            self._keep(node, None, either(self._entry(node.args[0]), self._entry(node.args[1])))
        args = [self._operand(arg) for arg in node.args]
        target = None if node.target is None else self._operand(node.target)
        dearest, size = 0, None
        for overload in node.overloads:
            found = estimate_call(overload, target, args)
            dearest = max(dearest, found.cost)
            if found.size is not None:
                size = found.size if size is None else size | found.size
            if node.function == "_[_]" and overload.params[0].name in ("list", "map"):
                entry = self._entry(node.args[0])
                size = None if entry is None else entry.value
                inner = "@items" if overload.params[0].name == "list" else "@values"
                self._paths[id(node)] = self._path(node.args[0]) / inner
            size = size or self.size(node)
        self._keep(node, size)
        return plus(dearest, *costs)

    def _choice(self, node: Call, costs: list[int]) -> int:
        _, first, second = node.args
        self._keep(node, self._bound(first) | self._bound(second), either(self._entry(first), self._entry(second)))
        return plus(costs[0], max(costs[1:]))

    def _operand(self, node: Node) -> Operand:
        path = self._path(node)
        if path and path.names[0] in _ACCUMULATORS:
            path = Path()
        item = self.size_at(Path(*path.names, "@items")) if path else None
        literal = node.value if isinstance(node, Literal) else None
        return Operand(node.type, self.size(node) or self.size_at(path), item or UNKNOWN, literal)

    def _loop(self, node: Comprehension) -> int:
        if _is_binding(node):
            return self._binding(node)
        before = plus(self.cost(node.range), self.cost(node.initial))
        self._push(node.accumulator, self._path(node.initial), self.size(node.initial), self._entry(node.initial))
        self._push_variables(node)
        each = plus(self.cost(node.condition), self.cost(node.step))
        self._locals[node.variable].pop()
        if node.second:
            self._locals[node.second].pop()
        result = self.cost(node.result)
        self._locals[node.accumulator].pop()
        count = self._bound(node.range)
        if isinstance(node.initial, Literal):
            self._keep(node, self.size(node.initial))
        elif isinstance(node.initial, (ListNode, MapNode)):
            self._keep(node, count, self._entry(node.step))
        return plus(before, result, times(count.most, each))

    def _binding(self, node: Comprehension) -> int:
        cost = plus(self.cost(node.range), self.cost(node.initial))
        self._push(node.accumulator, self._path(node.initial), self.size(node.initial), self._entry(node.initial))
        cost = plus(cost, self.cost(node.result))
        self._locals[node.accumulator].pop()
        self._keep(node, self.size(node.result), self._entry(node.result))
        return cost

    def _push(self, name: str, path: Path, size: Size | None, entry: EntrySize | None = None) -> None:
        self._locals.setdefault(name, []).append(_Local(path, size, entry))

    def _push_variables(self, node: Comprehension) -> None:
        entry, path = self._entry(node.range), self._path(node.range)
        is_list = node.range.type.name == "list" if entry is None else entry.is_list
        key, value = (None, None) if entry is None else (entry.key, entry.value)
        if node.second:
            self._push(node.variable, path / ("@indices" if is_list else "@keys"), key)
            self._push(node.second, path / ("@items" if is_list else "@values"), value)
        else:
            self._push(node.variable, path / ("@items" if is_list else "@keys"), value if is_list else key)


def _is_binding(node: Comprehension) -> bool:
    """Whether the loop only gives a name to something, as `sortBy` does."""
    is_empty = isinstance(node.range, ListNode) and not node.range.elements
    is_never = isinstance(node.condition, Literal) and node.condition.value is False
    return is_empty and is_never and node.accumulator not in _ACCUMULATORS


def _written_size(node: Node) -> int | None:
    match node:
        case Literal(value=str() | bytes() as value):
            return len(value)
        case Literal():
            return 1
        case ListNode():
            return len(node.elements)
        case MapNode():
            return len(node.entries)
        case _:
            return None
