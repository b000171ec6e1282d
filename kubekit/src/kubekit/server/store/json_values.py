"""Values from JSON, in a time that depends on nothing but its size."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

import msgspec

_LARGE = 32 * 1024
_MANY = 1000
_exponents = re.compile(rb"[eE](?<=[0-9].)[-+]?[0-9]").finditer

# What msgspec takes microseconds for where a number is very large or very small, Python does at once.
_plain_floats = msgspec.json.Decoder(float_hook=float)
_members = msgspec.json.Decoder(dict[str, msgspec.Raw])


def decode(content: bytes) -> Any:
    """The value of JSON that this server has written.

    A large object is read member by member: beside the event loop, that lets go of the interpreter in between."""
    if len(content) > _LARGE and content.startswith(b"{"):
        return {name: _decoded(bytes(member)) for name, member in _members.decode(content).items()}
    return _decoded(content)


def _decoded(content: bytes) -> Any:
    return _plain_floats.decode(content) if has_many_exponents(content) else msgspec.json.decode(content)


def has_many_exponents(content: bytes) -> bool:
    """Whether there may be many numbers that take long to read."""
    return len(content) > _LARGE and sum(1 for _ in islice(_exponents(content), _MANY)) == _MANY
