"""The cluster that an addon is for, as far as addons need to know it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from msgspec import convert, structs

from butler.api.cluster import TenantCluster, TenantClusterSpec
from butler.api.normalise import normalise
from butler.api.provider import ProviderConfig
from butler.api.sections.nutanix import NUTANIX_PORT

from . import clouds

_SMALL, _COPIES = 2, 3


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of the cluster that an addon is for."""

    name: str
    """Of the cluster."""
    version: str
    """Of Kubernetes, such as v1.34.1; empty while nobody knows."""
    provider: str
    """The infrastructure, such as aws; empty for the management cluster."""
    named: Mapping[str, Any]
    """What placeholders stand for: `cluster.name`, `cluster.endpoint.host` and others. None is what it has none of."""


def cluster_facts(
    cluster: TenantCluster,
    provider: ProviderConfig | None,
    *,
    version: str,
    workers: int,
    endpoint: tuple[str, int] | None = None,
) -> Facts:
    """Of a cluster and its ProviderConfig, both normalised. While the endpoint is not known, it has no name either."""
    infrastructure = provider.spec.infrastructure if provider is not None else ""
    named = {
        "cluster.name": cluster.metadata.name,
        "cluster.namespace": cluster.metadata.namespace,
        "cluster.version": version,
        "cluster.provider": infrastructure,
        **_sizes(workers),
        **_networks(cluster, provider),
        # Texts both, since nothing that takes a port as a number refuses it as a text.
        **({"cluster.endpoint.host": endpoint[0], "cluster.endpoint.port": str(endpoint[1])} if endpoint else {}),
        "provider.clusterCredentials": clouds.has_credentials(provider),
        **(_PROVIDERS[infrastructure](provider) if provider is not None and infrastructure in _PROVIDERS else {}),
    }
    return Facts(cluster.metadata.name, version, infrastructure, named)


def running_facts(cluster: TenantCluster, provider: ProviderConfig | None) -> Facts:
    """Of a cluster that runs, as it was last accepted and seen. Raises InvalidConfiguration."""
    status, seen = cluster.status, cluster.status.observed_state
    if status.accepted_spec is not None:
        cluster = structs.replace(cluster, spec=convert(status.accepted_spec, TenantClusterSpec))
    return cluster_facts(
        normalise(cluster),
        normalise(provider) if provider is not None else None,
        version=(seen.kubernetes_version or "") if seen is not None else "",
        workers=status.worker_nodes_desired or 0,
        endpoint=endpoint_of(cluster),
    )


def endpoint_of(cluster: TenantCluster) -> tuple[str, int] | None:
    """Where its API server is, if that is known."""
    host, _, port = (cluster.status.control_plane_endpoint or "").partition("/")[0].rpartition(":")
    return (host, int(port)) if host and port.isdecimal() else None


def _sizes(workers: int) -> dict[str, Any]:
    small = max(1, min(_SMALL, workers))
    return {
        "cluster.workers": workers,
        "cluster.smallReplicas": small,
        "cluster.storageReplicas": max(1, min(_COPIES, workers)),
        # Parameters of StorageClasses are texts.
        "cluster.placementCount": str(small),
    }


def _networks(cluster: TenantCluster, provider: ProviderConfig | None) -> dict[str, Any]:
    addresses = balancer_addresses(cluster)
    balanced = clouds.balances(cluster, provider) or (addresses is not None and clouds.announces(provider))
    networking = cluster.spec.networking
    return {
        "cluster.podCidr": networking.pod_cidr,
        "cluster.serviceCidr": networking.service_cidr,
        "cluster.loadBalancer.addresses": addresses,
        "cluster.serviceType": "LoadBalancer" if balanced else "NodePort",
    }


def balancer_addresses(cluster: TenantCluster) -> list[str] | None:
    """Ranges for LoadBalancer Services, such as 10.0.0.10-10.0.0.20."""
    pool, platform = cluster.spec.networking.load_balancer_pool, cluster.spec.platform
    if pool is not None:
        return [f"{pool.start}-{pool.end}"]
    several = (platform.metal_lb_pool if platform else None) or ""
    return [one.strip() for one in several.split(",") if one.strip()] or None


def _aws(provider: ProviderConfig) -> dict[str, Any]:
    aws = provider.spec.aws
    return {"provider.region": aws.region} if aws is not None else {}


def _azure(provider: ProviderConfig) -> dict[str, Any]:
    azure = provider.spec.azure
    return {"provider.region": azure.location or ""} if azure is not None else {}


def _gcp(provider: ProviderConfig) -> dict[str, Any]:
    gcp = provider.spec.gcp
    if gcp is None:
        return {}
    network, subnetwork = gcp.network or "default", gcp.subnetwork or ""
    paths = (path.partition("projects/")[2] for path in (network, subnetwork))
    shared = next((path.partition("/")[0] for path in paths if path), "")
    return {
        "provider.project": gcp.project_id,
        "provider.region": gcp.region,
        "provider.network": network.rpartition("/")[2],
        "provider.subnetwork": subnetwork.rpartition("/")[2],
        "provider.networkProject": shared or gcp.project_id,
        "provider.tags": list(gcp.tags),
    }


def _nutanix(provider: ProviderConfig) -> dict[str, Any]:
    nutanix = provider.spec.nutanix
    if nutanix is None:
        return {}
    return {
        "provider.host": urlsplit(nutanix.endpoint or "").hostname or "",
        "provider.port": nutanix.port or NUTANIX_PORT,
        "provider.insecure": bool(nutanix.insecure),
        "provider.prismElement": nutanix.prism_element,
        "provider.storageContainer": clouds.container(nutanix) or None,
    }


def _proxmox(provider: ProviderConfig) -> dict[str, Any]:
    proxmox = provider.spec.proxmox
    return {"provider.storage": proxmox.storage} if proxmox is not None else {}


def _harvester(provider: ProviderConfig) -> dict[str, Any]:
    harvester = provider.spec.harvester
    return {"provider.storageClass": harvester.storage_class_name or ""} if harvester is not None else {}


_PROVIDERS = {
    "aws": _aws,
    "azure": _azure,
    "gcp": _gcp,
    "nutanix": _nutanix,
    "proxmox": _proxmox,
    "harvester": _harvester,
}
