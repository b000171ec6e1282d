"""Work on what somebody has written that takes long when it is large: beside the event loop, so that nobody waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
Made = TypeVar("Made")
_LARGE = 2_000
"""Parts, with every four letters of a text counted as one. Of fewer, anything is made at once."""


async def aside(written: Any, run: Callable[Given, Made], *args: Given.args, **kwargs: Given.kwargs) -> Made:
    """What `run` makes of its arguments, in a thread when what is written is large. It changes nothing others see."""
    if _size(written, _LARGE) < _LARGE:
        return run(*args, **kwargs)
    return await asyncio.to_thread(run, *args, **kwargs)


def _size(value: Any, limit: int) -> int:
    """The number of parts, or any number from the limit on."""
    total, pending = 0, [value]
    while pending and total < limit:
        one = pending.pop()
        total += 1
        if isinstance(one, str):
            total += len(one) // 4
        elif isinstance(one, list):
            total += len(one)
            pending += one[:limit]
        elif isinstance(one, dict):
            total += len(one)
            pending += one.values()
    return total
