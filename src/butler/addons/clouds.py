"""What infrastructures do for clusters themselves: tell nodes who they are, give volumes and addresses.

Each takes an account inside the cluster. That of the platform never gets there: either the cloud gives machines one of
their own, or the ProviderConfig has one for clusters."""

from __future__ import annotations

from butler.api.cluster import TenantCluster
from butler.api.provider import ProviderConfig
from butler.api.sections.nutanix import NutanixSection

from .builtin import aws, azure, gcp, harvester, nutanix, proxmox

CONTROLLERS = {
    "aws": aws.CONTROLLER,
    "azure": azure.CONTROLLER,
    "gcp": gcp.CONTROLLER,
    "nutanix": nutanix.CONTROLLER,
    "proxmox": proxmox.CONTROLLER,
}
"""The cloud controller of each infrastructure; on Harvester, Cluster API does its work."""
_STORAGE = {
    "aws": aws.STORAGE,
    "azure": azure.STORAGE,
    "gcp": gcp.STORAGE,
    "nutanix": nutanix.STORAGE,
    "proxmox": proxmox.STORAGE,
    "harvester": harvester.STORAGE,
}
_TELL_NODES = {"aws", "azure", "gcp"}
"""Where nodes learn who they are without an account of the cluster's."""
_GIVE_ACCOUNTS = {"aws", "gcp"}
"""Where machines have an account of their own."""
_NO_ARP = {"aws", "azure", "gcp"}
"""Networks in which nobody can announce an address."""


def has_credentials(provider: ProviderConfig | None) -> bool:
    """Whether there is an account for clusters."""
    return provider is not None and provider.spec.cluster_credentials_ref is not None


def needs_cloud_controller(cluster: TenantCluster, provider: ProviderConfig | None) -> bool:
    """Whether kubelets say `cloud-provider=external`, so that nodes wait for a cloud controller; then there is one."""
    name = _name(provider)
    if name not in CONTROLLERS or not cluster.spec.control_plane.external_cloud_provider:
        return False
    return name in _TELL_NODES or has_credentials(provider)


def controller(cluster: TenantCluster, provider: ProviderConfig | None) -> str | None:
    return CONTROLLERS[_name(provider)] if needs_cloud_controller(cluster, provider) else None


def storage(cluster: TenantCluster, provider: ProviderConfig | None) -> str | None:
    """The CSI driver of the infrastructure, where the cluster can use it."""
    name = _name(provider)
    if name not in _STORAGE or not _has_account(provider):
        return None
    if name in CONTROLLERS and not needs_cloud_controller(cluster, provider):
        return None
    section = provider.spec.nutanix if provider is not None else None
    if section is not None and not (section.prism_element and container(section)):
        return None
    return _STORAGE[name]


def container(section: NutanixSection) -> str:
    """The storage container by its name, which is how volumes are asked for."""
    return (section.storage_container.name if section.storage_container else None) or ""


def balances(cluster: TenantCluster, provider: ProviderConfig | None) -> bool:
    """Whether the cloud gives Services their addresses."""
    return _name(provider) in _NO_ARP and needs_cloud_controller(cluster, provider) and _has_account(provider)


def announces(provider: ProviderConfig | None) -> bool:
    """Whether something in the cluster could announce addresses of Services."""
    return _name(provider) not in _NO_ARP


def _has_account(provider: ProviderConfig | None) -> bool:
    return _name(provider) in _GIVE_ACCOUNTS or has_credentials(provider)


def _name(provider: ProviderConfig | None) -> str:
    return provider.spec.infrastructure if provider is not None else ""
