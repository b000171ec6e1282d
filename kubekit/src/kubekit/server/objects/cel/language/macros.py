"""Macros the parser does not know: loops over two variables and sortBy."""

from __future__ import annotations

from collections.abc import Callable

from .tree import Call, Comprehension, Ident, ListNode, Literal, MapNode, Node, error_text
from .values import CompileError

RESULT = "@result"
SORT_INPUT = "@sorted"


class Misused(Exception):
    """A macro with an argument it cannot take: the argument and what is wrong with it."""

    def __init__(self, argument: Node, problem: str) -> None:
        super().__init__(problem)
        self.argument = argument


def expand(call: Call, text: str) -> Node:
    """What a call stands for: a loop when it is one of these macros, else itself. Raises CompileError."""
    if call.target is None:
        return call
    macro = _MACROS.get((call.function, len(call.args)))
    if macro is None:
        return call
    try:
        return macro(call, call.target)
    except Misused as misused:
        raise CompileError(error_text(text, [(misused.argument.at, str(misused))])) from None


def _result(call: Call) -> Ident:
    return Ident(call.at, RESULT)


def _apply(call: Call, function: str, *args: Node) -> Call:
    return Call(call.at, function, None, list(args))


def _name(argument: Node, problem: str) -> str:
    if not isinstance(argument, Ident):
        raise Misused(argument, problem)
    if argument.name in (RESULT, "__result__"):
        raise Misused(argument, "iteration variable overwrites accumulator variable")
    return argument.name


def _loop(call: Call, target: Node, initial: Node, step: Node, condition: Node | None = None) -> Comprehension:
    """A loop over two variables that answers with what it gathered."""
    first = _name(call.args[0], "argument must be a simple name")
    second = _name(call.args[1], "argument must be a simple name")
    if first == second:
        raise Misused(call.args[1], f"duplicate variable name: {first}")
    condition = condition or Literal(call.at, True)
    return Comprehension(call.at, first, second, target, RESULT, initial, condition, step, _result(call))


def _all(call: Call, target: Node) -> Node:
    step = _apply(call, "_&&_", _result(call), call.args[2])
    condition = _apply(call, "@not_strictly_false", _result(call))
    return _loop(call, target, Literal(call.at, True), step, condition)


def _exists(call: Call, target: Node) -> Node:
    step = _apply(call, "_||_", _result(call), call.args[2])
    condition = _apply(call, "@not_strictly_false", _apply(call, "!_", _result(call)))
    return _loop(call, target, Literal(call.at, False), step, condition)


def _exists_one(call: Call, target: Node) -> Node:
    more = _apply(call, "_+_", _result(call), Literal(call.at, 1))
    step = _apply(call, "_?_:_", call.args[2], more, _result(call))
    loop = _loop(call, target, Literal(call.at, 0), step)
    loop.result = _apply(call, "_==_", _result(call), Literal(call.at, 1))
    return loop


def _filtered(call: Call, step: Node) -> Node:
    """The step, taken only where the filter among the arguments holds."""
    return step if len(call.args) == 3 else _apply(call, "_?_:_", call.args[2], step, _result(call))


def _transform_list(call: Call, target: Node) -> Node:
    step = _apply(call, "_+_", _result(call), ListNode(call.at, [call.args[-1]]))
    return _loop(call, target, ListNode(call.at, []), _filtered(call, step))


def _transform_map(call: Call, target: Node) -> Node:
    key = Ident(call.at, _name(call.args[0], "argument must be a simple name"))
    step = _apply(call, "cel.@mapInsert", _result(call), key, call.args[-1])
    return _loop(call, target, MapNode(call.at, []), _filtered(call, step))


def _transform_entry(call: Call, target: Node) -> Node:
    step = _apply(call, "cel.@mapInsert", _result(call), call.args[-1])
    return _loop(call, target, MapNode(call.at, []), _filtered(call, step))


def _sort_by(call: Call, target: Node) -> Node:
    if isinstance(target, (Literal, MapNode)):
        problem = "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
        raise Misused(target, problem)
    name = _name(call.args[0], "argument is not an identifier")
    keys = Comprehension(
        call.at,
        name,
        "",
        Ident(call.at, SORT_INPUT),
        RESULT,
        ListNode(call.at, []),
        Literal(call.at, True),
        _apply(call, "_+_", _result(call), ListNode(call.at, [call.args[1]])),
        _result(call),
    )
    ordered = Call(call.at, "@sortByAssociatedKeys", Ident(call.at, SORT_INPUT), [keys])
    never, nothing = Literal(call.at, False), ListNode(call.at, [])
    unchanged = Ident(call.at, SORT_INPUT)
    return Comprehension(call.at, "#unused", "", nothing, SORT_INPUT, target, never, unchanged, ordered)


_MACROS: dict[tuple[str, int], Callable[[Call, Node], Node]] = {
    ("all", 3): _all,
    ("exists", 3): _exists,
    ("exists_one", 3): _exists_one,
    ("existsOne", 3): _exists_one,
    ("transformList", 3): _transform_list,
    ("transformList", 4): _transform_list,
    ("transformMap", 3): _transform_map,
    ("transformMap", 4): _transform_map,
    ("transformMapEntry", 3): _transform_entry,
    ("transformMapEntry", 4): _transform_entry,
    ("sortBy", 2): _sort_by,
}
