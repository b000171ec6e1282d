"""How deep an object is nested."""

from __future__ import annotations

from typing import Any

LIMIT = 500
"""What is stored may be nested so deep: far below what Python can walk, far above what anybody writes."""

_OTHERS = bytes(set(range(256)) - set(b"[]{}"))


def is_too_deep(value: Any, text: bytes) -> bool:
    """Whether a value, whose JSON is given beside it, is nested deeper than the limit.

    Costs next to nothing for small ones: what has few brackets cannot be deep."""
    return len(text.translate(None, _OTHERS)) > 2 * LIMIT and _depth(value) > LIMIT


def _depth(value: Any) -> int:
    """Or any number above the limit."""
    depth, level = 0, [value]
    while level and depth <= LIMIT:
        depth += 1
        level = [
            inner
            for one in level
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, (dict, list))
        ]
    return depth
