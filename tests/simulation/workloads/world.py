"""A tenant's API in memory, with two nodes, on virtual time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from butler.api.shared import IPRange
from butler.simulation.delays import NONE, Delays
from butler.simulation.workloads.activity import StoreActivity
from butler.simulation.workloads.kinds import Deployment, Pod
from butler.simulation.workloads.tenants import Workloads
from kubekit.client.protocol import Client, Selection
from kubekit.model.resource import Address
from kubekit.runtime.client_wrapper import Call, Go, WrappedClient
from kubekit.server.access.pki import Pki
from kubekit.server.client import DirectClient
from kubekit.server.pipeline.watches import Hub
from kubekit.server.spaces.kubernetes_service import Location
from kubekit.server.spaces.spaces import Spaces
from kubekit.server.store.store import Store
from kubekit.testing.deterministic_loop import Loop

TENANT = "shop-12345678"
NODES = Address("", "v1", "Node", "nodes", False)
EVENTS = Address("", "v1", "Event", "events", True)
POOL = (IPRange(start="10.9.0.1", end="10.9.0.2"),)

Object = dict[str, Any]


def node(number: int, cpu: str = "4") -> Object:
    """A simulated node as it is when it has joined."""
    name, network = f"node-{number}", f"10.244.{number}.0/24"
    offered = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}},
        "spec": {"podCIDR": network, "podCIDRs": [network]},
        "status": {
            "capacity": offered,
            "allocatable": offered,
            "conditions": [{"type": "Ready", "status": "True"}],
            "addresses": [{"type": "InternalIP", "address": f"10.0.0.{number}"}],
        },
    }


def template(app: str, image: str = "nginx:1", **spec: Any) -> Object:
    return {"metadata": {"labels": {"app": app}}, "spec": {"containers": [{"name": "main", "image": image}], **spec}}


def deployment(name: str = "web", replicas: int = 3, **spec: Any) -> Object:
    selector = {"matchLabels": {"app": name}}
    return _named(name, {"replicas": replicas, "selector": selector, "template": template(name), **spec})


def pod(name: str, image: str = "nginx:1", **spec: Any) -> Object:
    return _named(name, {"containers": [{"name": "main", "image": image}], **spec})


def job(name: str, image: str = "work", **spec: Any) -> Object:
    containers = [{"name": "main", "image": image}]
    return _named(name, {"template": {"spec": {"restartPolicy": "Never", "containers": containers}}, **spec})


def _named(name: str, spec: Object) -> Object:
    return {"metadata": {"name": name, "namespace": "default"}, "spec": spec}


class Mortal(WrappedClient):
    """Counts what is written, and hangs for ever after the world's last write: its process is dead."""

    def __init__(self, inner: Client, world: World) -> None:
        super().__init__(inner)
        self._world = world

    async def around(self, call: Call, go: Go) -> Any:
        if not call.writes or call.address == EVENTS:
            return await go()
        if self._world.lives <= 0:
            await self._die()
        self._world.lives -= 1
        answer = await go()
        self._world.writes[f"{call.verb} {call.address.plural} {call.subresource}".strip()] += 1
        if self._world.lives <= 0:
            await self._die()
        return answer

    async def _die(self) -> None:
        self._world.died.set()
        await asyncio.get_running_loop().create_future()


@dataclass
class World:
    """A tenant, and whoever looks after its workloads."""

    spaces: Spaces
    store: Store
    loop: Loop
    delays: Delays
    lives: float = float("inf")
    """How many more writes there are before everybody dies."""
    writes: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.client = DirectClient(self.spaces[TENANT])
        self.activity = StoreActivity(self.store)
        self.died = asyncio.Event()
        self.workloads = self._workloads()

    def _workloads(self) -> Workloads:
        return Workloads(
            lambda name: Mortal(DirectClient(self.spaces[name]), self),
            self.activity,
            delays=self.delays,
            pool_of=lambda _: POOL,
            clock=self.loop.clock,
            chance=self.loop.chance,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Workloads are looked after; afterwards nobody does, whatever they were about to do."""
        self.workloads, self.died = self._workloads(), asyncio.Event()
        task = asyncio.create_task(self.workloads.run())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def settled(self, seconds: float = 30.0) -> None:
        """Let everything happen that happens within so much virtual time."""
        await asyncio.sleep(seconds)

    async def add(self, kind: type[Any] | Address, obj: Object) -> None:
        await self.client.create(obj, kind if isinstance(kind, Address) else kind.address)

    async def get(self, kind: type[Any], name: str) -> Any:
        return await self.client.get(kind, name, "default" if kind.address.namespaced else "")

    async def all(self, kind: type[Any], labels: str = "") -> list[Any]:
        return list((await self.client.list(kind, Selection(labels=labels))).items)

    async def change(self, kind: type[Any] | Address, name: str, change: Object, subresource: str = "") -> None:
        namespaced = kind.namespaced if isinstance(kind, Address) else kind.address.namespaced
        await self.client.patch(kind, name, change, "default" if namespaced else "", subresource=subresource)

    async def delete(self, kind: type[Any] | Address, name: str) -> None:
        namespaced = kind.namespaced if isinstance(kind, Address) else kind.address.namespaced
        await self.client.delete(kind, name, "default" if namespaced else "", propagation="Background")

    @asynccontextmanager
    async def watching(self, look: Callable[[list[Any]], None], kind: type[Any] = Pod) -> AsyncIterator[None]:
        """Look at all pods, or all objects of another kind, whenever one of them changes."""

        async def watch() -> None:
            async for _ in self.client.watch(kind):
                look(await self.all(kind))

        task = asyncio.create_task(watch())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def pods(self, labels: str = "") -> list[Pod]:
        return await self.all(Pod, labels)

    async def set_image(self, image: str, name: str = "web", kind: type[Any] = Deployment) -> None:
        await self.change(kind, name, {"spec": {"template": template(name, image)}})

    async def events(self, about: str) -> list[tuple[str, str]]:
        """Reason and message of what was told about objects whose name begins so."""
        found = (await self.client.list(EVENTS)).items
        return [(one["reason"], one["message"]) for one in found if one["involvedObject"]["name"].startswith(about)]


@asynccontextmanager
async def opened(loop: Loop, directory: Path, delays: Delays = NONE, nodes: int = 2) -> AsyncIterator[World]:
    """A world with so many nodes, and with keys that are kept in a directory."""
    store = Store(None)
    pki = Pki(directory, loop.clock)
    pki.open()
    spaces = Spaces(store, Hub(store), pki, Location("127.0.0.1", 6443), loop.clock, loop.chance)
    await spaces.open()
    await spaces.add(TENANT)
    world = World(spaces, store, loop, delays)
    for number in range(1, nodes + 1):
        await world.add(NODES, node(number))
    try:
        yield world
    finally:
        await spaces.stop()


def conditions(obj: Any) -> dict[str, str]:
    """`True/Reason` by type."""
    return {one["type"]: f"{one['status']}/{one.get('reason', '')}" for one in obj.status.conditions}


def claim(name: str, **spec: Any) -> Object:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec}
    return _named(name, wanted)
