"""Conversions between types, and the parts of points and spans of time."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import datetime

from ..language.budget import LETTERS
from ..language.functions import Overload, Priced, functions, members
from ..language.times import SECOND, checked_timestamp, duration, duration_text, local_time, timestamp, timestamp_text
from ..language.values import (
    CelError,
    Duration,
    Timestamp,
    TypeValue,
    UInt,
    Value,
    checked_int,
    checked_uint,
    type_name,
)
from . import costs


def _same(value: Value) -> Value:
    return value


def _wrong(source: str, target: str) -> CelError:
    return CelError(f"type conversion error from '{source}' to '{target}'")


def _bool_of_string(text: str) -> bool:
    if text in ("1", "t", "T", "true", "TRUE", "True"):
        return True
    if text in ("0", "f", "F", "false", "FALSE", "False"):
        return False
    raise _wrong("string", "bool")


def _int_of_string(text: str) -> int:
    number = _whole_number(text) if re.fullmatch(r"[+-]?[0-9]+", text, re.ASCII) else None
    if number is None or not -(2**63) <= number < 2**63:
        raise _wrong("string", "int")
    return number


def _uint_of_string(text: str) -> UInt:
    number = _whole_number(text) if re.fullmatch(r"[0-9]+", text, re.ASCII) else None
    if number is None or number >= 2**64:
        raise _wrong("string", "uint")
    return UInt(number)


def _whole_number(text: str) -> int | None:
    """None when it is far too long for a number: to read many digits takes long."""
    digits = text.lstrip("+-0") or "0"
    return None if len(digits) > 20 else int(text[: text[0] in "+-"] + digits)


def _int_of_double(number: float) -> int:
    if math.isnan(number) or not -(2**63) < number < 2**63:
        raise CelError("integer overflow")
    return int(number)


def _uint_of_double(number: float) -> UInt:
    if math.isnan(number) or not 0 <= number < 2**64:
        raise CelError("unsigned integer overflow")
    return UInt(number)


def _double_of_string(text: str) -> float:
    if not re.fullmatch(
        r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?i:inf|infinity)|(?i:nan)", text
    ):
        raise _wrong("string", "double")
    return float(text)


def double_text(number: float) -> str:
    """The shortest text that reads back as the number, in Go's `%g` form."""
    if math.isinf(number):
        return "+Inf" if number > 0 else "-Inf"
    if math.isnan(number):
        return "NaN"
    mantissa, _, exponent = _shortest(number).partition("e")
    power = int(exponent)
    if -5 < power < 6:
        return f"{number:.{max(len(mantissa.lstrip('-').replace('.', '')) - 1 - power, 0)}f}"
    return f"{mantissa}e{'-' if power < 0 else '+'}{abs(power):02d}"


def _shortest(number: float) -> str:
    """Scientific form with as few digits as read back as the number."""
    return next(shown for width in range(18) if float(shown := f"{number:.{width}e}") == number)


