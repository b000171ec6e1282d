"""Small servers on loopback that do as a test tells them."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from kubekit.client.config import Cluster, Config, Material, User
from kubekit.clock import SystemClock
from kubekit.server.access.pki import Pki

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "team", "resourceVersion": "7"}}


@dataclass
class Place:
    """Where a server listens, and who has been there."""

    port: int
    pki: Pki | None = None
    requests: list[web.BaseRequest] = field(default_factory=list)

    def config(self, user: User | None = None, **cluster: Any) -> Config:
        if self.pki is not None and not cluster.get("insecure"):
            cluster.setdefault("authority", Material(self.pki.server_authority))
        scheme = "https" if self.pki is not None else "http"
        return Config(Cluster(f"{scheme}://127.0.0.1:{self.port}", **cluster), user or User())


@asynccontextmanager
async def serving(handler: Handler, pki: Pki | None = None, tls: ssl.SSLContext | None = None) -> AsyncIterator[Place]:
    """A web server; with keys, over TLS."""

    async def noted(request: web.BaseRequest) -> web.StreamResponse:
        place.requests.append(request)
        return await handler(request)

    server = web.Server(noted, access_log=None)
    context = tls or (pki.tls if pki is not None else None)
    listener = await asyncio.get_running_loop().create_server(server, "127.0.0.1", 0, ssl=context)
    place = Place(listener.sockets[0].getsockname()[1], pki)
    try:
        yield place
    finally:
        listener.close()
        for connection in server.connections:
            connection.force_close()
        await server.shutdown(0.1)


@asynccontextmanager
async def talking(talk: Talk) -> AsyncIterator[Place]:
    """A server that says what it wants, HTTP or not."""
    tasks: set[asyncio.Task[None]] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await talk(reader, writer)
        finally:
            writer.transport.abort()
            tasks.discard(task)

    listener = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield Place(listener.sockets[0].getsockname()[1])
    finally:
        listener.close()
        for task in list(tasks):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def keys(directory: Path, *names: str) -> Pki:
    """An authority of its own with a certificate for this machine and these names."""
    pki = Pki(directory, SystemClock(), names)
    pki.open()
    return pki


def answering(body: Any, status: int = 200, **headers: str) -> Handler:
    """A handler that always says the same."""

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        return web.json_response(body, status=status, headers=headers)

    return answer


async def request_head(reader: asyncio.StreamReader) -> bytes:
    return await reader.readuntil(b"\r\n\r\n")
