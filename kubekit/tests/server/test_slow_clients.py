"""Clients that send slowly, read slowly, or do neither: they wait, and nobody else does."""

from __future__ import annotations

import asyncio
import base64
import gc
import json
import socket
import ssl
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import yaml

from kubekit.server.serve import bodies
from kubekit.server.serve.server import Server
from tests.http_api import Api, admin_context

PROMPTLY = 8.0
MAPS = "/api/v1/namespaces/default/configmaps"


@dataclass
class Line:
    """A connection on which a client does as it likes."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    rest: bytes = b""
    """Of a watch: what was received and not yet looked at."""

    async def ask(self, method: str, path: str, *headers: str) -> None:
        head = "\r\n".join([f"{method} {path} HTTP/1.1", "Host: x", "Content-Type: application/json", *headers, "", ""])
        self.writer.write(head.encode())
        await self.writer.drain()

    async def status(self) -> int:
        """The status of the answer, whose head is read away."""
        first = await self.reader.readline()
        while (await self.reader.readline()).strip():
            pass
        return int(first.split()[1])

    async def event(self) -> dict[str, Any]:
        """The next event of a watch."""
        while b"\n" not in self.rest:
            size = int(await self.reader.readline(), 16)
            self.rest += (await self.reader.readexactly(size + 2))[:-2]
        line, _, self.rest = self.rest.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found


@asynccontextmanager
async def connected(server: Server, buffer: int = 2**16) -> AsyncIterator[Line]:
    context = admin_context(yaml.safe_load(server.admin_kubeconfig()))
    context.check_hostname = False
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port, ssl=context, limit=buffer)
    try:
        yield Line(reader, writer)
    finally:
        writer.transport.abort()


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


async def served_promptly(api: Api) -> None:
    async with asyncio.timeout(PROMPTLY):
        for _ in range(10):
            assert (await api("GET", "/api/v1/namespaces/default")).status == 200
        assert (await api("POST", f"{MAPS}?dryRun=All", config_map("x"))).status == 201


async def test_a_body_that_comes_byte_by_byte_is_taken(server: Server, api: Api) -> None:
    body = json.dumps(config_map("slow", a="b")).encode()
    async with connected(server) as line:
        await line.ask("POST", MAPS, f"Content-Length: {len(body)}")
        for byte in body[:-1]:
            line.writer.write(bytes([byte]))
            await line.writer.drain()
        await served_promptly(api)
        line.writer.write(body[-1:])
        assert await line.status() == 201
    assert (await api("GET", f"{MAPS}/slow")).body["data"] == {"a": "b"}


async def test_bodies_that_never_come_hold_nobody_up(server: Server, api: Api) -> None:
    async with AsyncExitStack() as stack:
        for _ in range(40):
            line = await stack.enter_async_context(connected(server))
            await line.ask("POST", MAPS, "Content-Length: 1000")
            line.writer.write(b'{"metadata"')
        await served_promptly(api)


async def test_a_body_that_does_not_come_in_time_is_refused(
    server: Server, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "BODY_PATIENCE", 0.05)
    async with connected(server) as line:
        await line.ask("POST", MAPS, "Content-Length: 1000")
        line.writer.write(b"{")
        assert await line.status() == 504
    await served_promptly(api)


async def test_a_body_that_never_ends_is_cut_off(server: Server, api: Api) -> None:
    async with connected(server) as line:
        await line.ask("POST", MAPS, "Transfer-Encoding: chunked")
        chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        answer = asyncio.ensure_future(line.status())
        sent = 0
        while not answer.done() and sent < 2 * bodies.BODY_LIMIT:
            line.writer.write(chunk)
            sent += len(chunk)
            await asyncio.wait([answer], timeout=0.01)
        assert await answer == 413
    await served_promptly(api)


async def test_many_idle_connections_cost_others_nothing(server: Server, api: Api) -> None:
    async with AsyncExitStack() as stack:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(150):
                tasks.create_task(stack.enter_async_context(connected(server)))
        await served_promptly(api)


async def test_handshakes_that_never_end_hold_nobody_up(server: Server, api: Api) -> None:
    hello = _client_hello(server)
    with ExitStack() as stack:
        for sent in (b"", b"\x16", hello[:50], hello, b"GET / HTTP/1.1\r\n\r\n") * 10:
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            connection.sendall(sent)
        await served_promptly(api)


def _client_hello(server: Server) -> bytes:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    config = yaml.safe_load(server.admin_kubeconfig())
    authority = base64.b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"]).decode()
    client = ssl.create_default_context(cadata=authority).wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


async def _write(api: Api, count: int, size: int = 1) -> None:
    """Change one object again and again, and say in it how often."""
    await api("POST", MAPS, config_map("busy"))
    filler = "x" * size
    for number in range(count):
        change = {"data": {"n": str(number), "filler": filler}}
        answer = await api("PATCH", f"{MAPS}/busy", change, "application/merge-patch+json")
        assert answer.status == 200


async def test_a_watcher_that_never_reads_costs_little(server: Server, api: Api) -> None:
    """60 MB of events go by; what is kept for it are a few buffers."""
    async with connected(server, buffer=2**10) as line:
        await line.ask("GET", f"{MAPS}?watch=1")
        assert await line.status() == 200
        await _write(api, 10, size=300_000)
        tracemalloc.start()
        try:
            await _write(api, 200, size=300_000)
            gc.collect()
            kept, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert kept < 10e6
        await served_promptly(api)


@pytest.mark.parametrize("query", ["", "?watch=1"])
async def test_a_long_list_that_nobody_reads_costs_little(server: Server, api: Api, query: str) -> None:
    """12 MB are asked for five times; what is kept of them are a few buffers."""
    for number in range(40):
        assert (await api("POST", MAPS, config_map(f"long-{number}", filler="x" * 300_000))).status == 201
    tracemalloc.start()
    try:
        async with AsyncExitStack() as stack:
            for _ in range(5):
                line = await stack.enter_async_context(connected(server, buffer=2**10))
                await line.ask("GET", f"{MAPS}{query}")
                assert await line.status() == 200
            await served_promptly(api)
            kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 15e6


async def test_a_watcher_that_falls_behind_misses_nothing(server: Server, api: Api) -> None:
    """Far more happens than is kept for it, and then it reads all of it."""
    async with connected(server) as line:
        await line.ask("GET", f"{MAPS}?watch=1&fieldSelector=metadata.name%3Dbusy")
        assert await line.status() == 200
        await _write(api, 1500, size=2000)
        assert (await line.event())["type"] == "ADDED"
        numbers = [int((await line.event())["object"]["data"]["n"]) for _ in range(1500)]
    assert numbers == list(range(1500))


async def test_a_watcher_that_falls_behind_what_is_kept_is_told_so(server: Server, api: Api) -> None:
    async with connected(server) as line:
        await line.ask("GET", f"{MAPS}?watch=1&fieldSelector=metadata.name%3Dbusy")
        assert await line.status() == 200
        await _write(api, 1500, size=6000)
        server.store.compact(server.store.committed)
        seen = [await line.event()]
        while seen[-1]["type"] != "ERROR":
            seen.append(await line.event())
    numbers = [int(event["object"]["data"]["n"]) for event in seen[1:-1]]
    assert numbers == list(range(len(numbers)))
    assert (seen[-1]["object"]["code"], seen[-1]["object"]["reason"]) == (410, "Expired")
