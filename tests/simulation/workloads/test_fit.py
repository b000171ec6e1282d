"""Pods go where they fit, and it is said why they do not."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from butler.simulation.workloads.kinds import Deployment, Node, Pod
from butler.simulation.workloads.nodes import fit
from butler.simulation.workloads.service_kinds import PersistentVolumeClaim
from tests.simulation.workloads import world as worlds
from tests.simulation.workloads.world import NODES, World, deployment, node, pod, template

TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}


def _node(**spec: Any) -> Node:
    made = node(1)
    made["spec"] |= spec
    made["metadata"]["labels"] |= {"disk": "ssd", "size": "7"}
    return msgspec.convert(made, Node)


def _pod(**spec: Any) -> Pod:
    return msgspec.convert(pod("one", **spec), Pod)


def _refusal(one: Pod, on: Node, *others: Pod) -> str:
    offer = fit.Offer(on, others)
    found = fit.refusal(one, offer, [offer])
    return "" if found is None else ", ".join(found.reasons)


@pytest.mark.parametrize(
    ("toleration", "fits"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "gpu", "operator": "Exists"}, True),
        ({"key": "gpu", "operator": "Equal", "value": "yes"}, True),
        ({"key": "gpu", "value": "yes", "effect": "NoSchedule"}, True),
        ({"key": "gpu", "value": "no"}, False),
        ({"key": "cpu", "operator": "Exists"}, False),
        ({"key": "gpu", "operator": "Exists", "effect": "NoExecute"}, False),
    ],
)
def test_a_taint_keeps_away_what_does_not_tolerate_it(toleration: dict[str, str], fits: bool) -> None:
    told = _refusal(_pod(tolerations=[toleration]), _node(taints=[TAINT]))
    assert told == ("" if fits else "node(s) had untolerated taint(s)")


def test_a_taint_that_only_prefers_keeps_nobody_away() -> None:
    assert _refusal(_pod(), _node(taints=[{**TAINT, "effect": "PreferNoSchedule"}])) == ""


def test_a_cordoned_node_takes_only_what_tolerates_that() -> None:
    daemon = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}
    assert _refusal(_pod(), _node(unschedulable=True)) == "node(s) were unschedulable"
    assert _refusal(_pod(tolerations=[daemon]), _node(unschedulable=True)) == ""


@pytest.mark.parametrize(
    ("requirement", "fits"),
    [
        ({"key": "disk", "operator": "In", "values": ["ssd", "nvme"]}, True),
        ({"key": "disk", "operator": "NotIn", "values": ["ssd"]}, False),
        ({"key": "rack", "operator": "NotIn", "values": ["a"]}, True),
        ({"key": "disk", "operator": "Exists"}, True),
        ({"key": "disk", "operator": "DoesNotExist"}, False),
        ({"key": "size", "operator": "Gt", "values": ["5"]}, True),
        ({"key": "size", "operator": "Lt", "values": ["5"]}, False),
        ({"key": "disk", "operator": "Gt", "values": ["5"]}, False),
    ],
)
def test_required_affinity_names_nodes_by_their_labels(requirement: dict[str, Any], fits: bool) -> None:
    terms = {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    told = _refusal(_pod(affinity=affinity), _node())
    assert told == ("" if fits else "node(s) didn't match Pod's node affinity/selector")


def test_what_is_asked_for_is_what_containers_ask_together_or_the_greediest_before_them() -> None:
    def asking(name: str, cpu: str, **more: str) -> dict[str, Any]:
        return {"name": name, "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}, **more}

    spec = _pod(
        containers=[asking("a", "500m"), asking("b", "1")],
        initContainers=[asking("c", "2"), asking("d", "100m", restartPolicy="Always")],
    ).spec
    assert fit.demand(spec) == {"cpu": 2100, "memory": 3 * 2**30}


def test_a_pod_keeps_its_distance_from_those_it_must_not_be_near() -> None:
    rule = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "db"}}}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [rule]}}
    other = pod("other")
    other["metadata"]["labels"] = {"app": "db"}
    told = _refusal(_pod(affinity=affinity), _node(), msgspec.convert(other, Pod))
    assert told == "node(s) didn't match pod anti-affinity rules"


def _asks(cpu: str) -> dict[str, Any]:
    return {"containers": [{"name": "main", "image": "x", "resources": {"requests": {"cpu": cpu}}}]}


async def test_an_unschedulable_pod_says_why_for_each_node_and_goes_when_there_is_room(world: World) -> None:
    await world.change(NODES, "node-2", {"spec": {"taints": [TAINT]}})
    async with world.running():
        await world.add(Pod, pod("large", **_asks("8")))
        await world.settled()
        (scheduled,) = (await world.get(Pod, "large")).status.conditions
        message = (
            "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s). no new claims to "
            "deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
        )
        told = (scheduled["type"], scheduled["status"], scheduled["reason"], scheduled["message"])
        assert told == ("PodScheduled", "False", "Unschedulable", message)
        assert await world.events("large") == [("FailedScheduling", message)]
        await world.add(NODES, node(3, cpu="16"))
        await world.settled()
    assert (await world.get(Pod, "large")).spec.node_name == "node-3"


@pytest.mark.parametrize("nodes", [1])
async def test_a_pod_that_waits_gets_the_place_of_one_that_goes(world: World) -> None:
    async with world.running():
        await world.add(Pod, pod("first", **_asks("3")))
        await world.settled()
        await world.add(Pod, pod("second", **_asks("3")))
        await world.settled()
        (scheduled,) = (await world.get(Pod, "second")).status.conditions
        assert "1 No preemption victims found for incoming pod" in scheduled["message"]
        await world.delete(Pod, "first")
        await world.settled()
    assert (await world.get(Pod, "second")).status.phase == "Running"


@pytest.mark.parametrize("kubekit_seed", range(3))
async def test_pods_that_come_together_do_not_overfill_a_node(world: World) -> None:
    async with world.running():
        await world.add(Deployment, deployment(replicas=8, template=template("web", **_asks("1500m"))))
        await world.settled()
    placed = [one.spec.node_name for one in await world.pods() if one.spec.node_name]
    assert sorted(placed) == ["node-1", "node-1", "node-2", "node-2"]


@pytest.mark.parametrize("nodes", [0])
async def test_without_nodes_nothing_is_scheduled(world: World) -> None:
    async with world.running():
        await world.add(Pod, pod("web"))
        await world.settled()
    (scheduled,) = (await world.get(Pod, "web")).status.conditions
    assert scheduled["message"] == "no nodes available to schedule pods"


async def test_a_pod_waits_for_its_claim(world: World) -> None:
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    async with world.running():
        await world.add(Pod, pod("db", volumes=[volume]))
        await world.settled()
        (scheduled,) = (await world.get(Pod, "db")).status.conditions
        assert scheduled["message"] == '0/2 nodes are available: persistentvolumeclaim "data" not found.'
        await world.add(PersistentVolumeClaim, worlds.claim("data"))
        await world.settled()
    assert (await world.get(Pod, "db")).status.phase == "Running"
