"""Controllers run for tenants that need them, and for no others."""

from __future__ import annotations

import pytest

from butler.simulation.workloads.kinds import Deployment, Pod
from tests.simulation.workloads.world import NODES, TENANT, Object, World, deployment, node, pod, template


def _furniture() -> Object:
    made = deployment("coredns")
    made["metadata"]["namespace"] = "kube-system"
    return made


async def test_a_tenant_without_workloads_costs_nothing(world: World) -> None:
    await world.add(Deployment, _furniture())
    async with world.running():
        await world.add(NODES, node(3))
        revision = world.store.committed
        await world.settled(3600)
        assert world.workloads.active == set()
    assert world.store.committed == revision


async def test_the_first_workload_wakes_and_quiet_lets_sleep(world: World) -> None:
    async with world.running():
        await world.add(Pod, pod("web"))
        await world.settled()
        assert world.workloads.active == {TENANT}
        assert (await world.get(Pod, "web")).status.phase == "Running"
        await world.settled(120)
        assert world.workloads.active == set()
        await world.delete(Pod, "web")
        await world.settled()
        assert (await world.pods(), world.workloads.active) == ([], {TENANT})
        await world.settled(120)
        assert world.workloads.active == set()


async def test_what_is_due_later_keeps_awake(world: World) -> None:
    async with world.running():
        await world.add(Deployment, deployment(progressDeadlineSeconds=600, template=_missing()))
        await world.settled(500)
        assert world.workloads.active == {TENANT}
        await world.settled(400)
        assert world.workloads.active == set()


def _missing() -> Object:
    return template("web", "simulated/missing")


@pytest.mark.parametrize("nodes", [0])
async def test_a_node_that_comes_wakes_a_tenant_whose_pods_wait_for_it(world: World) -> None:
    async with world.running():
        await world.add(Pod, pod("web"))
        await world.settled(300)
        assert world.workloads.active == set()
        await world.add(NODES, node(1))
        await world.settled()
    assert (await world.get(Pod, "web")).status.phase == "Running"


async def test_a_look_lets_the_furniture_live(world: World) -> None:
    await world.add(Deployment, _furniture())
    async with world.running():
        await world.settled()
        assert await world.pods() == []
        world.activity.look(TENANT)
        await world.settled()
    assert len(await world.pods()) == 3


async def test_tenants_with_workloads_are_looked_after_from_the_beginning(world: World) -> None:
    await world.add(Deployment, deployment())
    async with world.running():
        await world.settled()
    assert [one.status.phase for one in await world.pods()] == ["Running"] * 3


async def test_nothing_runs_any_more_for_a_tenant_that_is_removed(world: World) -> None:
    async with world.running():
        await world.add(Deployment, deployment())
        await world.settled(1)
        await world.workloads.remove(TENANT)
        assert world.workloads.active == set()
        await world.spaces.remove(TENANT)
        await world.settled()
        assert world.workloads.active == set()
