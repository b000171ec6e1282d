"""Cluster API's stand-ins on an API that misbehaves, and killed at any moment."""

from __future__ import annotations

import pytest

from butler.engines.capi.kinds import Cluster, KubeadmConfig, Machine, MachineDeployment, MachineSet
from butler.engines.kamaji.kinds import KamajiControlPlane
from butler.simulation.infrastructure.kinds import SimulatedMachine
from kubekit.client.protocol import Client
from kubekit.testing.faults import Faults, FaultyClient
from tests.simulation.capi_world import NAME, World, conditions

WORKERS = f"{NAME}-workers"


async def grow(world: World) -> None:
    await world.make_cluster(2)


async def replace(world: World) -> None:
    """Asked of a cluster that is there."""
    await world.change(KamajiControlPlane, NAME, {"spec": {"version": "v1.35.0"}})
    await world.change(MachineDeployment, WORKERS, {"spec": {"template": {"spec": {"version": "v1.35.0"}}}})


async def check_complete(world: World, version: str) -> None:
    """Two machines with all their parts, and nothing that belongs to none."""
    machines = await world.all(Machine)
    names = sorted(one.metadata.name for one in machines)
    assert len(names) == 2
    assert {one.spec.version for one in machines} == {version}
    assert {one.status.phase for one in machines} == {"Running"}
    for kind in (KubeadmConfig, SimulatedMachine):
        assert sorted(one.metadata.name for one in await world.all(kind)) == names
    assert sorted(one.metadata.name for one in await world.nodes()) == names
    assert len(await world.all(MachineSet)) == 1
    cluster = await world.get(Cluster)
    assert conditions(cluster)["Available"] == "True/Available"
    assert cluster.status.workers.available_replicas == 2


async def live_through(world: World, lives: int) -> bool:
    """Die after so many writes. Answers whether that came to pass."""
    world.lives = lives
    async with world.managed():
        await world.settled(120)
    died, world.lives = world.died.is_set(), float("inf")
    return died


async def test_a_cluster_gets_its_machines_whenever_the_stand_ins_die(world: World) -> None:
    await grow(world)
    lives = deaths = 0
    while lives < 12:
        # Every life gets one write further than the last.
        lives += 1
        deaths += await live_through(world, lives)
    async with world.managed():
        await world.settled(120)
        await check_complete(world, "v1.34.0")
    assert deaths >= 6
    # A machine is booted anew after a death in its boot, but there is never a second one of them.
    assert len(set(world.booted)) == 2


@pytest.mark.parametrize(("lives", "kubekit_seed"), [(n, n) for n in range(1, 60, 7)])
async def test_a_death_after_any_write_costs_no_machine(world: World, lives: int) -> None:
    await grow(world)
    await live_through(world, lives)
    async with world.managed():
        await world.settled(120)
        await check_complete(world, "v1.34.0")
        assert len(set(world.booted)) == 2


@pytest.mark.parametrize(("lives", "kubekit_seed"), [(n, n) for n in range(2, 60, 9)])
async def test_a_death_in_a_rollout_costs_no_machine(world: World, lives: int) -> None:
    await grow(world)
    async with world.managed():
        await world.settled()
    most: list[int] = []
    world.look = lambda: most.append(len(world.machines))
    await replace(world)
    await live_through(world, lives)
    async with world.managed():
        await world.settled(300)
        await check_complete(world, "v1.35.0")
    assert max(most) <= 3
    assert len(set(world.booted)) == 4


@pytest.mark.parametrize(("lives", "kubekit_seed"), [(n, n) for n in range(1, 30, 5)])
async def test_a_death_in_a_deletion_leaves_nothing_behind(world: World, lives: int) -> None:
    await grow(world)
    async with world.managed():
        await world.settled()
    await world.delete_cluster()
    await live_through(world, lives)
    async with world.managed():
        await world.settled(300)
        for kind in (Cluster, MachineDeployment, MachineSet, Machine, KubeadmConfig, SimulatedMachine):
            assert await world.all(kind) == []


@pytest.mark.parametrize("kubekit_seed", range(6))
async def test_an_api_that_misbehaves_gets_no_second_machine_out_of_it(world: World) -> None:
    faults = Faults(longest=1.0)

    def wrap(client: Client) -> Client:
        return FaultyClient(client, faults, world.loop.clock, world.loop.chance)

    world.wrap = wrap
    most: list[int] = []
    await grow(world)
    # However long it takes: else machines go without their nodes when these cannot be deleted.
    patient = {"deletion": {"nodeDeletionTimeoutSeconds": 0}}
    await world.change(MachineDeployment, WORKERS, {"spec": {"template": {"spec": patient}}})
    world.look = lambda: most.append(len(world.machines))
    async with world.managed() as manager:
        await world.settled(60)
        await replace(world)
        await world.settled(60)
        faults.on = False
        await world.settled(900)
        await check_complete(world, "v1.35.0")
        assert max(most) <= 3
        panics = [manager.metrics.panics.get(one.name) for one in manager.controllers]
        assert sum(panics) == 0
        await world.delete_cluster()
        await world.settled(300)
        assert await world.all(Cluster) == []
        assert await world.all(Machine) == []
