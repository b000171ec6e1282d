"""A server with Kamaji and its provider on it, and a Cluster that wants a control plane."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from butler.engines.capi.kinds import (
    CONTROL_PLANE,
    CidrBlocks,
    Cluster,
    ClusterNetwork,
    ClusterSpec,
    Endpoint,
    Ref,
)
from butler.engines.kamaji.kinds import KamajiControlPlane, KamajiControlPlaneSpec, TenantControlPlane
from butler.local.installation import NAMESPACE, install_definitions
from butler.simulation.delays import NONE
from butler.simulation.kamaji.control_planes import TenantControlPlanes
from butler.simulation.kamaji.provider import KamajiControlPlanes
from butler.simulation.tenant_apis import TenantApis
from kubekit.client.endless_watch import follow
from kubekit.client.protocol import Client
from kubekit.clock import SystemChance, SystemClock
from kubekit.errors import NotFound
from kubekit.model.resource import ObjectMeta, OwnerReference, Resource
from kubekit.runtime.client_wrapper import Call, Go, WrappedClient
from kubekit.runtime.manager import Manager
from kubekit.server.client import DirectClient
from kubekit.server.serve.server import Server

NS = "shop-12345678"
ADDONS: dict[str, Any] = {"coreDNS": {}, "kubeProxy": {}}


class Written(WrappedClient):
    """Notes what was written; after `lives` writes everybody behind it is dead."""

    def __init__(
        self, inner: Client, lives: float = math.inf, *, answers: bool = True, died: asyncio.Event | None = None
    ) -> None:
        super().__init__(inner)
        self.writes: list[Call] = []
        self.died = died or asyncio.Event()
        self._lives, self._answers = lives, answers

    async def around(self, call: Call, go: Go) -> Any:
        if not call.writes:
            return await go()
        if self._lives <= 0:
            await self._die()
        self._lives -= 1
        answer = await go()
        self.writes.append(call)
        if self._lives <= 0 and not self._answers:
            await self._die()
        return answer

    async def _die(self) -> None:
        self.died.set()
        await asyncio.get_running_loop().create_future()


@dataclass
class World:
    """What a test sees: the management API, the tenants' APIs, and what the stand-ins wrote."""

    server: Server
    client: DirectClient
    tenants: TenantApis
    manager: Manager
    written: Written
    inside: list[Written]
    """What was written into tenants' APIs, by client."""
    died_inside: asyncio.Event

    @property
    def tenant_writes(self) -> list[Call]:
        return [call for written in self.inside for call in written.writes]

    async def until(self, kind: type[Resource], name: str, holds: Callable[[Any], bool]) -> Any:
        """Wait until an object, or None when there is none, is as it should be."""
        async with asyncio.timeout(100):
            async for _ in follow(self.client, kind, clock=SystemClock(), chance=SystemChance()):
                found = await self.find(kind, name)
                if holds(found):
                    return found
        raise AssertionError("unreachable")

    async def find(self, kind: type[Any], name: str) -> Any:
        try:
            return await self.client.get(kind, name, NS)
        except NotFound:
            return None

    async def ready(self, version: str = "") -> KamajiControlPlane:
        found: KamajiControlPlane = await self.until(
            KamajiControlPlane,
            "shop",
            lambda found: bool(found and found.status.ready) and version in ("", found.status.version),
        )
        return found

    async def quiet(self) -> None:
        """Wait until nobody has anything to do."""
        queues = [controller.queue for controller in self.manager.controllers]
        while any(len(queue) or queue.working for queue in queues):  # noqa: ASYNC110 - they do not tell
            await asyncio.sleep(0)


@asynccontextmanager
async def world(
    data: Path, *, port: int = 0, lives: float = math.inf, tenant_lives: float = math.inf, answers: bool = True
) -> AsyncIterator[World]:
    """Everything runs until the context is left."""
    async with Server(data, port=port) as server:
        admin = DirectClient(server.root)
        await install_definitions(admin, (Cluster, KamajiControlPlane, TenantControlPlane))
        written, inside, died = Written(admin, lives, answers=answers), list[Written](), asyncio.Event()

        def noted(client: Client) -> Client:
            inside.append(Written(client, tenant_lives, died=died))
            return inside[-1]

        tenants, manager = TenantApis(server, noted), Manager(written)
        manager.add(TenantControlPlanes(manager, tenants, NONE, SystemClock()))
        manager.add(KamajiControlPlanes(manager))
        running = asyncio.create_task(manager.run())
        await manager.informers.synced()
        try:
            yield World(server, admin, tenants, manager, written, inside, died)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def ask(client: Client, version: str = "v1.31.4", *, addons: dict[str, Any] | None = None) -> None:
    """What Butler and Cluster API write for a cluster `shop`: everything there is to wait for has happened."""
    await client.create({"metadata": {"name": NS}}, NAMESPACE)
    cluster = await client.create(wanted_cluster())
    await provisioned(client)
    await client.create(wanted_control_plane(cluster, version, addons=addons))


def wanted_cluster() -> Cluster:
    ref = Ref(api_group=CONTROL_PLANE, kind="KamajiControlPlane", name="shop")
    network = ClusterNetwork(
        pods=CidrBlocks(cidr_blocks=("10.200.0.0/16",)), services=CidrBlocks(cidr_blocks=("10.201.0.0/16",))
    )
    return Cluster(
        metadata=ObjectMeta(name="shop", namespace=NS),
        spec=ClusterSpec(
            cluster_network=network, control_plane_ref=ref, control_plane_endpoint=Endpoint(host="127.0.0.1", port=1)
        ),
    )


async def provisioned(client: Client) -> None:
    reached = {"status": {"initialization": {"infrastructureProvisioned": True}}}
    await client.patch(Cluster, "shop", reached, NS, subresource="status")


def wanted_control_plane(
    cluster: Cluster, version: str = "v1.31.4", *, addons: dict[str, Any] | None = None
) -> KamajiControlPlane:
    owner = OwnerReference(
        api_version=cluster.api_version, kind="Cluster", name=cluster.metadata.name, uid=cluster.metadata.uid
    )
    labels = {"cluster.x-k8s.io/cluster-name": "shop"}
    return KamajiControlPlane(
        metadata=ObjectMeta(name="shop", namespace=NS, labels=labels, owner_references=(owner,)),
        spec=KamajiControlPlaneSpec(version=version, addons=addons or {}),
    )


def spell(writes: list[Call]) -> list[str]:
    return [f"{call.verb} {call.address.plural} {call.name}{' status' if call.subresource else ''}" for call in writes]
