"""Telling values apart without keeping them."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

_ENCODER = msgspec.json.Encoder(order="deterministic")


def digest(value: Any) -> str:
    """Eight letters that differ when the value does."""
    return hashlib.sha256(_ENCODER.encode(value)).hexdigest()[:8]
