"""Deployments roll out as they do in a real cluster, and come through a crash of whoever rolls them out."""

from __future__ import annotations

import pytest

from butler.simulation.delays import REALISTIC
from butler.simulation.workloads.kinds import Deployment, Pod, ReplicaSet
from butler.simulation.workloads.sets.rollouts import REVISION
from tests.simulation.workloads.world import World, conditions, deployment, template


async def _images(world: World) -> list[str]:
    return [pod.spec.containers[0].image for pod in await world.pods()]


async def _sizes(world: World) -> dict[str, int]:
    """Replicas by revision."""
    return {each.metadata.annotations[REVISION]: each.spec.replicas for each in await world.all(ReplicaSet)}


async def test_a_deployment_becomes_running_pods_on_all_nodes(world: World) -> None:
    async with world.running():
        await world.add(Deployment, deployment(replicas=4))
        await world.settled()
    pods = await world.pods()
    assert [pod.status.phase for pod in pods] == ["Running"] * 4
    assert sorted(pod.spec.node_name for pod in pods) == ["node-1", "node-1", "node-2", "node-2"]
    assert len({pod.status.pod_ip for pod in pods}) == 4
    made = await world.get(Deployment, "web")
    assert (made.status.replicas, made.status.available_replicas, made.status.observed_generation) == (4, 4, 2)
    assert conditions(made) == {
        "Available": "True/MinimumReplicasAvailable",
        "Progressing": "True/NewReplicaSetAvailable",
    }


async def test_a_pod_takes_three_writes_and_its_owners_few_more(world: World) -> None:
    async with world.running():
        await world.add(Deployment, deployment(replicas=10))
        await world.settled()
    assert world.writes["create pods"] == world.writes["create bindings"] == world.writes["patch pods status"] == 10
    assert world.writes["create replicasets"] == world.writes["patch deployments"] == 1
    assert world.writes["patch replicasets status"] + world.writes["patch deployments status"] < 20


@pytest.mark.parametrize("kubekit_seed", range(3))
@pytest.mark.parametrize("delays", [REALISTIC])
async def test_a_rolling_update_stays_within_its_limits(world: World) -> None:
    wanted: list[int] = []
    ready: list[int] = []

    def count_wanted(sets: list[ReplicaSet]) -> None:
        """Of a set that shrinks while another grows, a pod may go a moment after the new one comes."""
        wanted.append(sum(one.spec.replicas or 0 for one in sets))

    def count_ready(pods: list[Pod]) -> None:
        ready.append(sum(conditions(one).get("Ready") == "True/" for one in pods if not one.deleting))

    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2, "maxUnavailable": 1}}
    async with world.running():
        await world.add(Deployment, deployment(replicas=6, strategy=rolling))
        await world.settled()
        async with world.watching(count_ready), world.watching(count_wanted, ReplicaSet):
            await world.set_image("nginx:2")
            await world.settled(120)
    assert await _images(world) == ["nginx:2"] * 6
    assert (max(wanted), min(ready)) == (8, 5)


@pytest.mark.parametrize("delays", [REALISTIC])
async def test_recreate_waits_until_the_old_pods_are_gone(world: World) -> None:
    seen: list[set[str]] = []
    async with world.running():
        await world.add(Deployment, deployment(strategy={"type": "Recreate"}))
        await world.settled()
        async with world.watching(lambda pods: seen.append({one.spec.containers[0].image for one in pods})):
            await world.set_image("nginx:2")
            await world.settled(60)
    assert {"nginx:1", "nginx:2"} not in seen
    assert await _images(world) == ["nginx:2"] * 3


async def test_an_update_that_never_gets_ready_stops_and_is_late(world: World) -> None:
    async with world.running():
        await world.add(Deployment, deployment(replicas=4, progressDeadlineSeconds=60))
        await world.settled()
        await world.set_image("simulated/missing")
        await world.settled(120)
    stuck = await world.get(Deployment, "web")
    assert conditions(stuck)["Progressing"] == "False/ProgressDeadlineExceeded"
    assert sorted(await _images(world)) == ["nginx:1"] * 3 + ["simulated/missing"] * 2


