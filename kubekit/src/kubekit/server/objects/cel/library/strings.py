"""Functions on strings."""

from __future__ import annotations

from typing import Any

from ...go import regex
from ..language.functions import Overload, functions, members
from ..language.values import CelError, Value
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
    return text[_within(index, len(text)) :][:1]


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


def _split(text: str, separator: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    if separator:
        return text.split(separator, limit - 1 if limit > 0 else -1)
    letters = list(text)
    return letters if not 0 < limit < len(letters) else [*letters[: limit - 1], "".join(letters[limit - 1 :])]


def _joined(parts: list[Value], separator: str = "") -> str:
    if not all(isinstance(part, str) for part in parts):
        raise CelError("no such overload")
    return separator.join(parts)


def _quote(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


def _matches(text: str, pattern: str) -> bool:
    return _regex(pattern).search(text) is not None


def _find(text: str, pattern: str) -> str:
    found = _regex(pattern).search(text)
    return found[0] if found else ""


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    found: list[str] = []
    last_end = -1
    for match in _regex(pattern).finditer(text):
        if len(found) == limit:
            break
        # Go leaves out an empty match right behind another match.
        if match[0] or match.start() != last_end:
            found.append(match[0])
        last_end = match.end()
    return found


def _regex(pattern: str) -> Any:
    try:
        return regex.compiled(pattern)
    except regex.GoRegexError as error:
        raise CelError(str(error)) from None


def overloads() -> list[Overload]:
    return [
        *members(
            ("contains", "string, string -> bool", lambda text, part: part in text),
            ("endsWith", "string, string -> bool", str.endswith),
            ("startsWith", "string, string -> bool", str.startswith),
            ("matches", "string, string -> bool", _matches),
            ("charAt", "string, int -> string", _char_at),
            ("indexOf", "string, string -> int", _index_of),
            ("indexOf", "string, string, int -> int", _index_of),
            ("lastIndexOf", "string, string -> int", _last_index_of),
            ("lastIndexOf", "string, string, int -> int", _last_index_before),
            ("lowerAscii", "string -> string", lambda text: text.translate(_LOWER)),
            ("upperAscii", "string -> string", lambda text: text.translate(_UPPER)),
            ("replace", "string, string, string -> string", str.replace),
            ("replace", "string, string, string, int -> string", str.replace),
            ("split", "string, string -> list(string)", _split),
            ("split", "string, string, int -> list(string)", _split),
            ("substring", "string, int -> string", _substring),
            ("substring", "string, int, int -> string", _substring_range),
            ("trim", "string -> string", lambda text: text.strip(_SPACE)),
            ("join", "list(string) -> string", _joined),
            ("join", "list(string), string -> string", _joined),
            ("format", "string, list(dyn) -> string", format_text),
            ("find", "string, string -> string", _find),
            ("findAll", "string, string -> list(string)", _find_all),
            ("findAll", "string, string, int -> list(string)", _find_all),
        ),
        *functions(
            ("matches", "string, string -> bool", _matches),
            ("strings.quote", "string -> string", _quote),
        ),
    ]
