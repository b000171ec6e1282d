"""Kubernetes APIs to test clients against, and what can happen to them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from kubekit.client import kubeconfig
from kubekit.client.config import Config, Impersonation
from kubekit.client.http import HttpClient
from kubekit.client.protocol import Client, Selection
from kubekit.errors import AlreadyExists, NotFound
from kubekit.model.resource import Address, Model, ObjectMeta
from kubekit.server.client import DirectClient
from kubekit.server.objects.user import AUTHENTICATED, UserInfo
from kubekit.server.serve.server import Server

NAMESPACE = Address("", "v1", "Namespace", "namespaces", False)
CONFIG_MAP = Address("", "v1", "ConfigMap", "configmaps", True)
DEFINITION = Address("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False)
WIDGET = Address("conformance.example.com", "v1", "Widget", "widgets", True)


class WidgetSpec(Model):
    """What is wanted."""

    size: str
    replicas: int = 1
    tags: tuple[str, ...] = ()


class WidgetStatus(Model):
    """What is."""

    phase: str = ""
    replicas: int | None = None


class Widget(Model):
    """A kind of somebody else: only the fields we look at, and no tag."""

    address: ClassVar[Address] = WIDGET

    metadata: ObjectMeta
    spec: WidgetSpec
    status: WidgetStatus = WidgetStatus()


_SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "string", "enum": ["small", "large"]},
                "replicas": {"type": "integer", "minimum": 0, "default": 1},
                "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
                "notes": {"type": "object", "additionalProperties": {"type": "string"}},
            },
        },
        "status": {
            "type": "object",
            "properties": {
                "phase": {"type": "string"},
                "replicas": {"type": "integer"},
                "selector": {"type": "string"},
            },
        },
    },
}
WIDGET_DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": WIDGET.name},
    "spec": {
        "group": WIDGET.group,
        "scope": "Namespaced",
        "names": {"kind": "Widget", "plural": "widgets", "singular": "widget", "shortNames": ["wd"]},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": _SCHEMA},
                "selectableFields": [{"jsonPath": ".spec.size"}],
                "subresources": {
                    "status": {},
                    "scale": {
                        "specReplicasPath": ".spec.replicas",
                        "statusReplicasPath": ".status.replicas",
                        "labelSelectorPath": ".status.selector",
                    },
                },
            }
        ],
    },
}


def widget(name: str, namespace: str, size: str = "small", **meta: Any) -> Widget:
    return Widget(metadata=ObjectMeta(name=name, namespace=namespace, **meta), spec=WidgetSpec(size=size))


def config_map(name: str, namespace: str, **meta: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace, **meta}, "data": {"key": "value"}}


@dataclass
class World:
    """A client, a namespace of its own, and power over what lies between the client and the store."""

    client: Client
    namespace: str
    acting_as: Callable[[str], Client]
    """The same API as someone else, who is authenticated and nothing more."""
    interrupt: Callable[[], Awaitable[None]]
    """Cut every connection there is."""
    forget: Callable[[], str]
    """Make the server forget history; answers a version from before."""

    def __post_init__(self) -> None:
        self.here = Selection(self.namespace)


class Relay:
    """A hop on the way to a server, over which connections can be cut."""

    def __init__(self, host: str, port: int) -> None:
        self._to = host, port
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[int]:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()
            await self.cut()

    async def cut(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            onward_reader, onward_writer = await asyncio.open_connection(*self._to)
        except OSError:
            writer.transport.abort()
            return
        for source, sink in ((reader, onward_writer), (onward_reader, writer)):
            task = asyncio.create_task(self._copy(source, sink))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _copy(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        self._writers.add(sink)
        with suppress(OSError):
            while content := await source.read(2**16):
                sink.write(content)
                await sink.drain()
        sink.transport.abort()
        self._writers.discard(sink)


def at_port(config: Config, port: int) -> Config:
    """The same server by way of another port."""
    parts = urlsplit(config.cluster.server)
    server = f"{parts.scheme}://{parts.hostname}:{port}{parts.path}"
    return replace(config, cluster=replace(config.cluster, server=server))


def as_someone(config: Config, name: str) -> Config:
    return replace(config, user=replace(config.user, impersonation=Impersonation(name)))


@asynccontextmanager
async def https_world(config: Config, namespace: str, forget: Callable[[], str]) -> AsyncIterator[World]:
    """Over HTTPS, by way of a relay."""
    parts = urlsplit(config.cluster.server)
    relay = Relay(parts.hostname or "", parts.port or 443)
    others: list[HttpClient] = []

    def acting_as(name: str) -> Client:
        others.append(HttpClient(as_someone(near, name)))
        return others[-1]

    async with relay.running() as port:
        near = at_port(config, port)
        async with HttpClient(near) as client:
            yield World(client, namespace, acting_as, relay.cut, forget)
        for other in others:
            await other.close()


@asynccontextmanager
async def embedded_https_world(data: Path, namespace: str) -> AsyncIterator[World]:
    async with Server(data) as server:
        config = kubeconfig.load(server.kubeconfig)
        async with https_world(config, namespace, lambda: _forgotten(server)) as world:
            await furnish(world)
            yield world


@asynccontextmanager
async def direct_world(data: Path, namespace: str) -> AsyncIterator[World]:
    async with Server(data) as server:

        def acting_as(name: str) -> Client:
            return DirectClient(server.root, UserInfo(name, groups=(AUTHENTICATED,)))

        async def interrupt() -> None:
            server.hub.end()

        client = DirectClient(server.root)
        world = World(client, namespace, acting_as, interrupt, lambda: _forgotten(server))
        await furnish(world)
        yield world


def _forgotten(server: Server) -> str:
    server.store.compact(server.store.committed)
    return "1"


async def furnish(world: World) -> None:
    """The namespace and the kind that the tests use."""
    client = world.client
    await client.create({"metadata": {"name": world.namespace}}, NAMESPACE)
    with suppress(AlreadyExists):
        await client.create(WIDGET_DEFINITION, DEFINITION)
    while True:
        try:
            await client.list(WIDGET, world.here)
            return
        except NotFound:
            await asyncio.sleep(0.01)
