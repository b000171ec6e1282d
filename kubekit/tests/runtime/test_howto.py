"""The example in the documentation, as it stands there, on the embedded server."""

from __future__ import annotations

import asyncio
import importlib
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from kubekit.client import kubeconfig
from kubekit.client.http import HttpClient
from kubekit.model.crd import definition
from kubekit.model.resource import Address, ObjectMeta
from kubekit.runtime.objects import key_of
from kubekit.server.serve.server import Server

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "write-a-controller.md"
CRD = Address("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False)


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The code on the page as a module."""
    (tmp_path / "greetings_example.py").write_text(code())
    monkeypatch.syspath_prepend(str(tmp_path))
    return importlib.import_module("greetings_example")


def code() -> str:
    return PAGE.read_text().split("```python\n")[1].split("```")[0]


def test_the_example_is_short() -> None:
    assert len([line for line in code().splitlines() if line.strip() and not line.startswith(("import", "from"))]) <= 40


async def test_the_example_runs_on_the_embedded_server(
    server: Server, example: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig))
    kind, config_map = example.Greeting, example.CONFIG_MAP
    async with HttpClient(kubeconfig.load()) as client:
        await client.apply(definition(kind), CRD, manager="test")
        await server.root.settled()
        running = asyncio.ensure_future(example.main())
        meta = ObjectMeta(name="first", namespace="default")
        await client.create(kind(metadata=meta, spec=example.GreetingSpec(name="World")))
        async with asyncio.timeout(20):
            greeting = await until(client, kind, lambda one: one.status.text)
            assert (greeting.status.text, greeting.status.condition("Ready").status) == ("Hello, World!", "True")
            await client.patch(config_map, "first", {"data": {"text": "Bye"}}, "default", manager="someone")
            await until(client, config_map, lambda one: one.get("data") == {"text": "Hello, World!"})
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running


async def until(client: HttpClient, kind: Any, holds: Any) -> Any:
    """The first object called `first` of which something holds."""
    async with aclosing(client.watch(kind)) as events:
        async for event in events:
            if event.item is not None and key_of(event.item) == "default/first" and holds(event.item):
                return event.item
    raise AssertionError("the watch ended")
