"""What is left behind, and what is missing."""

from __future__ import annotations

import asyncio

from butler.api.machine import MachineRequest
from butler.api.provider import ProviderConfig
from butler.controllers.inventory_audit import audit, discard
from butler.providers.contract import MachineOrder
from butler.providers.loadbalancer import BalancerOrder
from butler.providers.simulated import loadbalancer
from butler.providers.simulated.provider import Simulated
from tests.controllers.requests_world import SYSTEM, World


async def test_orphans_are_found_both_ways_and_can_be_removed(world: World) -> None:
    await world.config(simulated={"bootDelay": "0s", "removalDelay": "0s"})
    for name in ("kept", "missing"):
        await world.machine(name)
    await asyncio.sleep(5)
    config = await world.now(ProviderConfig, "lab")
    provider = world.connected[-1]
    assert isinstance(provider, Simulated)
    assert (await audit(world.client, config, provider)).orphans == ()
    await world.crash()
    await provider.create(MachineOrder("stray", "nobody", 1, 1024, 10))
    await loadbalancer.connect(provider).ensure(BalancerOrder("old", "nobody-either", 6443, 6443))
    lost = (await world.request("missing")).metadata.uid
    world.datacentre.lose(world.datacentre.of_token(f"{SYSTEM}/lab", lost)[0].id)
    found = await audit(world.client, config, provider)
    assert [(one.kind, one.name) for one in found.orphans] == [("vm", "stray"), ("loadbalancer", "old")]
    assert [(one.kind, one.key) for one in found.absent] == [("MachineRequest", f"{SYSTEM}/missing")]
    assert found.checked == 3
    assert [await discard(config, provider, one) for one in found.orphans] == [True, True]
    assert [vm.name for vm in world.datacentre.machines()] == ["kept"]
    assert (await audit(world.client, config, provider)).orphans == ()
    world.start()
    await world.remove(MachineRequest, "kept")
