"""Services find pods, claims find volumes, budgets count, load balancers get addresses."""

from __future__ import annotations

from typing import Any

from butler.simulation.workloads.kinds import BINDING, Deployment, Pod
from butler.simulation.workloads.service_kinds import (
    Endpoints,
    EndpointSlice,
    PersistentVolume,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    Service,
    StorageClass,
)
from tests.simulation.workloads.world import NODES, Object, World, claim, deployment, pod, template


def service(name: str = "web", **spec: Any) -> Object:
    wanted = {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": "http"}], **spec}
    return {"metadata": {"name": name, "namespace": "default"}, "spec": wanted}


def _web(replicas: int = 2) -> Object:
    main = {"name": "main", "image": "nginx:1", "ports": [{"containerPort": 8080, "name": "http"}]}
    return deployment(replicas=replicas, template=template("web", containers=[main]))


async def _slice(world: World) -> EndpointSlice:
    found: list[EndpointSlice] = await world.all(EndpointSlice, "kubernetes.io/service-name=web")
    (one,) = found
    return one


async def test_a_service_leads_to_its_ready_pods(world: World) -> None:
    async with world.running():
        await world.add(Service, service())
        await world.settled()
        assert not (await _slice(world)).endpoints
        await world.add(Deployment, _web())
        await world.settled()
        endpoints = (await _slice(world)).endpoints or ()
        assert sorted(one["addresses"][0] for one in endpoints) == ["10.244.1.2", "10.244.2.2"]
        assert {one["conditions"]["ready"] for one in endpoints} == {True}
        assert ((await _slice(world)).ports or ())[0]["port"] == 8080
        (subset,) = (await world.get(Endpoints, "web")).subsets
        assert [len(subset["addresses"]), subset["ports"][0]["port"]] == [2, 8080]
        silent = [{"type": "Ready", "status": "Unknown"}]
        await world.change(NODES, "node-1", {"status": {"conditions": silent}}, "status")
        await world.settled()
        ready = {one["nodeName"]: one["conditions"]["ready"] for one in (await _slice(world)).endpoints or ()}
        assert ready == {"node-1": False, "node-2": True}
        await world.delete(Deployment, "web")
        await world.delete(NODES, "node-1")
        await world.settled()
    assert (await world.get(Endpoints, "web")).subsets == ()


async def test_load_balancers_get_addresses_while_there_are_any(world: World) -> None:
    async with world.running():
        for name in ("a", "b", "c"):
            await world.add(Service, service(name, type="LoadBalancer"))
        await world.settled()
        given = {one.metadata.name: one.status.load_balancer.ingress for one in await world.all(Service)}
        addresses = sorted(ingress.ip for each in given.values() for ingress in each)
        assert addresses == ["10.9.0.1", "10.9.0.2"]
        (waiting,) = [name for name in "abc" if not given[name]]
        await world.delete(Service, next(name for name in "abc" if given[name]))
        await world.change(Service, waiting, {"metadata": {"labels": {"look": "again"}}})
        await world.settled()
        assert (await world.get(Service, waiting)).status.load_balancer.ingress[0].ip in addresses


async def test_a_claim_is_bound_to_a_volume_that_goes_with_it(world: World) -> None:
    async with world.running():
        await world.add(PersistentVolumeClaim, claim("data"))
        await world.settled()
        (volume,) = await world.all(PersistentVolume)
        bound = await world.get(PersistentVolumeClaim, "data")
        assert (bound.status.phase, bound.spec.volume_name) == ("Bound", volume.metadata.name)
        assert (volume.status.phase, bound.status.capacity) == ("Bound", {"storage": "1Gi"})
        await world.delete(PersistentVolumeClaim, "data")
        await world.settled()
    assert await world.all(PersistentVolume) == []


async def test_a_claim_of_an_unknown_class_waits_for_it(world: World) -> None:
    async with world.running():
        await world.add(PersistentVolumeClaim, claim("data", storageClassName="fast"))
        await world.settled()
        assert (await world.get(PersistentVolumeClaim, "data")).status.phase == "Pending"
        told = ("ProvisioningFailed", 'storageclass.storage.k8s.io "fast" not found')
        assert await world.events("data") == [told]
        kept = {"metadata": {"name": "fast"}, "provisioner": "x.example.com", "reclaimPolicy": "Retain"}
        await world.add(StorageClass, kept)
        await world.settled()
        assert (await world.get(PersistentVolumeClaim, "data")).status.phase == "Bound"
        await world.delete(PersistentVolumeClaim, "data")
        await world.settled()
    (volume,) = await world.all(PersistentVolume)
    assert volume.status.phase == "Released"


async def test_a_volume_that_fits_is_taken_before_a_new_one_is_made(world: World) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}
    for name, size in (("small", "500Mi"), ("large", "9Gi"), ("right", "2Gi")):
        await world.add(PersistentVolume, {"metadata": {"name": name}, "spec": {**spec, "capacity": {"storage": size}}})
    async with world.running():
        await world.add(PersistentVolumeClaim, claim("data", storageClassName=""))
        await world.settled()
    assert (await world.get(PersistentVolumeClaim, "data")).spec.volume_name == "right"
    phases = {one.metadata.name: one.status.phase for one in await world.all(PersistentVolume)}
    assert phases == {"small": "Available", "large": "Available", "right": "Bound"}


async def test_a_budget_says_how_many_pods_may_go(world: World) -> None:
    spec = {"minAvailable": "50%", "selector": {"matchLabels": {"app": "web"}}}
    async with world.running():
        await world.add(Deployment, _web(3))
        await world.add(PodDisruptionBudget, {"metadata": {"name": "web", "namespace": "default"}, "spec": spec})
        await world.settled()
        status = (await world.get(PodDisruptionBudget, "web")).status
        counts = (status.expected_pods, status.current_healthy, status.desired_healthy, status.disruptions_allowed)
        assert (counts, status.observed_generation) == ((3, 3, 2, 1), 1)


async def test_a_binding_gives_its_annotations_to_the_pod(world: World) -> None:
    await world.add(Pod, pod("web"))
    meta = {"name": "web", "namespace": "default", "annotations": {"by": "hand"}}
    await world.client.create({"metadata": meta, "target": {"kind": "Node", "name": "node-2"}}, BINDING)
    placed = await world.get(Pod, "web")
    assert (placed.spec.node_name, placed.metadata.annotations) == ("node-2", {"by": "hand"})
