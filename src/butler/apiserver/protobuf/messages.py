"""Messages by their table of fields: wire bytes ↔ the JSON form of an object.

Kubernetes writes the zero of a plain field but leaves out a pointer that is not set; its JSON leaves out the zeros
of fields marked so. Both are facts of each field, and decoding restores what Go's JSON encoder would have shown.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Protocol

from ..builtins import data
from . import wire
from .forms import FORMS, Form, Members, wrapped_list
from .wire import Malformed, Value

DEPTH = 200
"""Messages inside messages; far more than any real object, and within Python's own limit."""


class Codec(Protocol):
    """How one value of a type stands on the wire."""

    wire_type: int
    name: str

    def load(self, value: Any, depth: int) -> Any:
        """The JSON form of what was read."""

    def dump(self, value: Any) -> bytes:
        """The bytes behind the tag; None stands for the type's zero."""

    def zero(self) -> Any:
        """What JSON shows for a value never set."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number, a text or bytes."""

    name: str
    wire_type: int
    read: Callable[[Any], Any]
    write: Callable[[Any], bytes]
    empty: Any

    def load(self, value: Any, depth: int) -> Any:
        return self.read(value)

    def dump(self, value: Any) -> bytes:
        return self.write(self.empty or self.read(b"") if value is None else value)

    def zero(self) -> Any:
        return self.empty
