"""JSONPath as kubectl and printer columns understand it: `.a.b`, `['a']`, `[0]`, `[1:3]`, `[*]`, `[?(@.a=="b")]`."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

Step = Callable[[list[Any]], list[Any]]
"""From the values found so far to the values one step further."""


MOST_VALUES = 10_000
"""At each step of a path: one that looks everywhere again and again finds more than there is."""


class JsonPathError(ValueError):
    """A path that cannot be read, or that does not fit the value it is applied to."""


def _too_many() -> JsonPathError:
    return JsonPathError(f"more than {MOST_VALUES} values")


@dataclass(frozen=True, slots=True)
class Path:
    """A parsed path; a missing member is no error, it just finds nothing."""

    steps: tuple[Step, ...]
    names: tuple[str, ...] | None
    """The members to follow when the path is nothing but `.a.b.c`."""

    def find(self, value: Any) -> list[Any]:
        """Every value at this path. Raises JsonPathError when an index or a comparison makes no sense there."""
        if self.names is not None:
            return _follow(value, self.names)
        found = [value]
        for step in self.steps:
            found = step(found)
            if len(found) > MOST_VALUES:
                raise _too_many()
        return found


def _follow(value: Any, names: tuple[str, ...]) -> list[Any]:
    for name in names:
        if not isinstance(value, dict) or name not in value:
            return []
        value = value[name]
    return [value]


@lru_cache(maxsize=1024)
def parse(text: str) -> Path:
    """The path written as `text`, without braces around it. Raises JsonPathError."""
    steps: list[Step] = []
    names: list[str] = []
    for sort, content in _parts(text):
        steps.extend(_READERS[sort](content))
        if sort == "field" and content != "*":
            names.append(content.replace("\\", ""))
    plain = len(names) == len(steps)
    return Path(tuple(steps), tuple(names) if plain else None)


_PART = re.compile(
    r"""
    (?P<skip>[ @$])
  | \.\.(?P<descent>(?:\w(?:\\.|[^\s.,\[\]$@{}\\])*)?)
  | \.(?P<field>(?:\\.|[^\s.,\[\]$@{}\\])*)
  | \[\?\((?P<filter>(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^"')\n])*)\)\]
  | \[(?P<brackets>[^\]\n?][^\]\n]*|)\]
  | (?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<number>[+-]?[0-9][0-9.]*)
  | (?P<word>\w+)
    """,
    re.VERBOSE,
)


def _parts(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        match = _PART.match(text, at)
        if match is None:
            raise JsonPathError(f"unrecognized character in {text!r} at {at}")
        sort = str(match.lastgroup)
        if sort != "skip":
            yield sort, match[sort]
        at = match.end()


def _read_descent(name: str) -> list[Step]:
    return [_descend, *_read_field(name)] if name else [_descend]


def _read_field(name: str) -> list[Step]:
    return [_everything if name == "*" else _member(name.replace("\\", ""))]


def _read_brackets(text: str) -> list[Step]:
    if text == "*":
        return [_slice(None, None, 1)]
    if "," in text:
        return [_union([parse(f"[{part.strip()}]") for part in text.split(",")])]
    if quoted := re.fullmatch(r"'([^']*)'", text):
        return list(parse(f".{quoted[1]}").steps)
    if sliced := re.fullmatch(r"(-?\d*):(-?\d*)(?::(-?\d*))?", text):
        start, stop, step = (int(part) if part not in (None, "", "-") else None for part in sliced.groups())
        return [_slice(start, stop, 1 if step is None else step)]
    if re.fullmatch(r"-?\d+", text):
        return [_index(int(text))]
    raise JsonPathError(f"invalid array index {text}")


def _read_filter(text: str) -> list[Step]:
    compared = re.fullmatch(r"(?P<left>[^!<>=]+)(?P<sign>[!<>=]+)(?P<right>.+)", text)
    if compared is None:
        return [_filter(parse(text), None, parse(""))]
    sign = compared["sign"]
    if sign not in _SIGNS:
        raise JsonPathError(f"unrecognized filter operator {sign}")
    return [_filter(parse(compared["left"]), _SIGNS[sign], parse(compared["right"]))]


def _read_text(quoted: str) -> list[Step]:
    return [_constant(re.sub(r"\\(.)", r"\1", quoted[1:-1]))]


def _read_number(text: str) -> list[Step]:
    try:
        return [_constant(float(text) if "." in text else int(text))]
    except ValueError as error:
        raise JsonPathError(f"cannot parse number {text}") from error


def _read_word(word: str) -> list[Step]:
    if word not in ("true", "false"):
        raise JsonPathError(f"unrecognized identifier {word}")
    return [_constant(word == "true")]


_READERS: dict[str, Callable[[str], list[Step]]] = {
    "field": _read_field,
    "descent": _read_descent,
    "brackets": _read_brackets,
    "filter": _read_filter,
    "text": _read_text,
    "number": _read_number,
    "word": _read_word,
}
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _member(name: str) -> Step:
    return lambda values: [value[name] for value in values if isinstance(value, dict) and name in value]


def _constant(constant: Any) -> Step:
    return lambda values: [constant] * len(values)


def _union(paths: list[Path]) -> Step:
    def step(values: list[Any]) -> list[Any]:
        return [found for path in paths for value in values for found in path.find(value)]

    return step


def _lists(values: list[Any]) -> Iterator[list[Any]]:
    for value in values:
        if isinstance(value, list):
            yield value
        elif value is not None:
            raise JsonPathError(f"{value!r} is not array or slice")


def _index(index: int) -> Step:
    def step(values: list[Any]) -> list[Any]:
        found = []
        for items in _lists(values):
            if not -len(items) <= index < len(items):
                raise JsonPathError(f"array index out of bounds: index {index}, length {len(items)}")
            found.append(items[index])
        return found

    return step


def _slice(start: int | None, stop: int | None, step: int) -> Step:
    def take(values: list[Any]) -> list[Any]:
        found: list[Any] = []
        for items in _lists(values):
            first, last = _bound(start, 0, len(items)), _bound(stop, len(items), len(items))
            if first == last:
                continue
            if not (0 <= first < len(items) and first < last <= len(items)) or step <= 0:
                raise JsonPathError(f"array index out of bounds: {first}:{last}, length {len(items)}")
            found += items[first:last:step]
        return found

    return take


def _bound(bound: int | None, missing: int, length: int) -> int:
    if bound is None:
        return missing
    return bound + length if bound < 0 else bound


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _everything(values: list[Any]) -> list[Any]:
    return [child for value in values for child in _children(value)]


def _descend(values: list[Any]) -> list[Any]:
    """All that is below, each before what is below itself."""
    found: list[Any] = []
    waiting = list(reversed(values))
    while waiting:
        value = waiting.pop()
        if children := _children(value):
            found.append(value)
            if len(found) > MOST_VALUES:
                raise _too_many()
            waiting.extend(reversed(children))
    return found


def _filter(left: Path, compare: Callable[[Any, Any], bool] | None, right: Path) -> Step:
    def keep(item: Any) -> bool:
        lefts = left.find(item)
        if compare is None or not lefts:
            return bool(lefts)
        rights = right.find(item)
        if len(lefts) > 1 or len(rights) > 1:
            raise JsonPathError("can only compare one element at a time")
        if type(lefts[0]) is not type(rights[0] if rights else lefts[0]):
            raise JsonPathError("incompatible types for comparison")
        return bool(rights) and compare(lefts[0], rights[0])

    return lambda values: [item for items in _lists(values) for item in items if keep(item)]


def text_of(value: Any) -> str:
    """A found value as kubectl prints it: text as it is, objects and lists as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return "<no value>"
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, (dict, list)):
        shown = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        return shown.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return json.dumps(value)


def _float_text(value: float) -> str:
    """The shortest text that reads back the same, with an exponent from a million on and below a ten-thousandth."""
    if value.is_integer() and abs(value) < 2**63:
        return str(int(value))
    number = Decimal(repr(value)).normalize()
    exponent = number.adjusted()
    if -5 < exponent < 6:
        return f"{number:f}"
    return f"{number.scaleb(-exponent):f}e{exponent:+03d}"
