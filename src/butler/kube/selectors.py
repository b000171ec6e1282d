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
        try:
            number = int(value)
        except ValueError:
            return False
        bound = int(self.values[0])
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
_WORD = re.compile(r"[^\s=!,()<>]+")
_NAME_RULE = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
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
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def requirements(self) -> list[Requirement]:
        found: list[Requirement] = []
        self._space()
        while self._at < len(self._text):
            found.append(self._requirement())
            self._space()
            if self._at < len(self._text) and not self._take(","):
                raise SelectorError(f"found '{self._rest_word()}', expected: ',' or 'end of string'")
            self._space()
            if self._at == len(self._text) and self._text.rstrip().endswith(","):
                raise SelectorError("found '', expected: identifier after ','")
        return found

    def _requirement(self) -> Requirement:
        negated = self._take("!")
        key = self._key()
        if negated:
            return Requirement(key, "!")
        self._space()
        for sign, operator in (("==", "in"), ("!=", "notin"), ("=", "in"), (">", "gt"), ("<", "lt")):
            if self._take(sign):
                return Requirement(key, operator, (self._value(key, operator),))
        word = _WORD.match(self._text, self._at)
        if word is None:
            return Requirement(key, "exists")
        if word[0] not in ("in", "notin"):
            raise SelectorError(
                f"unable to parse requirement: found '{word[0]}', expected: in, notin, =, ==, !=, gt, lt"
            )
        self._at = word.end()
        return Requirement(key, word[0], self._values(key))

    def _key(self) -> str:
        self._space()
        word = _WORD.match(self._text, self._at)
        if word is None:
            raise SelectorError(f"unable to parse requirement: found '{self._rest_word()}', expected: identifier")
        self._at = word.end()
        _check_key(word[0])
        return word[0]

    def _value(self, key: str, operator: str) -> str:
        self._space()
        word = _WORD.match(self._text, self._at)
        value = word[0] if word else ""
        self._at = word.end() if word else self._at
        if operator in ("gt", "lt"):
            if not re.fullmatch(r"[-+]?\d+", value):
                raise SelectorError(
                    f"unable to parse requirement: values[0]: Invalid value: \"{value}\": for 'Gt', 'Lt' operators,"
                    " the value must be an integer"
                )
            return value
        _check_value(key, value, 0)
        return value

    def _values(self, key: str) -> tuple[str, ...]:
        self._space()
        if not self._take("("):
            raise SelectorError(f"unable to parse requirement: found '{self._rest_word()}' expected: '('")
        end = self._text.find(")", self._at)
        if end < 0:
            raise SelectorError("unable to parse requirement: found '', expected: ',', ')' or identifier")
        values = tuple(sorted({value.strip() for value in self._text[self._at : end].split(",")}))
        for index, value in enumerate(values):
            _check_value(key, value, index)
        self._at = end + 1
        return values

    def _space(self) -> None:
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1

    def _take(self, sign: str) -> bool:
        if self._text.startswith(sign, self._at):
            self._at += len(sign)
            return True
        return False

    def _rest_word(self) -> str:
        rest = self._text[self._at :].split()
        return rest[0] if rest else ""


def _check_key(key: str) -> None:
    if not _KEY.match(key) or len(key.rpartition("/")[2]) > 63:
        raise SelectorError(f'unable to parse requirement: <nil>: Invalid value: "{key}": {_NAME_RULE}')


def _check_value(key: str, value: str, index: int) -> None:
    if len(value) > 63:
        raise SelectorError(
            f'unable to parse requirement: values[{index}][{key}]: Invalid value: "{value}": must be no more than 63 bytes'
        )
    if not _VALUE.match(value):
        raise SelectorError(
            f'unable to parse requirement: values[{index}][{key}]: Invalid value: "{value}": {_VALUE_RULE}'
        )


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
    for part in _split_unescaped(text):
        if not part:
            continue
        match = re.match(r"((?:[^=!\\]|\\.|!(?!=))*?)(!=|==|=)(.*)\Z", part, re.DOTALL)
        if match is None:
            raise SelectorError(f"invalid selector: '{text}'; can't understand '{part}'")
        terms.append((match[1], match[2] != "!=", _unescape(match[3])))
    return FieldSelector(tuple(terms))


def _split_unescaped(text: str) -> list[str]:
    """Split at commas that no backslash protects."""
    return re.split(r"(?<!\\),", text)


def _unescape(value: str) -> str:
    return re.sub(r"\\([\\,=])", r"\1", value)


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
