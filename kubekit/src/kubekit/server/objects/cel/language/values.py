"""What CEL computes with: the values JSON has no word for, equality, order and errors.

Null, booleans, numbers, strings, lists and maps are plain Python values; a CEL int is an int within 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

Value = Any
"""Any CEL value."""

MAX_INT, MIN_INT, MAX_UINT = 2**63 - 1, -(2**63), 2**64 - 1


class CelError(Exception):
    """An expression could not be evaluated; the text is the one cel-go uses.

    It may be given in parts: those may be long, and are put together only when somebody reads it."""

    def __str__(self) -> str:
        return "".join(map(str, self.args))


class CostExceeded(Exception):
    """An expression does more work than one may; unlike an error, `||` and `&&` do not absorb it."""


class CompileError(Exception):
    """An expression is not valid; the text names every place, as cel-go does."""


class InstantiationError(CompileError):
    """An expression is well-formed, yet cannot be made ready to run."""


class UInt(int):
    """A CEL uint: equal to the int of the same size, yet of another type."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A point in time, in nanoseconds since 1970; the offset only matters for how it is written."""

    nanoseconds: int
    offset: int = 0
    """Seconds east of Greenwich."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Timestamp) and self.nanoseconds == other.nanoseconds

    def __hash__(self) -> int:
        return hash(self.nanoseconds)


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A span of time."""

    nanoseconds: int


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value, such as `int` in `type(x) == int`."""

    name: str


class Optional:
    """A value that may be absent."""

    __slots__ = ("_value",)

    def __init__(self, value: Value = ...) -> None:
        self._value = value

    @property
    def is_present(self) -> bool:
        return self._value is not ...

    @property
    def value(self) -> Value:
        """Raises CelError when there is none."""
        if self._value is ...:
            raise CelError("optional.none() dereference")
        return self._value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Optional) or self.is_present != other.is_present:
            return False
        return not self.is_present or equal(self._value, other._value)

    __hash__ = None  # type: ignore[assignment]


NONE = Optional()


def _numbers(first: Value, second: Value) -> bool:
    return isinstance(first, (int, float)) and isinstance(second, (int, float)) and _not_bool(first, second)


def _not_bool(first: Value, second: Value) -> bool:
    return first is not True and first is not False and second is not True and second is not False


def equal(first: Value, second: Value) -> bool:
    """CEL equality: across number types by size, across other types never, in depth."""
    kind = type(first)
    if kind is not type(second):
        return _numbers(first, second) and bool(first == second)
    if kind is list:
        return len(first) == len(second) and all(map(equal, first, second))
    if kind is dict:
        return len(first) == len(second) and all(
            key in second and equal(value, second[key]) for key, value in first.items()
        )
    return bool(first == second)


def hashable(value: Value) -> Hashable:
    """Something that is the same for two values if and only if they are equal."""
    kind = type(value)
    if kind is list:
        return ("list", *map(hashable, value))
    if kind is dict:
        return ("map", frozenset((hashable(key), hashable(one)) for key, one in value.items()))
    if kind is bool:
        return ("bool", value)
    if kind is Optional:
        return ("optional", hashable(value.value)) if value.is_present else ("optional",)
    return value  # type: ignore[no-any-return]


def compare(first: Value, second: Value) -> int:
    """-1, 0 or 1 for values of one ordered type, or numbers. Raises CelError for anything else."""
    if type(first) is not type(second) and not _numbers(first, second):
        raise CelError("no such overload")
    try:
        return int(first > second) - int(first < second)
    except TypeError:
        raise CelError("no such overload") from None


def checked_int(number: int) -> int:
    if MIN_INT <= number <= MAX_INT:
        return number
    raise CelError("integer overflow")


def checked_uint(number: int) -> UInt:
    if 0 <= number <= MAX_UINT:
        return UInt(number)
    raise CelError("unsigned integer overflow")


_NAMES: dict[type, str] = {
    type(None): "null_type",
    bool: "bool",
    int: "int",
    UInt: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    list: "list",
    dict: "map",
    Timestamp: "google.protobuf.Timestamp",
    Duration: "google.protobuf.Duration",
    TypeValue: "type",
    Optional: "optional_type",
}


def name_type(kind: type, name: str) -> None:
    """Make `name` the CEL type of every value of a Python class."""
    _NAMES[kind] = name


def type_name(value: Value) -> str:
    """The CEL type of a value, as `type()` and error messages show it."""
    return _NAMES.get(type(value), "dyn")


Convert = Callable[[Value], Value]
