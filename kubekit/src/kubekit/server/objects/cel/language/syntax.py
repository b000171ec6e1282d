"""The text of an expression → its syntax tree; the parser is cel-cpp's, which shares its grammar with cel-go."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from functools import cache
from typing import Any

from .macros import expand
from .tree import Call, Comprehension, Entry, Ident, ListNode, Literal, MapNode, MessageNode, Node, Select, error_text
from .values import CompileError, UInt, Value


def parse(text: str) -> Node:
    """The tree of an expression. Raises CompileError with the words of cel-go."""
    if len(text) > _LONGEST:
        problem = f"expression code point size exceeds limit: size: {len(text)}, limit {_LONGEST}"
        raise CompileError(f"ERROR: <input>:-1:0: {problem}")
    try:
        parsed = _environment().compile(text, disable_check=True)
    except RuntimeError as error:
        raise CompileError(_words_of_go(str(error))) from None
    parts = _Message(_Message(parsed.serialize()).bytes(2))
    return _Reader(text, _Message(parts.bytes(3))).node(_Message(parts.bytes(2)))


_LONGEST = 10_000
"""Letters of an expression: to compile it may take a while, and even long ones have a tenth of this."""
_OTHER_WORDS = (
    (r"^INVALID_ARGUMENT: | \[INVALID_ARGUMENT\]$|\nERROR: <input>:\d+:0: <<nil>> parsetree", ""),
    (r"has\(\) argument must be a field selection", "invalid argument to has() macro"),
    (r"(?:all|exists|exists_one)\(\) variable name must be a simple identifier", "argument must be a simple name"),
    (r"(?:map|filter)\(\) variable name must be a simple identifier", "argument is not an identifier"),
)


def _words_of_go(message: str) -> str:
    """The two parsers share their grammar, not every word."""
    for pattern, words in _OTHER_WORDS:
        message = re.sub(pattern, words, message)
    return message


@cache
def _environment() -> Any:
    # Imported here because it takes 20 ms and 6 MB, and most servers start without a rule to read.
    from cel_expr_python import cel  # noqa: PLC0415
    from cel_expr_python.ext import ext_optional  # noqa: PLC0415

    return cel.NewEnv(extensions=[ext_optional.ExtOptional()])


class _Message:
    """The fields of a protobuf message, by number."""

    __slots__ = ("_fields",)

    def __init__(self, data: bytes) -> None:
        self._fields: dict[int, list[Any]] = {}
        at = 0
        while at < len(data):
            tag, at = _varint(data, at)
            value: Any
            match tag & 7:
                case 0:
                    value, at = _varint(data, at)
                case 1:
                    value, at = struct.unpack_from("<d", data, at)[0], at + 8
                case _:
                    size, at = _varint(data, at)
                    value, at = data[at : at + size], at + size
            self._fields.setdefault(tag >> 3, []).append(value)

    def __contains__(self, number: int) -> bool:
        return number in self._fields

    def bytes(self, number: int) -> bytes:
        return self._fields.get(number, [b""])[0]  # type: ignore[no-any-return]

    def text(self, number: int) -> str:
        return self.bytes(number).decode()

    def number(self, number: int) -> int:
        return self._fields.get(number, [0])[0]  # type: ignore[no-any-return]

    def double(self, number: int) -> float:
        return self._fields[number][0]  # type: ignore[no-any-return]

    def message(self, number: int) -> _Message:
        return _Message(self.bytes(number))

    def messages(self, number: int) -> Iterator[_Message]:
        return map(_Message, self._fields.get(number, ()))


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


_IDENT, _SELECT, _CALL, _LIST, _STRUCT, _LOOP, _CONSTANT = 4, 5, 6, 7, 8, 9, 3


class _Reader:
    """Makes nodes of the messages `cel.expr.Expr`."""

    def __init__(self, text: str, source: _Message) -> None:
        self._text = text
        self._positions = {entry.number(1): entry.number(2) for entry in source.messages(4)}

    def node(self, message: _Message) -> Node:
        at = self._positions.get(message.number(2), 0)
        if _IDENT in message:
            return Ident(at, message.message(_IDENT).text(1))
        if _SELECT in message:
            return self._select(at, message.message(_SELECT))
        if _CALL in message:
            return self._call(at, message.message(_CALL))
        if _LIST in message:
            parts = message.message(_LIST)
            return ListNode(at, self._nodes(parts, 1), frozenset(_packed(parts.bytes(2))))
        if _STRUCT in message:
            return self._struct(at, message.message(_STRUCT))
        if _LOOP in message:
            return self._loop(at, message.message(_LOOP))
        value = _constant(message.message(_CONSTANT))
        if isinstance(value, float) and math.isinf(value):
            raise CompileError(error_text(self._text, [(at, "invalid double literal")]))
        return Literal(at, value)

    def _nodes(self, message: _Message, number: int) -> list[Node]:
        return [self.node(one) for one in message.messages(number)]

    def _select(self, at: int, parts: _Message) -> Node:
        name = parts.text(2)
        quote = re.compile(r"\s*`").match(self._text, at + 1)
        if quote:
            raise CompileError(error_text(self._text, [(quote.end() - 1, "unsupported syntax: '`'")]))
        return Select(at, self.node(parts.message(1)), name, bool(parts.number(3)))

    def _call(self, at: int, parts: _Message) -> Node:
        target = self.node(parts.message(1)) if 1 in parts else None
        return expand(Call(at, parts.text(2), target, self._nodes(parts, 3)), self._text)

    def _struct(self, at: int, parts: _Message) -> Node:
        if parts.text(1):
            return MessageNode(self._text.find("{", at), parts.text(1))
        entries = [
            Entry(
                self._positions.get(entry.number(1), 0),
                self.node(entry.message(3)),
                self.node(entry.message(4)),
                bool(entry.number(5)),
            )
            for entry in parts.messages(2)
        ]
        return MapNode(at, entries)

    def _loop(self, at: int, parts: _Message) -> Node:
        inner = {number: self.node(parts.message(number)) for number in (2, 4, 5, 6, 7)}
        return Comprehension(
            at, parts.text(1), parts.text(8), inner[2], parts.text(3), inner[4], inner[5], inner[6], inner[7]
        )


def _packed(data: bytes) -> Iterator[int]:
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        yield value


def _constant(parts: _Message) -> Value:
    if 2 in parts:
        return bool(parts.number(2))
    if 3 in parts:
        return _signed(parts.number(3))
    if 4 in parts:
        return UInt(parts.number(4))
    if 5 in parts:
        return parts.double(5)
    if 6 in parts:
        return parts.text(6)
    return parts.bytes(7) if 7 in parts else None
