"""Functions on lists, sets and maps."""

from __future__ import annotations

from functools import cmp_to_key
from itertools import pairwise

from ..language.functions import Overload, functions, members
from ..language.values import NONE, CelError, Duration, Optional, UInt, Value, compare, equal
from .standard import MISSING, find_key, is_member

_COMPARABLE = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_MAX_RANGE = 1_000_000


def _is_sorted(values: list[Value]) -> bool:
    return all(compare(first, second) <= 0 for first, second in pairwise(values))


def _least(values: list[Value]) -> Value:
    if not values:
        raise CelError("min called on empty list")
    return min(values, key=cmp_to_key(compare))


def _greatest(values: list[Value]) -> Value:
    if not values:
        raise CelError("max called on empty list")
    return max(values, key=cmp_to_key(compare))


def _index_of(values: list[Value], value: Value) -> int:
    return next((index for index, one in enumerate(values) if equal(one, value)), -1)


def _last_index_of(values: list[Value], value: Value) -> int:
    return next((index for index in reversed(range(len(values))) if equal(values[index], value)), -1)


def _sum_of_ints(values: list[int]) -> int:
    total = sum(values)
    if -(2**63) <= total < 2**63:
        return total
    raise CelError("integer overflow")


def _slice(values: list[Value], start: int, end: int) -> list[Value]:
    if start < 0 or end < 0:
        raise CelError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise CelError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if end > len(values):
        raise CelError(f"cannot slice({start}, {end}), list is length {len(values)}")
    return values[start:end]


def _flattened(values: list[Value], depth: int = 1) -> list[Value]:
    if depth < 0:
        raise CelError("level must be non-negative")
    flat: list[Value] = []
    for value in values:
        if isinstance(value, list) and depth > 0:
            flat.extend(_flattened(value, depth - 1))
        else:
            flat.append(value)
    return flat


def _sorted(values: list[Value]) -> list[Value]:
    return _sorted_by(values, values)


def _sorted_by(values: list[Value], keys: list[Value]) -> list[Value]:
    if len({type(key) for key in keys}) > 1:
        raise CelError("list elements must have the same type")
    ranks = list(map(cmp_to_key(compare), keys))
    return [values[index] for index in sorted(range(len(values)), key=ranks.__getitem__)]


def _distinct(values: list[Value]) -> list[Value]:
    unique: list[Value] = []
    for value in values:
        if not is_member(value, unique):
            unique.append(value)
    return unique


def _range(length: int) -> list[int]:
    if length > _MAX_RANGE:
        raise CelError("lists.range is too long")
    return list(range(length))


def _contains(values: list[Value], others: list[Value]) -> bool:
    return all(is_member(other, values) for other in others)


def _intersects(values: list[Value], others: list[Value]) -> bool:
    return any(is_member(other, values) for other in others)


def _equivalent(values: list[Value], others: list[Value]) -> bool:
    return _contains(values, others) and _contains(others, values)


def _first(values: list[Value]) -> Optional:
    return Optional(values[0]) if values else NONE


def _last(values: list[Value]) -> Optional:
    return Optional(values[-1]) if values else NONE


def _inserted(mapping: dict[Value, Value], key: Value, value: Value) -> dict[Value, Value]:
    if find_key(mapping, key) is not MISSING:
        raise CelError(f"insert failed: key {key} already exists")
    return {**mapping, key: value}


def _merged(mapping: dict[Value, Value], others: dict[Value, Value]) -> dict[Value, Value]:
    for key, value in others.items():
        mapping = _inserted(mapping, key, value)
    return mapping


def _of_comparable() -> list[Overload]:
    return [
        overload
        for kind in _COMPARABLE
        for overload in members(
            ("isSorted", f"list({kind}) -> bool", _is_sorted),
            ("min", f"list({kind}) -> {kind}", _least),
            ("max", f"list({kind}) -> {kind}", _greatest),
            ("sort", f"list({kind}) -> list({kind})", _sorted),
            ("@sortByAssociatedKeys", f"list(T), list({kind}) -> list(T)", _sorted_by),
        )
    ]


def overloads() -> list[Overload]:
    return [
        *_of_comparable(),
        *members(
            ("sum", "list(int) -> int", _sum_of_ints),
            ("sum", "list(uint) -> uint", lambda values: UInt(_sum_of_ints(values))),
            ("sum", "list(double) -> double", lambda values: float(sum(values))),
            ("sum", "list(duration) -> duration", lambda values: Duration(sum(one.nanoseconds for one in values))),
            ("indexOf", "list(A), A -> int", _index_of),
            ("lastIndexOf", "list(A), A -> int", _last_index_of),
            ("slice", "list(T), int, int -> list(T)", _slice),
            ("flatten", "list(list(T)) -> list(T)", _flattened),
            ("flatten", "list(dyn), int -> list(dyn)", _flattened),
            ("reverse", "list(T) -> list(T)", lambda values: values[::-1]),
            ("distinct", "list(T) -> list(T)", _distinct),
            ("first", "list(T) -> optional_type(T)", _first),
            ("last", "list(T) -> optional_type(T)", _last),
        ),
        *functions(
            ("lists.range", "int -> list(int)", _range),
            ("sets.contains", "list(T), list(T) -> bool", _contains),
            ("sets.equivalent", "list(T), list(T) -> bool", _equivalent),
            ("sets.intersects", "list(T), list(T) -> bool", _intersects),
            ("cel.@mapInsert", "map(K, V), K, V -> map(K, V)", _inserted),
            ("cel.@mapInsert", "map(K, V), map(K, V) -> map(K, V)", _merged),
        ),
    ]
