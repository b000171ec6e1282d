"""A cluster `shop` as Butler writes it for Cluster API, and the kinds it is made of."""

from __future__ import annotations

from typing import Any

from butler.engines.capi.kinds import (
    BOOTSTRAP,
    CLUSTER_NAME,
    CONTROL_PLANE,
    CORE,
    INFRASTRUCTURE,
    Cluster,
    KubeadmConfig,
    KubeadmConfigTemplate,
    Machine,
    MachineDeployment,
    MachineSet,
)
from butler.engines.core import Secret
from butler.engines.kamaji.kinds import KamajiControlPlane
from butler.simulation.infrastructure.kinds import SimulatedCluster, SimulatedMachine, SimulatedMachineTemplate
from kubekit.model.resource import Address

Json = dict[str, Any]

NAME = "shop"
WORKERS = "shop-workers"
OLD_VERSION = "v1.33.0"
VERSION = "v1.34.0"
NEXT_VERSION = "v1.35.0"
NODES = Address("", "v1", "Node", "nodes", False)
PODS = Address("", "v1", "Pod", "pods", True)
EVENTS = Address("", "v1", "Event", "events", True)
NAMESPACES = Address("", "v1", "Namespace", "namespaces", False)

OF_CLUSTER_API = (Cluster, MachineDeployment, MachineSet, Machine, KubeadmConfig)
"""Whose objects Cluster API writes."""
OF_PROVIDERS = (SimulatedCluster, SimulatedMachine, KamajiControlPlane)
"""Whose objects it marks as its own."""
WATCHED = (*(kind.address for kind in (*OF_CLUSTER_API, *OF_PROVIDERS, Secret)), EVENTS)
_ENDPOINT = {"host": "127.0.0.1", "port": 6443}
_LABELS = {CLUSTER_NAME: NAME, "pool": "workers"}
_PART = "test/holds"
"""The finalizer of a provider."""


def cluster(workers: int) -> list[tuple[Json, Address]]:
    """Everything there is of a cluster before anybody has seen it. Nothing is left for webhooks to fill in."""
    return [
        (made(NAME, {"controlPlaneEndpoint": _ENDPOINT}, finalizers=[_PART]), SimulatedCluster.address),
        template_of_machines("shop-worker"),
        (made("shop-worker", {"template": {"spec": {"format": "cloud-config"}}}), KubeadmConfigTemplate.address),
        (made(NAME, _control_plane(), finalizers=[_PART]), KamajiControlPlane.address),
        (made(NAME, _cluster()), Cluster.address),
        (made(WORKERS, _workers(workers)), MachineDeployment.address),
    ]


def template_of_machines(name: str) -> tuple[Json, Address]:
    return made(name, {"template": {"spec": {"cpu": 4}}}), SimulatedMachineTemplate.address


def made(name: str, spec: Json, **metadata: Any) -> Json:
    return {"metadata": {"name": name, "labels": {CLUSTER_NAME: NAME}, **metadata}, "spec": spec}


def reference(group: str, kind: str, name: str) -> Json:
    return {"apiGroup": group, "kind": kind, "name": name}


def _cluster() -> Json:
    return {
        "clusterNetwork": {
            "pods": {"cidrBlocks": ["10.244.0.0/16"]},
            "services": {"cidrBlocks": ["10.96.0.0/16"]},
            "serviceDomain": "cluster.local",
        },
        "controlPlaneEndpoint": _ENDPOINT,
        "controlPlaneRef": reference(CONTROL_PLANE, "KamajiControlPlane", NAME),
        "infrastructureRef": reference(INFRASTRUCTURE, "SimulatedCluster", NAME),
    }


def _control_plane() -> Json:
    addresses = ["InternalIP", "ExternalIP", "Hostname"]
    return {
        "version": VERSION,
        "replicas": 2,
        "network": {"serviceType": "LoadBalancer"},
        "kubelet": {"cgroupfs": "systemd", "preferredAddressTypes": addresses},
    }


def _workers(replicas: int) -> Json:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    return {
        "clusterName": NAME,
        "replicas": replicas,
        "selector": {"matchLabels": _LABELS},
        "rollout": {"strategy": rolling},
        # So that it is not left to chance which machine goes.
        "deletion": {"order": "Oldest"},
        "template": {
            "metadata": {
                "labels": {**_LABELS, "node-role.kubernetes.io/worker": ""},
                "annotations": {"note": "of the template"},
            },
            "spec": {
                "clusterName": NAME,
                "version": VERSION,
                "bootstrap": {"configRef": reference(BOOTSTRAP, "KubeadmConfigTemplate", "shop-worker")},
                "infrastructureRef": reference(INFRASTRUCTURE, "SimulatedMachineTemplate", "shop-worker"),
            },
        },
    }


def secret(name: str, **data: str) -> Json:
    meta = {"name": name, "labels": {CLUSTER_NAME: NAME}}
    return {"metadata": meta, "type": f"{CORE}/secret", "stringData": data}


def node(name: str, version: str, *, ready: bool) -> Json:
    """A node as its kubelet would register it."""
    return {
        "metadata": {"name": name},
        "spec": {
            "providerID": provider_id(name),
            "taints": [{"key": "node.cluster.x-k8s.io/uninitialized", "effect": "NoSchedule"}],
        },
        "status": {"conditions": health(ready="True" if ready else "False"), "nodeInfo": _about(version)},
    }


def provider_id(name: str) -> str:
    return f"simulated://{name}"


def health(ready: str = "True", pressure: str = "False") -> list[Json]:
    pressures = [
        {"type": kind, "status": pressure if kind == "DiskPressure" else "False", "reason": "Kubelet", "message": "so"}
        for kind in ("MemoryPressure", "DiskPressure", "PIDPressure")
    ]
    return [{"type": "Ready", "status": ready, "reason": "Kubelet", "message": "so"}, *pressures]


def _about(version: str) -> Json:
    texts = (
        "architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "machineID",
        "operatingSystem", "osImage", "systemUUID",
    )  # fmt: skip
    return {**dict.fromkeys(texts, "simulated"), "kubeletVersion": version, "kubeProxyVersion": ""}


def pod(name: str, on: str) -> Json:
    meta = {"name": name, "namespace": "default", "labels": {"app": name}}
    container = {"name": "app", "image": "example.com/app:1"}
    return {"metadata": meta, "spec": {"nodeName": on, "containers": [container], "terminationGracePeriodSeconds": 30}}
