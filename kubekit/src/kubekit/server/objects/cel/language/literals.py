"""What can be known to be wrong from literals alone: mixed lists, durations, patterns and format strings."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...go import regex
from ..library import catalogue
from ..library.format_strings import clause_problem, clauses
from . import times
from .budget import PER_CALL
from .functions import call
from .tree import Call, ListNode, Literal, MapNode, Node
from .typesystem import Type
from .values import CelError, InstantiationError

Problem = tuple[int, str]


def literal_problems(nodes: list[Node]) -> list[Problem]:
    """The problems of an expression whose types are known; `nodes` are all of its nodes, inner ones first."""
    calls = [node for node in nodes if isinstance(node, Call)]
    exempt = {id(inner) for call in calls if call.function == "format" for arg in call.args for inner in _within(arg)}
    problems: list[Problem] = []
    for node in nodes:
        if isinstance(node, ListNode) and id(node) not in exempt:
            problems += _mixed(node.elements, node.optional)[:1]
        elif isinstance(node, MapNode) and id(node) not in exempt:
            problems += _mixed([one.key for one in node.entries])
            optional = {index for index, one in enumerate(node.entries) if one.is_optional}
            problems += _mixed([one.value for one in node.entries], optional)
        elif isinstance(node, Call):
            problems += _argument_problems(node)
    return problems


def _within(node: Node) -> Iterable[Node]:
    """A literal list or map and those inside it."""
    yield node
    inner: list[Node] = []
    if isinstance(node, ListNode):
        inner = node.elements
    elif isinstance(node, MapNode):
        inner = [part for one in node.entries for part in (one.key, one.value)]
    for one in inner:
        yield from _within(one)


def _mixed(elements: list[Node], optional: Iterable[int] = ()) -> list[Problem]:
    """The elements whose type is not the one of the first."""
    kinds = [_held(node.type) if index in optional else node.type for index, node in enumerate(elements)]
    return [
        (node.at, f"expected type '{kinds[0]}' but found '{kind}'")
        for node, kind in zip(elements, kinds, strict=True)
        if kind != kinds[0]
    ]


def _held(kind: Type) -> Type:
    return kind.params[0] if kind.params else kind


def _argument_problems(call: Call) -> list[Problem]:
    if call.function == "format":
        return _format_problems(call)
    read = _READERS.get(call.function)
    literal = call.args[-1] if call.args else None
    if read is None or not isinstance(literal, Literal) or not isinstance(literal.value, str):
        return []
    try:
        read(literal.value)
    except ValueError:
        return [(literal.at, f"invalid {call.function} argument")]
    return []


_READERS: dict[str, Callable[[str], object]] = {
    "duration": times.duration,
    "timestamp": times.timestamp,
    "matches": regex.compiled,
}


_CONVERSIONS = ("bool", "bytes", "double", "int", "string", "uint")


def check_constants(nodes: list[Node]) -> None:
    """Convert literals ahead of time. Raises InstantiationError when one cannot be converted."""
    for node in nodes:
        if not isinstance(node, Call) or node.target is not None or node.function not in _CONVERSIONS:
            continue
        argument = node.args[0]
        if isinstance(argument, Call) and argument.function == "dyn":
            argument = argument.args[0]
        if isinstance(argument, Literal):
            try:
                call([PER_CALL], catalogue()[node.function], argument.value)
            except CelError as error:
                raise InstantiationError(str(error)) from None


def _format_problems(call: Call) -> list[Problem]:
    template, args = call.target, call.args[0]
    if not isinstance(template, Literal) or not isinstance(args, ListNode):
        return []
    count = 0
    try:
        for number, clause, _, _ in clauses(template.value):
            if number >= len(args.elements):
                return [(call.at, f"index {number} out of range")]
            count += 1
            problem = clause_problem(clause[2], args.elements[number].type.name)
            if problem:
                return [(args.elements[number].at, problem)]
    except CelError as error:
        return [(call.at, str(error))]
    if count < len(args.elements):
        given = len(args.elements)
        return [(call.at, f"too many arguments supplied to string.format (expected {count}, got {given})")]
    return []
