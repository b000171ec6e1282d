"""Functions on lists, sets and maps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key
from itertools import pairwise
from typing import Any

from ..language.budget import LIST, Frame, charge, charge_search
from ..language.functions import Implementation, Metered, Overload, Priced, functions, members
from ..language.values import NONE, CelError, Duration, Optional, UInt, Value, checked_int, compare, equal, hashable
from . import costs
from .standard import MISSING, find_key

_COMPARABLE = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_ORDERED_BY_PYTHON = ({int}, {float}, {str}, {bytes}, {bool}, {UInt})


def _ranks(values: Sequence[Value]) -> Sequence[Any]:
    """What sorts as the values do; those are their own ranks where Python and CEL agree on the order."""
    return values if set(map(type, values)) in _ORDERED_BY_PYTHON else list(map(cmp_to_key(compare), values))


def _is_sorted(values: list[Value]) -> bool:
    return all(not first > second for first, second in pairwise(_ranks(values)))


def _least(values: list[Value]) -> Value:
    if not values:
        raise CelError("min called on empty list")
    return values[min(range(len(values)), key=_ranks(values).__getitem__)]


def _greatest(values: list[Value]) -> Value:
    if not values:
        raise CelError("max called on empty list")
    return values[max(range(len(values)), key=_ranks(values).__getitem__)]


def _index_of(frame: Frame, values: list[Value], value: Value) -> int:
    charge_search(frame, value, values)
    charge(frame, len(values))
    return next((index for index, one in enumerate(values) if equal(one, value)), -1)


def _last_index_of(frame: Frame, values: list[Value], value: Value) -> int:
    charge_search(frame, value, values)
    charge(frame, len(values))
    return next((index for index in reversed(range(len(values))) if equal(values[index], value)), -1)


def _sum_of_ints(values: list[int]) -> int:
    return checked_int(sum(values))


def _slice(values: list[Value], start: int, end: int) -> list[Value]:
    if start < 0 or end < 0:
        raise CelError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise CelError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if end > len(values):
        raise CelError(f"cannot slice({start}, {end}), list is length {len(values)}")
    return values[start:end]


def _sliced(_values: list[Value], start: int, end: int) -> int:
    return LIST + max(end - start, 0)


def _flattened(frame: Frame, values: list[Value], depth: int = 1) -> list[Value]:
    if depth < 0:
        raise CelError("level must be non-negative")
    charge(frame, LIST + 2 * len(values))
    flat: list[Value] = []
    for value in values:
        if isinstance(value, list) and depth > 0:
            flat.extend(_flattened(frame, value, depth - 1))
        else:
            flat.append(value)
    return flat


def _sorted(values: list[Value]) -> list[Value]:
    return _sorted_by(values, values)


def _sorted_by(values: list[Value], keys: list[Value]) -> list[Value]:
    if len({type(key) for key in keys}) > 1:
        raise CelError("list elements must have the same type")
    return [values[index] for index in sorted(range(len(values)), key=_ranks(keys).__getitem__)]


def _distinct(values: list[Value]) -> list[Value]:
    unique: dict[Any, Value] = {}
    for value in values:
        unique.setdefault(hashable(value), value)
    return list(unique.values())


def _range(frame: Frame, length: int) -> list[int]:
    charge(frame, LIST + max(length, 0))
    return list(range(length))


def _contains(values: list[Value], others: list[Value]) -> bool:
    return set(map(hashable, others)) <= set(map(hashable, values))


def _intersects(values: list[Value], others: list[Value]) -> bool:
    return not set(map(hashable, values)).isdisjoint(map(hashable, others))


def _equivalent(values: list[Value], others: list[Value]) -> bool:
    return set(map(hashable, values)) == set(map(hashable, others))


def _first(values: list[Value]) -> Optional:
    return Optional(values[0]) if values else NONE


def _last(values: list[Value]) -> Optional:
    return Optional(values[-1]) if values else NONE


def _inserted(mapping: dict[Value, Value], key: Value, value: Value) -> dict[Value, Value]:
    """In place: only loops call this, on a map of their own."""
    if find_key(mapping, key) is not MISSING:
        raise CelError("insert failed: key ", key, " already exists")
    mapping[key] = value
    return mapping


def _merged(frame: Frame, mapping: dict[Value, Value], others: dict[Value, Value]) -> dict[Value, Value]:
    charge(frame, 15 * len(others))
    for key, value in others.items():
        mapping = _inserted(mapping, key, value)
    return mapping


def _of_comparable() -> list[Overload]:
    return [
        overload
        for kind in _COMPARABLE
        for overload in members(
            ("isSorted", f"list({kind}) -> bool", Priced(costs.traversal, _is_sorted)),
            ("min", f"list({kind}) -> {kind}", Priced(costs.traversal, _least)),
            ("max", f"list({kind}) -> {kind}", Priced(costs.traversal, _greatest)),
            ("sort", f"list({kind}) -> list({kind})", Priced(costs.square, _sorted)),
            ("@sortByAssociatedKeys", f"list(T), list({kind}) -> list(T)", Priced(costs.square, _sorted_by)),
        )
    ]


def _sums() -> list[Overload]:
    sums: dict[str, Implementation] = {
        "int": _sum_of_ints,
        "uint": lambda values: UInt(_sum_of_ints(values)),
        "double": lambda values: float(sum(values)),
        "duration": lambda values: Duration(sum(one.nanoseconds for one in values)),
    }
    return members(*(("sum", f"list({kind}) -> {kind}", Priced(costs.traversal, run)) for kind, run in sums.items()))


def overloads() -> list[Overload]:
    return [
        *_of_comparable(),
        *_sums(),
        *members(
            ("indexOf", "list(A), A -> int", Metered(_index_of)),
            ("lastIndexOf", "list(A), A -> int", Metered(_last_index_of)),
            ("slice", "list(T), int, int -> list(T)", Priced(_sliced, _slice)),
            ("flatten", "list(list(T)) -> list(T)", Metered(_flattened)),
            ("flatten", "list(dyn), int -> list(dyn)", Metered(_flattened)),
            ("reverse", "list(T) -> list(T)", Priced(costs.copy, lambda values: values[::-1])),
            ("distinct", "list(T) -> list(T)", Priced(costs.square, _distinct)),
            ("first", "list(T) -> optional_type(T)", _first),
            ("last", "list(T) -> optional_type(T)", _last),
        ),
        *functions(
            ("lists.range", "int -> list(int)", Metered(_range)),
            ("sets.contains", "list(T), list(T) -> bool", Priced(costs.product(1), _contains)),
            ("sets.equivalent", "list(T), list(T) -> bool", Priced(costs.product(2), _equivalent)),
            ("sets.intersects", "list(T), list(T) -> bool", Priced(costs.product(1), _intersects)),
            ("cel.@mapInsert", "map(K, V), K, V -> map(K, V)", Priced(costs.fixed(15), _inserted)),
            ("cel.@mapInsert", "map(K, V), map(K, V) -> map(K, V)", Metered(_merged)),
        ),
    ]
