"""The infrastructure provider of the simulated data centre when something goes wrong."""

from __future__ import annotations

import asyncio

import pytest

from butler.api.provider import ProviderConfig
from tests.simulation.infrastructure_world import (
    FAST,
    READY,
    REALISTIC,
    Process,
    World,
    facts,
)


@pytest.mark.parametrize("fast", [True])
async def test_a_full_data_centre_is_named_and_room_is_used_when_there_is_some(world: World) -> None:
    await world.furnish(capacity=1)
    await world.machine("web-0")
    process = Process(world, FAST)
    await asyncio.sleep(5)
    await world.machine("web-1")
    await asyncio.sleep(5)
    machine = await world.simulated("web-1")
    assert facts(machine)["VMProvisioned"] == "False/CapacityExhausted"
    assert machine is not None
    shown = machine.status.condition("VMProvisioned")
    assert shown is not None
    assert "there is room for 1 machines" in shown.message
    change = {"spec": {"simulated": {"capacity": 2}}}
    await world.client.patch(ProviderConfig, "simulated", change, "butler-system")
    await asyncio.sleep(0.01)
    assert len(world.datacentre.machines()) == 2
    await process.end()


@pytest.mark.parametrize("fast", [True])
async def test_what_can_never_be_is_said_once(world: World) -> None:
    await world.furnish(capacity_cpu=2)
    await world.machine("web-0", cpu=16)
    process = Process(world, FAST)
    await asyncio.sleep(3600)
    assert facts(await world.simulated())["VMProvisioned"] == "False/MachineRejected"
    assert process.writes.count("patch simulatedmachines/status") == 1
    await process.end()


@pytest.mark.parametrize("kubekit_seed", range(5))
async def test_a_bad_infrastructure_still_yields_one_vm_and_one_node(world: World) -> None:
    await world.furnish(
        failure_percent=30,
        lost_answer_percent=30,
        repeated_percent=30,
        visibility_delay="3s",
        call_delay="200ms",
    )
    for number in range(3):
        await world.machine(f"web-{number}")
    process = Process(world, REALISTIC)
    await asyncio.sleep(300)
    assert sorted(vm.name for vm in world.datacentre.machines()) == ["web-0", "web-1", "web-2"]
    assert [facts(await world.simulated(f"web-{number}")) for number in range(3)] == [READY] * 3
    assert len(await world.nodes()) == 3
    for number in range(3):
        await world.delete(f"web-{number}")
    await asyncio.sleep(300)
    assert (world.datacentre.machines(), await world.nodes()) == ([], [])
    assert process.manager.metrics.panics.get("simulatedmachines") == 0
    await process.end()


async def test_a_machine_that_is_not_found_yet_is_not_called_lost(world: World) -> None:
    await world.furnish(boot_delay="0s", visibility_delay="1m")
    await world.machine("web-0")
    process = Process(world, REALISTIC)
    await asyncio.sleep(30)
    assert facts(await world.simulated()) == {}
    await asyncio.sleep(35)
    assert facts(await world.simulated()) == READY
    assert len(world.datacentre.machines()) == 1
    await process.end()


_WRITES = 9
"""As many as a life with realistic delays takes at most."""


@pytest.mark.parametrize("moment", ["dies_before", "dies_after"])
@pytest.mark.parametrize("number", range(1, _WRITES + 1))
@pytest.mark.parametrize("fast", [True, False])
async def test_a_process_that_is_killed_and_started_again_makes_one_vm_and_one_node_then_none(
    world: World, moment: str, number: int, fast: bool
) -> None:
    delays = FAST if fast else REALISTIC
    await world.furnish()
    await world.machine("web-0")
    process = Process(world, delays, **{moment: number})
    await _alive(process, 20)
    if process.dead.is_set():
        await process.end()
        process = Process(world, delays)
        await asyncio.sleep(20)
    assert [vm.name for vm in world.datacentre.machines()] == ["web-0"]
    assert [node["metadata"]["name"] for node in await world.nodes()] == ["web-0"]
    assert facts(await world.simulated()) == READY
    await world.delete()
    await _alive(process, 20)
    if process.dead.is_set():
        await process.end()
        process = Process(world, delays)
        await asyncio.sleep(20)
    assert (world.datacentre.machines(), await world.nodes()) == ([], [])
    assert await world.simulated() is None
    await process.end()


async def test_no_life_has_more_writes_than_are_tried(world: World) -> None:
    await world.furnish()
    await world.machine("web-0")
    process = Process(world, REALISTIC)
    await asyncio.sleep(20)
    await world.delete()
    await asyncio.sleep(20)
    assert len(process.writes) <= _WRITES
    await process.end()


async def _alive(process: Process, seconds: float) -> None:
    """So long, or until it dies."""
    try:
        async with asyncio.timeout(seconds):
            await process.dead.wait()
    except TimeoutError:
        return


@pytest.mark.parametrize("fast", [True])
async def test_settings_that_make_no_sense_are_told_and_keep_no_machine_from_going(world: World) -> None:
    await world.furnish(boot_delay="soon")
    await world.machine("web-0")
    process = Process(world, FAST)
    await asyncio.sleep(1)
    machine = await world.simulated()
    assert facts(machine)["VMProvisioned"] == "False/InvalidConfiguration"
    assert machine is not None
    (told,) = [one for one in machine.status.conditions if one.type == "VMProvisioned"]
    assert "spec.simulated.bootDelay" in told.message
    await world.delete()
    await asyncio.sleep(1)
    assert await world.simulated() is None
    await process.end()


@pytest.mark.parametrize("fast", [True])
async def test_a_kubelet_that_is_refused_tries_again(world: World) -> None:
    await world.furnish()
    await world.machine("web-0")
    process = Process(world, FAST)
    process.is_refused = True
    await asyncio.sleep(1)
    assert facts(await world.simulated())["NodeProvisioned"] == "False/WaitingForControlPlane"
    process.is_refused = False
    await asyncio.sleep(10)
    assert [one["metadata"]["name"] for one in await world.nodes()] == ["web-0"]
    await process.end()
