"""ProviderConfigs: Secrets that change, pools, and requests that hold them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from butler.api.machine import MachineRequest
from butler.api.network import NetworkPool
from butler.api.provider import ProviderConfig
from butler.engines.core import Secret
from butler.errors import CredentialsInvalid
from butler.providers.simulated.provider import Simulated
from tests.controllers.requests_world import SYSTEM, World


async def shown(world: World, name: str) -> tuple[str, str, str]:
    found = (await world.now(ProviderConfig, "lab")).status.condition(name)
    assert found is not None
    return found.status, found.reason, found.message


async def pool(world: World, name: str, free: int) -> None:
    meta = {"name": name, "namespace": SYSTEM}
    await world.client.create({"metadata": meta, "spec": {"cidr": "10.0.0.0/16"}}, NetworkPool.address)
    await world.client.patch(NetworkPool, name, {"status": {"availableIPs": free}}, SYSTEM, subresource="status")


async def test_a_secret_that_changes_is_tried_at_once(world: World) -> None:
    def judge(credentials: Mapping[str, str]) -> None:
        # Simulated accounts need none, so they arrive under no names of ours.
        attempts.append(dict(credentials))
        if len(attempts) < 3:
            raise CredentialsInvalid("simulated", "", "401")

    attempts: list[dict[str, str]] = []
    world.before_connecting = judge
    await world.config(credentialsRef={"name": "login"})
    await asyncio.sleep(2)
    assert "no Secret login" in (await shown(world, "CredentialsValid"))[2]
    assert attempts == []
    await world.secret(username="joe")
    await asyncio.sleep(2)
    assert (await shown(world, "CredentialsValid"))[:2] == ("False", "CredentialsInvalid")
    assert "CredentialsInvalid" in await world.events("lab")
    for password in ("wrong", "right"):
        await world.client.patch(Secret, "login", {"stringData": {"password": password}}, SYSTEM)
        await asyncio.sleep(2)
    assert (await shown(world, "Ready"))[0] == "True"
    assert len(attempts) == 3


async def test_connections_are_kept_until_something_changes(world: World) -> None:
    await world.secret(username="joe")
    await world.config(credentialsRef={"name": "login"}, simulated={"bootDelay": "0s"})
    await world.machine()
    await asyncio.sleep(1000)
    assert len(world.connected) == 1
    await world.client.patch(Secret, "login", {"stringData": {"username": "jane"}}, SYSTEM)
    await asyncio.sleep(40)
    assert len(world.connected) == 2


async def test_what_is_not_in_use_any_more_is_closed(world: World, monkeypatch: Any) -> None:
    closed: list[object] = []

    async def close(self: Simulated) -> None:
        closed.append(self)

    monkeypatch.setattr(Simulated, "close", close)
    await world.config()
    await asyncio.sleep(1)
    await world.client.patch(ProviderConfig, "lab", {"spec": {"simulated": {"capacity": 9}}}, SYSTEM)
    await asyncio.sleep(1)
    assert closed == world.connected[:1]
    await world.crash()
    assert closed == world.connected
    world.start()


async def test_pools_say_how_many_clusters_still_fit(world: World) -> None:
    await world.config(network={"mode": "ipam", "poolRefs": [{"name": "a"}, {"name": "b"}]})
    await asyncio.sleep(1)
    assert await shown(world, "PoolAvailable") == (
        "False", "ValidationFailed", "There is no NetworkPool butler-system/a.",
    )  # fmt: skip
    await pool(world, "a", 30)
    await pool(world, "b", 10)
    await asyncio.sleep(1)
    capacity = (await world.now(ProviderConfig, "lab")).status.capacity
    assert capacity is not None
    assert (capacity.available_ips, capacity.estimated_tenants) == (40, 3)
    assert (await shown(world, "PoolAvailable"))[0] == "True"
    for name in ("a", "b"):
        await world.client.patch(NetworkPool, name, {"status": {"availableIPs": 0}}, SYSTEM, subresource="status")
    await asyncio.sleep(1)
    assert (await shown(world, "PoolAvailable"))[:2] == ("False", "PoolExhausted")
    assert "PoolsExhausted" in await world.events("lab")


async def test_the_version_of_the_platform_is_shown(world: World) -> None:
    await world.config()
    await asyncio.sleep(1)
    assert (await world.now(ProviderConfig, "lab")).status.provider_version


async def test_a_machine_holds_its_provider_config(world: World) -> None:
    await world.config(simulated={"bootDelay": "0s", "removalDelay": "0s"})
    await world.machine()
    await asyncio.sleep(5)
    await world.remove(ProviderConfig, "lab")
    await asyncio.sleep(5)
    assert "Used by MachineRequest butler-system/cp-0;" in (await shown(world, "Deleting"))[2]
    await world.remove(MachineRequest, "cp-0")
    await asyncio.sleep(10)
    assert not await world.exists(ProviderConfig, "lab")
