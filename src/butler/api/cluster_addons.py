"""The addons a TenantCluster gets at creation."""

from __future__ import annotations

from typing import Annotated, Literal

from kubekit.model.resource import Model

from .model import NOT_YET, REFUSED, Values
from .shared import LocalRef


class CniAddon(Model):
    """Pod network."""

    provider: Annotated[Literal["cilium"], REFUSED] = "cilium"
    """Which one."""
    version: str | None = None
    """Version; left out, that of the platform."""
    values: Values | None = None
    """Helm values."""


class CertManagerAddon(Model):
    """Certificates by cert-manager."""

    enabled: bool = True
    """Install it."""
    version: str | None = None
    """Version; left out, that of the platform."""
    values: Values | None = None
    """Helm values."""


class StorageAddon(Model):
    """Persistent volumes; installed unless switched off."""

    enabled: bool = True
    """Install it."""
    provider: Literal["longhorn", "linstor"] | None = None
    """Which one; left out, the CSI driver of the infrastructure where it has one, else longhorn."""
    version: str | None = None
    """Version; left out, that of the platform."""
    values: Values | None = None
    """Helm values."""


class LoadBalancerAddon(Model):
    """Addresses for LoadBalancer Services; installed unless switched off, or the cloud itself gives them."""

    enabled: bool = True
    """Install it."""
    provider: Annotated[Literal["metallb"], REFUSED] = "metallb"
    """Which one."""
    version: str | None = None
    """Version; left out, that of the platform."""
    address_pool: str | None = None
    """Another way to write networking.loadBalancerPool, as text such as 10.0.0.10-10.0.0.20."""
    values: Values | None = None
    """Helm values."""


class IngressAddon(Model):
    """Ingress controller; installed unless switched off."""

    enabled: bool = True
    """Install it; false saves an address."""
    provider: Literal["traefik", "nginx"] | None = None
    """Which one."""
    version: str | None = None
    """Version; left out, that of the platform."""
    values: Values | None = None
    """Helm values."""


class MetricsServerAddon(Model):
    """Figures of CPU and memory; installed unless switched off."""

    enabled: bool = True
    """Install it."""
    version: str | None = None
    """Version; left out, that of the platform."""
    values: Values | None = None
    """Helm values."""


class GitRepository(Model):
    """A directory in a Git repository."""

    url: str
    """Address of the repository."""
    branch: str = "main"
    """Branch."""
    path: str | None = None
    """Directory of this cluster."""
    secret_ref: LocalRef | None = None
    """Secret with Git credentials."""


class GitOpsAddon(Model):
    """Keeps the cluster as a Git repository says."""

    provider: Literal["fluxcd", "argocd"] | None = None
    """Which tool."""
    version: str | None = None
    """Version; left out, that of the platform."""
    repository: GitRepository | None = None


class ClusterAddons(Model):
    """Addons by purpose."""

    cni: CniAddon | None = None
    cert_manager: CertManagerAddon | None = None
    storage: StorageAddon | None = None
    load_balancer: LoadBalancerAddon | None = None
    ingress: IngressAddon | None = None
    metrics_server: MetricsServerAddon | None = None
    gitops: Annotated[GitOpsAddon | None, NOT_YET] = None
