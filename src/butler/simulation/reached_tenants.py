"""Reaching tenants the way Cluster API does: by the Secret that is named like the cluster."""

from __future__ import annotations

from butler.engines.capi.kinds import Cluster
from butler.engines.core import Secret
from butler.engines.tenants import HTTPS, Connect, Tenants, kubeconfig_secret
from kubekit.client.protocol import Client
from kubekit.errors import NotFound
from kubekit.runtime.informer import Informer
from kubekit.runtime.manager import Manager
from kubekit.runtime.objects import key


class ReachedTenants(Tenants):
    """Clients of tenants' APIs by namespace and cluster."""

    def __init__(self, manager: Manager, connect: Connect) -> None:
        super().__init__(connect)
        self._management = manager.client
        self._clusters: Informer[Cluster] = manager.informers.of(Cluster)

    async def reach(self, namespace: str, cluster: str) -> Client | None:
        """The client for a cluster; None while its kubeconfig or its endpoint is not there. Reads one Secret."""
        try:
            secret = await self._management.get(Secret, kubeconfig_secret(cluster), namespace)
        except NotFound:
            await self.forget(namespace, cluster)
            return None
        known = self._clusters.get(key(namespace, cluster))
        endpoint = known.spec.control_plane_endpoint if known is not None else None
        if endpoint is None or not endpoint.host:
            return None
        return await self.client_for(secret, (endpoint.host, endpoint.port or HTTPS))
