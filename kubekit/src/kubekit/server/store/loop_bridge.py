"""From a thread that works to the event loop that waits for it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any


class Handover:
    """What the thread has finished, called back in the loop, in order.

    To wake a loop, the thread gives up Python's lock, and a busy loop does not soon give it back. So it wakes only a
    loop that has not said that it will come by."""

    def __init__(self) -> None:
        self._finished: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._coming: asyncio.AbstractEventLoop | None = None

    def come_by(self) -> None:
        """Say so; for the loop, which comes by in its next round."""
        loop = asyncio.get_running_loop()
        if self._coming is not loop:
            self._coming = loop
            loop.call_soon(self._collect)

    def put(self, loop: asyncio.AbstractEventLoop, callback: Callable[..., None], *arguments: Any) -> None:
        """For the thread."""
        self._finished.append((callback, arguments))
        if self._coming is not loop:
            # When the loop is closed, nobody is left to be told.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._collect)

    def _collect(self) -> None:
        # First of all, so that whoever puts something here from now on wakes the loop again.
        self._coming = None
        try:
            while self._finished:
                callback, arguments = self._finished.popleft()
                callback(*arguments)
        finally:
            if self._finished:
                # One that fails keeps the others waiting for no longer than a round.
                self.come_by()
