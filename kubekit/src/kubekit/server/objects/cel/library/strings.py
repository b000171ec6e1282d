"""Functions on strings."""

from __future__ import annotations

from typing import Any

from ...go import regex
from ..language.budget import LETTERS, LIST, Frame, charge
from ..language.functions import Implementation, Metered, Overload, Priced, functions, members
from ..language.values import CelError, Value
from . import costs
from .format_strings import format_text

_SPACE = "".join(map(chr, (*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F)))
_SPACE += "\u205f\u3000"
_LOWER = {ord(letter): letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_UPPER = {ord(letter): letter.upper() for letter in "abcdefghijklmnopqrstuvwxyz"}
_QUOTED = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}
_ESCAPES = str.maketrans({**_QUOTED, "\\": "\\\\", '"': '\\"'})


def _within(index: int, length: int) -> int:
    if 0 <= index <= length:
        return index
    raise CelError(f"index out of range: {index}")


def _char_at(text: str, index: int) -> str:
    at = _within(index, len(text))
    return text[at : at + 1]


def _index_of(text: str, part: str, offset: int = 0) -> int:
    if not part:
        return offset
    if offset < 0:
        raise CelError(f"index out of range: {offset}")
    return text.find(part, offset)


def _last_index_of(text: str, part: str) -> int:
    return text.rfind(part) if part else len(text)


def _last_index_before(text: str, part: str, offset: int) -> int:
    if not part:
        return offset
    if offset < 0:
        raise CelError(f"index out of range: {offset}")
    return -1 if offset >= len(text) else text.rfind(part, 0, offset + len(part))


def _substring(text: str, start: int) -> str:
    return text[_within(start, len(text)) :]


def _substring_range(text: str, start: int, end: int) -> str:
    if start > end:
        raise CelError(f"invalid substring range. start: {start}, end: {end}")
    return text[_within(start, len(text)) : _within(end, len(text))]


def _split(frame: Frame, text: str, separator: str, limit: int = -1) -> list[str]:
    charge(frame, costs.search(text, separator))
    parts = text.count(separator) + 1
    charge(frame, LIST + len(text) // LETTERS + 2 * (min(parts, limit) if limit > 0 else parts))
    if limit == 0:
        return []
    if separator:
        return text.split(separator, limit - 1 if limit > 0 else -1)
    letters = list(text)
    return letters if not 0 < limit < len(letters) else [*letters[: limit - 1], "".join(letters[limit - 1 :])]


def _joined(frame: Frame, parts: list[Value], separator: str = "") -> str:
    charge(frame, len(parts))
    if not all(isinstance(part, str) for part in parts):
        raise CelError("no such overload")
    charge(frame, 2 * (sum(map(len, parts)) + len(parts) * len(separator)) // LETTERS)
    return separator.join(parts)


def _quote(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


def _replaced(frame: Frame, text: str, old: str, new: str, limit: int = -1) -> str:
    charge(frame, costs.search(text, old))
    count = text.count(old) if limit < 0 else min(text.count(old), limit)
    charge(frame, 2 * (len(text) + count * len(new)) // LETTERS)
    return text.replace(old, new, limit)


def _matches(frame: Frame, text: str, pattern: str) -> bool:
    return _regex(frame, pattern, text).search(text) is not None


def _find(frame: Frame, text: str, pattern: str) -> str:
    found = _regex(frame, pattern, text).search(text)
    return found[0] if found else ""


_MATCH = 60
"""What one of many matches costs."""


def _find_all(frame: Frame, text: str, pattern: str, limit: int = -1) -> list[str]:
    found: list[str] = []
    last_end = -1
    for match in _regex(frame, pattern, text).finditer(text):
        charge(frame, _MATCH)
        if len(found) == limit:
            break
        # Go leaves out an empty match right behind another match.
        if match[0] or match.start() != last_end:
            found.append(match[0])
        last_end = match.end()
    return found


def _regex(frame: Frame, pattern: str, text: str) -> Any:
    """The pattern, about to be applied to a text. Raises CelError and CostExceeded."""
    is_new = not regex.is_compiled(pattern)
    if is_new:
        charge(frame, _COMPILING * (10 + len(pattern)))
    try:
        found = regex.compiled(pattern)
    except regex.GoRegexError as error:
        raise CelError(str(error)) from None
    states = len(pattern) // 4 if len(text) < _SHORT else max(len(pattern) // 4, found.programsize)
    if is_new:
        charge(frame, _COMPILING * found.programsize)
    charge(frame, _MATCHING + (1 + (len(text) + 1) // LETTERS) * (1 + states))
    return found


_COMPILING, _MATCHING, _SHORT = 40, 15, 100
"""What a letter or state of a new pattern costs, what a match costs at least, and a text no pattern does much with."""


def _text(times: int, run: Implementation) -> Priced:
    """A function that goes so many times over a text."""
    return Priced(costs.reading(times), run)


def overloads() -> list[Overload]:
    return [
        *members(
            ("contains", "string, string -> bool", Priced(costs.search, lambda text, part: part in text)),
            ("endsWith", "string, string -> bool", _text(1, str.endswith)),
            ("startsWith", "string, string -> bool", _text(1, str.startswith)),
            ("matches", "string, string -> bool", Metered(_matches)),
            ("charAt", "string, int -> string", _char_at),
            ("indexOf", "string, string -> int", Priced(costs.search, _index_of)),
            ("indexOf", "string, string, int -> int", Priced(costs.search, _index_of)),
            ("lastIndexOf", "string, string -> int", Priced(costs.search, _last_index_of)),
            ("lastIndexOf", "string, string, int -> int", Priced(costs.search, _last_index_before)),
            ("lowerAscii", "string -> string", _text(1, lambda text: text.translate(_LOWER))),
            ("upperAscii", "string -> string", _text(1, lambda text: text.translate(_UPPER))),
            ("replace", "string, string, string -> string", Metered(_replaced)),
            ("replace", "string, string, string, int -> string", Metered(_replaced)),
            ("split", "string, string -> list(string)", Metered(_split)),
            ("split", "string, string, int -> list(string)", Metered(_split)),
            ("substring", "string, int -> string", _text(1, _substring)),
            ("substring", "string, int, int -> string", _text(1, _substring_range)),
            ("trim", "string -> string", _text(1, lambda text: text.strip(_SPACE))),
            ("join", "list(string) -> string", Metered(_joined)),
            ("join", "list(string), string -> string", Metered(_joined)),
            ("format", "string, list(dyn) -> string", Metered(format_text)),
            ("find", "string, string -> string", Metered(_find)),
            ("findAll", "string, string -> list(string)", Metered(_find_all)),
            ("findAll", "string, string, int -> list(string)", Metered(_find_all)),
        ),
        *functions(
            ("matches", "string, string -> bool", Metered(_matches)),
            ("strings.quote", "string -> string", _text(2, _quote)),
        ),
    ]
