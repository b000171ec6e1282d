"""What addons may know of the cluster they are for."""

from __future__ import annotations

from butler.addons.facts import Facts
from butler.engines.tenants import Endpoint

from ..acceptance import Accepted


def facts_of(accepted: Accepted, version: str, endpoint: Endpoint | None) -> Facts:
    """A version and an endpoint that nobody knows yet are empty: nothing is installed before they are known."""
    cluster = accepted.cluster
    host, port = endpoint or ("", 0)
    networking = cluster.spec.networking
    return Facts(
        name=cluster.metadata.name,
        version=version,
        provider=accepted.provider.spec.infrastructure,
        named={
            "cluster.name": cluster.metadata.name,
            "cluster.namespace": cluster.metadata.namespace,
            "cluster.version": version,
            "cluster.endpoint.host": host,
            "cluster.endpoint.port": port,
            "cluster.podCIDR": networking.pod_cidr,
            "cluster.serviceCIDR": networking.service_cidr,
            "cluster.workers": accepted.settings.workers,
            "cluster.provider": accepted.provider.spec.infrastructure,
        },
    )
