"""How much there is to say about every object of a kind, however small the object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PATTERN = 6
"""What a pattern takes, in parts of a schema without any."""
_WIDE = 5_000
"""Effort up to which an object is judged in a moment. A TenantControlPlane, with all of a pod in it, takes a third."""


def is_wide(source: Mapping[str, Any]) -> bool:
    """Whether an object of a schema is not judged in a moment. Descriptions say nothing about objects."""
    effort, pending = 0, [source]
    while pending and effort <= _WIDE:
        part = pending.pop()
        effort += PATTERN if "pattern" in part else 1
        for value in part.values():
            if isinstance(value, Mapping):
                pending.append(value)
            elif isinstance(value, list):
                pending += [one for one in value if isinstance(one, Mapping)]
    return effort > _WIDE
