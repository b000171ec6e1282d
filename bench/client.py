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
        self._buffer = bytearray()
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
        self._transport.write(self._head(method, path, len(body), content_type) + body)
        return await self._answer

    def _head(self, method: str, path: str, length: int, content_type: str) -> bytes:
        authorization = f"Authorization: Bearer {self._endpoint.token}\r\n" if self._endpoint.token else ""
        return (
            f"{method} {path} HTTP/1.1\r\nHost: {self._endpoint.host}\r\nUser-Agent: bench\r\nAccept: application/json"
            f"\r\n{authorization}Content-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n"
        ).encode()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionError(str(error or "closed")))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._buffer[:end]).lower()
        position = head.find(b"content-length:")
        if position >= 0:
            length = int(head[position + 15 : position + 40].split(b"\r", 1)[0])
            if len(self._buffer) - end - 4 < length:
                return
            body = bytes(self._buffer[end + 4 : end + 4 + length])
        elif self._buffer.endswith(b"0\r\n\r\n"):
            body = _unchunked(bytes(self._buffer[end + 4 :]))
        else:
            return
        self._buffer.clear()
        if self._answer is not None and not self._answer.done():
            self._answer.set_result((int(head[9:12]), body))


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
