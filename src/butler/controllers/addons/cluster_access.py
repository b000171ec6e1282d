"""The cluster of a TenantAddon: whether anything can be installed there yet, and how to reach it."""

from __future__ import annotations

from typing import Any

from butler.addons import facts
from butler.api.cluster import TenantCluster
from butler.engines.core import Secret
from butler.engines.helm.protocol import Cluster
from butler.engines.tenants import Endpoint, Tenants, admin_kubeconfig_secret
from kubekit.client.protocol import Client
from kubekit.errors import InvalidConfiguration, KubeError, NotFound

from ..cluster.steps.control_plane import ControlPlane


class KubeconfigError(KubeError):
    """Nobody knows how to reach a cluster."""

    reason = "KubeconfigError"


def hindrance(cluster: TenantCluster, *, for_nodes: bool) -> str:
    """What has to be there before anything can be installed; empty when it is."""
    status = cluster.status
    said = status.condition(ControlPlane.condition)
    if said is None or said.status != "True" or not (status.tenant_namespace and status.control_plane_endpoint):
        return "its control plane does not answer yet"
    if status.kubeconfig_secret_ref is None:
        return "its kubeconfig is not there yet"
    if not for_nodes and status.worker_nodes_desired and not status.worker_nodes_ready:
        return "none of its workers is ready yet"
    return ""


def what_matters(cluster: TenantCluster) -> Any:
    """As much of a cluster as its addons depend on."""
    status, seen = cluster.status, cluster.status.observed_state
    addons = [(one.name, one.status) for one in seen.addons] if seen is not None else []
    return (
        cluster.deleting,
        cluster.spec,
        hindrance(cluster, for_nodes=False),
        hindrance(cluster, for_nodes=True),
        status.control_plane_endpoint,
        status.worker_nodes_desired,
        seen.kubernetes_version if seen is not None else None,
        addons,
    )


def endpoint_of(cluster: TenantCluster) -> Endpoint:
    """Where its API server is. Raises KubeconfigError."""
    found = facts.endpoint_of(cluster)
    if found is None:
        raise KubeconfigError(f"TenantCluster {cluster.key}: nobody knows where its API server is")
    return found


async def reach(client: Client, tenants: Tenants, cluster: TenantCluster) -> Cluster:
    """Raises KubeconfigError."""
    name, namespace = admin_kubeconfig_secret(cluster.metadata.name), cluster.status.tenant_namespace or ""
    endpoint = endpoint_of(cluster)
    try:
        return await tenants.cluster_for(await client.get(Secret, name, namespace), endpoint)
    except (NotFound, InvalidConfiguration) as error:
        raise KubeconfigError(str(error)) from error
