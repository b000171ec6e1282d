"""Labels, annotations and taints travel from a deployment to its nodes, and back."""

from __future__ import annotations

from typing import Any

import pytest

from butler.engines.capi.kinds import Cluster, KubeadmConfig, Machine, MachineDeployment, MachineSet
from butler.simulation.delays import REALISTIC
from butler.simulation.infrastructure.kinds import SimulatedMachine
from tests.simulation.capi_world import NAME, NAMESPACE, NODES, World

WORKERS = f"{NAME}-workers"
ROLE = "node-role.kubernetes.io/worker"
GIVEN = {"metadata": {"labels": {ROLE: "", "colour": "blue"}, "annotations": {"note": "mine"}}}
TAKEN = {"metadata": {"labels": {ROLE: None, "colour": None}, "annotations": {"note": None}}}


async def marked(world: World, kind: type[Any]) -> set[tuple[bool, bool]]:
    """Whether objects of a kind have the label and the annotation."""
    metas = [one.metadata for one in await world.all(kind)]
    return {(meta.labels.get("colour") == "blue", meta.annotations.get("note") == "mine") for meta in metas}


async def nodes(world: World) -> list[dict[str, Any]]:
    return list((await world.tenant.list(NODES)).items)


async def taints(world: World) -> list[list[str]]:
    return [[taint["key"] for taint in one["spec"].get("taints", ())] for one in await nodes(world)]


async def test_what_a_deployment_gives_and_takes_reaches_everything(world: World) -> None:
    async with world.managed():
        await world.make_cluster(2)
        await world.settled()
        before = set(world.machines)
        await world.change(MachineDeployment, WORKERS, {"spec": {"template": GIVEN}})
        await world.settled()
        for kind in (Machine, KubeadmConfig, SimulatedMachine):
            assert await marked(world, kind) == {(True, True)}
        assert await marked(world, MachineSet) == {(True, False)}
        assert all(ROLE in one["metadata"]["labels"] for one in await nodes(world))
        await world.change(MachineDeployment, WORKERS, {"spec": {"template": TAKEN}})
        await world.settled()
        for unmarked in (Machine, KubeadmConfig, SimulatedMachine, MachineSet):
            assert await marked(world, unmarked) == {(False, False)}
        assert not any(ROLE in one["metadata"].get("labels", {}) for one in await nodes(world))
        assert set(world.machines) == before


async def test_a_node_that_is_about_to_be_replaced_is_avoided(world: World) -> None:
    async with world.managed():
        await world.make_cluster(1)
        await world.settled()
        assert await taints(world) == [[]]
        world.vms_never_boot = True
        zone = {"spec": {"template": {"spec": {"failureDomain": "zone-b"}}}}
        await world.change(MachineDeployment, WORKERS, zone)
        await world.settled()
        assert await taints(world) == [["node.cluster.x-k8s.io/outdated-revision"]]
        await world.change(MachineDeployment, WORKERS, {"spec": {"template": {"spec": {"failureDomain": None}}}})
        await world.settled()
        assert await taints(world) == [[]]


async def test_a_node_loses_only_the_taint_of_one_that_is_not_ready_for_use(world: World) -> None:
    async with world.managed():
        await world.make_cluster(1)
        await world.settled()
        [node] = await nodes(world)
        names = ("node.cluster.x-k8s.io/uninitialized", "theirs")
        given = [{"key": name, "value": "", "effect": "NoSchedule"} for name in names]
        await world.tenant.patch(NODES, node["metadata"]["name"], {"spec": {"taints": given}})
        await world.settled()
        assert await taints(world) == [["theirs"]]


@pytest.mark.parametrize("delays", [REALISTIC])
async def test_a_machine_is_never_said_to_lack_what_it_is_about_to_get(world: World) -> None:
    said: set[str] = set()
    phases: dict[str, list[str]] = {}

    def look() -> None:
        for name, machine in world.machines.items():
            status = machine.get("status", {})
            said.update(one["reason"] for one in status.get("conditions", ()))
            if status.get("phase") and status["phase"] not in phases.setdefault(name, []):
                phases[name].append(status["phase"])

    world.look = look
    async with world.managed():
        await world.make_cluster(3)
        await world.settled()
    assert "DoesNotExist" not in said
    assert {way[0] for way in phases.values()} == {"Pending"}


async def test_a_machine_whose_infrastructure_is_deleted_lacks_it(world: World) -> None:
    async with world.managed():
        await world.make_cluster(1)
        await world.settled()
        [vm] = await world.all(SimulatedMachine)
        await world.client.delete(SimulatedMachine, vm.metadata.name, NAMESPACE)
        await world.settled()
        [machine] = await world.all(Machine)
        assert machine.status.condition("InfrastructureReady").reason == "ObjectDeleted"


async def test_the_end_of_a_cluster_is_told(world: World) -> None:
    async with world.managed():
        await world.make_cluster(1)
        await world.settled()
        await world.delete_cluster()
        await world.settled()
        assert await world.all(Cluster) == []
        assert ("Cluster", "Deleted", "Cluster shop has been deleted") in await world.events()
