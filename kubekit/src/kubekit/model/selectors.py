"""Label and field selectors: parsed once, matched often."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any


class SelectorError(ValueError):
    """The text is not a selector."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on one label."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        present = self.key in labels
        match self.operator:
            case "exists":
                return present
            case "!":
                return not present
            case "in":
                return present and labels[self.key] in self.values
            case "notin":
                return not present or labels[self.key] not in self.values
            case "gt" | "lt":
                return present and self._compares(labels[self.key])
        raise AssertionError(self.operator)

    def _compares(self, value: str) -> bool:
        number, bound = _number(value), int(self.values[0])
        if number is None:
            return False
        return number > bound if self.operator == "gt" else number < bound


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """All requirements must hold; none means everything matches."""

    requirements: tuple[Requirement, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.requirements)

    def matches(self, labels: Mapping[str, str] | None) -> bool:
        held = labels or {}
        return all(requirement.matches(held) for requirement in self.requirements)


_NAME = r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)"
_PREFIX = r"(?:[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*)"
_KEY = re.compile(rf"(?:{_PREFIX}/)?{_NAME}\Z")
_VALUE = re.compile(rf"{_NAME}?\Z")
_INTEGER = re.compile("[-+]?[0-9]+")
_LONGEST_NUMBER = 64
"""More than any label has room for."""
_SIGNS = "=!,()<>"
_PART = re.compile(r"==|!=|[=!,()<>]|[^\s=!,()<>]+")
_OPERATORS = {"=": "in", "==": "in", "!=": "notin", ">": "gt", "<": "lt"}
_NAME_RULE = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_KEY_RULE = (
    f"{_NAME_RULE.replace('name part', 'a valid label key')} with an optional DNS subdomain prefix and '/' "
    "(e.g. 'example.com/MyName')"
)
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


@lru_cache(maxsize=1024)
def parse_labels(text: str) -> LabelSelector:
    """A selector such as `app=web,tier in (a, b),!canary`. Raises SelectorError."""
    return LabelSelector(tuple(_LabelParser(text).requirements()))


class _LabelParser:
    """Reads a selector sign by sign, as Kubernetes does, and fails where it fails."""

    def __init__(self, text: str) -> None:
        # In Go the first NUL is the end.
        self._parts = _PART.findall(text.partition("\0")[0])
        self._at = 0

    def requirements(self) -> list[Requirement]:
        found: list[Requirement] = []
        while part := self._peek():
            if not _is_word(part) and part != "!":
                raise SelectorError(f"found '{part}', expected: !, identifier, or 'end of string'")
            try:
                found.append(self._requirement())
            except SelectorError as error:
                raise SelectorError(f"unable to parse requirement: {error}") from None
            self._end_of_requirement()
        return found

    def _end_of_requirement(self) -> None:
        after = self._next()
        if after not in ("", ","):
            raise SelectorError(f"found '{after}', expected: ',' or 'end of string'")
        if after and not _is_word(self._peek()) and self._peek() != "!":
            raise SelectorError(f"found '{self._peek()}', expected: identifier after ','")

    def _peek(self) -> str:
        """The next sign or word; empty at the end."""
        return self._parts[self._at] if self._at < len(self._parts) else ""

    def _next(self) -> str:
        part = self._peek()
        self._at += 1
        return part

    def _requirement(self) -> Requirement:
        part = self._next()
        is_negated = part == "!"
        key = self._next() if is_negated else part
        if not _is_word(key):
            raise SelectorError(f"found '{key}', expected: identifier")
        _check_key(key)
        if is_negated or self._peek() in ("", ","):
            return Requirement(key, "!" if is_negated else "exists")
        sign = self._next()
        if sign in ("in", "notin"):
            return Requirement(key, sign, self._checked(key, sign, self._values()))
        operator = _OPERATORS.get(sign)
        if operator is None:
            raise SelectorError(f"found '{sign}', expected: in, notin, =, ==, !=, gt, lt")
        return Requirement(key, operator, self._checked(key, operator, {self._value()}))

    def _value(self) -> str:
        if self._peek() in ("", ","):
            return ""
        value = self._next()
        if not _is_word(value):
            raise SelectorError(f"found '{value}', expected: identifier")
        return value

    def _values(self) -> set[str]:
        opening = self._next()
        if opening != "(":
            raise SelectorError(f"found '{opening}' expected: '('")
        first = self._peek()
        if first == ")":
            self._next()
            return {""}
        if not _is_word(first) and first != ",":
            raise SelectorError(f"found '{first}', expected: ',', ')' or identifier")
        return self._list()

    def _list(self) -> set[str]:
        values: set[str] = set()
        before = ","
        while (part := self._next()) != ")":
            if _is_word(part) and before == ",":
                values.add(part)
            elif part == ",":
                values |= {""} if before == "," else set()
            else:
                raise SelectorError(f"found '{part}', expected: ',' or ')'")
            before = part
        return values | ({""} if before == "," else set())

    def _checked(self, key: str, operator: str, values: set[str]) -> tuple[str, ...]:
        listed = tuple(sorted(values))
        for index, value in enumerate(listed):
            if operator in ("gt", "lt"):
                _check_number(value)
            else:
                _check_value(key, value, index)
        return listed


