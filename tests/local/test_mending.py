"""What becomes of a cluster when somebody takes away what it is made of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from butler.api.cluster import TenantCluster
from butler.api.config import BUTLER_CONFIG_NAME, ButlerConfig
from butler.api.provider import ProviderConfig
from butler.api.shared import SYSTEM_NAMESPACE
from butler.controllers.cluster import kinds
from butler.controllers.cluster.explanation import explain
from butler.engines.capi.kinds import Machine
from butler.engines.core import Secret
from butler.engines.tenants import Tenants, admin_kubeconfig_secret
from butler.local.home import Home
from butler.local.platform import Options, running
from butler.providers import registry
from butler.simulation.delays import NONE
from butler.simulation.infrastructure.nodes import NODE
from butler.simulation.installer import CONFIG_MAP
from kubekit.client.protocol import Client, Selection, Signal
from tests.local.worlds import NAME, TENANTS, create, runs, scale, until

NOW = datetime(2030, 1, 1, tzinfo=UTC)


class World:
    """A platform on which cluster shop runs."""

    def __init__(self, client: Client) -> None:
        self.client, self.tenants = client, Tenants()

    async def inside(self) -> str:
        return (await self.client.get(TenantCluster, NAME, TENANTS)).status.tenant_namespace or ""

    async def machines(self) -> set[str]:
        listed = await self.client.list(Machine, Selection(await self.inside()))
        return {one.metadata.name for one in listed.items}

    async def tenant(self) -> Client:
        secret = await self.client.get(Secret, admin_kubeconfig_secret(NAME), await self.inside())
        plane = await self.client.get(kinds.TenantControlPlane, NAME, secret.metadata.namespace)
        host, _, port = (plane.status.control_plane_endpoint or "").rpartition(":")
        return await self.tenants.client_for(secret, (host, int(port)))

    async def until_ready(self, holds: Callable[[int], bool]) -> None:
        await until(self.client, lambda now: now is not None and holds(now.status.worker_nodes_ready or 0))


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with running(Home(tmp_path / "data"), Options(delays=NONE)) as platform:
        await create(platform.client)
        await until(platform.client, runs("v1.31.4", 2))
        world = World(platform.client)
        yield world
        await world.tenants.close()


async def test_a_template_somebody_deletes_comes_back_and_no_machine_is_replaced(world: World) -> None:
    before, inside = await world.machines(), await world.inside()
    template = registry.templates("simulated").machine_template_kind
    listed = await world.client.list(template, Selection(inside))
    await world.client.delete(template, f"{NAME}-worker", inside)
    async with aclosing(world.client.watch(template, Selection(inside), version=listed.version)) as events:
        made = await anext(event.item async for event in events if event.signal is Signal.ADDED)
    assert made is not None
    assert (made["metadata"]["name"], made["spec"]) == (f"{NAME}-worker", listed.items[0]["spec"])
    assert await world.machines() == before


async def test_a_node_somebody_deletes_is_missed_and_the_remedy_named(world: World) -> None:
    tenant = await world.tenant()
    gone = min(await world.machines())
    await tenant.delete(NODE, gone)
    await world.until_ready(lambda ready: ready == 1)
    found = await explain(world.client, TENANTS, NAME, NOW)
    assert gone in found.waiting_for
    assert (found.whose, found.next_command) == ("yours", f"kubectl delete machine {gone} -n {await world.inside()}")
    await world.client.delete(Machine, gone, await world.inside())
    await until(world.client, runs("v1.31.4", 2))


async def test_a_control_plane_that_is_made_anew_has_no_nodes_but_its_addons(world: World) -> None:
    inside = await world.inside()
    await world.client.delete(kinds.TenantControlPlane, NAME, inside)
    await world.until_ready(lambda ready: ready == 0)
    for name in await world.machines():
        await world.client.delete(Machine, name, inside)
    await until(world.client, runs("v1.31.4", 2))
    record = await (await world.tenant()).get(CONFIG_MAP, "butler-addons", "kube-system")
    assert "cilium" in record["data"]


async def test_a_pool_an_autoscaler_is_to_scale_runs(world: World) -> None:
    pool = {"name": "auto", "minReplicas": 1, "maxReplicas": 3}
    await world.client.patch(TenantCluster, NAME, {"spec": {"workers": {"pools": [pool]}}}, TENANTS)
    await until(world.client, runs("v1.31.4", 3))


async def test_a_cluster_runs_again_only_when_its_machines_are_what_was_asked_for(world: World) -> None:
    before = await world.machines()
    larger = {"spec": {"workers": {"machineTemplate": {"cpu": 8}}}}
    asked = await world.client.patch(TenantCluster, NAME, larger, TENANTS)
    generation, as_asked = asked.metadata.generation, runs("v1.31.4", 2)
    await until(world.client, lambda now: now is not None and as_asked(now) and now.metadata.generation == generation)
    assert not before & await world.machines()


async def test_a_cluster_keeps_its_provider_when_the_platforms_default_changes(world: World) -> None:
    other = {"spec": {"defaultProviderConfigRef": {"name": "elsewhere"}}}
    await world.client.patch(ButlerConfig, BUTLER_CONFIG_NAME, other)
    await scale(world.client)
    await until(world.client, runs("v1.31.4", 3))


async def test_a_data_centre_without_room_is_named_as_the_one_to_blame(world: World) -> None:
    change = {"spec": {"simulated": {"capacity": 2}}}
    await world.client.patch(ProviderConfig, "simulated", change, SYSTEM_NAMESPACE)
    await scale(world.client)
    async with asyncio.timeout(100):
        found = await explain(world.client, TENANTS, NAME, NOW)
        while "room for 2 machines" not in found.waiting_for:
            await asyncio.sleep(0.01)
            found = await explain(world.client, TENANTS, NAME, NOW)
    assert found.whose == "the infrastructure's"
    assert found.next_command == "butleradm provider get simulated"


async def test_a_data_centre_that_does_not_answer_is_named_as_the_one_to_blame(world: World) -> None:
    change = {"spec": {"simulated": {"failurePercent": 100}}}
    await world.client.patch(ProviderConfig, "simulated", change, SYSTEM_NAMESPACE)
    await scale(world.client)
    async with asyncio.timeout(100):
        found = await explain(world.client, TENANTS, NAME, NOW)
        while "ProviderConfig simulated: " not in found.waiting_for:
            await asyncio.sleep(0.01)
            found = await explain(world.client, TENANTS, NAME, found.since or NOW)
    assert found.whose == "the infrastructure's"
