"""The static types of CEL: how they are written, and when one fits another."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from .values import Convert, Value

Compare = Callable[[Value, Value], bool]
Merge = Callable[[Value, Value], Value]


@dataclass(frozen=True, slots=True)
class Field:
    """A member of an object type: its name in the data, which CEL may spell differently, and its type."""

    key: str
    type: Type


@dataclass(frozen=True, slots=True)
class Type:
    """A type; what is not part of its identity says how the data behind it is read and compared."""

    name: str
    params: tuple[Type, ...] = ()
    is_object: bool = False
    is_variable: bool = False
    fields: Mapping[str, Field] = field(default_factory=dict, compare=False)
    convert: Convert | None = field(default=None, compare=False)
    """Makes the CEL value of a JSON value, when they differ."""
    price: int = field(default=0, compare=False)
    """What converting one part of a value costs."""
    equal: Compare | None = field(default=None, compare=False)
    """Compares two values of this type, when plain equality would be wrong."""
    merge: Merge | None = field(default=None, compare=False)
    """Adds two lists of this type, when they are more than sequences."""

    def __str__(self) -> str:
        shown = _SHOWN.get(self.name, self.name)
        return f"{shown}({', '.join(map(str, self.params))})" if self.params else shown


_SHOWN = {
    "google.protobuf.Timestamp": "timestamp",
    "google.protobuf.Duration": "duration",
    "null_type": "null",
    "error": "!error!",
}
_SHORT = {"timestamp": "google.protobuf.Timestamp", "duration": "google.protobuf.Duration"}

DYN, ERROR, NULL, BOOL = Type("dyn"), Type("error"), Type("null_type"), Type("bool")
INT, DOUBLE, STRING, BYTES = Type("int"), Type("double"), Type("string"), Type("bytes")
TIMESTAMP, DURATION = Type("google.protobuf.Timestamp"), Type("google.protobuf.Duration")


def list_of(element: Type) -> Type:
    return Type("list", (element,))


def map_of(key: Type, value: Type) -> Type:
    return Type("map", (key, value))


def optional_of(element: Type) -> Type:
    return Type("optional_type", (element,))


def type_of(element: Type) -> Type:
    return Type("type", (element,))


@cache
def written(text: str) -> Type:
    """The type a signature writes as `map(string, A)`; a single capital is a type parameter."""
    tokens = iter(re.findall(r"[\w.]+|[(),]", text))
    return _read(next(tokens), tokens, [])


def _read(name: str, tokens: Iterator[str], ahead: list[str]) -> Type:
    params: list[Type] = []
    following = next(tokens, "")
    if following == "(":
        following = ","
        while following == ",":
            params.append(_read(next(tokens), tokens, ahead))
            following = ahead.pop()
        following = next(tokens, "")
    ahead.append(following)
    return Type(_SHORT.get(name, name), tuple(params), is_variable=len(name) == 1)


def is_free(kind: Type) -> bool:
    """Anything may stand here: type checks are left to the evaluation."""
    return kind.name in ("dyn", "error")


def is_scalar(kind: Type) -> bool:
    """Whether all values of the type are of one size."""
    if kind.name == "optional_type":
        return is_scalar(kind.params[0])
    return kind.name in _SCALARS


_SCALARS = frozenset({"bool", "int", "uint", "double", TIMESTAMP.name, DURATION.name})


class Bindings:
    """What the type variables of one expression stand for; grows while the expression is checked."""

    def __init__(self) -> None:
        self._bound: dict[str, Type] = {}
        self._count = 0

    def variable(self) -> Type:
        """A type variable nobody else uses."""
        self._count += 1
        return Type(f"_var{self._count}", is_variable=True)

    def resolve(self, kind: Type, *, final: bool = False) -> Type:
        """The type with every known variable replaced; with `final`, the unknown ones become dyn."""
        if kind.is_variable:
            bound = self._bound.get(kind.name)
            if bound is not None:
                return self.resolve(bound, final=final)
            return DYN if final else kind
        if not kind.params:
            return kind
        params = tuple(self.resolve(param, final=final) for param in kind.params)
        # A declared type keeps what it knows about its data.
        return kind if params == kind.params else Type(kind.name, params)

    def fresh(self, kinds: Iterable[Type]) -> list[Type]:
        """The types of one signature, its parameters replaced by variables of their own."""
        names: dict[str, Type] = {}
        return [self._renamed(kind, names) for kind in kinds]

    def _renamed(self, kind: Type, names: dict[str, Type]) -> Type:
        if kind.is_variable:
            if kind.name not in names:
                names[kind.name] = self.variable()
            return names[kind.name]
        if not kind.params:
            return kind
        return Type(kind.name, tuple(self._renamed(param, names) for param in kind.params))

    def accepts(self, given: Iterable[Type], wanted: Iterable[Type]) -> bool:
        """Whether values of the given types may stand where others are wanted; binds variables only if so."""
        before = dict(self._bound)
        given, wanted = list(given), list(wanted)
        if len(given) == len(wanted) and all(map(self._assignable, given, wanted)):
            return True
        self._bound = before
        return False

    def _assignable(self, given: Type, wanted: Type) -> bool:
        if wanted.is_variable:
            fits, known = self._substitutes(given, wanted)
            if fits or known:
                return fits
        if given.is_variable:
            return self._substitutes(wanted, given)[0]
        if is_free(given) or is_free(wanted):
            return True
        if NULL in (given, wanted):
            return given == wanted or _takes_null(given if wanted == NULL else wanted)
        if given.name == wanted.name == "type":
            return True
        return (
            given.name == wanted.name
            and given.is_object == wanted.is_object
            and len(given.params) == len(wanted.params)
            and all(map(self._assignable, given.params, wanted.params))
        )

    def _substitutes(self, kind: Type, variable: Type) -> tuple[bool, bool]:
        """Whether the variable may stand for the type, and whether it stood for something before."""
        if kind == variable:
            return True, True
        bound = self._bound.get(variable.name)
        if bound is not None:
            if kind == bound:
                return True, True
            if not self._assignable(kind, bound):
                return False, True
            general = more_general(kind, bound)
            if not self._occurs(variable, general):
                self._bound[variable.name] = general
            return True, True
        if self._occurs(variable, kind):
            return False, False
        self._bound[variable.name] = kind
        return True, False

    def _occurs(self, variable: Type, kind: Type) -> bool:
        if kind == variable:
            return True
        if kind.is_variable:
            bound = self._bound.get(kind.name)
            return bound is not None and self._occurs(variable, bound)
        return any(self._occurs(variable, param) for param in kind.params)


def _takes_null(kind: Type) -> bool:
    return kind.is_object or kind in (TIMESTAMP, DURATION) or kind.name == "optional_type" or "." in kind.name


def more_general(first: Type, second: Type) -> Type:
    """The less specific of two types that fit each other."""
    return first if _covers(first, second) else second


def _covers(first: Type, second: Type) -> bool:
    if first.name == "dyn" or first.is_variable:
        return True
    if second.name == "dyn" or second.is_variable or first.name != second.name:
        return False
    if first.name == "type":
        return True
    return len(first.params) == len(second.params) and all(map(_covers, first.params, second.params))
