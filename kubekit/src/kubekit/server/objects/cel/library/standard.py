"""Operators: arithmetic, order, membership and size."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from ..language.functions import Overload, Priced, functions, members
from ..language.times import checked_duration, checked_timestamp
from ..language.values import CelError, Duration, Timestamp, UInt, Value, checked_int, checked_uint, equal
from . import costs


def _add(first: int, second: int) -> int:
    return checked_int(first + second)


def _subtract(first: int, second: int) -> int:
    return checked_int(first - second)


def _multiply(first: int, second: int) -> int:
    return checked_int(first * second)


def _divide(first: int, second: int) -> int:
    if second == 0:
        raise CelError("division by zero")
    quotient = abs(first) // abs(second)
    return checked_int(quotient if (first < 0) == (second < 0) else -quotient)


def _remainder(first: int, second: int) -> int:
    if second == 0:
        raise CelError("modulus by zero")
    return first - second * _divide(first, second)


def _divide_doubles(first: float, second: float) -> float:
    try:
        return first / second
    except ZeroDivisionError:
        if first == 0 or math.isnan(first):
            return math.nan
        return math.copysign(math.inf, first) * math.copysign(1, second)


def _negate(number: int) -> int:
    return checked_int(-number)


def _unsigned(run: Callable[[int, int], int]) -> Callable[[int, int], UInt]:
    def checked(first: int, second: int) -> UInt:
        return checked_uint(run(int(first), int(second)))

    return checked


def _after(first: Timestamp, second: Duration) -> Timestamp:
    return checked_timestamp(first.nanoseconds + second.nanoseconds, first.offset)


def _before(first: Timestamp, second: Duration) -> Timestamp:
    return checked_timestamp(first.nanoseconds - second.nanoseconds, first.offset)


def is_member(value: Value, values: list[Value]) -> bool:
    # What is equal in CEL is equal in Python, which finds it sooner; the opposite does not hold for true and 1.
    if value not in values:
        return False
    return type(value) is str or any(equal(value, one) for one in values)


def is_key(value: Value, mapping: dict[Value, Value]) -> bool:
    return find_key(mapping, value) is not MISSING


MISSING = object()


def find_key(mapping: dict[Value, Value], key: Value) -> Value:
    """The entry of a map under a key; numbers of different types are one key, MISSING when there is none."""
    kind = type(key)
    if kind is str:
        return mapping.get(key, MISSING)
    if kind not in (int, bool, UInt, float):
        raise CelError(f"unsupported key type: {kind.__name__}")
    if key not in mapping:
        return MISSING
    if key not in (0, 1):
        return mapping[key]
    # To Python, true and 1 are one key.
    return next((value for one, value in mapping.items() if equal(one, key)), MISSING)


_SAME_TYPES = ("bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration")
_TEXTS = ("string, string", "bytes, bytes")
_MIXED_NUMBERS = ("int, uint", "int, double", "uint, int", "uint, double", "double, int", "double, uint")


def _order() -> list[Overload]:
    signs = {"_<_": operator.lt, "_<=_": operator.le, "_>_": operator.gt, "_>=_": operator.ge}
    pairs = [f"{kind}, {kind}" for kind in _SAME_TYPES] + list(_MIXED_NUMBERS)
    return functions(
        *(
            (sign, f"{pair} -> bool", Priced(costs.shorter, run) if pair in _TEXTS else run)
            for sign, run in signs.items()
            for pair in pairs
        )
    )


def _sizes() -> list[Overload]:
    return [
        overload
        for kind in ("string", "bytes", "list(A)", "map(A, B)")
        for overload in (*functions(("size", f"{kind} -> int", len)), *members(("size", f"{kind} -> int", len)))
    ]


def overloads() -> list[Overload]:
    return [*_arithmetic(), *_order(), *_sizes(), *_special()]


def _arithmetic() -> list[Overload]:
    return functions(
        ("_+_", "bytes, bytes -> bytes", Priced(costs.sum_of, operator.add)),
        ("_+_", "double, double -> double", operator.add),
        ("_+_", "duration, duration -> duration", lambda a, b: checked_duration(a.nanoseconds + b.nanoseconds)),
        ("_+_", "duration, timestamp -> timestamp", lambda a, b: _after(b, a)),
        ("_+_", "timestamp, duration -> timestamp", _after),
        ("_+_", "int, int -> int", _add),
        ("_+_", "list(A), list(A) -> list(A)", Priced(costs.concatenation, operator.add)),
        ("_+_", "string, string -> string", Priced(costs.sum_of, operator.add)),
        ("_+_", "uint, uint -> uint", _unsigned(operator.add)),
        ("_-_", "double, double -> double", operator.sub),
        ("_-_", "duration, duration -> duration", lambda a, b: checked_duration(a.nanoseconds - b.nanoseconds)),
        ("_-_", "int, int -> int", _subtract),
        ("_-_", "timestamp, duration -> timestamp", _before),
        ("_-_", "timestamp, timestamp -> duration", lambda a, b: checked_duration(a.nanoseconds - b.nanoseconds)),
        ("_-_", "uint, uint -> uint", _unsigned(operator.sub)),
        ("_*_", "double, double -> double", operator.mul),
        ("_*_", "int, int -> int", _multiply),
        ("_*_", "uint, uint -> uint", _unsigned(operator.mul)),
        ("_/_", "double, double -> double", _divide_doubles),
        ("_/_", "int, int -> int", _divide),
        ("_/_", "uint, uint -> uint", _unsigned(_divide)),
        ("_%_", "int, int -> int", _remainder),
        ("_%_", "uint, uint -> uint", _unsigned(_remainder)),
        ("-_", "double -> double", operator.neg),
        ("-_", "int -> int", _negate),
    )


def _special() -> list[Overload]:
    """Operators the program builds itself, listed for the check; the last three work on plain values as well."""
    return functions(
        ("_?_:_", "bool, A, A -> A", _never),
        ("_&&_", "bool, bool -> bool", _never),
        ("_||_", "bool, bool -> bool", _never),
        ("!_", "bool -> bool", operator.not_),
        ("@not_strictly_false", "bool -> bool", _never),
        ("_==_", "A, A -> bool", equal),
        ("_!=_", "A, A -> bool", lambda a, b: not equal(a, b)),
        ("_[_]", "list(A), int -> A", _never),
        ("_[_]", "map(A, B), A -> B", _never),
        ("_[_]", "optional_type(list(A)), int -> optional_type(A)", _never),
        ("_[_]", "optional_type(map(A, B)), A -> optional_type(B)", _never),
        ("_[?_]", "list(A), int -> optional_type(A)", _never),
        ("_[?_]", "optional_type(list(A)), int -> optional_type(A)", _never),
        ("_[?_]", "map(A, B), A -> optional_type(B)", _never),
        ("_[?_]", "optional_type(map(A, B)), A -> optional_type(B)", _never),
        ("@in", "A, list(A) -> bool", is_member),
        ("@in", "A, map(A, B) -> bool", is_key),
    )


def _never(*args: Value) -> Value:
    raise CelError("no such overload")
