"""The infrastructure provider of the simulated data centre: from a SimulatedMachine to a VM and a Node, and back."""

from __future__ import annotations

import asyncio

import pytest

from butler.api.provider import ProviderConfig
from butler.engines.capi.kinds import Cluster, Machine
from butler.simulation.infrastructure.kinds import SimulatedCluster
from tests.simulation.infrastructure_world import (
    FAST,
    NAMESPACE,
    READY,
    REALISTIC,
    VERSION,
    Process,
    World,
    facts,
)


async def test_a_machine_becomes_a_vm_and_then_a_node(world: World) -> None:
    await world.furnish(boot_delay="10s")
    await world.machine("web-0", cpu=4, memory_mb=8192, failure_domain="zone-b")
    process = Process(world, REALISTIC)
    await asyncio.sleep(9)
    machine = await world.simulated()
    assert facts(machine)["VMProvisioned"] == "False/WaitingForStartupTimeout"
    assert machine is not None
    assert machine.spec.provider_id is None
    await asyncio.sleep(2)
    machine = await world.simulated()
    assert facts(machine)["VMProvisioned"] == "True/Provisioned"
    assert facts(machine)["NodeProvisioned"] == "False/WaitingForStartupTimeout"
    assert await world.nodes() == []
    await asyncio.sleep(1.1)
    machine = await world.simulated()
    assert machine is not None
    assert facts(machine) == READY
    (vm,) = world.datacentre.machines()
    assert (machine.spec.provider_id, vm.token) == (f"simulated://{vm.id}", machine.metadata.uid)
    assert machine.status.initialization is not None
    assert machine.status.initialization.provisioned
    assert [one.address for one in machine.status.addresses] == ["web-0", vm.address]
    assert machine.status.failure_domain == "zone-b"
    await process.end()


@pytest.mark.parametrize("fast", [True])
async def test_a_node_looks_as_its_machine_says(world: World) -> None:
    await world.furnish()
    await world.machine("web-0", cpu=4, memory_mb=8192, failure_domain="zone-b")
    process = Process(world, FAST)
    await asyncio.sleep(1)
    (node,) = await world.nodes()
    (vm,) = world.datacentre.machines()
    assert node["spec"] == {
        "providerID": f"simulated://{vm.id}",
        "podCIDR": "10.244.0.0/24",
        "podCIDRs": ["10.244.0.0/24"],
        "taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}],
    }
    labels = node["metadata"]["labels"]
    assert labels["butler.butlerlabs.dev/simulated"] == "true"
    assert labels["kubernetes.io/hostname"] == "web-0"
    assert (labels["pool"], labels["tier"]) == ("gpu", "gold")
    assert labels["topology.kubernetes.io/zone"] == "zone-b"
    status = node["status"]
    conditions = {one["type"]: (one["status"], one["reason"]) for one in status["conditions"]}
    assert conditions["Ready"] == ("True", "KubeletReady")
    assert conditions["MemoryPressure"][0] == "False"
    assert status["nodeInfo"]["kubeletVersion"] == VERSION
    assert (status["capacity"]["cpu"], status["capacity"]["memory"]) == ("4", "8Gi")
    assert status["allocatable"]["pods"] == "110"
    assert {"type": "InternalIP", "address": vm.address} in status["addresses"]
    assert node["metadata"]["annotations"]["cluster.x-k8s.io/machine"] == "web-0"
    await process.end()


@pytest.mark.parametrize("fast", [True])
async def test_nothing_is_asked_for_before_there_is_data_to_boot_with(world: World) -> None:
    await world.furnish()
    await world.machine("web-0", has_data=False)
    process = Process(world, FAST)
    await asyncio.sleep(1)
    assert facts(await world.simulated()) == {}  # a moment is not worth a write
    await asyncio.sleep(10)
    assert facts(await world.simulated())["VMProvisioned"] == "False/WaitingForBootstrapData"
    assert world.datacentre.machines() == []
    await world.secret("web-0", b"#cloud-config")
    change = {"spec": {"bootstrap": {"dataSecretName": "web-0"}}}
    await world.client.patch(Machine, "web-0", change, NAMESPACE)
    await asyncio.sleep(1)
    assert facts(await world.simulated()) == READY
    await process.end()


@pytest.mark.parametrize("fast", [True])
async def test_with_no_delays_a_machine_costs_four_writes_and_rest_costs_none(world: World) -> None:
    await world.furnish()
    process = Process(world, FAST)
    await asyncio.sleep(1)
    await world.machine("web-0")
    await asyncio.sleep(1)
    expected = ["patch simulatedmachines"] * 2 + ["create nodes", "patch simulatedmachines/status"]
    assert process.writes == expected
    assert facts(await world.simulated()) == READY
    await asyncio.sleep(24 * 3600)
    assert process.writes == expected
    await process.end()


@pytest.mark.parametrize("fast", [True])
async def test_nodes_of_one_cluster_share_no_pods_network_even_after_a_restart(world: World) -> None:
    await world.furnish()
    process = Process(world, FAST)
    for number in range(6):
        await world.machine(f"web-{number}")
    await asyncio.sleep(1)
    await process.end()
    process = Process(world, FAST)
    for number in range(6, 10):
        await world.machine(f"web-{number}")
    await asyncio.sleep(1)
    assert len({node["spec"]["podCIDR"] for node in await world.nodes()}) == 10
    await process.end()


