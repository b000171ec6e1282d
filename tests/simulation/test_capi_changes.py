"""Clusters of Cluster API that are changed: scaled, rolled over, labelled."""

from __future__ import annotations

from typing import Any

import pytest

from butler.engines.capi.kinds import (
    Cluster,
    Machine,
    MachineDeployment,
    MachineSet,
    MachineSetDeletion,
)
from butler.engines.kamaji.kinds import KamajiControlPlane
from butler.simulation.delays import REALISTIC
from tests.simulation.capi_world import NAME, World, conditions

WORKERS = f"{NAME}-workers"


def is_true(machine: dict[str, Any], kind: str) -> bool:
    told = (machine.get("status") or {}).get("conditions") or ()
    return any(one["type"] == kind and one["status"] == "True" for one in told)


async def test_more_workers_join_those_there_are(world: World) -> None:
    async with world.managed():
        await world.make_cluster(1)
        await world.settled()
        before = set(world.machines)
        await world.change(MachineDeployment, WORKERS, {"spec": {"replicas": 3}})
        await world.settled()
        assert before < set(world.machines)
        assert len(world.machines) == 3
        [machines] = await world.all(MachineSet)
        assert machines.metadata.annotations["machinedeployment.clusters.x-k8s.io/max-replicas"] == "4"
        assert (await world.get(Cluster)).status.workers.available_replicas == 3
        scaled = [message for _, reason, message in await world.events() if reason == "SuccessfulScale"]
        assert scaled == [f"Scaled up MachineSet {machines.metadata.name}: 1 -> 3"]


async def test_a_machine_that_is_marked_goes_first(world: World) -> None:
    async with world.managed():
        await world.make_cluster(3)
        await world.settled()
        marked = max(one.metadata.name for one in await world.all(Machine))
        await world.change(Machine, marked, {"metadata": {"annotations": {"cluster.x-k8s.io/delete-machine": "yes"}}})
        await world.change(MachineDeployment, WORKERS, {"spec": {"replicas": 2}})
        await world.settled()
        assert world.removed == [marked]
        assert len(world.machines) == 2
        deleted = [message for _, reason, message in await world.events() if reason == "SuccessfulDelete"]
        assert deleted == [f'Deleted Machine "{marked}"']


@pytest.mark.parametrize("order", ["Newest", "Oldest"])
async def test_the_order_of_deletion_is_respected(world: World, order: str) -> None:
    async with world.managed():
        await world.make_cluster(1)
        deletion = {"deletion": {"order": order}}
        for replicas in (1, 2, 3):
            await world.change(MachineDeployment, WORKERS, {"spec": {"replicas": replicas, **deletion}})
            await world.settled()
        assert (await world.all(MachineSet))[0].spec.deletion == MachineSetDeletion(order=order)
        await world.change(MachineDeployment, WORKERS, {"spec": {"replicas": 2}})
        await world.settled()
        assert world.removed == [world.booted[-1 if order == "Newest" else 0]]


@pytest.mark.parametrize(
    ("surge", "unavailable", "kubekit_seed"), [(1, 0, 1), (1, 0, 2), (0, 1, 3), (2, 1, 4), (3, 0, 5), (1, 3, 6)]
)
async def test_a_new_version_replaces_machines_within_bounds(world: World, surge: int, unavailable: int) -> None:
    async with world.managed():
        await world.make_cluster(3, max_surge=surge, max_unavailable=unavailable)
        await world.settled()
        counted: list[tuple[int, int]] = []
        world.look = lambda: counted.append(
            (len(world.machines), sum(is_true(one, "Available") for one in world.machines.values()))
        )
        await world.change(KamajiControlPlane, NAME, {"spec": {"version": "v1.35.0"}})
        template = {"template": {"spec": {"version": "v1.35.0"}}}
        await world.change(MachineDeployment, WORKERS, {"spec": template})
        await world.settled(600)
        assert max(most for most, _ in counted) <= 3 + surge
        assert min(fewest for _, fewest in counted) >= 3 - unavailable
        machines = await world.all(Machine)
        assert {one.spec.version for one in machines} == {"v1.35.0"}
        assert len(machines) == 3
        [left], [deployment] = await world.all(MachineSet), await world.all(MachineDeployment)
        revision = "machinedeployment.clusters.x-k8s.io/revision"
        assert left.metadata.annotations[revision] == deployment.metadata.annotations[revision] == "2"
        assert conditions(deployment)["RollingOut"] == "False/NotRollingOut"
        assert sorted(one.metadata.name for one in await world.nodes()) == sorted(one.metadata.name for one in machines)


