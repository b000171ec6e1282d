"""How Azure is reached: by TLS, with certificates of one's own, through a proxy."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from butler.errors import ProviderUnavailable
from tests.providers.azure.harness import running


@asynccontextmanager
async def proxying() -> AsyncIterator[tuple[str, list[str]]]:
    """A proxy on loopback, and the hosts it was asked for."""
    asked: list[str] = []

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, target, _ = head.split(" ", 2)
        asked.append(f"{method} {target}")
        host, _, port = target.partition(":")
        far_reader, far_writer = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked
    finally:
        server.close()


async def test_both_tokens_and_calls_go_through_the_proxy() -> None:
    async with running() as harness, proxying() as (proxy, asked):
        provider = harness.connected({"proxy": proxy})
        assert await provider.find("nobody", "x") is None
        await provider.close()
        assert asked == [f"CONNECT {harness.url.removeprefix('https://')}"] * 2


@pytest.mark.parametrize("bundle", ["", None])
async def test_a_certificate_that_nobody_vouches_for_is_not_believed(bundle: str | None) -> None:
    async with running() as harness:
        provider = harness.connected({"ca_bundle": bundle})
        with pytest.raises(ProviderUnavailable, match="a token from Microsoft Entra ID"):
            await provider.find("nobody", "x")
        await provider.close()
        assert harness.faults.calls == []


def test_the_objects_of_cluster_api_need_no_sdk() -> None:
    code = (
        "import sys; from butler.providers import registry; registry.templates('azure');"
        "print([name for name in sys.modules if name == 'azure' or name.startswith('azure.')])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
