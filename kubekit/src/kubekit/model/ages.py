"""How long ago something was, in the few characters kubectl uses."""

from __future__ import annotations

import re
from datetime import datetime

UNKNOWN = "<unknown>"
INVALID = "<invalid>"

_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)


def age(timestamp: str | None, now: datetime) -> str:
    """The age of an RFC 3339 timestamp: `<unknown>` when there is none, `<invalid>` when it is none."""
    if not timestamp:
        return UNKNOWN
    if _TIMESTAMP.fullmatch(timestamp) is None:
        return INVALID
    try:
        return human(int((now - datetime.fromisoformat(timestamp)).total_seconds()))
    except ValueError:
        return INVALID


def human(seconds: int) -> str:
    """A duration with two or three significant figures, such as `3m20s`, `5h`, `2y12d`."""
    if seconds < -1:
        return INVALID
    minutes, hours = seconds // 60, seconds // 3600
    days = hours // 24
    if seconds < 120:
        return f"{max(seconds, 0)}s"
    if minutes < 10:
        return _with_rest(minutes, "m", seconds % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _with_rest(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return _with_rest(days, "d", hours % 24, "h")
    if days < 2 * 365:
        return f"{days}d"
    if days < 8 * 365:
        return _with_rest(days // 365, "y", days % 365, "d")
    return f"{days // 365}y"


def _with_rest(count: int, unit: str, rest: int, smaller_unit: str) -> str:
    return f"{count}{unit}{rest}{smaller_unit}" if rest else f"{count}{unit}"
