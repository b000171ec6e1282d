"""The text of an expression → a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .estimation import SizeAt, estimate
from .program import Program
from .syntax import parse
from .tree import Call, Comprehension, Ident, ListNode, MapNode, Node, Select
from .type_check import check
from .typesystem import Type


@dataclass(frozen=True, slots=True)
class Compiled:
    """A program, the type of its result and the variables it reads."""

    program: Program
    type: Type
    names: frozenset[str]
    cost: int = 0
    """What it may cost at most, if that was asked for."""


def compile_text(text: str, variables: Mapping[str, Type], size_at: SizeAt | None = None) -> Compiled:
    """`size_at`, if given, tells how large data may be, for an estimate of the cost.

    Raises CompileError with the words of cel-go."""
    tree = check(text, parse(text), variables)
    names = frozenset(_names(tree)) & variables.keys()
    cost = 0 if size_at is None else estimate(tree, size_at)
    return Compiled(Program(tree, tuple(variables)), tree.type, names, cost)


def _names(node: Node) -> set[str]:
    """Every name an expression mentions."""
    found = {node.name} if isinstance(node, Ident) else set()
    for inner in _children(node):
        found |= _names(inner)
    return found


def _children(node: Node) -> list[Node]:
    match node:
        case Select():
            return [node.operand]
        case Call():
            return [*node.args, node.target] if node.target is not None else node.args
        case ListNode():
            return node.elements
        case MapNode():
            return [part for entry in node.entries for part in (entry.key, entry.value)]
        case Comprehension():
            return [node.range, node.initial, node.condition, node.step, node.result]
        case _:
            return []
