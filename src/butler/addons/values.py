"""Helm values: layers that become one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def merged(*layers: Mapping[str, Any] | None) -> dict[str, Any]:
    """Later ones win. Maps are merged, lists are replaced, and a null stays: to Helm it takes a default away."""
    result: dict[str, Any] = {}
    for layer in layers:
        for name, value in (layer or {}).items():
            before = result.get(name)
            if isinstance(value, Mapping):
                result[name] = merged(before if isinstance(before, Mapping) else None, value)
            else:
                result[name] = value
    return result
