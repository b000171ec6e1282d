"""Controllers run for tenants that need them, and for no others."""

from __future__ import annotations

from pathlib import Path

from butler.simulation.workloads.kinds import Deployment, Pod
from tests.simulation.workloads.world import NODES, TENANT, Object, World, deployment, node, play, pod, template


def _furniture() -> Object:
    made = deployment("coredns")
    made["metadata"]["namespace"] = "kube-system"
    return made


def test_a_tenant_without_workloads_costs_nothing(keys: Path) -> None:
    async def scenario(world: World) -> None:
        await world.add(Deployment, _furniture())
        async with world.running():
            await world.add(NODES, node(3))
            revision = world.store.committed
            await world.settled(3600)
            assert world.workloads.active == set()
        assert world.store.committed == revision

    play(scenario, keys)


def test_the_first_workload_wakes_and_quiet_lets_sleep(keys: Path) -> None:
    async def scenario(world: World) -> None:
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

    play(scenario, keys)


def test_what_is_due_later_keeps_awake(keys: Path) -> None:
    async def scenario(world: World) -> None:
        async with world.running():
            await world.add(Deployment, deployment(progressDeadlineSeconds=600, template=_missing()))
            await world.settled(500)
            assert world.workloads.active == {TENANT}
            await world.settled(400)
            assert world.workloads.active == set()

    play(scenario, keys)


def _missing() -> Object:
    return template("web", "simulated/missing")


def test_a_node_that_comes_wakes_a_tenant_whose_pods_wait_for_it(keys: Path) -> None:
    async def scenario(world: World) -> None:
        async with world.running():
            await world.add(Pod, pod("web"))
            await world.settled(300)
            assert world.workloads.active == set()
            await world.add(NODES, node(1))
            await world.settled()
        assert (await world.get(Pod, "web")).status.phase == "Running"

    play(scenario, keys, nodes=0)


def test_a_look_lets_the_furniture_live(keys: Path) -> None:
    async def scenario(world: World) -> None:
        await world.add(Deployment, _furniture())
        async with world.running():
            await world.settled()
            assert await world.pods() == []
            world.activity.look(TENANT)
            await world.settled()
        assert len(await world.pods()) == 3

    play(scenario, keys)


def test_tenants_with_workloads_are_looked_after_from_the_beginning(keys: Path) -> None:
    async def scenario(world: World) -> None:
        await world.add(Deployment, deployment())
        async with world.running():
            await world.settled()
        assert [one.status.phase for one in await world.pods()] == ["Running"] * 3

    play(scenario, keys)


def test_nothing_runs_any_more_for_a_tenant_that_is_removed(keys: Path) -> None:
    async def scenario(world: World) -> None:
        async with world.running():
            await world.add(Deployment, deployment())
            await world.settled(1)
            await world.workloads.remove(TENANT)
            assert world.workloads.active == set()
            await world.spaces.remove(TENANT)
            await world.settled()
            assert world.workloads.active == set()

    play(scenario, keys)
