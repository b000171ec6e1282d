"""How deep a JSON text is nested."""

from __future__ import annotations

import re
from itertools import accumulate

LIMIT = 500
"""What is stored may be nested so deep: far below what Python can walk, far above what anybody writes."""

_OTHERS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = {ord(letter): step for letter, step in (("{", 1), ("[", 1), ("}", -1), ("]", -1))}
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')


def is_too_deep(text: bytes) -> bool:
    """Whether a valid JSON text is nested deeper than the limit. Costs next to nothing for small texts."""
    brackets = text.translate(None, _OTHERS)
    if len(brackets) <= 2 * LIMIT or _depth(brackets) <= LIMIT:
        return False
    # Perhaps they stand in strings.
    return _depth(_STRING.sub(b"", text).translate(None, _OTHERS)) > LIMIT


def _depth(brackets: bytes) -> int:
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)
