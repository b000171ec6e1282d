"""The platform's settings say what they come to, and how much there is, in few writes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from butler.api import KINDS
from butler.api.cluster import TenantCluster
from butler.api.config import ButlerConfig
from butler.api.provider import ProviderConfig
from butler.api.team import Team
from butler.controllers.butlerconfig import add_butler_configs
from kubekit.runtime.manager import Manager
from kubekit.server.store.events import Event
from kubekit.testing.deterministic_loop import Loop
from kubekit.testing.memory import MemorySpace

SYSTEM = "butler-system"


class World:
    """The controller on an API in memory, and how often it wrote."""

    def __init__(self, loop: Loop) -> None:
        self.space = MemorySpace(loop.clock, loop.chance, kinds=KINDS, namespaces=("default", SYSTEM))
        self.client = self.space.client()
        self.manager = Manager(self.client, clock=loop.clock, chance=loop.chance)
        add_butler_configs(self.manager, loop.clock)
        self.writes = 0
        self.space.store.listen(self._count)
        self._task = asyncio.create_task(self.manager.run())

    def _count(self, event: Event) -> None:
        self.writes += self.space.store.names_of(event.bucket)[1].endswith("/butlerconfigs")

    async def configure(self, name: str = "butler", **spec: Any) -> None:
        await self.client.create({"metadata": {"name": name}, "spec": spec}, ButlerConfig.address)
        await asyncio.sleep(2)

    async def add_clusters(self, *numbers: int) -> None:
        for number in numbers:
            meta = {"name": f"c{number}", "namespace": "default"}
            await self.client.create({"metadata": meta, "spec": {}}, TenantCluster.address)

    async def add_team(self, name: str) -> None:
        await self.client.create({"metadata": {"name": name}}, Team.address)

    async def status(self, name: str = "butler") -> dict[str, Any]:
        found: dict[str, Any] = (await self.client.get(ButlerConfig.address, name))["status"]
        return found

    async def ready(self, name: str = "butler") -> tuple[str, str]:
        conditions = (await self.status(name))["conditions"]
        return next((one["status"], one["reason"]) for one in conditions if one["type"] == "Ready")


@pytest.fixture
async def world(kubekit_loop: Loop) -> World:
    return World(kubekit_loop)


async def test_it_counts_teams_and_clusters(world: World) -> None:
    await world.add_clusters(1, 2)
    await world.configure()
    assert await world.status() | {"conditions": None} == {
        "observedGeneration": 1,
        "conditions": None,
        "tenancyMode": "Disabled",
        "teamCount": 0,
        "clusterCount": 2,
    }
    await world.add_team("web")
    await world.client.delete(TenantCluster, "c1", "default")
    await asyncio.sleep(2)
    status = await world.status()
    assert (status["teamCount"], status["clusterCount"]) == (1, 1)


async def test_nothing_is_written_when_nothing_changed(world: World) -> None:
    await world.add_clusters(1)
    await world.configure()
    await asyncio.sleep(10)
    before = world.writes
    await world.client.patch(TenantCluster, "c1", {"metadata": {"labels": {"a": "b"}}}, "default")
    await world.client.patch(TenantCluster, "c1", {"status": {"phase": "Ready"}}, "default", subresource="status")
    await asyncio.sleep(7200)
    assert world.writes == before


async def test_a_thousand_clusters_at_once_are_few_writes(world: World) -> None:
    await world.configure()
    await asyncio.sleep(10)
    before = world.writes
    await asyncio.gather(*(world.add_clusters(number) for number in range(1000)))
    await asyncio.sleep(5)
    assert (await world.status())["clusterCount"] == 1000
    assert world.writes - before <= 3


async def test_clusters_that_come_one_by_one_are_a_write_a_second_at_most(world: World) -> None:
    await world.configure()
    await asyncio.sleep(10)
    before = world.writes
    for number in range(100):
        await world.add_clusters(number)
        await asyncio.sleep(0.1)
    await asyncio.sleep(2)
    assert (await world.status())["clusterCount"] == 100
    assert world.writes - before <= 12


@pytest.mark.parametrize(("spec", "mode"), [({}, "Disabled"), ({"multiTenancy": {"mode": "enforced"}}, "Enforced")])
async def test_the_mode_that_applies_is_shown(world: World, spec: dict[str, Any], mode: str) -> None:
    await world.configure(**spec)
    assert (await world.status())["tenancyMode"] == mode


async def test_a_change_of_the_settings_is_seen_at_once(world: World) -> None:
    await world.configure()
    await world.add_clusters(1)
    await asyncio.sleep(0.1)
    await world.client.patch(ButlerConfig, "butler", {"spec": {"multiTenancy": {"mode": "Optional"}}})
    await world.add_clusters(2)
    await asyncio.sleep(0.1)
    status = await world.status()
    assert (status["observedGeneration"], status["tenancyMode"]) == (2, "Optional")
    await asyncio.sleep(2)
    assert (await world.status())["clusterCount"] == 2


async def test_only_one_name_counts(world: World) -> None:
    await world.configure("other")
    await world.configure()
    assert await world.ready("other") == ("False", "InvalidName")
    assert await world.ready() == ("True", "Ready")


async def test_a_default_provider_that_is_missing_is_told(world: World) -> None:
    await world.configure(defaultProviderConfigRef={"name": "lab"})
    assert await world.ready() == ("False", "ProviderConfigNotFound")
    lab = {
        "metadata": {"name": "lab", "namespace": SYSTEM},
        "spec": {"provider": "simulated", "simulated": {}},
    }
    await world.client.create(lab, ProviderConfig.address)
    await asyncio.sleep(2)
    assert await world.ready() == ("True", "Ready")
