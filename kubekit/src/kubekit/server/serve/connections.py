"""Connections of clients: who takes too long to ask, or asks with too much, is cut off."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.web import BaseRequest, StreamResponse

HEAD_PATIENCE = 32.0
"""Seconds in which all headers of a request must be there, as in Kubernetes; for the first one since the connection."""
_IDLE_PATIENCE = 300.0
_LONGEST_LINE = 8190
_MOST_HEADERS = 128

log = logging.getLogger("kubekit.server.connections")


def _is_ours(record: logging.LogRecord) -> bool:
    """What is not HTTP, or ends in the middle, is the client's problem, and it is told so."""
    return not (record.exc_info and isinstance(record.exc_info[1], (HttpProcessingError, ConnectionError)))


log.addFilter(_is_ours)


class Connections(web.Server):
    """Makes a protocol for each connection."""

    def __init__(
        self, handler: Callable[[BaseRequest], Awaitable[StreamResponse]], patience: float = HEAD_PATIENCE
    ) -> None:
        super().__init__(handler)
        self.patience = patience

    def __call__(self) -> web.RequestHandler:
        return _Connection(
            self,
            loop=asyncio.get_running_loop(),
            keepalive_timeout=_IDLE_PATIENCE,
            max_line_size=_LONGEST_LINE,
            max_field_size=_LONGEST_LINE,
            max_headers=_MOST_HEADERS,
            access_log=None,
            auto_decompress=False,
            logger=log,
        )


class _Connection(web.RequestHandler):
    """A connection that is closed when the head of a request has begun and does not end."""

    __slots__ = ("_cut_off", "_patience")

    def __init__(self, connections: Connections, **settings: Any) -> None:
        super().__init__(connections, **settings)
        self._patience = connections.patience
        self._cut_off: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._messages or self._request_in_progress:
            self._stop_waiting()
        elif self._cut_off is None:
            self._wait_for_head()

    def connection_lost(self, exc: BaseException | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        self._cut_off = self._loop.call_later(self._patience, self._give_up)

    def _give_up(self) -> None:
        self._cut_off = None
        if not self._messages and not self._request_in_progress:
            self.force_close()

    def _stop_waiting(self) -> None:
        if self._cut_off is not None:
            self._cut_off.cancel()
            self._cut_off = None
