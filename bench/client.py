"""A load client that costs as little as possible, so that the servers are what is measured."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Endpoint:
    """Where a server is and how to be its administrator."""

    url: str
    tls: ssl.SSLContext
    token: str = ""

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 443


class Connection(asyncio.Protocol):
    """One keep-alive connection; one request at a time."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        authorization = f"Authorization: Bearer {endpoint.token}\r\n" if endpoint.token else ""
        common = f"Host: {endpoint.host}\r\nUser-Agent: bench\r\nAccept: application/json\r\n{authorization}\r\n"
        self._common = common.encode()
        self._rest = b""
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None
        self._transport: asyncio.Transport | None = None

    async def open(self) -> Connection:
        loop = asyncio.get_running_loop()
        await loop.create_connection(
            lambda: self,
            self._endpoint.host,
            self._endpoint.port,
            ssl=self._endpoint.tls,
            server_hostname=self._endpoint.host,
        )
        return self

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    async def request(
        self, method: str, path: str, body: bytes = b"", content_type: str = "application/json"
    ) -> tuple[int, bytes]:
        """The status and body of the answer."""
        assert self._transport is not None
        self._answer = asyncio.get_running_loop().create_future()
        head = f"{method} {path} HTTP/1.1\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n"
        self._transport.write(head.encode() + self._common + body)
        return await self._answer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionError(str(error or "closed")))

    def data_received(self, data: bytes) -> None:
        if self._rest:
            data = self._rest + data
        end = data.find(b"\r\n\r\n")
        body = self._body(data, end + 4) if end >= 0 else None
        if body is None:
            self._rest = data
            return
        self._rest = b""
        if self._answer is not None and not self._answer.done():
            self._answer.set_result((int(data[9:12]), body))

    def _body(self, data: bytes, start: int) -> bytes | None:
        """The body if all of it is there."""
        at = data.find(b"Content-Length: ", 0, start)
        if at < 0:
            return _unchunked(data[start:]) if data.endswith(b"0\r\n\r\n") else None
        length = int(data[at + 16 : data.index(b"\r", at)])
        return data[start : start + length] if len(data) - start >= length else None


def _unchunked(data: bytes) -> bytes:
    parts: list[bytes] = []
    at = 0
    while True:
        end = data.index(b"\r\n", at)
        length = int(data[at:end], 16)
        if not length:
            return b"".join(parts)
        parts.append(data[end + 2 : end + 2 + length])
        at = end + 4 + length