def _is_word(part: str) -> bool:
    return bool(part) and part[0] not in _SIGNS


def _number(text: str) -> int | None:
    """A number of 64 bits, as Go reads it; None for everything else."""
    if not _INTEGER.fullmatch(text) or len(text) > _LONGEST_NUMBER:
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def _check_number(value: str) -> None:
    if _number(value) is None:
        shown = f'values[0]: Invalid value: "{value}"'
        raise SelectorError(f"{shown}: for 'Gt', 'Lt' operators, the value must be an integer")


def _check_key(key: str) -> None:
    if not _KEY.match(key) or len(key.rpartition("/")[2]) > 63:
        rule = _NAME_RULE if key.count("/") < 2 else _KEY_RULE
        if _KEY.match(key):
            rule = "name part must be no more than 63 bytes"
        raise SelectorError(f'<nil>: Invalid value: "{key}": {rule}')


def _check_value(key: str, value: str, index: int) -> None:
    if len(value) > 63:
        raise SelectorError(f'values[{index}][{key}]: Invalid value: "{value}": must be no more than 63 bytes')
    if not _VALUE.match(value):
        raise SelectorError(f'values[{index}][{key}]: Invalid value: "{value}": {_VALUE_RULE}')


def from_label_selector(selector: Mapping[str, Any] | None) -> LabelSelector:
    """The `LabelSelector` object of the API (matchLabels, matchExpressions)."""
    given = selector or {}
    equal = [Requirement(key, "in", (value,)) for key, value in (given.get("matchLabels") or {}).items()]
    names = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}
    return LabelSelector(
        (
            *equal,
            *(
                Requirement(one["key"], names[one["operator"]], tuple(one.get("values") or ()))
                for one in given.get("matchExpressions") or ()
            ),
        )
    )


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """`path=value` or `path!=value`, all of which must hold."""

    terms: tuple[tuple[str, bool, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.terms)

    def matches(self, value_of: Callable[[str], str]) -> bool:
        """`value_of` gives the text at a path, empty when there is none."""
        return all((value_of(path) == value) is equal for path, equal, value in self.terms)

    def exactly(self, path: str) -> str | None:
        """The one value `path` must have, if the selector says so."""
        return next((value for one, equal, value in self.terms if one == path and equal), None)


@lru_cache(maxsize=1024)
def parse_fields(text: str) -> FieldSelector:
    """A selector such as `metadata.name=a,status.phase!=Running`. Raises SelectorError."""
    terms: list[tuple[str, bool, str]] = []
    # In this order the first of several terms about one field is found, as in Kubernetes.
    for term in sorted(_FIELD_TERM.findall(text)):
        if not term:
            continue
        match = _FIELD_OPERATOR.search(term)
        if match is None:
            raise SelectorError(f"invalid selector: '{text}'; can't understand '{term}'")
        path, value = term[: match.start()], _unescape(term[match.end() :])
        if path or value:
            terms.append((path, match[0] != "!=", value))
    return FieldSelector(tuple(terms))


_FIELD_TERM = re.compile(r"(?:[^,\\]|\\.|\\\Z)+", re.DOTALL)
"""What stands between commas that no backslash protects."""
_FIELD_OPERATOR = re.compile(r"!=|==|=")
_ESCAPE = re.compile(r"\\(.?)|[,=]", re.DOTALL)


def _unescape(value: str) -> str:
    """Raises SelectorError."""

    def meant(found: re.Match[str]) -> str:
        if found[1] is None:
            raise SelectorError(f"invalid field selector: unescaped character in value: {ord(found[0])}")
        if not found[1] or found[1] not in "\\,=":
            raise SelectorError(f"invalid field selector: invalid escape sequence: {found[0]}")
        return found[1]

    return _ESCAPE.sub(meant, value)


def text_at(obj: Mapping[str, Any], path: str) -> str:
    """The value at a dotted path as field selectors compare it."""
    found: Any = obj
    for part in path.split("."):
        if not isinstance(found, Mapping) or part not in found:
            return ""
        found = found[part]
    if isinstance(found, bool):
        return "true" if found else "false"
    return "" if found is None else str(found)
