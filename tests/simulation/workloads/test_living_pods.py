"""Pods start, end, crash and disappear as if a kubelet saw to it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from butler.api.model import SIMULATED
from butler.simulation.delays import REALISTIC
from butler.simulation.workloads.kinds import EXIT_CODE, Deployment, Pod
from tests.simulation.workloads.world import NODES, World, conditions, deployment, node, pod


def _state(one: Pod, index: int = 0) -> tuple[str, dict[str, Any]]:
    ((name, details),) = one.status.container_statuses[index]["state"].items()
    return name, details


@pytest.mark.parametrize("delays", [REALISTIC])
async def test_a_pod_is_created_before_it_runs(world: World) -> None:
    async with world.running():
        await world.add(Pod, pod("web"))
        await asyncio.sleep(0.7)
        early = await world.get(Pod, "web")
        assert (early.status.phase, _state(early)) == ("Pending", ("waiting", {"reason": "ContainerCreating"}))
        assert (early.status.host_ip, early.status.pod_ip) == ("10.0.0.1", None)
        await world.settled(3)
    late = await world.get(Pod, "web")
    assert (late.status.phase, late.status.pod_ip, _state(late)[0]) == ("Running", "10.244.1.2", "running")
    assert set(conditions(late).values()) == {"True/"}
    assert late.metadata.annotations[SIMULATED] == "true"
    assert {reason for reason, _ in await world.events("web")} == {"Scheduled", "Pulled", "Created", "Started"}


async def test_init_containers_are_done_and_sidecars_run(world: World) -> None:
    side = {"name": "side", "image": "proxy", "restartPolicy": "Always"}
    async with world.running():
        await world.add(Pod, pod("web", initContainers=[{"name": "first", "image": "setup"}, side]))
        await world.settled()
    states = [one["state"] for one in (await world.get(Pod, "web")).status.init_container_statuses]
    assert [next(iter(state)) for state in states] == ["terminated", "running"]
    assert states[0]["terminated"]["reason"] == "Completed"


@pytest.mark.parametrize("delays", [REALISTIC])
async def test_a_crashing_container_backs_off_and_then_rests(world: World) -> None:
    async with world.running():
        await world.add(Pod, pod("bad", "simulated/crash:1"))
        await world.settled(8)
        early = (await world.get(Pod, "bad")).status.container_statuses[0]
        await world.settled(3600)
        writes = world.writes.total()
        await world.settled(3600)
        assert world.writes.total() == writes
    late = await world.get(Pod, "bad")
    assert (late.status.phase, _state(late)[1]["reason"]) == ("Running", "CrashLoopBackOff")
    assert late.status.container_statuses[0]["lastState"]["terminated"]["exitCode"] == 1
    assert (early["restartCount"], late.status.container_statuses[0]["restartCount"]) == (1, 6)
    assert conditions(late)["Ready"] == "False/ContainersNotReady"


async def test_an_image_that_is_not_there_is_never_pulled(world: World) -> None:
    async with world.running():
        await world.add(Pod, pod("bad", "simulated/missing"))
        await world.settled()
    bad = await world.get(Pod, "bad")
    assert (bad.status.phase, _state(bad)[1]["reason"]) == ("Pending", "ImagePullBackOff")
    assert ("Failed", "Error: ErrImagePull") in await world.events("bad")


@pytest.mark.parametrize("delays", [REALISTIC])
async def test_a_pod_that_does_not_restart_ends(world: World) -> None:
    failing = pod("failing", restartPolicy="Never")
    failing["metadata"]["annotations"] = {EXIT_CODE: "3"}
    async with world.running():
        await world.add(Pod, pod("working", restartPolicy="Never"))
        await world.add(Pod, failing)
        await world.settled(2.6)
        assert (await world.get(Pod, "working")).status.phase == "Running"
        await world.settled()
    assert (await world.get(Pod, "working")).status.phase == "Succeeded"
    failed = await world.get(Pod, "failing")
    assert (failed.status.phase, _state(failed)[1]["exitCode"]) == ("Failed", 3)


@pytest.mark.parametrize("delays", [REALISTIC])
async def test_a_deleted_pod_takes_a_moment_to_end(world: World) -> None:
    async with world.running():
        await world.add(Pod, pod("web"))
        await world.settled()
        await world.delete(Pod, "web")
        await asyncio.sleep(0)
        assert (await world.get(Pod, "web")).deleting
        await world.settled(3)
    assert await world.pods() == []
    assert ("Killing", "Stopping container main") in await world.events("web")


async def test_pods_of_a_node_that_is_gone_are_replaced_elsewhere(world: World) -> None:
    async with world.running():
        await world.add(Deployment, deployment(replicas=4))
        await world.settled()
        await world.delete(NODES, "node-1")
        await world.settled()
    assert [(one.spec.node_name, one.status.phase) for one in await world.pods()] == [("node-2", "Running")] * 4


async def test_pods_of_a_silent_node_are_not_ready_until_it_is_heard_again(world: World) -> None:
    async with world.running():
        await world.add(Pod, pod("web", nodeName="node-1"))
        await world.settled()
        silent = [{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}]
        await world.change(NODES, "node-1", {"status": {"conditions": silent}}, "status")
        await world.settled()
        assert conditions(await world.get(Pod, "web"))["Ready"] == "False/NodeNotReady"
        await world.change(NODES, "node-1", {"status": node(1)["status"]}, "status")
        await world.settled()
    assert conditions(await world.get(Pod, "web"))["Ready"] == "True/"


async def test_a_taint_that_drives_pods_away_does(world: World) -> None:
    patient = {"key": "gone", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}
    async with world.running():
        await world.add(Pod, pod("impatient", nodeName="node-1"))
        await world.add(Pod, pod("patient", nodeName="node-1", tolerations=[patient]))
        await world.settled()
        now = world.loop.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
        taint = {"key": "gone", "effect": "NoExecute", "timeAdded": now}
        await world.change(NODES, "node-1", {"spec": {"taints": [taint]}})
        await world.settled()
        assert [one.metadata.name for one in await world.pods()] == ["patient"]
        await world.settled(60)
    assert await world.pods() == []
