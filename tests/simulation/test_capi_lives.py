"""Clusters as Cluster API leaves them when they come and when they go."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from butler.engines.capi.kinds import (
    Cluster,
    KubeadmConfig,
    Machine,
    MachineDeployment,
    MachineSet,
)
from butler.engines.core import Secret
from butler.engines.kamaji.kinds import KamajiControlPlane
from butler.simulation.delays import REALISTIC
from butler.simulation.infrastructure.kinds import SimulatedCluster, SimulatedMachine
from kubekit.client.protocol import Selection
from tests.simulation.capi_world import NAME, NAMESPACE, World, conditions

WORKERS = f"{NAME}-workers"


async def test_a_new_cluster_ends_up_as_the_real_ones_leave_it(world: World) -> None:
    async with world.managed():
        await world.make_cluster(3)
        await world.settled()
        cluster = await world.get(Cluster)
        assert (cluster.status.phase, cluster.metadata.finalizers) == ("Provisioned", ("cluster.cluster.x-k8s.io",))
        workers = cluster.status.workers
        assert [workers.desired_replicas, workers.replicas, workers.up_to_date_replicas] == [3, 3, 3]
        assert [workers.ready_replicas, workers.available_replicas] == [3, 3]
        assert conditions(cluster) == {
            "Available": "True/Available",
            "RemoteConnectionProbe": "True/ProbeSucceeded",
            "InfrastructureReady": "True/Ready",
            "ControlPlaneInitialized": "True/Initialized",
            "ControlPlaneAvailable": "True/Available",
            "WorkersAvailable": "True/Available",
            "RollingOut": "False/NotRollingOut",
            "Remediating": "False/NotRemediating",
            "ScalingDown": "False/NotScalingDown",
            "ScalingUp": "False/NotScalingUp",
            "ControlPlaneMachinesReady": "True/NoReplicas",
            "WorkerMachinesReady": "True/Ready",
            "ControlPlaneMachinesUpToDate": "True/NoReplicas",
            "WorkerMachinesUpToDate": "True/UpToDate",
            "Paused": "False/NotPaused",
            "Deleting": "False/NotDeleting",
        }


async def test_a_deployment_and_its_set_are_as_the_real_ones_leave_them(world: World) -> None:
    async with world.managed():
        await world.make_cluster(2)
        await world.settled()
        [deployment], [machines] = await world.all(MachineDeployment), await world.all(MachineSet)
        assert deployment.metadata.finalizers == ("cluster.x-k8s.io/machinedeployment",)
        assert deployment.metadata.annotations == {"machinedeployment.clusters.x-k8s.io/revision": "1"}
        [owner] = deployment.metadata.owner_references
        assert (owner.kind, owner.name, owner.controller) == ("Cluster", NAME, None)
        assert deployment.status.phase == "Running"
        assert deployment.status.selector == "cluster.x-k8s.io/cluster-name=shop,pool=workers"
        assert conditions(deployment) == {
            "Available": "True/Available",
            "RollingOut": "False/NotRollingOut",
            "Remediating": "False/NotRemediating",
            "ScalingDown": "False/NotScalingDown",
            "ScalingUp": "False/NotScalingUp",
            "MachinesReady": "True/Ready",
            "MachinesUpToDate": "True/UpToDate",
            "Paused": "False/NotPaused",
            "Deleting": "False/NotDeleting",
        }
        suffix = machines.metadata.name.removeprefix(f"{WORKERS}-")
        assert len(suffix) == 5
        unique = machines.metadata.labels["machine-template-hash"]
        assert unique.removesuffix(f"-{suffix}").isdecimal()
        assert machines.metadata.labels == {
            "cluster.x-k8s.io/cluster-name": NAME,
            "cluster.x-k8s.io/deployment-name": WORKERS,
            "machine-template-hash": unique,
            "pool": "workers",
        }
        assert machines.metadata.annotations == {
            "cluster.x-k8s.io/disable-machine-create": "false",
            "machinedeployment.clusters.x-k8s.io/desired-replicas": "2",
            "machinedeployment.clusters.x-k8s.io/max-replicas": "3",
            "machinedeployment.clusters.x-k8s.io/revision": "1",
        }
        assert machines.metadata.finalizers == ("cluster.x-k8s.io/machineset",)
        [owner] = machines.metadata.owner_references
        assert (owner.kind, owner.controller, owner.block_owner_deletion) == ("MachineDeployment", True, True)
        assert machines.spec.selector.match_labels["machine-template-hash"] == unique
        assert set(conditions(machines)) == set(conditions(deployment)) - {"Available", "RollingOut"}


async def test_a_machine_and_its_parts_are_as_the_real_ones_leave_them(world: World) -> None:
    async with world.managed():
        await world.make_cluster(1)
        await world.settled()
        [machine], [config], [vm] = [await world.all(kind) for kind in (Machine, KubeadmConfig, SimulatedMachine)]
        [machines] = await world.all(MachineSet)
        name = machine.metadata.name
        assert name.startswith(f"{machines.metadata.name}-")
        assert config.metadata.name == vm.metadata.name == name
        assert machine.metadata.labels == {
            "cluster.x-k8s.io/cluster-name": NAME,
            "cluster.x-k8s.io/deployment-name": WORKERS,
            "cluster.x-k8s.io/set-name": machines.metadata.name,
            "machine-template-hash": machines.metadata.labels["machine-template-hash"],
            "pool": "workers",
        }
        assert machine.metadata.finalizers == ("machine.cluster.x-k8s.io",)
        assert (machine.status.phase, machine.status.node_ref.name) == ("Running", name)
        assert machine.status.node_info.kubelet_version == "v1.34.0"
        assert machine.spec.provider_id == f"simulated://{name}"
        assert machine.spec.bootstrap.data_secret_name == name
        assert machine.spec.deletion.node_deletion_timeout_seconds == 10
        assert conditions(machine) == {
            "Available": "True/Available",
            "Ready": "True/Ready",
            "UpToDate": "True/UpToDate",
            "BootstrapConfigReady": "True/Ready",
            "InfrastructureReady": "True/Ready",
            "NodeHealthy": "True/NodeHealthy",
            "NodeReady": "True/NodeReady",
            "Updating": "False/NotUpdating",
            "Paused": "False/NotPaused",
            "Deleting": "False/NotDeleting",
        }
        assert {one.observed_generation for one in machine.status.conditions} == {machine.metadata.generation}
        for part, kind in (
            (config, "KubeadmConfigTemplate.bootstrap"),
            (vm, "SimulatedMachineTemplate.infrastructure"),
        ):
            [owner] = part.metadata.owner_references
            assert (owner.kind, owner.name, owner.controller) == ("Machine", name, True)
            assert part.metadata.labels == machine.metadata.labels
            assert part.metadata.annotations == {
                "cluster.x-k8s.io/cloned-from-name": f"{NAME}-worker",
                "cluster.x-k8s.io/cloned-from-groupkind": f"{kind}.cluster.x-k8s.io",
            }
        assert vm.spec.cpu == 4


async def test_a_machine_boots_from_a_secret_with_a_token(world: World) -> None:
    async with world.managed():
        await world.make_cluster(1)
        await world.settled()
        [config] = await world.all(KubeadmConfig)
        secret = await world.get(Secret, config.status.data_secret_name)
        assert secret.type == "cluster.x-k8s.io/secret"
        assert sorted(secret.data) == ["format", "value"]
        assert secret.data["format"] == b"cloud-config"
        assert b"simulated" in secret.data["value"]
        assert b"--token" in secret.data["value"]
        [owner] = secret.metadata.owner_references
        assert (owner.kind, owner.name) == ("KubeadmConfig", config.metadata.name)
        assert conditions(config) == {
            "Ready": "True/Ready",
            "CertificatesAvailable": "True/Available",
            "DataSecretAvailable": "True/Available",
            "Paused": "False/NotPaused",
        }


async def test_people_are_told_what_happened(world: World) -> None:
    async with world.managed():
        await world.make_cluster(1)
        await world.settled()
        [machine], [machines] = await world.all(Machine), await world.all(MachineSet)
        name, place = machine.metadata.name, f"{NAMESPACE}/{machines.metadata.name}"
        assert sorted(await world.events()) == sorted([
            ("Cluster", "InfrastructureReady", f"Cluster {NAME} InfrastructureProvisioned is now True"),
            ("Cluster", "Provisioned", f"Cluster {NAME} is Provisioned"),
            ("Cluster", "ControlPlaneInitialized", f"Cluster {NAME} ControlPlaneInitialized is now True"),
            ("MachineDeployment", "SuccessfulCreate", f"Created MachineSet {place} with 1 replicas"),
            ("MachineSet", "SuccessfulCreate", f'Created Machine "{name}"'),
            ("Machine", "SuccessfulSetNodeRef", name),
        ])  # fmt: skip


async def test_a_cluster_that_takes_no_time_takes_few_writes(world: World) -> None:
    async with world.managed():
        await world.settled(1)
        await world.make_cluster(3)
        await world.settled()
        writes = world.writes
        statuses = {kind: count for (verb, kind, part), count in writes.items() if part == "status"}
        assert statuses == {"Cluster": 3, "MachineDeployment": 1, "MachineSet": 1, "Machine": 3, "KubeadmConfig": 3}
        assert writes["patch", "Machine", ""] == 6
        assert writes["create", "Machine", ""] == 3


async def test_a_cluster_at_rest_is_left_alone(world: World) -> None:
    async with world.managed():
        await world.make_cluster(3)
        await world.settled(120)
        before = world.writes.total()
        await world.settled(7200)
        assert world.writes.total() == before


@pytest.mark.parametrize("delays", [REALISTIC])
async def test_a_slow_cluster_is_seen_on_its_way(world: World) -> None:
    world.vms_never_boot = True
    async with world.managed():
        await world.make_cluster(1)
        await world.settled(5)
        [machine], [deployment] = await world.all(Machine), await world.all(MachineDeployment)
        assert machine.status.phase == "Provisioning"
        told = conditions(machine)
        assert (told["BootstrapConfigReady"], told["InfrastructureReady"]) == ("True/Ready", "False/NotReady")
        assert (told["NodeReady"], told["Ready"]) == ("Unknown/InspectionFailed", "False/NotReady")
        assert (deployment.status.phase, deployment.status.replicas) == ("Running", 1)
        assert conditions(deployment)["Available"] == "False/NotAvailable"
        assert conditions(await world.get(Cluster))["WorkersAvailable"] == "False/NotAvailable"


async def test_what_does_not_move_is_shown_also_where_nothing_takes_time(world: World) -> None:
    world.vms_never_boot = True
    async with world.managed():
        await world.make_cluster(1)
        await world.settled(5)
        assert (await world.all(Machine))[0].status.phase is None
        await world.settled(60)
        assert (await world.all(Machine))[0].status.phase == "Provisioning"
        assert (await world.all(MachineSet))[0].status.replicas == 1
        assert (await world.all(MachineDeployment))[0].status.phase == "Running"


async def test_a_deleted_cluster_leaves_nothing(world: World) -> None:
    async with world.managed() as manager:
        await world.make_cluster(2)
        await world.settled()
        gone: list[str] = []
        world.root.store.listen(lambda event: _note_gone(world, event, gone))
        await world.delete_cluster()
        await world.settled(300)
        for kind in (Cluster, MachineDeployment, MachineSet, Machine, KubeadmConfig, SimulatedMachine):
            assert await world.all(kind) == []
        assert await world.all(SimulatedCluster) == await world.all(KamajiControlPlane) == []
        order = [
            "machines",
            "machinesets",
            "machinedeployments",
            "kamajicontrolplanes",
            "simulatedclusters",
            "clusters",
        ]
        assert [one for one in dict.fromkeys(gone) if one in order] == order
        secrets = (await world.client.list(Secret, Selection(namespace=NAMESPACE))).items
        assert [one.metadata.name for one in secrets] == [f"{NAME}-kubeconfig"]
        reasons = [reason for _, reason, _ in await world.events()]
        assert "SuccessfulDrainNode" not in reasons
        assert "Deleting" in reasons
        assert manager.metrics.panics.get("clusters") == 0


def _note_gone(world: World, event: Any, gone: list[str]) -> None:
    if event.change.name == "DELETED":
        gone.append(world.root.store.names_of(event.bucket)[1].rpartition("/")[2])


async def test_a_deleted_deployment_takes_its_machines_and_leaves_the_cluster(world: World) -> None:
    async with world.managed():
        await world.make_cluster(2)
        await world.settled()
        await world.client.delete(MachineDeployment, WORKERS, NAMESPACE)
        await world.settled()
        assert world.machines == {}
        assert await world.nodes() == []
        cluster = await world.get(Cluster)
        assert cluster.status.workers == structs.replace(cluster.status.workers, desired_replicas=None, replicas=None)
        assert conditions(cluster)["WorkersAvailable"] == "True/NoWorkers"
