"""What befalls single machines: nodes that fall ill, drains, hooks, pauses, failures."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from butler.engines.capi.kinds import (
    AUTOSCALER_MAX_SIZE,
    AUTOSCALER_MIN_SIZE,
    INFRASTRUCTURE,
    Cluster,
    KubeadmConfig,
    Machine,
    MachineDeployment,
    MachineSet,
)
from butler.simulation.delays import REALISTIC
from butler.simulation.infrastructure.kinds import SimulatedMachine
from kubekit.client.protocol import Selection
from kubekit.model.crd import DEFINITION
from kubekit.model.resource import Address
from kubekit.model.status import Condition
from kubekit.runtime.objects import owner_reference
from tests.simulation.capi_world import NAME, NAMESPACE, NODES, PODS, World, conditions

WORKERS = f"{NAME}-workers"
BUDGETS = Address("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", True)


DAEMONS = Address("apps", "v1", "DaemonSet", "daemonsets", True)
DAEMON = {
    "metadata": {"name": "agent", "namespace": "default"},
    "spec": {
        "selector": {"matchLabels": {"app": "agent"}},
        "template": {
            "metadata": {"labels": {"app": "agent"}},
            "spec": {"containers": [{"name": "main", "image": "none"}]},
        },
    },
}


async def the_machine(world: World) -> Any:
    [machine] = await world.all(Machine)
    return machine


async def say_of_node(world: World, name: str, status: str, message: str = "") -> None:
    change = {"status": {"conditions": [{"type": "Ready", "status": status, "message": message}]}}
    node = await world.tenant.get(NODES, name)
    others = [one for one in node["status"]["conditions"] if one["type"] != "Ready"]
    change["status"]["conditions"] += others
    await world.tenant.patch(NODES, name, change, subresource="status")


def pod(name: str, node: str, **meta: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "namespace": "default", "labels": {"app": name}, **meta},
        "spec": {"nodeName": node, "containers": [{"name": "main", "image": "none"}]},
    }


async def end_pods(world: World) -> None:
    """What kubelets do with pods that are to end."""
    for one in (await world.tenant.list(PODS, Selection(namespace="default"))).items:
        if "deletionTimestamp" in one["metadata"]:
            await world.tenant.delete(PODS, one["metadata"]["name"], "default", grace=0)


async def pods(world: World) -> list[str]:
    return [one["metadata"]["name"] for one in (await world.tenant.list(PODS, Selection(namespace="default"))).items]


async def test_a_node_that_falls_ill_shows_all_the_way_up(world: World) -> None:
    async with world.managed():
        await world.make_cluster(2)
        await world.settled()
        ill = (await world.all(Machine))[0].metadata.name
        await say_of_node(world, ill, "False", "the kubelet is out of breath")
        await world.settled(1)
        machine = await world.get(Machine, ill)
        told = conditions(machine)
        assert (told["NodeReady"], told["NodeHealthy"]) == ("False/NodeNotReady", "False/NodeNotHealthy")
        assert (told["Ready"], told["Available"]) == ("False/NotReady", "False/NotReady")
        assert "out of breath" in machine.status.condition("Ready").message
        assert machine.status.phase == "Running"
        [machines], [deployment] = await world.all(MachineSet), await world.all(MachineDeployment)
        assert (machines.status.ready_replicas, deployment.status.available_replicas) == (1, 1)
        assert conditions(deployment)["Available"] == "False/NotAvailable"
        cluster = await world.get(Cluster)
        assert cluster.status.workers.ready_replicas == 1
        assert conditions(cluster)["Available"] == "False/NotAvailable"
        assert ill in cluster.status.condition("WorkerMachinesReady").message
        await say_of_node(world, ill, "True")
        await world.settled(1)
        assert conditions(await world.get(Cluster))["Available"] == "True/Available"


async def test_a_node_nobody_hears_of_is_unknown(world: World) -> None:
    async with world.managed():
        await world.make_cluster(1)
        await world.settled()
        name = (await the_machine(world)).metadata.name
        await say_of_node(world, name, "Unknown")
        await world.settled(1)
        told = conditions(await the_machine(world))
        assert (told["NodeReady"], told["NodeHealthy"]) == (
            "Unknown/NodeReadyUnknown",
            "Unknown/NodeHealthyUnknown",
        )
        assert told["Ready"] == "Unknown/ReadyUnknown"


async def test_a_node_that_is_deleted_is_missed(world: World) -> None:
    async with world.managed():
        await world.make_cluster(1)
        await world.settled()
        name = (await the_machine(world)).metadata.name
        await world.tenant.delete(NODES, name)
        await world.settled(1)
        machine = await the_machine(world)
        assert conditions(machine)["NodeHealthy"] == "False/NodeDeleted"
        assert (machine.status.node_ref.name, machine.status.phase) == (name, "Running")
        assert (await world.get(Cluster)).status.workers.ready_replicas == 0


async def test_a_machine_deleted_by_hand_is_replaced(world: World) -> None:
    async with world.managed():
        await world.make_cluster(1)
        await world.settled()
        old = (await the_machine(world)).metadata.name
        await world.client.delete(Machine, old, NAMESPACE)
        await world.settled()
        new = (await the_machine(world)).metadata.name
        assert new != old
        assert world.removed == [old]
        assert [one.metadata.name for one in await world.nodes()] == [new]
        for kind in (KubeadmConfig, SimulatedMachine):
            assert [one.metadata.name for one in await world.all(kind)] == [new]
        told = [(reason, message) for kind, reason, message in await world.events() if kind == "Machine"]
        assert ("SuccessfulDrainNode", f'success draining Machine\'s node "{old}"') in told


async def test_pods_leave_before_the_machine_goes(world: World) -> None:
    async with world.managed():
        await world.make_cluster(1)
        await world.settled()
        name = (await the_machine(world)).metadata.name
        daemon = owner_reference(await world.tenant.create(DAEMON, DAEMONS), DAEMONS)
        for one in (
            pod("web", name),
            pod("agent", name, ownerReferences=[daemon]),
            pod("static", name, annotations={"kubernetes.io/config.mirror": "x"}),
        ):
            await world.tenant.create(one, PODS)
        await world.client.delete(Machine, name, NAMESPACE)
        await world.settled(5)
        machine = await world.get(Machine, name)
        assert conditions(machine)["Deleting"] == "True/DrainingNode"
        assert "default/web" in machine.status.condition("Deleting").message
        assert machine.status.phase == "Deleting"
        assert (await world.tenant.get(NODES, name))["spec"]["unschedulable"] is True
        assert world.removed == []
        await end_pods(world)
        await world.settled(5)
        assert world.removed == [name]
        assert sorted(await pods(world)) == ["agent", "static"]


async def test_a_budget_holds_a_drain_up_until_its_time_is_over(world: World) -> None:
    async with world.managed():
        await world.make_cluster(1)
        patience = {"deletion": {"nodeDrainTimeoutSeconds": 120}}
        await world.change(MachineDeployment, WORKERS, {"spec": {"template": {"spec": patience}}})
        await world.settled()
        name = (await the_machine(world)).metadata.name
        await world.tenant.create(pod("web", name), PODS)
        running = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        await world.tenant.patch(PODS, "web", {"status": running}, "default", subresource="status")
        budget = {"metadata": {"name": "web", "namespace": "default"}}
        spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
        await world.tenant.create({**budget, "spec": spec}, BUDGETS)
        state = {"observedGeneration": 1, "disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1}
        await world.tenant.patch(
            BUDGETS, "web", {"status": {**state, "expectedPods": 1}}, "default", subresource="status"
        )
        await world.client.delete(Machine, name, NAMESPACE)
        await world.settled(60)
        machine = await world.get(Machine, name)
        assert "disruption budget" in machine.status.condition("Deleting").message
        assert machine.status.deletion.node_drain_start_time is not None
        await world.settled(120)
        assert world.removed == [name]


@pytest.mark.parametrize("delays", [REALISTIC])
async def test_a_drain_takes_as_long_as_it_is_said_to(world: World) -> None:
    async with world.managed():
        await world.make_cluster(1)
        await world.settled()
        name = (await the_machine(world)).metadata.name
        await world.client.delete(Machine, name, NAMESPACE)
        await world.settled(0.5)
        assert conditions(await world.get(Machine, name))["Deleting"] == "True/DrainingNode"
        await world.settled(2)
        assert world.removed == [name]


async def test_pods_on_a_silent_node_are_not_waited_for(world: World) -> None:
    async with world.managed():
        await world.make_cluster(1)
        await world.settled()
        name = (await the_machine(world)).metadata.name
        await world.tenant.create(pod("web", name), PODS)
        await say_of_node(world, name, "Unknown")
        await world.settled(1)
        await world.client.delete(Machine, name, NAMESPACE)
        await world.settled(10)
        assert world.removed == [name]


async def test_a_hook_keeps_a_machine(world: World) -> None:
    async with world.managed():
        await world.make_cluster(1)
        await world.settled()
        name = (await the_machine(world)).metadata.name
        hook = "pre-terminate.delete.hook.machine.cluster.x-k8s.io/mine"
        await world.change(Machine, name, {"metadata": {"annotations": {hook: ""}}})
        await world.client.delete(Machine, name, NAMESPACE)
        await world.settled()
        assert conditions(await world.get(Machine, name))["Deleting"] == "True/WaitingForPreTerminateHook"
        await world.change(Machine, name, {"metadata": {"annotations": {hook: None}}})
        await world.settled()
        assert world.removed == [name]


async def test_a_paused_cluster_stays_as_it_is(world: World) -> None:
    async with world.managed():
        await world.make_cluster(1)
        await world.settled()
        await world.change(Cluster, NAME, {"spec": {"paused": True}})
        await world.change(MachineDeployment, WORKERS, {"spec": {"replicas": 3}})
        await world.settled()
        await world.client.delete(Machine, (await the_machine(world)).metadata.name, NAMESPACE)
        await world.settled(7200)
        assert len(world.machines) == 1
        assert world.removed == []
        for kind in (Cluster, MachineDeployment, MachineSet, Machine):
            assert [conditions(one)["Paused"] for one in await world.all(kind)] == ["True/Paused"]
        await world.change(Cluster, NAME, {"spec": {"paused": None}})
        await world.settled()
        assert len(world.machines) == 3
        assert conditions(await world.get(Cluster))["Paused"] == "False/NotPaused"


async def test_a_paused_deployment_stays_as_it_is(world: World) -> None:
    async with world.managed():
        await world.make_cluster(1)
        await world.settled()
        pause = "cluster.x-k8s.io/paused"
        await world.change(MachineDeployment, WORKERS, {"metadata": {"annotations": {pause: "true"}}})
        await world.change(MachineDeployment, WORKERS, {"spec": {"replicas": 2}})
        await world.settled()
        assert len(world.machines) == 1
        await world.change(MachineDeployment, WORKERS, {"metadata": {"annotations": {pause: None}}})
        await world.settled()
        assert len(world.machines) == 2


async def test_a_machine_shows_what_its_infrastructure_says_is_wrong(world: World) -> None:
    world.failure = (
        Condition(type="Ready", status="False", reason="QuotaExceeded", message="no room for another machine"),
    )
    async with world.managed():
        await world.make_cluster(1)
        await world.settled(5)
        machine = await the_machine(world)
        assert conditions(machine)["InfrastructureReady"] == "False/QuotaExceeded"
        assert "no room" in machine.status.condition("Ready").message
        assert machine.status.phase == "Provisioning"
        assert "no room" in (await world.get(Cluster)).status.condition("WorkerMachinesReady").message


def foreign(kind: str, plural: str, version: str) -> dict[str, Any]:
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    properties = {"spec": anything, "status": anything}
    return {
        "metadata": {
            "name": f"{plural}.{INFRASTRUCTURE}",
            "labels": {"cluster.x-k8s.io/v1beta1": f"v1alpha1_{version}"},
        },
        "spec": {
            "group": INFRASTRUCTURE,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": name,
                    "served": True,
                    "storage": name == "v1alpha1",
                    "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
                }
                for name in ("v1alpha1", version)
            ],
        },
    }


async def test_machines_of_any_provider_are_made_from_its_templates(world: World) -> None:
    for one in (
        foreign("OxMachine", "oxmachines", "v1beta3"),
        foreign("OxMachineTemplate", "oxtemplates", "v1beta3"),
    ):
        await world.client.create(one, DEFINITION)
    template = Address(INFRASTRUCTURE, "v1beta3", "OxMachineTemplate", "oxtemplates", True)
    machine_kind = Address(INFRASTRUCTURE, "v1beta3", "OxMachine", "oxmachines", True)
    await asyncio.sleep(1)
    inner = {"metadata": {"labels": {"ox": "yes"}}, "spec": {"horns": {"count": 2}}}
    await world.client.create(
        {"metadata": {"name": "oxen", "namespace": NAMESPACE}, "spec": {"template": inner}}, template
    )
    async with world.managed():
        await world.make_cluster(1)
        await world.settled()
        ref = {"infrastructureRef": {"apiGroup": INFRASTRUCTURE, "kind": "OxMachineTemplate", "name": "oxen"}}
        await world.change(MachineDeployment, WORKERS, {"spec": {"template": {"spec": ref}}})
        await world.settled()
        [ox] = (await world.client.list(machine_kind)).items
        assert ox["spec"] == {"horns": {"count": 2}}
        assert ox["metadata"]["labels"]["ox"] == "yes"
        assert ox["metadata"]["annotations"]["cluster.x-k8s.io/cloned-from-groupkind"] == (
            f"OxMachineTemplate.{INFRASTRUCTURE}"
        )
        name = ox["metadata"]["name"]
        await world.client.patch(machine_kind, name, {"spec": {"providerID": "ox://1"}}, NAMESPACE)
        # As providers of the older contract say it.
        await world.client.patch(machine_kind, name, {"status": {"ready": True}}, NAMESPACE, subresource="status")
        await world.settled()
        machine = await world.get(Machine, name)
        assert (machine.spec.provider_id, machine.status.phase) == ("ox://1", "Provisioned")
        failed = {"failureReason": "Lame", "failureMessage": "a leg is broken"}
        await world.client.patch(machine_kind, name, {"status": failed}, NAMESPACE, subresource="status")
        await world.settled()
        machine = await world.get(Machine, name)
        assert machine.status.phase == "Failed"
        assert machine.status.deprecated["v1beta1"]["failureMessage"] == "a leg is broken"


async def test_a_missing_template_is_named(world: World) -> None:
    async with world.managed():
        await world.make_cluster(1)
        await world.settled()
        ref = {"infrastructureRef": {"name": "nowhere"}}
        await world.change(MachineDeployment, WORKERS, {"spec": {"template": {"spec": ref}}})
        await world.settled()
        told = [one.status.condition("ScalingUp").message for one in await world.all(MachineSet)]
        assert any("nowhere" in message for message in told)
        assert len(world.machines) == 1


async def test_a_size_left_to_an_autoscaler_is_filled_in_within_its_bounds(world: World) -> None:
    await world.make_cluster(1)
    bounds = {AUTOSCALER_MIN_SIZE: "2", AUTOSCALER_MAX_SIZE: "3"}
    left_out = {"metadata": {"annotations": bounds}, "spec": {"replicas": None}}
    await world.change(MachineDeployment, WORKERS, left_out)
    async with world.managed():
        await world.settled()
        assert (await world.get(MachineDeployment, WORKERS)).spec.replicas == 2
        assert len(await world.all(Machine)) == 2
        await world.change(MachineDeployment, WORKERS, {"spec": {"replicas": 3}})
        await world.settled()
        await world.change(MachineDeployment, WORKERS, {"spec": {"replicas": None}})
        await world.settled()
        assert (await world.get(MachineDeployment, WORKERS)).spec.replicas == 3


async def test_a_size_that_nobody_names_is_one(world: World) -> None:
    await world.make_cluster(3)
    await world.change(MachineDeployment, WORKERS, {"spec": {"replicas": None}})
    async with world.managed():
        await world.settled()
        assert len(await world.all(Machine)) == 1
