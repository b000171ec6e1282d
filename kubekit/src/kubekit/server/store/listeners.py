"""Telling those who listen, and those who wait, of what has become durable."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import TypeVar

log = logging.getLogger("kubekit.server")

Told = TypeVar("Told")


def tell(listeners: Iterable[Callable[[Told], None]], event: Told, revision: int) -> None:
    """Call each. It has happened: one who cannot cope with it may not keep the writer and all others waiting."""
    for listener in listeners:
        try:
            listener(event)
        except Exception:
            log.exception("a listener failed on revision %d", revision)


class Waiting:
    """Those who wait until a revision that somebody else has written is durable; each may go away at any time."""

    def __init__(self) -> None:
        self._futures: list[tuple[int, asyncio.Future[None]]] = []

    async def until(self, revision: int) -> None:
        """Raises what `fail` is given."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._futures.append((revision, future))
        await future

    def succeed(self, committed: int) -> None:
        """Everything up to this revision is durable."""
        if self._futures:
            told = [future for revision, future in self._futures if revision <= committed]
            self._futures = [one for one in self._futures if one[0] > committed]
            for future in told:
                if not future.done():
                    future.set_result(None)

    def fail(self, error: Exception) -> None:
        """Nothing of what was waited for will ever be durable."""
        told, self._futures = self._futures, []
        for _, future in told:
            if not future.done():
                future.set_exception(error)
