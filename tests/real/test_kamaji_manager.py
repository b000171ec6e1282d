"""Kamaji makes a tenant's control plane, as far as it can without a node to run it on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from testbed.running.embedded import Kubectl
from testbed.running.processes import eventually
from testbed.running.servers import Cluster

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]

CONTROL_PLANE = {
    "apiVersion": "kamaji.clastix.io/v1alpha1",
    "kind": "TenantControlPlane",
    "metadata": {"name": "shop"},
    "spec": {
        "dataStore": "default",
        "controlPlane": {"deployment": {"replicas": 1}, "service": {"serviceType": "ClusterIP"}},
        "kubernetes": {
            "version": "v1.30.2",
            "kubelet": {"cgroupfs": "systemd"},
            "admissionControllers": ["NodeRestriction"],
        },
        "networkProfile": {
            "address": "127.0.0.1",
            "port": 31443,
            "certSANs": ["127.0.0.1"],
            "serviceCidr": "10.96.0.0/16",
            "podCidr": "10.36.0.0/16",
            "dnsServiceIPs": ["10.96.0.10"],
        },
        "addons": {"coreDNS": {}, "kubeProxy": {}},
    },
}
SECRETS = {
    f"shop-{name}"
    for name in (
        "admin-kubeconfig",
        "api-server-certificate",
        "api-server-kubelet-client-certificate",
        "ca",
        "controller-manager-kubeconfig",
        "front-proxy-ca-certificate",
        "front-proxy-client-certificate",
        "sa-certificate",
        "scheduler-kubeconfig",
    )
}


def test_a_control_plane_gets_its_secrets_and_its_deployment(kamaji: Cluster, kubectl: Kubectl, namespace: str) -> None:
    def items(kind: str) -> dict[str, Any]:
        found = json.loads(kubectl("-n", namespace, "get", kind, "-o", "json").out)["items"]
        return {one["metadata"]["name"]: one for one in found}

    kubectl("-n", namespace, "create", "-f", "-", stdin=json.dumps(CONTROL_PLANE))
    eventually(lambda: items("deployments"), "a Deployment", 90)
    deployment = items("deployments")["shop"]

    containers = {one["name"] for one in deployment["spec"]["template"]["spec"]["containers"]}
    assert containers == {"kube-apiserver", "kube-controller-manager", "kube-scheduler"}
    assert SECRETS - items("secrets").keys() == set()
    assert "shop" in items("services")
    status = items("tenantcontrolplanes")["shop"]["status"]
    assert status["kubeconfig"]["admin"]["secretName"] == "shop-admin-kubeconfig"

    kubectl("-n", namespace, "delete", "tenantcontrolplane", "shop", "--timeout=60s", timeout=70)
    eventually(lambda: not items("deployments"), "the Deployment is gone")
