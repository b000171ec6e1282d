"""What kubeadm leaves in the API of a new cluster: its settings, and what machines that join may read."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from butler.engines.kamaji.kinds import NetworkProfile
from kubekit.model.resource import Address

RBAC = "rbac.authorization.k8s.io"
CONFIG_MAP = Address("", "v1", "ConfigMap", "configmaps", True)
SERVICE_ACCOUNT = Address("", "v1", "ServiceAccount", "serviceaccounts", True)
CLUSTER_ROLE = Address(RBAC, "v1", "ClusterRole", "clusterroles", False)
CLUSTER_ROLE_BINDING = Address(RBAC, "v1", "ClusterRoleBinding", "clusterrolebindings", False)
ROLE = Address(RBAC, "v1", "Role", "roles", True)
ROLE_BINDING = Address(RBAC, "v1", "RoleBinding", "rolebindings", True)

SYSTEM, PUBLIC = "kube-system", "kube-public"
JOINING = "system:bootstrappers:kubeadm:default-node-token"
"""The group of machines that join with a bootstrap token."""
NODES = "system:nodes"

Object = dict[str, Any]
Placed = tuple[Address, Object]


@dataclass(frozen=True, slots=True)
class Cluster:
    """What the contents of a tenant's API depend on."""

    name: str
    version: str
    url: str
    authority: bytes
    endpoint: str
    registry: str
    cgroup_driver: str
    network: NetworkProfile
    dns_address: str


def settings(cluster: Cluster) -> Iterator[Placed]:
    """What changes with the version, and with the place the API is reached at."""
    yield CONFIG_MAP, config_map("kubeadm-config", SYSTEM, ClusterConfiguration=_cluster_configuration(cluster))
    yield CONFIG_MAP, config_map("cluster-info", PUBLIC, kubeconfig=_cluster_info(cluster))


def fixtures(cluster: Cluster) -> Iterator[Placed]:
    """What stays as it is."""
    yield CONFIG_MAP, config_map("kubelet-config", SYSTEM, kubelet=_kubelet_configuration(cluster))


def rights() -> Iterator[Placed]:
    """What stays as it is, and is the same in every cluster."""
    requests = "system:certificates.k8s.io:certificatesigningrequests"
    yield cluster_binding("kubeadm:cluster-admins", "cluster-admin", group("kubeadm:cluster-admins"))
    yield cluster_binding("kubeadm:kubelet-bootstrap", "system:node-bootstrapper", group(JOINING))
    yield cluster_binding("kubeadm:node-autoapprove-bootstrap", f"{requests}:nodeclient", group(JOINING))
    yield cluster_binding("kubeadm:node-autoapprove-certificate-rotation", f"{requests}:selfnodeclient", group(NODES))
    yield CLUSTER_ROLE, {"metadata": {"name": "kubeadm:get-nodes"}, "rules": [_rule("nodes")]}
    yield cluster_binding("kubeadm:get-nodes", "kubeadm:get-nodes", group(JOINING))
    yield from role("kubeadm:nodes-kubeadm-config", SYSTEM, "kubeadm-config", group(JOINING), group(NODES))
    yield from role("kubeadm:kubelet-config", SYSTEM, "kubelet-config", group(JOINING), group(NODES))
    # Elsewhere for anybody at all; but all tenants share an address, and strangers must not learn which there are.
    yield from role("kubeadm:bootstrap-signer-clusterinfo", PUBLIC, "cluster-info", group(JOINING))


def config_map(name: str, namespace: str, **data: str) -> Object:
    return {"metadata": {"name": name, "namespace": namespace}, "data": data}


def group(name: str) -> Object:
    return {"apiGroup": RBAC, "kind": "Group", "name": name}


def account(name: str) -> Object:
    return {"kind": "ServiceAccount", "name": name, "namespace": SYSTEM}


def cluster_binding(name: str, role_name: str, *subjects: Object) -> Placed:
    ref = {"apiGroup": RBAC, "kind": "ClusterRole", "name": role_name}
    return CLUSTER_ROLE_BINDING, {"metadata": {"name": name}, "roleRef": ref, "subjects": list(subjects)}


def role(name: str, namespace: str, config: str, *subjects: Object) -> Iterator[Placed]:
    """The right to read one ConfigMap."""
    meta = {"name": name, "namespace": namespace}
    yield ROLE, {"metadata": meta, "rules": [_rule("configmaps", config)]}
    ref = {"apiGroup": RBAC, "kind": "Role", "name": name}
    yield ROLE_BINDING, {"metadata": dict(meta), "roleRef": ref, "subjects": list(subjects)}


def _rule(plural: str, *names: str) -> Object:
    rule: Object = {"apiGroups": [""], "resources": [plural], "verbs": ["get"]}
    return {**rule, "resourceNames": list(names)} if names else rule


def _cluster_configuration(cluster: Cluster) -> str:
    network = cluster.network
    return f"""\
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
clusterName: {cluster.name}
controlPlaneEndpoint: {cluster.endpoint}
kubernetesVersion: {cluster.version}
imageRepository: {cluster.registry}
certificatesDir: /etc/kubernetes/pki
networking:
  dnsDomain: {network.cluster_domain}
  podSubnet: {network.pod_cidr}
  serviceSubnet: {network.service_cidr}
"""


def _kubelet_configuration(cluster: Cluster) -> str:
    return f"""\
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous:
    enabled: false
  webhook:
    enabled: true
  x509:
    clientCAFile: /etc/kubernetes/pki/ca.crt
authorization:
  mode: Webhook
cgroupDriver: {cluster.cgroup_driver}
clusterDNS:
- {cluster.dns_address}
clusterDomain: {cluster.network.cluster_domain}
rotateCertificates: true
staticPodPath: /etc/kubernetes/manifests
"""


def _cluster_info(cluster: Cluster) -> str:
    return f"""\
apiVersion: v1
kind: Config
clusters:
- name: ""
  cluster:
    certificate-authority-data: {base64.b64encode(cluster.authority).decode()}
    server: {cluster.url}
contexts: []
users: []
current-context: ""
"""
