"""Work that may take long, done beside the event loop, so that everybody else is served meanwhile.

A thread of Python shares the interpreter with the event loop, but has to let go of it every few moments. So the work
takes no less time than it would in the loop; the loop only never waits for the end of it."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

LARGE = 32 * 1024
"""Bytes up to which whatever is done with an object is done in a moment, and at once."""
_MANY_PARTS = 2_000
"""Parts of an expression or of what holds it up to which it is compiled in a moment."""
_PATIENCE = 0.0005
"""Seconds after which a loop that has something to do gets the interpreter back. Python's own are ten times as long."""
_YOUNG, _NEVER = 50_000, 2**31 - 1
"""New objects that are searched for garbage at once, in milliseconds."""

_beside = ThreadPoolExecutor(1, "kubekit-long-work")


class Bench:
    """Where the long work of one space is done: one piece at a time, so that spaces take turns."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def do(self, size: int, work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        """What `work` answers or raises, on so many bytes. It must not look at what others change meanwhile."""
        if size <= LARGE:
            return work(*args, **named)
        async with self._turn:
            return await _done_beside(lambda: work(*args, **named))


async def aside(written: Any, work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """The same for what is compiled out of something that was stored long ago, and whose size nobody knows."""
    return work(*args, **named) if _parts(written) < _MANY_PARTS else await _done_beside(lambda: work(*args, **named))


def _parts(value: Any) -> int:
    """Their number, or any number from the limit on; every four letters of a text count as one."""
    total, pending = 0, [value]
    while pending and total < _MANY_PARTS:
        one = pending.pop()
        total += 1
        if isinstance(one, str):
            total += len(one) // 4
        elif isinstance(one, list):
            total += len(one)
            pending += one[:_MANY_PARTS]
        elif isinstance(one, dict):
            total += len(one)
            pending += one.values()
    return total


async def _done_beside(work: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(_beside, _patiently, work)


def _patiently(work: Callable[[], T]) -> T:
    usual, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(_PATIENCE)
    # Of the many objects that are made, none is garbage in a circle; but everybody waits while that is found out. So it
    # is asked about some at a time, and never again about those.
    gc.set_threshold(_YOUNG, _NEVER, _NEVER)
    try:
        return work()
    finally:
        gc.set_threshold(*thresholds)
        sys.setswitchinterval(usual)
