"""Cluster API's own managers, with machines in memory, take a cluster through its life."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
import yaml

from testbed.running.embedded import Kubectl
from testbed.running.processes import eventually
from testbed.running.servers import Cluster

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]

_QUICK = {"provisioning": {"startupDuration": "1s"}}
_CONTROL_PLANE = {"vm": _QUICK, "node": _QUICK, "apiServer": _QUICK, "etcd": _QUICK}
_WORKER = {"vm": _QUICK, "node": _QUICK}


def reference(group: str, kind: str, name: str) -> dict[str, str]:
    return {"apiGroup": f"{group}cluster.x-k8s.io", "kind": kind, "name": name}


def made(group: str, kind: str, name: str, spec: Any, **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"{group}cluster.x-k8s.io/v1beta2",
        "kind": kind,
        "metadata": {"name": name, **metadata},
        "spec": spec,
    }


def machines_of(backend: dict[str, Any]) -> dict[str, Any]:
    return {"template": {"spec": {"backend": {"inMemory": backend}}}}


def cluster(workers: int) -> str:
    """A cluster `shop` with one control plane machine."""
    core, infrastructure, bootstrap, control_plane = "", "infrastructure.", "bootstrap.", "controlplane."
    # An empty object would be refused.
    kubeadm = {"format": "cloud-config"}
    objects = [
        made(
            core,
            "Cluster",
            "shop",
            {
                "clusterNetwork": {
                    "pods": {"cidrBlocks": ["192.168.0.0/16"]},
                    "services": {"cidrBlocks": ["10.128.0.0/12"]},
                },
                "controlPlaneRef": reference(control_plane, "KubeadmControlPlane", "shop"),
                "infrastructureRef": reference(infrastructure, "DevCluster", "shop"),
            },
        ),
        # Without any annotation the provider writes into a map that is not there.
        made(infrastructure, "DevCluster", "shop", {"backend": {"inMemory": {}}}, annotations={"is": "needed"}),
        made(infrastructure, "DevMachineTemplate", "shop-control-plane", machines_of(_CONTROL_PLANE)),
        made(infrastructure, "DevMachineTemplate", "shop-worker", machines_of(_WORKER)),
        made(bootstrap, "KubeadmConfigTemplate", "shop-worker", {"template": {"spec": kubeadm}}),
        made(
            control_plane,
            "KubeadmControlPlane",
            "shop",
            {
                "replicas": 1,
                "version": "v1.34.0",
                "kubeadmConfigSpec": kubeadm,
                "machineTemplate": {
                    "spec": {"infrastructureRef": reference(infrastructure, "DevMachineTemplate", "shop-control-plane")}
                },
            },
        ),
        made(
            core,
            "MachineDeployment",
            "shop-workers",
            {
                "clusterName": "shop",
                "replicas": workers,
                "selector": {"matchLabels": {}},
                "template": {
                    "spec": {
                        "clusterName": "shop",
                        "version": "v1.34.0",
                        "bootstrap": {"configRef": reference(bootstrap, "KubeadmConfigTemplate", "shop-worker")},
                        "infrastructureRef": reference(infrastructure, "DevMachineTemplate", "shop-worker"),
                    }
                },
            },
        ),
    ]
    return yaml.safe_dump_all(objects)


class Shop:
    """The cluster in a namespace of its own."""

    def __init__(self, kubectl: Kubectl, namespace: str) -> None:
        self._kubectl, self._namespace = kubectl, namespace

    def __call__(self, *arguments: str, **options: Any) -> str:
        return self._kubectl("-n", self._namespace, *arguments, **options).out

    def items(self, kinds: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self("get", kinds, "-o", "json"))["items"]
        return found

    def has_running(self, count: int) -> bool:
        """Exactly so many machines, all of them Running."""
        phases = Counter(machine.get("status", {}).get("phase") for machine in self.items("machines"))
        return phases == {"Running": count}

    def until_running(self, count: int) -> None:
        eventually(lambda: self.has_running(count), f"{count} machines Running", 120, pause=0.5)

    def conditions(self, kind: str, name: str) -> dict[str, str]:
        (found,) = [one for one in self.items(kind) if one["metadata"]["name"] == name]
        return {one["type"]: one["status"] for one in found["status"]["conditions"]}


_OWNED = "machines,machinesets,machinedeployments,kubeadmcontrolplanes,kubeadmconfigs,devmachines,devclusters"


def test_a_cluster_runs_grows_shrinks_and_goes(cluster_api: Cluster, kubectl: Kubectl, namespace: str) -> None:
    shop = Shop(kubectl, namespace)

    shop("create", "-f", "-", stdin=cluster(workers=2))
    shop.until_running(3)
    shop("wait", "cluster/shop", "--for=condition=Available", "--timeout=60s", timeout=70)
    assert shop("get", "cluster", "shop", "-o", "jsonpath={.status.phase}") == "Provisioned"
    assert shop("get", "machinedeployment", "shop-workers", "-o", "jsonpath={.status.phase}") == "Running"
    assert shop.conditions("cluster", "shop")["WorkersAvailable"] == "True"

    shop("scale", "machinedeployment", "shop-workers", "--replicas=4")
    shop.until_running(5)
    shop("scale", "machinedeployment", "shop-workers", "--replicas=1")
    shop.until_running(2)

    shop("delete", "cluster", "shop", "--timeout=120s", timeout=130)
    assert shop.items(_OWNED) == []


def test_a_machine_deployment_gets_what_the_webhook_fills_in(
    cluster_api: Cluster, kubectl: Kubectl, namespace: str
) -> None:
    *_, deployment = yaml.safe_load_all(cluster(workers=1))
    tried = kubectl(
        "-n", namespace, "create", "-f", "-", "--dry-run=server", "-o", "json", stdin=json.dumps(deployment)
    )
    found = json.loads(tried.out)
    assert found["spec"]["rollout"]["strategy"]["type"] == "RollingUpdate"
    assert found["spec"]["selector"]["matchLabels"]["cluster.x-k8s.io/deployment-name"] == "shop-workers"


def test_an_old_version_of_a_cluster_is_converted(cluster_api: Cluster, kubectl: Kubectl, namespace: str) -> None:
    group = "infrastructure.cluster.x-k8s.io"
    old = {
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "Cluster",
        "metadata": {"name": "old"},
        "spec": {"infrastructureRef": {"apiVersion": f"{group}/v1beta2", "kind": "DevCluster", "name": "old"}},
    }
    kubectl("-n", namespace, "create", "-f", "-", stdin=json.dumps(old))
    found = json.loads(kubectl("-n", namespace, "get", "clusters.v1beta2.cluster.x-k8s.io", "old", "-o", "json").out)
    assert found["apiVersion"] == "cluster.x-k8s.io/v1beta2"
    assert found["spec"]["infrastructureRef"] == {"apiGroup": group, "kind": "DevCluster", "name": "old"}
    kubectl("-n", namespace, "delete", "cluster", "old", "--timeout=30s", timeout=40)


def test_a_mistake_is_refused_by_the_webhook(cluster_api: Cluster, kubectl: Kubectl, namespace: str) -> None:
    objects = {one["kind"]: one for one in yaml.safe_load_all(cluster(workers=1))}
    wrong = objects["KubeadmControlPlane"]
    wrong["spec"]["replicas"] = 2
    said = kubectl("-n", namespace, "create", "-f", "-", stdin=json.dumps(wrong), fails=True).err
    assert said.startswith('The KubeadmControlPlane "shop" is invalid: ')
    assert "cannot be an even number" in said