async def test_a_deleted_machine_leaves_nothing(world: World) -> None:
    await world.furnish(removal_delay="5s")
    await world.machine("web-0")
    await world.machine("web-1")
    process = Process(world, REALISTIC)
    await asyncio.sleep(10)
    await world.delete("web-0")
    await asyncio.sleep(4)
    assert await world.simulated("web-0") is not None
    await asyncio.sleep(2)
    assert await world.simulated("web-0") is None
    assert [vm.name for vm in world.datacentre.machines()] == ["web-1"]
    assert [node["metadata"]["name"] for node in await world.nodes()] == ["web-1"]
    await process.end()


@pytest.mark.parametrize("fast", [True])
async def test_a_machine_goes_even_if_its_provider_config_is_gone_already(world: World) -> None:
    await world.furnish()
    await world.machine("web-0")
    process = Process(world, FAST)
    await asyncio.sleep(1)
    await world.client.delete(ProviderConfig, "simulated", "butler-system")
    await asyncio.sleep(1)
    await world.delete()
    await asyncio.sleep(1)
    assert world.datacentre.machines() == []
    assert await world.simulated() is None
    await process.end()


def ready_of(node: dict[str, object]) -> str:
    status = node["status"]
    assert isinstance(status, dict)
    return next(f"{one['status']}/{one['reason']}" for one in status["conditions"] if one["type"] == "Ready")


@pytest.mark.parametrize("how", ["lose", "stop"])
async def test_a_machine_that_ends_by_itself_is_shown_and_never_replaced(world: World, how: str) -> None:
    await world.furnish()
    await world.machine("web-0")
    process = Process(world, REALISTIC)
    await asyncio.sleep(10)
    (vm,) = world.datacentre.machines()
    getattr(world.datacentre, how)(vm.id)
    await asyncio.sleep(1)
    reason = {"lose": "VMNotFound", "stop": "VMStopped"}[how]
    assert facts(await world.simulated())["VMProvisioned"] == f"False/{reason}"
    assert ready_of((await world.nodes())[0]) == "True/KubeletReady"
    await asyncio.sleep(15)
    shown = facts(await world.simulated())
    assert (shown["Ready"], shown["NodeProvisioned"]) == ("False/NotReady", "False/NodeNotReady")
    (node,) = await world.nodes()
    assert ready_of(node) == "Unknown/NodeStatusUnknown"
    writes = len(process.writes)
    await asyncio.sleep(3600)
    assert len(process.writes) == writes
    assert [one.id for one in world.datacentre.machines()] == ([] if how == "lose" else [vm.id])
    await world.delete()
    await asyncio.sleep(10)
    assert (world.datacentre.machines(), await world.nodes()) == ([], [])
    await process.end()


async def test_a_machine_that_is_switched_on_again_comes_back_as_the_same_node(world: World) -> None:
    await world.furnish()
    await world.machine("web-0")
    process = Process(world, REALISTIC)
    await asyncio.sleep(10)
    (vm,), (before,) = world.datacentre.machines(), await world.nodes()
    world.datacentre.stop(vm.id)
    await asyncio.sleep(20)
    world.datacentre.start(vm.id)
    await asyncio.sleep(10)
    assert facts(await world.simulated()) == READY
    (node,) = await world.nodes()
    assert ready_of(node) == "True/KubeletReady"
    assert node["metadata"]["uid"] == before["metadata"]["uid"]
    await process.end()


async def test_a_machine_that_gets_lost_in_time_is_noticed_without_anyone_asking(world: World) -> None:
    await world.furnish(lost_percent=100, lost_after="1h")
    await world.machine("web-0")
    process = Process(world, REALISTIC)
    await asyncio.sleep(3599)
    assert facts(await world.simulated()) == READY
    await asyncio.sleep(2)
    assert facts(await world.simulated())["VMProvisioned"] == "False/VMNotFound"
    await process.end()


async def test_a_cluster_is_provisioned_once_it_has_an_endpoint(world: World) -> None:
    await world.furnish(failure_domains=("zone-a", "zone-b"))
    await world.cluster(None)
    process = Process(world, REALISTIC)
    await asyncio.sleep(5)
    assert process.writes == []
    change = {
        "spec": {
            "controlPlaneEndpoint": {"host": "10.0.0.1", "port": 6443},
            "providerConfigRef": {"name": "simulated", "namespace": "butler-system"},
        }
    }
    await world.client.patch(SimulatedCluster, "shop", change, NAMESPACE)
    await asyncio.sleep(1)
    status = (await world.client.get(SimulatedCluster, "shop", NAMESPACE)).status
    assert status.initialization is not None
    assert status.initialization.provisioned
    assert [one.name for one in status.failure_domains] == ["zone-a", "zone-b"]
    assert process.writes == ["patch simulatedclusters/status"]
    await process.end()


@pytest.mark.parametrize("fast", [True])
async def test_a_pod_network_that_is_used_up_gives_no_more_parts(world: World) -> None:
    await world.furnish()
    change = {"spec": {"clusterNetwork": {"pods": {"cidrBlocks": ["10.244.0.0/23"]}}}}
    await world.client.patch(Cluster, "shop", change, NAMESPACE)
    process = Process(world, FAST)
    for number in range(3):
        await world.machine(f"web-{number}")
    await asyncio.sleep(1)
    parts = sorted(node["spec"].get("podCIDR", "") for node in await world.nodes())
    assert parts == ["", "10.244.0.0/24", "10.244.1.0/24"]
    await world.delete("web-0")
    await world.delete("web-1")
    await world.delete("web-2")
    await asyncio.sleep(1)
    await world.machine("web-3")
    await asyncio.sleep(1)
    assert [node["spec"]["podCIDR"] for node in await world.nodes()] == ["10.244.0.0/24"]
    await process.end()