async def test_going_back_brings_the_old_replica_set_to_life_under_a_new_number(world: World) -> None:
    async with world.running():
        await world.add(Deployment, deployment())
        await world.settled()
        await world.set_image("nginx:2")
        await world.settled()
        assert await _sizes(world) == {"1": 0, "2": 3}
        await world.set_image("nginx:1")
        await world.settled()
    assert await _sizes(world) == {"3": 3, "2": 0}
    made = await world.get(Deployment, "web")
    assert made.metadata.annotations[REVISION] == "3"


async def test_only_so_many_old_replica_sets_are_kept(world: World) -> None:
    async with world.running():
        await world.add(Deployment, deployment(revisionHistoryLimit=1))
        for number in range(2, 5):
            await world.settled()
            await world.set_image(f"nginx:{number}")
        await world.settled()
    assert await _sizes(world) == {"3": 0, "4": 3}


async def test_a_paused_deployment_scales_but_does_not_roll(world: World) -> None:
    async with world.running():
        await world.add(Deployment, deployment())
        await world.settled()
        changed = {"paused": True, "replicas": 5, "template": template("web", "nginx:2")}
        await world.change(Deployment, "web", {"spec": changed})
        await world.settled()
        assert await _images(world) == ["nginx:1"] * 5
        assert conditions(await world.get(Deployment, "web"))["Progressing"] == "Unknown/DeploymentPaused"
        await world.change(Deployment, "web", {"spec": {"paused": None}})
        await world.settled()
    assert await _images(world) == ["nginx:2"] * 5


async def test_scaling_in_the_middle_of_a_rollout_is_shared(world: World) -> None:
    async with world.running():
        await world.add(Deployment, deployment(replicas=10))
        await world.settled()
        await world.set_image("simulated/missing")
        await world.settled()
        before = await _sizes(world)
        await world.change(Deployment, "web", {"spec": {"replicas": 20}})
        await world.settled()
    after = await _sizes(world)
    assert before == {"1": 8, "2": 5}
    assert sum(after.values()) == 25
    assert after["1"] > before["1"]
    assert after["2"] > before["2"]


async def test_scaling_down_gives_up_what_does_not_run_first(world: World) -> None:
    async with world.running():
        await world.add(Deployment, deployment(template=template("web", containers=[_thirsty()])))
        await world.settled()
        waiting = [one.status.phase for one in await world.pods()].count("Pending")
        await world.change(Deployment, "web", {"spec": {"replicas": 2}})
        await world.settled()
        assert waiting == 1
    assert [one.status.phase for one in await world.pods()] == ["Running", "Running"]


def _thirsty() -> dict[str, object]:
    return {"name": "main", "image": "nginx:1", "resources": {"requests": {"cpu": "3"}}}


async def test_pods_without_an_owner_are_taken_in_and_strangers_let_go(world: World) -> None:
    async with world.running():
        await world.add(Deployment, deployment(replicas=2))
        await world.settled()
        first, _ = await world.pods()
        await world.change(Pod, first.metadata.name, {"metadata": {"labels": {"app": "elsewhere"}}})
        await world.settled()
        assert len(await world.pods("app=web")) == 2
        (stranger,) = await world.pods("app=elsewhere")
        assert stranger.metadata.owner_references == ()
        await world.change(Pod, stranger.metadata.name, {"metadata": {"labels": {"app": "web"}}})
        await world.settled()
    assert len(await world.pods("app=web")) == 2


@pytest.mark.parametrize(("lives", "kubekit_seed"), [(n, n) for n in range(1, 40, 3)])
async def test_a_crash_at_any_write_leaves_nothing_too_much(world: World, lives: int) -> None:
    world.lives = lives
    async with world.running():
        await world.add(Deployment, deployment())
        await world.settled(5)
        await world.set_image("nginx:2")
        await world.settled(5)
    world.lives = float("inf")
    async with world.running():
        await world.settled()
    assert await _images(world) == ["nginx:2"] * 3
    assert max((await _sizes(world)).values()) == 3
    assert len(await world.all(ReplicaSet)) <= 2
    assert conditions(await world.get(Deployment, "web"))["Progressing"] == "True/NewReplicaSetAvailable"
