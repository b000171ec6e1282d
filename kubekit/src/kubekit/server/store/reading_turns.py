"""Turns for those who have much to read, so that everybody else goes on meanwhile."""

from __future__ import annotations

import asyncio
from collections import deque


class Turns:
    """Long work is done in parts. In each round of the event loop one part is done, by one space after the other."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """By space; the first one is the next."""
        self._is_calling = False

    async def take(self, space: str) -> None:
        """Wait for one's turn to do another part. What there is to do at once is done before."""
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        self._waiting.setdefault(space, deque()).append(turn)
        if not self._is_calling:
            self._is_calling = True
            loop.call_soon(self._call, loop)
        await turn

    def _call(self, loop: asyncio.AbstractEventLoop) -> None:
        """Call the next one who has not gone away."""
        is_called = False
        while self._waiting and not is_called:
            space = next(iter(self._waiting))
            turns = self._waiting.pop(space)
            turn = turns.popleft()
            if turns:
                self._waiting[space] = turns
            if not turn.done():
                turn.set_result(None)
                is_called = True
        self._is_calling = bool(self._waiting)
        if self._is_calling:
            loop.call_soon(self._call, loop)
