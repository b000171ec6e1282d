"""Labels, annotations and taints travel from a deployment to its nodes, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from butler.engines.capi.kinds import Cluster, KubeadmConfig, Machine, MachineDeployment, MachineSet
from butler.simulation.delays import REALISTIC
from butler.simulation.infrastructure.kinds import SimulatedMachine
from tests.simulation.capi_world import NAME, NAMESPACE, NODES, World, play

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


def test_what_a_deployment_gives_and_takes_reaches_everything(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
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

    play(scenario, tmp_path)


def test_a_node_that_is_about_to_be_replaced_is_avoided(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
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

    play(scenario, tmp_path)


def test_a_node_loses_only_the_taint_of_one_that_is_not_ready_for_use(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        async with world.managed():
            await world.make_cluster(1)
            await world.settled()
            [node] = await nodes(world)
            names = ("node.cluster.x-k8s.io/uninitialized", "theirs")
            given = [{"key": name, "value": "", "effect": "NoSchedule"} for name in names]
            await world.tenant.patch(NODES, node["metadata"]["name"], {"spec": {"taints": given}})
            await world.settled()
            assert await taints(world) == [["theirs"]]

    play(scenario, tmp_path)


def test_a_machine_is_never_said_to_lack_what_it_is_about_to_get(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
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

    play(scenario, tmp_path, delays=REALISTIC)


def test_a_machine_whose_infrastructure_is_deleted_lacks_it(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        async with world.managed():
            await world.make_cluster(1)
            await world.settled()
            [vm] = await world.all(SimulatedMachine)
            await world.client.delete(SimulatedMachine, vm.metadata.name, NAMESPACE)
            await world.settled()
            [machine] = await world.all(Machine)
            assert machine.status.condition("InfrastructureReady").reason == "ObjectDeleted"

    play(scenario, tmp_path)


def test_the_end_of_a_cluster_is_told(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        async with world.managed():
            await world.make_cluster(1)
            await world.settled()
            await world.delete_cluster()
            await world.settled()
            assert await world.all(Cluster) == []
            assert ("Cluster", "Deleted", "Cluster shop has been deleted") in await world.events()

    play(scenario, tmp_path)