def _string_of_bytes(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise CelError("invalid UTF-8 in bytes, cannot convert to string") from None


def _duration_of_string(text: str) -> Duration:
    try:
        return duration(text)
    except ValueError:
        raise _wrong("string", "google.protobuf.Duration") from None


def _timestamp_of_string(text: str) -> Timestamp:
    try:
        moment = timestamp(text)
    except ValueError:
        raise _wrong("string", "google.protobuf.Timestamp") from None
    return checked_timestamp(moment.nanoseconds, moment.offset)


def _timestamp_of_int(seconds: int) -> Timestamp:
    return checked_timestamp(seconds * SECOND)


def _number_cost(text: str) -> int:
    return 10 + len(text) // LETTERS


def _time_cost(text: str) -> int:
    return 50 + len(text)


def _type(value: Value) -> TypeValue:
    return TypeValue(type_name(value))


def _conversions() -> list[Overload]:
    return functions(
        ("type", "A -> type(A)", Priced(costs.fixed(5), _type)),
        ("dyn", "A -> dyn", _same),
        ("bool", "bool -> bool", _same),
        ("bool", "string -> bool", _bool_of_string),
        ("bytes", "bytes -> bytes", _same),
        ("bytes", "string -> bytes", Priced(costs.reading(1), str.encode)),
        ("double", "double -> double", _same),
        ("double", "int -> double", float),
        ("double", "string -> double", Priced(_number_cost, _double_of_string)),
        ("double", "uint -> double", float),
        ("duration", "duration -> duration", _same),
        ("duration", "int -> duration", Duration),
        ("duration", "string -> duration", Priced(_time_cost, _duration_of_string)),
        ("int", "int -> int", _same),
        ("int", "double -> int", _int_of_double),
        ("int", "duration -> int", lambda span: span.nanoseconds),
        ("int", "string -> int", Priced(_number_cost, _int_of_string)),
        ("int", "timestamp -> int", lambda moment: moment.nanoseconds // SECOND),
        ("int", "uint -> int", lambda number: checked_int(int(number))),
        ("string", "string -> string", _same),
        ("string", "bool -> string", lambda flag: "true" if flag else "false"),
        ("string", "bytes -> string", Priced(costs.reading(1), _string_of_bytes)),
        ("string", "double -> string", Priced(costs.fixed(80), double_text)),
        ("string", "duration -> string", Priced(costs.fixed(10), duration_text)),
        ("string", "int -> string", str),
        ("string", "timestamp -> string", Priced(costs.fixed(50), timestamp_text)),
        ("string", "uint -> string", lambda number: str(int(number))),
        ("timestamp", "timestamp -> timestamp", _same),
        ("timestamp", "int -> timestamp", _timestamp_of_int),
        ("timestamp", "string -> timestamp", Priced(_time_cost, _timestamp_of_string)),
        ("uint", "uint -> uint", _same),
        ("uint", "double -> uint", _uint_of_double),
        ("uint", "int -> uint", checked_uint),
        ("uint", "string -> uint", Priced(_number_cost, _uint_of_string)),
    )


def _clock(part: Callable[[datetime, int], int]) -> Callable[..., int]:
    """A part of the wall clock, in Greenwich or in a place that is named."""

    def read(moment: Timestamp, zone: str = "") -> int:
        return part(*local_time(moment, zone))

    return read


_CLOCK: dict[str, Callable[[datetime, int], int]] = {
    "getFullYear": lambda local, rest: local.year,
    "getMonth": lambda local, rest: local.month - 1,
    "getDayOfYear": lambda local, rest: local.timetuple().tm_yday - 1,
    "getDayOfMonth": lambda local, rest: local.day - 1,
    "getDate": lambda local, rest: local.day,
    "getDayOfWeek": lambda local, rest: local.isoweekday() % 7,
    "getHours": lambda local, rest: local.hour,
    "getMinutes": lambda local, rest: local.minute,
    "getSeconds": lambda local, rest: local.second,
    "getMilliseconds": lambda local, rest: rest // 10**6,
}


_ZONE_COST = costs.fixed(2_000)


def _whole(unit: int) -> Callable[[Duration], int]:
    return lambda span: int(span.nanoseconds / unit) if span.nanoseconds < 0 else span.nanoseconds // unit


def _times() -> list[Overload]:
    spans = {"getHours": 3600 * SECOND, "getMinutes": 60 * SECOND, "getSeconds": SECOND, "getMilliseconds": 10**6}
    return [
        *members(*((name, "timestamp -> int", Priced(costs.fixed(20), _clock(part))) for name, part in _CLOCK.items())),
        *members(
            *((name, "timestamp, string -> int", Priced(_ZONE_COST, _clock(part))) for name, part in _CLOCK.items())
        ),
        *members(*((name, "duration -> int", _whole(unit)) for name, unit in spans.items())),
    ]


def overloads() -> list[Overload]:
    return [*_conversions(), *_times()]
