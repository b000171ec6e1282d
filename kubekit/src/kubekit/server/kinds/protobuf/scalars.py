"""The scalar types of protobuf, each between its wire value and its JSON value."""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from . import wire
from .wire import Malformed


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number, a text, a truth or bytes."""

    name: str
    wire_type: int
    _read: Callable[[Any], Any]
    _write: Callable[[Any], bytes]
    _zero: Any
    """What JSON shows for a value never set."""

    def load(self, value: Any, reading: object) -> Any:
        return self._read(value)

    def dump(self, value: Any) -> bytes:
        """The bytes behind the tag; None is the zero."""
        return self._write(self._zero if value is None else value)

    def zero(self) -> Any:
        return self._zero


def _text(content: bytes) -> str:
    # Go takes any bytes for a string and its JSON replaces those that are no UTF-8.
    return content.decode("utf-8", "replace")


def _number(content: bytes) -> float | int:
    (number,) = struct.unpack("<d", content)
    if not math.isfinite(number):
        raise Malformed(f"json: unsupported value: {number}")
    # Go shows whole numbers without a fraction, up to where it turns to exponents.
    return int(number) if number.is_integer() and abs(number) < 1e21 else float(number)


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


_SCALARS = (
    Scalar("string", wire.BYTES, _text, lambda text: wire.with_length(text.encode()), ""),
    Scalar("bytes", wire.BYTES, _base64, lambda text: wire.with_length(base64.b64decode(text)), None),
    Scalar("filled bytes", wire.BYTES, _base64, lambda text: wire.with_length(base64.b64decode(text)), ""),
    Scalar("raw", wire.BYTES, bytes, wire.with_length, None),
    Scalar("bool", wire.VARINT, bool, wire.varint, False),
    Scalar("int32", wire.VARINT, lambda number: wire.signed(number, 32), wire.varint, 0),
    Scalar("int64", wire.VARINT, lambda number: wire.signed(number, 64), wire.varint, 0),
    Scalar("double", wire.FIXED64, _number, lambda number: struct.pack("<d", number), 0),
)
SCALARS: Mapping[str, Scalar] = {scalar.name: scalar for scalar in _SCALARS}
