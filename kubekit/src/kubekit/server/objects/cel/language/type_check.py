"""The types of an expression: finds what does not fit before anything is evaluated, with the words of cel-go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ..library import catalogue
from .functions import Overload
from .literals import check_constants, literal_problems
from .tree import (
    Call,
    Comprehension,
    Ident,
    ListNode,
    Literal,
    MapNode,
    MessageNode,
    Node,
    Select,
    error_text,
)
from .typesystem import (
    BOOL,
    DYN,
    ERROR,
    INT,
    Bindings,
    Type,
    is_free,
    list_of,
    map_of,
    more_general,
    optional_of,
    type_of,
    written,
)
from .values import CompileError, type_name

_SIMPLE = ("bool", "bytes", "double", "int", "null_type", "string", "uint", "timestamp", "duration", "dyn")
_OPAQUE = ("net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.URL", "kubernetes.Semver", "kubernetes.NamedFormat")
TYPE_NAMES: dict[str, Type] = {
    **{str(written(name).name): type_of(written(name)) for name in (*_SIMPLE, *_OPAQUE)},
    "list": type_of(list_of(DYN)),
    "map": type_of(map_of(DYN, DYN)),
    "optional_type": type_of(optional_of(DYN)),
    "type": type_of(DYN),
}


def check(text: str, tree: Node, variables: Mapping[str, Type]) -> Node:
    """The tree with a type in every node and names resolved. Raises CompileError, also as InstantiationError."""
    checker = _Checker(variables)
    tree = checker.visit(tree)
    if checker.problems:
        raise CompileError(error_text(text, checker.problems))
    checker.settle()
    problems = literal_problems(checker.visited)
    if problems:
        raise CompileError(error_text(text, problems))
    check_constants(checker.visited)
    return tree


def qualified_name(node: Node | None) -> str:
    """`a.b.c` for a chain of plain selections, else nothing."""
    if isinstance(node, Ident):
        return node.name
    if isinstance(node, Select) and not node.is_test:
        prefix = qualified_name(node.operand)
        return f"{prefix}.{node.field}" if prefix else ""
    return ""


class _Checker:
    def __init__(self, variables: Mapping[str, Type]) -> None:
        self.problems: list[tuple[int, str]] = []
        self._scopes: list[Mapping[str, Type]] = [variables]
        self._bindings = Bindings()
        self.visited: list[Node] = []

    def settle(self) -> None:
        """Replace every type variable by what it turned out to be, or dyn."""
        for node in self.visited:
            node.type = self._bindings.resolve(node.type, final=True)

    def visit(self, node: Node) -> Node:
        match node:
            case Literal():
                node.type = written(type_name(node.value))
            case Ident():
                node.type = self._ident(node, node.name)
            case Select():
                node = self._select(node)
            case Call():
                self._call(node)
            case ListNode():
                self._list(node)
            case MapNode():
                self._map(node)
            case Comprehension():
                self._comprehension(node)
            case MessageNode():
                node.type = self._undeclared(node.at, node.name)
        self.visited.append(node)
        return node

    def _report(self, at: int, problem: str) -> None:
        self.problems.append((at, problem))

    def _undeclared(self, at: int, name: str) -> Type:
        self._report(at, f"undeclared reference to '{name}' (in container '')")
        return ERROR

    def _lookup(self, name: str) -> Type | None:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        return TYPE_NAMES.get(name)

    @contextmanager
    def _scope(self, names: Mapping[str, Type]) -> Iterator[None]:
        self._scopes.append(names)
        yield
        self._scopes.pop()

    def _ident(self, node: Node, name: str) -> Type:
        found = self._lookup(name)
        return self._undeclared(node.at, name) if found is None else found

    def _select(self, node: Select) -> Node:
        name = qualified_name(node)
        found = self._lookup(name) if name else None
        if found is not None:
            return Ident(node.at, name, type=found)
        node.operand = self.visit(node.operand)
        found = self._field(node.at, node.operand.type, node.field)
        node.type = BOOL if node.is_test else found
        return node

    def _field(self, at: int, operand: Type, field: str, *, optional: bool = False) -> Type:
        operand = self._bindings.resolve(operand)
        is_optional = operand.name == "optional_type"
        target = operand.params[0] if is_optional else operand
        found = DYN
        if target.name == "map":
            found = target.params[1]
        elif target.is_object:
            found = self._member(at, target, field)
        elif target.is_variable:
            self._bindings.accepts([DYN], [target])
        elif not is_free(target):
            self._report(at, f"type '{target}' does not support field selection")
        return optional_of(found) if is_optional or optional else found

    def _member(self, at: int, target: Type, field: str) -> Type:
        if field in target.fields:
            return target.fields[field].type
        self._report(at, f"undefined field '{field}'")
        return ERROR

    def _call(self, node: Call) -> None:
        if node.function == "_?._":
            node.args[0] = self.visit(node.args[0])
            name = node.args[1]
            assert isinstance(name, Literal)
            node.type = self._field(node.at, node.args[0].type, name.value, optional=True)
            return
        node.args = [self.visit(arg) for arg in node.args]
        prefix = qualified_name(node.target)
        if prefix and f"{prefix}.{node.function}" in catalogue():
            node.function, node.target = f"{prefix}.{node.function}", None
        if node.target is not None:
            node.target = self.visit(node.target)
        overloads = catalogue().get(node.function)
        if overloads is None:
            node.type = self._undeclared(node.at, node.function)
            return
        if node.function in ("_&&_", "_||_"):
            self._logic(node)
        else:
            self._resolve(node, overloads)

    def _logic(self, node: Call) -> None:
        node.type = BOOL
        for arg in node.args:
            if not self._bindings.accepts([arg.type], [BOOL]):
                self._report(arg.at, f"expected type 'bool' but found '{self._shown(arg.type)}'")
                node.type = ERROR

    def _resolve(self, node: Call, overloads: tuple[Overload, ...]) -> None:
        operands = ([] if node.target is None else [node.target]) + node.args
        given = [operand.type for operand in operands]
        result: Type | None = None
        fitting: list[Overload] = []
        for overload in overloads:
            if overload.is_member != (node.target is not None):
                continue
            *params, answer = self._bindings.fresh([*overload.params, overload.result])
            if not self._bindings.accepts(given, params):
                continue
            fitting.append(overload)
            answer = self._bindings.resolve(answer)
            if result is None:
                result = answer
            elif result != answer:
                result = DYN
        if result is None:
            self._no_overload(node, given)
            return
        node.overloads = tuple(fitting)
        node.type = self._kept(node, result)

    def _kept(self, node: Call, result: Type) -> Type:
        """A sum of lists is a set or map of items when the first of them is one."""
        if node.function == "_+_" and result.name == "list":
            first = self._bindings.resolve(node.args[0].type)
            if first.merge is not None:
                return first
        return result

    def _no_overload(self, node: Call, given: list[Type]) -> None:
        shown = [str(self._shown(one)) for one in given]
        receiver = f"{shown.pop(0)}." if node.target is not None else ""
        signature = f"{receiver}({', '.join(shown)})"
        self._report(node.at, f"found no matching overload for '{node.function}' applied to '{signature}'")
        node.type = ERROR

    def _shown(self, kind: Type) -> Type:
        return self._bindings.resolve(kind, final=True)

    def _unwrapped(self, node: Node, *, optional: bool) -> Type:
        """The type of an element; an optional one must be optional and counts as what it holds."""
        kind = self._bindings.resolve(node.type)
        if not optional or is_free(kind):
            return kind
        if kind.name == "optional_type":
            return kind.params[0]
        self._report(node.at, f"expected type '{optional_of(kind)}' but found '{kind}'")
        return kind

    def _joined(self, first: Type | None, second: Type) -> Type:
        if first is None:
            return second
        return more_general(first, second) if self._bindings.accepts([first], [second]) else DYN

    def _list(self, node: ListNode) -> None:
        node.elements = [self.visit(element) for element in node.elements]
        kind: Type | None = None
        for index, element in enumerate(node.elements):
            kind = self._joined(kind, self._unwrapped(element, optional=index in node.optional))
        node.type = list_of(kind or self._bindings.variable())

    def _map(self, node: MapNode) -> None:
        key: Type | None = None
        value: Type | None = None
        for entry in node.entries:
            entry.key, entry.value = self.visit(entry.key), self.visit(entry.value)
            key = self._joined(key, entry.key.type)
            value = self._joined(value, self._unwrapped(entry.value, optional=entry.is_optional))
        node.type = map_of(key or self._bindings.variable(), value or self._bindings.variable())

    def _comprehension(self, node: Comprehension) -> None:
        node.range, node.initial = self.visit(node.range), self.visit(node.initial)
        names = self._loop_variables(node)
        with self._scope({node.accumulator: node.initial.type}):
            with self._scope(names):
                node.condition, node.step = self.visit(node.condition), self.visit(node.step)
                self._expect(node.condition, BOOL)
                self._expect(node.step, node.initial.type)
            node.result = self.visit(node.result)
        node.type = self._bindings.resolve(node.result.type)

    def _loop_variables(self, node: Comprehension) -> dict[str, Type]:
        kind = self._bindings.resolve(node.range.type)
        first = second = DYN
        if kind.name == "list":
            first, second = (INT, kind.params[0]) if node.second else (kind.params[0], DYN)
        elif kind.name == "map":
            first, second = kind.params
        elif is_free(kind) or kind.is_variable:
            self._bindings.accepts([DYN], [kind])
        else:
            problem = f"expression of type '{kind}' cannot be range of a comprehension (must be list, map, or dynamic)"
            self._report(node.range.at, problem)
            first = second = ERROR
        return {node.variable: first, node.second: second} if node.second else {node.variable: first}

    def _expect(self, node: Node, wanted: Type) -> None:
        if not self._bindings.accepts([wanted], [node.type]):
            self._report(node.at, f"expected type '{self._shown(wanted)}' but found '{self._shown(node.type)}'")
