"""StatefulSets, DaemonSets and Jobs get their pods."""

from __future__ import annotations

from typing import Any

import pytest

from butler.simulation.delays import REALISTIC
from butler.simulation.workloads.jobs.kinds import Job
from butler.simulation.workloads.kinds import EXIT_CODE, ControllerRevision, DaemonSet, Pod, StatefulSet
from butler.simulation.workloads.service_kinds import PersistentVolumeClaim
from tests.simulation.workloads.world import NODES, Object, World, conditions, job, node, template


def stateful_set(replicas: int = 3, **spec: Any) -> Object:
    wanted = {
        "serviceName": "db", "replicas": replicas, "selector": {"matchLabels": {"app": "db"}},
        "template": template("db"), **spec,
    }  # fmt: skip
    return {"metadata": {"name": "db", "namespace": "default"}, "spec": wanted}


def daemon_set(**spec: Any) -> Object:
    wanted = {"selector": {"matchLabels": {"app": "agent"}}, "template": template("agent"), **spec}
    return {"metadata": {"name": "agent", "namespace": "default"}, "spec": wanted}


async def _order(world: World) -> list[str]:
    """Names of the pods in the order they came into being."""
    return [one.metadata.name for one in sorted(await world.pods(), key=lambda one: str(one.status.start_time))]


@pytest.mark.parametrize("delays", [REALISTIC])
async def test_stateful_pods_come_one_after_the_other_and_go_in_reverse(world: World) -> None:
    going: list[list[str]] = []
    async with world.running():
        await world.add(StatefulSet, stateful_set())
        await world.settled(2.5)
        assert [one.metadata.name for one in await world.pods()] == ["db-0", "db-1"]
        await world.settled()
        assert await _order(world) == ["db-0", "db-1", "db-2"]
        async with world.watching(lambda pods: going.append([one.metadata.name for one in pods if one.deleting])):
            await world.change(StatefulSet, "db", {"spec": {"replicas": 1}})
            await world.settled()
    made = await world.get(StatefulSet, "db")
    assert (await _order(world), made.status.replicas, made.status.ready_replicas) == (["db-0"], 1, 1)
    assert [names for names in going if names] == [["db-2"], ["db-1"]]


@pytest.mark.parametrize("delays", [REALISTIC])
async def test_parallel_pods_need_no_order(world: World) -> None:
    async with world.running():
        await world.add(StatefulSet, stateful_set(podManagementPolicy="Parallel"))
        await world.settled(0.7)
        assert len(await world.pods()) == 3


async def test_each_stateful_pod_keeps_its_claim(world: World) -> None:
    data = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    async with world.running():
        await world.add(StatefulSet, stateful_set(2, volumeClaimTemplates=[data]))
        await world.settled()
        before = {one.metadata.name: one.metadata.uid for one in await world.all(PersistentVolumeClaim)}
        await world.delete(Pod, "db-1")
        await world.settled()
    after = await world.all(PersistentVolumeClaim)
    assert {one.metadata.name: one.metadata.uid for one in after} == before
    assert sorted(before) == ["data-db-0", "data-db-1"]
    assert {one.status.phase for one in after} == {"Bound"}
    volumes = {each.name: each.persistent_volume_claim for each in (await world.get(Pod, "db-1")).spec.volumes}
    assert volumes["data"].claim_name == "data-db-1"


async def test_a_new_template_goes_from_the_last_stateful_pod_to_the_partition(world: World) -> None:
    async with world.running():
        await world.add(StatefulSet, stateful_set())
        await world.settled()
        partition = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
        change = {"spec": {"template": template("db", "nginx:2"), "updateStrategy": partition}}
        await world.change(StatefulSet, "db", change)
        await world.settled()
        assert [one.spec.containers[0].image for one in await world.pods()] == ["nginx:1", "nginx:2", "nginx:2"]
        await world.delete(Pod, "db-0")
        await world.settled()
        assert (await world.get(Pod, "db-0")).spec.containers[0].image == "nginx:1"
        partition["rollingUpdate"] = {"partition": 0}
        await world.change(StatefulSet, "db", {"spec": {"updateStrategy": partition}})
        await world.settled()
    made = await world.get(StatefulSet, "db")
    assert {one.spec.containers[0].image for one in await world.pods()} == {"nginx:2"}
    assert made.status.current_revision == made.status.update_revision
    assert made.status.updated_replicas == 3


