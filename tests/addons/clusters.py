"""Clusters and infrastructures that tests of addons are about."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from butler.addons.facts import Facts, cluster_facts
from butler.api.cluster import TenantCluster
from butler.api.normalise import normalise
from butler.api.provider import ProviderConfig

ENDPOINT = ("10.0.0.5", 6443)
VERSION = "v1.34.1"
SECRET = "s3cret-of-clusters"
_UUID = "0005b0f1-0000-4000-8000-00000000000"

SECTIONS: dict[str, dict[str, Any]] = {
    "aws": {"region": "eu-central-1", "iamInstanceProfile": "workers"},
    "azure": {
        "subscriptionID": "sub", "resourceGroup": "rg", "tenantID": "tenant", "clientID": "platform",
        "location": "West Europe", "vnetName": "vnet", "subnetName": "nodes", "securityGroupName": "nsg",
    },
    "gcp": {"projectID": "shop", "region": "europe-west3", "subnetwork": "nodes", "tags": ["k8s"]},
    "nutanix": {
        "endpoint": "https://prism.example.com", "clusterUUID": f"{_UUID}1", "subnetUUID": f"{_UUID}2",
        "prismElement": "pe.example.com", "storageContainer": {"name": "default"},
    },
    "proxmox": {"endpoint": "https://pve.example.com:8006", "nodes": ["a"], "storage": "local-lvm"},
    "harvester": {"networkName": "default/vms", "storageClassName": "longhorn"},
    "simulated": {},
}  # fmt: skip

_ACCOUNT_KEY = {"client_email": "a@b", "private_key": SECRET, "token_uri": "https://t", "type": "service_account"}
_KUBECONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "hv", "cluster": {"server": "https://harvester.example.com"}}],
    "users": [{"name": "narrow", "user": {"token": SECRET}}],
    "contexts": [{"name": "here", "context": {"cluster": "hv", "user": "narrow"}}],
    "current-context": "here",
}
ACCOUNTS: dict[str, dict[str, str]] = {
    "aws": {"accessKeyID": "AKIA", "secretAccessKey": SECRET},
    "azure": {"clientID": "narrow", "clientSecret": SECRET},
    "gcp": {"serviceAccountKey": json.dumps(_ACCOUNT_KEY)},
    "nutanix": {"username": "narrow", "password": SECRET},
    "proxmox": {"token": "narrow@pve!k8s", "secret": SECRET},
    "harvester": {"kubeconfig": json.dumps(_KUBECONFIG)},
}
"""What the Secret of an account for clusters has."""


def provider(name: str, *, account: bool = False, **section: Any) -> ProviderConfig:
    """An infrastructure; `account` gives it one for clusters."""
    spec: dict[str, Any] = {"provider": name, name: {**SECTIONS[name], **section}}
    if name != "simulated":
        spec["credentialsRef"] = {"name": "platform"}
    if account:
        spec["clusterCredentialsRef"] = {"name": "clusters"}
    made = {"metadata": {"name": "lab", "namespace": "butler-system"}, "spec": spec}
    return normalise(msgspec.convert(made, ProviderConfig))


def cluster(**spec: Any) -> TenantCluster:
    made = {"metadata": {"name": "shop", "namespace": "team-web"}, "spec": spec}
    return normalise(msgspec.convert(made, TenantCluster))


def facts(
    config: ProviderConfig | None = None, workers: int = 3, endpoint: tuple[str, int] | None = ENDPOINT, **spec: Any
) -> Facts:
    return cluster_facts(cluster(**spec), config, version=VERSION, workers=workers, endpoint=endpoint)
