"""Clients that never finish asking: cut off, while those that wait for an answer are not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp.web import BaseRequest, Response, StreamResponse

from kubekit.server.serve.connections import HEAD_PATIENCE, Connections
from kubekit.server.serve.server import Server
from tests.server.attacks.test_odd_requests import Line

PATIENCE = 0.1
ASKED = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
Talk = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def at_once(_: BaseRequest) -> StreamResponse:
    return Response(text="ok")


async def after_a_while(_: BaseRequest) -> StreamResponse:
    await asyncio.sleep(4 * PATIENCE)
    return Response(text="ok")


@asynccontextmanager
async def talking(answer: Callable[[BaseRequest], object] = at_once) -> AsyncIterator[Talk]:
    connections = Connections(answer, PATIENCE)  # type: ignore[arg-type] # any handler
    listener = await asyncio.get_running_loop().create_server(connections, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*listener.sockets[0].getsockname())
    try:
        yield reader, writer
    finally:
        writer.transport.abort()
        listener.close()
        await connections.shutdown(1)


async def answered(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    return head.split(b"\r\n")[0] + await reader.readexactly(2)


async def trickled(writer: asyncio.StreamWriter, content: bytes) -> None:
    """Send it byte by byte, until the other side has had enough."""
    for byte in content:
        writer.write(bytes([byte]))
        await asyncio.sleep(PATIENCE / 10)
        if writer.transport.is_closing():
            return
    raise AssertionError("everything was taken")


@pytest.mark.parametrize("begun", [b"", b"G", b"GET / HTTP/1.1\r\nHost: x\r\n", b"GET / HTTP/1.1\r\nX: " + b"a" * 5000])
async def test_a_head_that_never_comes(begun: bytes) -> None:
    async with talking() as (reader, writer):
        writer.write(begun)
        assert await reader.read() == b""


@pytest.mark.parametrize("asked", [b"", ASKED])
async def test_a_head_that_comes_byte_by_byte(asked: bytes) -> None:
    async with talking() as (reader, writer):
        writer.write(asked)
        if asked:
            await answered(reader)
        ended = asyncio.ensure_future(reader.read())
        await trickled(writer, b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X-More: of the same\r\n" * 100)
        assert await ended == b""


async def test_who_waits_for_an_answer_gets_it() -> None:
    async with talking(after_a_while) as (reader, writer):
        for _ in range(2):
            writer.write(ASKED)
            assert await answered(reader) == b"HTTP/1.1 200 OKok"


async def test_a_body_in_pieces_is_waited_for_elsewhere() -> None:
    async def reading(request: BaseRequest) -> StreamResponse:
        return Response(text=str(len(await request.read()) % 90))

    async with talking(reading) as (reader, writer):
        writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 30\r\n\r\n")
        for _ in range(30):
            await asyncio.sleep(PATIENCE / 10)
            writer.write(b"x")
        assert await answered(reader) == b"HTTP/1.1 200 OK30"


async def test_a_connection_that_was_used_may_rest() -> None:
    async with talking() as (reader, writer):
        writer.write(ASKED)
        await answered(reader)
        await asyncio.sleep(2 * PATIENCE)
        writer.write(ASKED)
        assert await answered(reader) == b"HTTP/1.1 200 OKok"


def test_the_patience_is_that_of_kubernetes() -> None:
    assert HEAD_PATIENCE == 32


@pytest.mark.parametrize(
    "headers",
    [
        [(f"X-{number}", "y") for number in range(200)],
        [("X", "y" * 9000)],
        [("X" * 9000, "y")],
        [("X", "y" * 8000)] * 200,
    ],
    ids=["many", "long", "long names", "many and long"],
)
async def test_heads_are_bounded(server: Server, headers: list[tuple[str, str]]) -> None:
    line = Line(server)
    assert await line.ask("GET", "/version", headers) == 400
    line.close()


async def test_request_lines_are_bounded(server: Server) -> None:
    line = Line(server)
    assert await line.ask("GET", f"/version?{'x' * 9000}") == 400
    line.close()
