"""What the embedded server answers otherwise on purpose: the only place where that is allowed.

Each is also a row of docs/reference/embedded-api.md; a test keeps the two in step, and one that no longer shows in any
case fails."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """The row's first column, and the reason in a few words."""

    title: str
    reason: str
