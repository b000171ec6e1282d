"""Taking a cluster down: machines first, then everything else, and the finalizer last."""

from __future__ import annotations

from butler.api.cluster import TenantCluster
from kubekit.client.protocol import Client
from kubekit.errors import NotFound
from kubekit.model.resource import Address
from kubekit.runtime.objects import is_deleting

from . import kinds, names


async def take_down(client: Client, cluster: TenantCluster) -> str:
    """Ask for the next thing to go. Answers what is waited for; empty when nothing is left."""
    namespace = cluster.status.tenant_namespace or names.tenant_namespace(cluster.metadata.name, cluster.metadata.uid)
    # The API is asked rather than a cache: whatever a cache misses would be left behind for ever.
    if await _goes(client, kinds.CLUSTER, cluster.metadata.name, namespace):
        return "Cluster API takes down the machines and the control plane"
    if await _goes(client, kinds.NAMESPACE, namespace):
        return f"namespace {namespace} is being emptied"
    return ""


async def _goes(client: Client, kind: Address, name: str, namespace: str = "") -> bool:
    """Whether an object is still there; it has been asked to go."""
    try:
        found = await client.get(kind, name, namespace)
        if not is_deleting(found):
            await client.delete(kind, name, namespace, uid=found["metadata"]["uid"])
    except NotFound:
        return False
    return True