async def test_every_fitting_node_gets_a_daemon(world: World) -> None:
    await world.change(NODES, "node-1", {"spec": {"unschedulable": True}})
    tainted = node(3)
    tainted["spec"]["taints"] = [{"key": "gpu", "effect": "NoSchedule"}]
    await world.add(NODES, tainted)
    async with world.running():
        await world.add(DaemonSet, daemon_set())
        await world.settled()
        assert sorted(one.spec.node_name for one in await world.pods()) == ["node-1", "node-2"]
        await world.add(NODES, node(4))
        await world.delete(NODES, "node-2")
        await world.settled()
    assert sorted(one.spec.node_name for one in await world.pods()) == ["node-1", "node-4"]
    status = (await world.get(DaemonSet, "agent")).status
    assert (status.desired_number_scheduled, status.number_available, status.number_unavailable) == (2, 2, None)


@pytest.mark.parametrize("delays", [REALISTIC])
async def test_daemons_are_renewed_node_by_node(world: World) -> None:
    async with world.running():
        await world.add(DaemonSet, daemon_set())
        await world.settled()
        await world.set_image("nginx:2", "agent", DaemonSet)
        await world.settled(2)
        assert sum(conditions(one).get("Ready") == "True/" for one in await world.pods()) == 1
        await world.settled()
    assert [one.spec.containers[0].image for one in await world.pods()] == ["nginx:2"] * 2
    assert [one.revision for one in await world.all(ControllerRevision)] == [1, 2]


@pytest.mark.parametrize("delays", [REALISTIC])
async def test_a_job_runs_so_many_at_a_time_until_enough_have_succeeded(world: World) -> None:
    async with world.running():
        await world.add(Job, job("sum", completions=5, parallelism=2))
        await world.settled(2)
        assert len(await world.pods()) == 2
        await world.settled(60)
    done = await world.get(Job, "sum")
    assert len(await world.pods()) == 5
    assert (done.status.succeeded, done.status.active) == (5, None)
    assert conditions(done) == {
        "SuccessCriteriaMet": "True/CompletionsReached", "Complete": "True/CompletionsReached"
    }  # fmt: skip
    assert done.status.completion_time > done.status.start_time


async def test_an_indexed_job_does_every_index_once(world: World) -> None:
    async with world.running():
        await world.add(Job, job("sum", completions=4, parallelism=3, completionMode="Indexed"))
        await world.settled()
    assert (await world.get(Job, "sum")).status.completed_indexes == "0-3"
    names = sorted(one.metadata.name.rpartition("-")[0] for one in await world.pods())
    assert names == ["sum-0", "sum-1", "sum-2", "sum-3"]


@pytest.mark.parametrize("delays", [REALISTIC])
async def test_a_job_that_fails_too_often_has_failed(world: World) -> None:
    failing = job("sum", backoffLimit=2)
    failing["spec"]["template"]["metadata"] = {"annotations": {EXIT_CODE: "1"}}
    looping = job("loop", "simulated/crash", backoffLimit=2)
    looping["spec"]["template"]["spec"]["restartPolicy"] = "OnFailure"
    async with world.running():
        await world.add(Job, failing)
        await world.add(Job, looping)
        await world.settled(300)
    for name in ("sum", "loop"):
        assert conditions(await world.get(Job, name))["Failed"] == "True/BackoffLimitExceeded"
    assert [one.status.phase for one in await world.pods("job-name=sum")] == ["Failed"] * 3
    assert await world.pods("job-name=loop") == []


async def test_a_finished_job_disappears_when_its_time_has_come(world: World) -> None:
    async with world.running():
        await world.add(Job, job("sum", ttlSecondsAfterFinished=100))
        await world.settled(50)
        assert conditions(await world.get(Job, "sum"))["Complete"] == "True/CompletionsReached"
        await world.settled(100)
    assert (await world.all(Job), await world.pods()) == ([], [])


async def test_a_suspended_job_has_no_pods(world: World) -> None:
    async with world.running():
        await world.add(Job, job("sum", suspend=True))
        await world.settled()
        assert (await world.pods(), conditions(await world.get(Job, "sum"))) == (
            [], {"Suspended": "True/JobSuspended"}
        )  # fmt: skip
        await world.change(Job, "sum", {"spec": {"suspend": False}})
        await world.settled()
    assert conditions(await world.get(Job, "sum"))["Complete"] == "True/CompletionsReached"


async def test_a_job_that_takes_too_long_has_failed(world: World) -> None:
    async with world.running():
        await world.add(Job, job("sum", "simulated/missing", activeDeadlineSeconds=60))
        await world.settled(120)
    assert conditions(await world.get(Job, "sum"))["Failed"] == "True/DeadlineExceeded"
    assert await world.pods() == []
