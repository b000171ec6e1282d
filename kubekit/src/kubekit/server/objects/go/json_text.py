"""JSON as Go reads it: what it forgives, and how it says what is wrong."""

from __future__ import annotations

import json
import re
from math import isinf
from typing import Any

import msgspec

from kubekit.errors import TooLarge
from kubekit.server.store.json_values import has_many_exponents

from ..schema.decoding import Malformed

MAX_DEPTH = 10_000
MOST_CONTAINERS = 100_000
"""Of a body: each takes hundreds of times the memory that it took on the wire. No object has nearly as many."""
MOST_MEMBERS = 150_000
"""Of all objects in a body: a stored one with more of them would have ten bytes for each."""
_MEMBER = len('"":1,')
END = "unexpected end of JSON input"

_SPACE = re.compile(rb"[ \t\r\n]*")
_STRING = re.compile(rb'"(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+')
_TEXTS = re.compile(rb'"(?:[^"\\]++|\\.)*+"[ \t\r\n]*+(:?)', re.DOTALL).finditer
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)")
_FRACTION = re.compile(rb"\.[0-9]*")
_EXPONENT = re.compile(rb"[eE][+-]?[0-9]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_HEXADECIMAL = re.compile(rb"[0-9a-fA-F]*")
_LITERALS = {"t": b"true", "f": b"false", "n": b"null"}


def decode(content: bytes) -> Any:
    """The value. Raises Malformed with Go's words; texts that are not Unicode are mended as Go mends them."""
    try:
        return well_formed(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        _Scan(content).document()
        text = content.decode("utf-8", "replace")
        value = _mended(json.loads(text, parse_int=_number, parse_float=_number))
        check_count(content, value)
        return value
    except RecursionError:
        _Scan(content).document()
        raise


def well_formed(content: bytes) -> Any:
    """The value of JSON without any mistake. Raises msgspec.DecodeError, UnicodeDecodeError, TooLarge."""
    decoder = _slow_floats if has_many_exponents(content) else _usual
    _check_members(content)
    value = decoder.decode(content)
    check_count(content, value)
    return value


def _check_members(content: bytes) -> None:
    """Raises TooLarge for a text with more members than anybody reads at once: nobody else has a turn meanwhile."""
    if len(content) <= _MEMBER * MOST_MEMBERS or content.count(b":") <= MOST_MEMBERS:
        return
    # Perhaps the colons stand in texts.
    if sum(1 for found in _TEXTS(content) if found[1]) > MOST_MEMBERS:
        raise TooLarge(f"Request entity too large: limit is {MOST_MEMBERS} members of objects")


def check_count(content: bytes, value: Any) -> None:
    """Raises TooLarge for a text of a few bytes each of which is a container of its own."""
    if content.count(b"{") + content.count(b"[") <= MOST_CONTAINERS:
        return
    waiting, count = [value], 0
    while waiting:
        one = waiting.pop()
        members = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        count += isinstance(one, (dict, list))
        waiting.extend(members)
    if count > MOST_CONTAINERS:
        raise too_many_containers()


def too_many_containers() -> TooLarge:
    return TooLarge(f"Request entity too large: limit is {MOST_CONTAINERS} objects and lists")


def _finite(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise ValueError(text)
    return number


_usual = msgspec.json.Decoder()
_slow_floats = msgspec.json.Decoder(float_hook=_finite)


def _number(text: str) -> int | float:
    if text.lstrip("-").isdigit() and len(text) < 400:
        return int(text)
    number = float(text)
    if isinf(number):
        raise Malformed(f"json: cannot unmarshal number {text} into Go value of type float64")
    return number


def _mended(value: Any) -> Any:
    """The value without halves of surrogate pairs, which are no characters."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_mended(name): _mended(member) for name, member in value.items()}
    return [_mended(item) for item in value] if isinstance(value, list) else value


class _Scan:
    """A walk along a JSON text that stops where Go would."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0
        self._open: list[str] = []
        """The containers around the current place: `{` or `[`."""
        self._is_fresh = False
        """Nothing stands in the innermost container yet."""

    def document(self) -> None:
        self._value()
        while self._open:
            self._go_on()
        self._skip(_SPACE)
        if self._at < len(self._content):
            raise self._unexpected("after top-level value")

    def _skip(self, pattern: re.Pattern[bytes]) -> bytes:
        found = pattern.match(self._content, self._at)
        if found is None:
            return b""
        self._at = found.end()
        return found.group()

    def _next(self) -> str:
        """The next letter that is not space. Raises at the end."""
        self._skip(_SPACE)
        if self._at >= len(self._content):
            raise Malformed(END)
        return chr(self._content[self._at])

    def _value(self) -> None:
        """A whole scalar, or the opening of a container."""
        letter = self._next()
        if letter in "{[":
            if len(self._open) >= MAX_DEPTH:
                raise self._unexpected("exceeded max depth")
            self._open.append(letter)
            self._at += 1
            self._is_fresh = True
        elif letter == '"':
            self._string()
        elif letter in "-0123456789":
            self._number()
        elif letter in "tfn":
            self._literal(_LITERALS[letter])
        else:
            raise self._unexpected("looking for beginning of value")

    def _go_on(self) -> None:
        """The next member or item, or the end of the innermost container."""
        in_object = self._open[-1] == "{"
        is_fresh, self._is_fresh = self._is_fresh, False
        letter = self._next()
        if letter == ("}" if in_object else "]"):
            self._open.pop()
            self._at += 1
            return
        if not is_fresh:
            if letter != ",":
                raise self._unexpected("after object key:value pair" if in_object else "after array element")
            self._at += 1
        if in_object:
            self._key()
        self._value()

    def _key(self) -> None:
        if self._next() != '"':
            raise self._unexpected("looking for beginning of object key string")
        self._string()
        if self._next() != ":":
            raise self._unexpected("after object key")
        self._at += 1

    def _string(self) -> None:
        self._skip(_STRING)
        rest = self._content[self._at : self._at + 6]
        if rest[:1] == b'"':
            self._at += 1
            return
        if rest[:1] != b"\\":
            raise self._unexpected("in string literal")
        self._at += 1
        if rest[1:2] != b"u":
            raise self._unexpected("in string escape code")
        self._at += 1
        self._skip(_HEXADECIMAL)
        raise self._unexpected("in \\u hexadecimal character escape")

    def _number(self) -> None:
        if not self._skip(_NUMBER):
            self._at += 1
            raise self._unexpected("in numeric literal")
        if self._skip(_FRACTION) == b".":
            raise self._unexpected("after decimal point in numeric literal")
        exponent = self._skip(_EXPONENT)
        if exponent and not exponent[-1:].isdigit():
            raise self._unexpected("in exponent of numeric literal")

    def _literal(self, word: bytes) -> None:
        for place in range(1, len(word)):
            if self._content[self._at + place : self._at + place + 1] != word[place : place + 1]:
                self._at += place
                raise self._unexpected(f"in literal {word.decode()} (expecting '{chr(word[place])}')")
        self._at += len(word)

    def _unexpected(self, where: str) -> Malformed:
        if self._at >= len(self._content):
            return Malformed(END)
        return Malformed(f"invalid character {_quoted(self._content[self._at])} {where}")


def _quoted(byte: int) -> str:
    """A byte as Go quotes it."""
    letter = chr(byte)
    if letter == "'":
        return "'\\''"
    escapes = {"\\": "\\\\", "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}
    if letter in escapes:
        return f"'{escapes[letter]}'"
    if letter.isprintable():
        return f"'{letter}'"
    return f"'\\x{byte:02x}'" if byte < 0x80 else f"'\\u{byte:04x}'"
