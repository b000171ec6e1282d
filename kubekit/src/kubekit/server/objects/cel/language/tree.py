"""The syntax tree of an expression."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .typesystem import DYN, Type
from .values import Value


@dataclass(slots=True, eq=False)
class Node:
    """A part of an expression: where it starts in the text and, once checked, its type."""

    at: int
    type: Type = field(default=DYN, kw_only=True)


@dataclass(slots=True, eq=False)
class Literal(Node):
    value: Value


@dataclass(slots=True, eq=False)
class Ident(Node):
    name: str


@dataclass(slots=True, eq=False)
class Select(Node):
    operand: Node
    field: str
    is_test: bool
    """`has(operand.field)` rather than `operand.field`."""


@dataclass(slots=True, eq=False)
class Call(Node):
    function: str
    target: Node | None
    args: list[Node]
    overloads: tuple[Any, ...] = ()
    """The implementations that may be meant, found by the check."""


@dataclass(slots=True, eq=False)
class ListNode(Node):
    elements: list[Node]
    optional: frozenset[int] = frozenset()


@dataclass(slots=True, eq=False)
class Entry:
    at: int
    key: Node
    value: Node
    is_optional: bool


@dataclass(slots=True, eq=False)
class MapNode(Node):
    entries: list[Entry]


@dataclass(slots=True, eq=False)
class MessageNode(Node):
    name: str


@dataclass(slots=True, eq=False)
class Comprehension(Node):
    """A loop: the macros all, exists, map, filter and their like are made of it."""

    variable: str
    second: str
    """The value beside an index or key, in loops over two variables; empty otherwise."""
    range: Node
    accumulator: str
    initial: Node
    condition: Node
    step: Node
    result: Node


def error_text(text: str, problems: list[tuple[int, str]]) -> str:
    """Problems at offsets of a text, one below the other with the line each is in."""
    shown = []
    for at, problem in sorted(problems, key=lambda one: one[0]):
        start = text.rfind("\n", 0, at) + 1
        line, column = text.count("\n", 0, at) + 1, at - start
        source = text[start:].partition("\n")[0].replace("\t", " ")
        shown.append(f"ERROR: <input>:{line}:{column + 1}: {problem}\n | {source}\n | {'.' * column}^")
    return "\n".join(shown)
