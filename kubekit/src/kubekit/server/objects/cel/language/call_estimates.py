"""What calls of functions may cost at most beside their arguments, and how large their results may be."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from .functions import Overload
from .sizes import LARGEST, UNKNOWN, Size, exactly, plus, scaled, times
from .typesystem import Type
from .values import UInt, Value

READING, PATTERN = 0.1, 0.25
"""What a letter of a text costs, and a letter of a pattern."""
_CALL, _LIST, _STRUCTURE = 1, 10, 40
_LONGEST_FORMAT, _LONGEST_FORMAT_PATTERN = 64, 128
_ADDRESS = 16
"""Bytes."""


@dataclass(frozen=True, slots=True)
class Operand:
    """An argument of a call, or what it is called on."""

    type: Type
    known_size: Size | None
    item: Size
    """The size of an item, when it is a list."""
    literal: Value = None

    @property
    def size(self) -> Size:
        return self.known_size or UNKNOWN

    def whole_number(self, unless_written: int) -> int:
        """The number that is written here."""
        if type(self.literal) is not int or isinstance(self.literal, UInt):
            return unless_written
        return max(self.literal, 0)


class Estimate(NamedTuple):
    cost: int
    size: Size | None = None
    """Of the result, if that can be told from the call."""


Estimator = Callable[[Overload, Operand | None, list[Operand]], Estimate | None]
"""None when the call does not look like one the estimate is made for."""


def estimate_call(overload: Overload, target: Operand | None, args: list[Operand]) -> Estimate:
    estimator = _ESTIMATORS.get(overload.name)
    found = estimator(overload, target, args) if estimator is not None else None
    return found or Estimate(_CALL)


def _fixed(cost: int) -> Estimator:
    return lambda overload, target, args: Estimate(cost)


def _reading(factor: float = READING, *, keeps_size: bool = False) -> Estimator:
    """Of going over the first argument."""

    def estimate(_overload: Overload, _target: Operand | None, args: list[Operand]) -> Estimate | None:
        return Estimate(args[0].size.cost(factor), args[0].size if keeps_size else None) if args else None

    return estimate


def _reading_target(_overload: Overload, target: Operand | None, _args: list[Operand]) -> Estimate | None:
    return None if target is None else Estimate(target.size.cost(READING), target.size)


def _format(_overload: Overload, target: Operand | None, _args: list[Operand]) -> Estimate | None:
    return None if target is None else Estimate(target.size.cost(READING))


def _prefix(_overload: Overload, _target: Operand | None, args: list[Operand]) -> Estimate:
    return Estimate(args[0].size.cost(READING))


def _contains(_overload: Overload, target: Operand | None, args: list[Operand]) -> Estimate | None:
    return None if target is None else Estimate(times(target.size.cost(READING), args[0].size.cost(READING)))


def _pattern(text: Size, pattern: Size) -> int:
    return times(text.plus(exactly(1)).cost(READING), pattern.cost(PATTERN))


def _matches(_overload: Overload, target: Operand | None, args: list[Operand]) -> Estimate | None:
    return None if target is None else Estimate(_pattern(target.size, args[0].size))


def _find(_overload: Overload, target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None:
        return None
    return Estimate(_pattern(target.size, args[0].size), Size(0, target.size.most))


def _traversal(_overload: Overload, target: Operand | None, _args: list[Operand]) -> Estimate | None:
    """Of the items of a list, or of a text."""
    if target is None:
        return None
    if not target.type.params:
        return Estimate(target.size.cost(READING))
    is_text = target.type.params[0].name in ("string", "bytes")
    each = plus(1, target.item.cost(READING)) if is_text else 1
    return Estimate(times(target.size.most, each))


def _replace(_overload: Overload, target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None:
        return None
    size, old, new = target.size, args[0].size, args[1].size
    if old.least == 0:
        most_count, most_kept = plus(size.most, 1), size.most
    elif new.most <= old.least:
        most_count, most_kept = 0, size.most
    else:
        most_count, most_kept = math.ceil(size.most / old.least), 0
    if old.most == 0:
        least_count, least_kept = plus(size.least, 1), size.least
    elif old.most <= new.least:
        least_count, least_kept = 0, size.least
    else:
        least_count, least_kept = math.ceil(size.least / old.most), 0
    counts, kept = Size(least_count, min(most_count, LARGEST)), Size(least_kept, most_kept)
    return Estimate(size.cost(2 * READING), counts.times(new).plus(kept))


def _split(_overload: Overload, target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None:
        return None
    limit = args[1].literal if len(args) > 1 else None
    most = limit % 2**64 if type(limit) is int else target.size.most
    return Estimate(target.size.cost(2 * READING), Size(0, most))


def _join(_overload: Overload, target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None:
        return None
    size = target.size.times(target.item) if target.type.params else exactly(0)
    if args:
        between = Size(max(target.size.least - 1, 0), max(target.size.most - 1, 0))
        size = size.plus(args[0].size.times(between))
    return Estimate(size.cost(READING), size)


def _add(overload: Overload, _target: Operand | None, args: list[Operand]) -> Estimate | None:
    kind = overload.params[0].name
    if kind not in ("string", "bytes", "list"):
        return None
    size = args[0].size.plus(args[1].size)
    return Estimate(1 if kind == "list" else size.cost(READING), size)


def _order(overload: Overload, _target: Operand | None, args: list[Operand]) -> Estimate | None:
    is_text = overload.params[0].name in ("string", "bytes")
    return Estimate(scaled(min(arg.size.most for arg in args), READING)) if is_text else None


def _unequal(_overload: Overload, _target: Operand | None, args: list[Operand]) -> Estimate:
    return Estimate(scaled(min(arg.size.most for arg in args), READING))


_SIMPLE = frozenset(
    f"kubernetes.{name}" for name in ("Quantity", "Semver", "authorization.Authorizer", "authorization.PathCheck")
) | {f"kubernetes.authorization.{name}" for name in ("GroupCheck", "ResourceCheck", "Decision")}


def _equal(overload: Overload, target: Operand | None, args: list[Operand]) -> Estimate:
    kind = args[0].type.name if args[0].type == args[1].type else ""
    if kind in _SIMPLE or kind in ("net.IP", "net.CIDR"):
        return Estimate(1)
    if kind == "kubernetes.NamedFormat":
        return Estimate(scaled(_LONGEST_FORMAT, READING))
    if kind == "kubernetes.URL":
        return Estimate((args[1].known_size or exactly(1)).cost(READING))
    return _unequal(overload, target, args)


def _member(overload: Overload, _target: Operand | None, args: list[Operand]) -> Estimate | None:
    return Estimate(args[1].size.cost(1)) if overload.params[1].name == "list" else None


def _to_bytes(overload: Overload, _target: Operand | None, args: list[Operand]) -> Estimate | None:
    if overload.params[0].name != "string":
        return None
    size = args[0].size
    return Estimate(size.cost(READING), Size(size.least, size.most * 4 % 2**64))


def _to_string(overload: Overload, _target: Operand | None, args: list[Operand]) -> Estimate | None:
    if overload.params[0].name != "bytes":
        return None
    size = args[0].size
    return Estimate(size.cost(READING), Size(size.least // 4, size.most))


def _quote(_overload: Overload, _target: Operand | None, args: list[Operand]) -> Estimate:
    size = args[0].size
    return Estimate(size.cost(READING), Size(size.least + 2, (size.most * 2 + 2) % 2**64))


def _address(overload: Overload, target: Operand | None, args: list[Operand]) -> Estimate | None:
    return Estimate(_CALL) if target is not None else _reading()(overload, target, args)


def _within(comparison: int) -> Estimator:
    """Whether a network contains something, which may be written as text."""

    def estimate(overload: Overload, _target: Operand | None, args: list[Operand]) -> Estimate:
        text = args[0].size.cost(READING) if overload.params[1].name == "string" else 0
        return Estimate(plus(comparison, text))

    return estimate


def _validate(_overload: Overload, _target: Operand | None, args: list[Operand]) -> Estimate:
    return Estimate(scaled(args[0].size.cost(READING), _LONGEST_FORMAT_PATTERN * PATTERN))


def _selector(_overload: Overload, _target: Operand | None, args: list[Operand]) -> Estimate:
    size = args[0].size
    requirements = scaled(size.cost(0.5), _LIST + _STRUCTURE)
    return Estimate(plus(_LIST, size.cost(READING), requirements))


def _sets(factor: float) -> Estimator:
    def estimate(_overload: Overload, _target: Operand | None, args: list[Operand]) -> Estimate:
        return Estimate(plus(args[0].size.times(args[1].size).cost(factor), _CALL))

    return estimate


def _made(size: Size, factor: float = 1) -> Estimate:
    """A new list."""
    return Estimate(plus(size.cost(factor), _CALL, _LIST), size)


def _slice(_overload: Overload, target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None:
        return None
    length = args[1].whole_number(target.size.most) - args[0].whole_number(0)
    return _made(exactly(length % 2**64))


def _range(_overload: Overload, _target: Operand | None, args: list[Operand]) -> Estimate:
    return _made(exactly(args[0].whole_number(LARGEST)))


def _reverse(_overload: Overload, target: Operand | None, _args: list[Operand]) -> Estimate | None:
    return None if target is None else _made(target.size)


def _flatten(_overload: Overload, target: Operand | None, args: list[Operand]) -> Estimate | None:
    if target is None:
        return None
    return _made(target.size, args[0].whole_number(LARGEST) if args else 1)


def _distinct(_overload: Overload, target: Operand | None, _args: list[Operand]) -> Estimate | None:
    return None if target is None else _made(target.size.times(target.size), 2)


def _sort(overload: Overload, target: Operand | None, args: list[Operand]) -> Estimate | None:
    """Of a list, or of the keys that stand for its items."""
    compared = args[0] if args else target
    if compared is None:
        return None
    kind = overload.params[-1].params[0].name
    return _made(compared.size.times(compared.size), 2 + READING if kind in ("string", "bytes") else 2)


_ESTIMATORS: dict[str, Estimator] = {
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _order),
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _traversal),
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim"), _reading_target),
    **dict.fromkeys(("startsWith", "endsWith"), _prefix),
    **dict.fromkeys(("find", "findAll"), _find),
    **dict.fromkeys(("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"), _reading()),
    **dict.fromkeys(("fieldSelector", "labelSelector"), _selector),
    **dict.fromkeys(("sets.contains", "sets.intersects"), _sets(1)),
    **dict.fromkeys(("sort", "@sortByAssociatedKeys"), _sort),
    "_==_": _equal,
    "_!=_": _unequal,
    "_+_": _add,
    "@in": _member,
    "bytes": _to_bytes,
    "string": _to_string,
    "check": _fixed(350_000),
    "containsCIDR": _within(scaled(2 * _ADDRESS, READING) + scaled(_ADDRESS, READING) + 1),
    "containsIP": _within(scaled(2 * _ADDRESS, READING)),
    "contains": _contains,
    "distinct": _distinct,
    "flatten": _flatten,
    "format": _format,
    "ip": _address,
    "ip.isCanonical": _reading(2 * READING),
    "join": _join,
    "lists.range": _range,
    "matches": _matches,
    "replace": _replace,
    "reverse": _reverse,
    "sets.equivalent": _sets(2),
    "slice": _slice,
    "split": _split,
    "strings.quote": _quote,
    "url": _reading(keeps_size=True),
    "validate": _validate,
}
