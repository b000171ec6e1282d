"""Values that may be absent."""

from __future__ import annotations

from ..language.functions import Overload, Priced, functions, members
from ..language.values import NONE, Duration, Optional, Value
from . import costs


def _of_non_zero(value: Value) -> Optional:
    zero = value is None or (isinstance(value, Duration) and not value.nanoseconds)
    return NONE if zero or value in (False, 0, "", b"", [], {}) else Optional(value)


def _or(first: Optional, second: Optional) -> Optional:
    return first if first.is_present else second


def _or_value(first: Optional, value: Value) -> Value:
    return first.value if first.is_present else value


def _unwrapped(values: list[Optional]) -> list[Value]:
    return [one.value for one in values if one.is_present]


def overloads() -> list[Overload]:
    return [
        *functions(
            ("optional.of", "V -> optional_type(V)", Priced(costs.fixed(5), Optional)),
            ("optional.ofNonZeroValue", "V -> optional_type(V)", _of_non_zero),
            ("optional.none", "-> optional_type(V)", lambda: NONE),
            ("optional.unwrap", "list(optional_type(V)) -> list(V)", Priced(costs.copy, _unwrapped)),
        ),
        *members(
            ("value", "optional_type(V) -> V", lambda one: one.value),
            ("hasValue", "optional_type(V) -> bool", lambda one: one.is_present),
            ("or", "optional_type(V), optional_type(V) -> optional_type(V)", _or),
            ("orValue", "optional_type(V), V -> V", _or_value),
            ("unwrapOpt", "list(optional_type(V)) -> list(V)", Priced(costs.copy, _unwrapped)),
        ),
    ]