@pytest.mark.parametrize("delays", [REALISTIC])
async def test_a_rollout_is_announced_while_it_lasts(world: World) -> None:
    async with world.managed():
        await world.make_cluster(2)
        await world.settled()
        world.vms_never_boot = True
        await world.change(MachineDeployment, WORKERS, {"spec": {"template": {"spec": {"failureDomain": "zone-b"}}}})
        await world.settled(5)
        [deployment] = await world.all(MachineDeployment)
        assert deployment.status.condition("RollingOut").reason == "RollingOut"
        assert "Failure domain unset, zone-b required" in deployment.status.condition("RollingOut").message
        assert conditions(deployment)["MachinesUpToDate"] == "False/NotUpToDate"
        assert conditions(await world.get(Cluster))["RollingOut"] == "True/RollingOut"
        assert (deployment.status.phase, deployment.status.replicas) == ("ScalingDown", 3)


async def test_going_back_makes_the_old_revision_the_newest(world: World) -> None:
    async with world.managed():
        await world.make_cluster(2)
        await world.settled()
        [first] = await world.all(MachineSet)
        world.vms_never_boot = True
        zone = {"spec": {"template": {"spec": {"failureDomain": "zone-b"}}}}
        await world.change(MachineDeployment, WORKERS, zone)
        await world.settled()
        assert len(await world.all(MachineSet)) == 2
        world.vms_never_boot = False
        await world.change(MachineDeployment, WORKERS, {"spec": {"template": {"spec": {"failureDomain": None}}}})
        await world.settled(300)
        [left] = await world.all(MachineSet)
        assert left.metadata.uid == first.metadata.uid
        assert left.metadata.annotations["machinedeployment.clusters.x-k8s.io/revision"] == "3"
        assert len(world.machines) == 2


async def test_labels_reach_machines_without_new_ones(world: World) -> None:
    async with world.managed():
        await world.make_cluster(2)
        await world.settled()
        before = set(world.machines)
        template = {"metadata": {"labels": {"team": "blue"}}, "spec": {"deletion": {"nodeDrainTimeoutSeconds": 30}}}
        await world.change(MachineDeployment, WORKERS, {"spec": {"template": template}})
        await world.settled()
        assert set(world.machines) == before
        for machine in await world.all(Machine):
            assert machine.metadata.labels["team"] == "blue"
            assert machine.spec.deletion.node_drain_timeout_seconds == 30
        assert len(await world.all(MachineSet)) == 1


async def test_no_machine_is_made_for_a_control_plane_that_is_upgraded(world: World) -> None:
    async with world.managed():
        await world.make_cluster(1)
        await world.settled()
        world.upgrading = True
        await world.change(KamajiControlPlane, NAME, {"spec": {"version": "v1.35.0"}})
        await world.change(MachineDeployment, WORKERS, {"spec": {"template": {"spec": {"version": "v1.35.0"}}}})
        await world.settled()
        assert len(world.machines) == 1
        told = [one.status.condition("ScalingUp").message for one in await world.all(MachineSet)]
        assert any("is upgrading" in message for message in told)
        world.upgrading = False
        await world.change(KamajiControlPlane, NAME, {"metadata": {"annotations": {"wake": "up"}}})
        await world.settled()
        assert [one.spec.version for one in await world.all(Machine)] == ["v1.35.0"]
