"""Short names for contents, in letters that rarely spell anything."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_LENGTH = 10

_encode = msgspec.json.Encoder(order="deterministic").encode


def short_hash(content: Any) -> str:
    """The same for the same content, whatever the order of its fields."""
    digest = hashlib.sha256(_encode(content)).digest()
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:_LENGTH])
