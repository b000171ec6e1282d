"""A tenant with one of everything comes to rest, whatever happens to whoever looks after it."""

from __future__ import annotations

import pytest

from butler.simulation.delays import NONE, REALISTIC
from butler.simulation.workloads.jobs.kinds import Job
from butler.simulation.workloads.kinds import DaemonSet, Deployment, Pod, StatefulSet
from butler.simulation.workloads.service_kinds import PersistentVolume, PersistentVolumeClaim, Service
from tests.simulation.workloads.test_around_pods import service
from tests.simulation.workloads.test_sets_and_jobs import daemon_set, stateful_set
from tests.simulation.workloads.world import World, conditions, deployment, job, pod

DATA = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


async def _fill(world: World) -> None:
    await world.add(Deployment, deployment())
    await world.add(Service, service(type="LoadBalancer"))
    await world.add(StatefulSet, stateful_set(2, volumeClaimTemplates=[DATA]))
    await world.add(DaemonSet, daemon_set())
    await world.add(Job, job("sum", completions=3, parallelism=2))
    await world.add(Pod, pod("bad", "simulated/missing"))


async def _check(world: World) -> None:
    """Everything is as asked for, and there is nothing too much."""
    assert [one.status.phase for one in await world.pods("app=web")] == ["Running"] * 3
    assert [one.metadata.name for one in await world.pods("app=db")] == ["db-0", "db-1"]
    assert sorted(one.spec.node_name for one in await world.pods("app=agent")) == ["node-1", "node-2"]
    assert [one.status.phase for one in await world.pods("job-name=sum")] == ["Succeeded"] * 3
    assert conditions(await world.get(Job, "sum"))["Complete"] == "True/CompletionsReached"
    assert [one.status.phase for one in await world.all(PersistentVolumeClaim)] == ["Bound"] * 2
    assert [one.status.phase for one in await world.all(PersistentVolume)] == ["Bound"] * 2
    running = [one for one in await world.pods() if one.status.phase == "Running"]
    assert len({one.status.pod_ip for one in running}) == len(running) == 7


@pytest.mark.parametrize("delays", [NONE, REALISTIC], ids=["fast", "realistic"])
async def test_everything_comes_to_rest_and_then_nothing_is_written(world: World) -> None:
    async with world.running():
        await _fill(world)
        await world.settled(60)
        await _check(world)
        revision = world.store.committed
        await world.settled(4 * 3600)
        assert (world.store.committed, world.workloads.active) == (revision, set())


async def test_a_fresh_look_at_what_is_settled_changes_nothing(world: World) -> None:
    async with world.running():
        await _fill(world)
        await world.settled(60)
    revision = world.store.committed
    async with world.running():
        await world.settled(60)
    assert world.store.committed == revision


@pytest.mark.parametrize(("lives", "kubekit_seed"), [(n, n) for n in range(2, 60, 7)])
async def test_a_crash_at_any_write_is_made_good(world: World, lives: int) -> None:
    world.lives = lives
    async with world.running():
        await _fill(world)
        await world.settled(20)
    world.lives = float("inf")
    async with world.running():
        await world.settled(60)
        await _check(world)
