"""The example in the documentation, as it stands there, on the embedded server."""

from __future__ import annotations

import asyncio
import signal
from contextlib import aclosing
from pathlib import Path
from typing import Any

from kubekit.client import kubeconfig
from kubekit.client.http import HttpClient
from kubekit.model.resource import Address
from kubekit.runtime.objects import key_of
from kubekit.server.serve.server import Server
from tests.programs import code_on, on_any_port, running

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "write-a-controller.md"
GREETING, CONFIG_MAP = Address.of("example.com/v1", "Greeting"), Address.of("v1", "ConfigMap")


def test_the_example_is_short() -> None:
    lines = [line for line in code_on(PAGE)[0].splitlines() if line.strip() and not line.startswith("from")]
    assert len(lines) <= 30


async def test_the_example_runs_on_the_embedded_server(server: Server, tmp_path: Path) -> None:
    script = tmp_path / "greetings.py"
    script.write_text(on_any_port(code_on(PAGE)[0]))
    async with HttpClient(kubeconfig.load(server.kubeconfig)) as client, asyncio.timeout(100):
        with running(script, server.kubeconfig) as program:
            await asyncio.to_thread(program.until, "started")
            meta = {"name": "first", "namespace": "default"}
            await client.create({"metadata": meta, "spec": {"name": "World"}}, GREETING)
            greeting = await until(client, GREETING, lambda one: one.get("status", {}).get("text"))
            assert greeting["status"]["text"] == "Hello, World!"
            assert greeting["status"]["conditions"][0]["status"] == "True"
            await client.patch(CONFIG_MAP, "first", {"data": {"text": "Bye"}}, "default", manager="someone")
            await until(client, CONFIG_MAP, lambda one: one.get("data") == {"text": "Hello, World!"})
            program.process.send_signal(signal.SIGTERM)
            assert (await asyncio.to_thread(program.ended))[0] == 0


async def until(client: HttpClient, kind: Any, holds: Any) -> Any:
    """The first object called `first` of which something holds."""
    async with aclosing(client.watch(kind)) as events:
        async for event in events:
            if event.item is not None and key_of(event.item) == "default/first" and holds(event.item):
                return event.item
    raise AssertionError("the watch ended")
