"""Which addon comes after which."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import Addon


def ordered(addons: Sequence[Addon]) -> tuple[list[Addon], list[Addon]]:
    """Each after those among them that it depends on; and those for which there is no such order."""
    left, done = {one.name: one for one in addons}, []
    while ready := [one for one in left.values() if not left.keys() & set(one.depends_on)]:
        done += ready
        for one in ready:
            del left[one.name]
    return done, list(left.values())
