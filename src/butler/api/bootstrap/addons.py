"""The addons of a management cluster; which of them an absent block means is said at each."""

from __future__ import annotations

from typing import Literal

from kubekit.model.resource import Model

from ..shared import SecretRef


class BootstrapCni(Model):
    """Pod network; left out, none is installed."""

    type: Literal["cilium", "none"] = "cilium"
    """Which one."""
    version: str | None = None
    """Version."""
    hubble_enabled: bool = True
    """Show network flows with Hubble."""


class BootstrapStorage(Model):
    """Persistent volumes; left out, none are installed."""

    type: Literal["longhorn", "none"] = "longhorn"
    """Which one."""
    version: str | None = None
    """Version."""
    replica_count: int = 3
    """Copies of each volume; one on a single node."""


class BootstrapLoadBalancer(Model):
    """Addresses for LoadBalancer Services; left out, none are given."""

    type: Literal["metallb", "none"] = "metallb"
    """Which one."""
    address_pool: str | None = None
    """Older way to write network.loadBalancerPool, as text."""


class ControlPlaneHa(Model):
    """Carries the address of the API server."""

    type: Literal["kube-vip", "none"] = "kube-vip"
    """Which one."""
    version: str | None = None
    """Version."""


class ControlPlaneProvider(Model):
    """Runs the control planes of tenants; left out, it is installed."""

    enabled: bool = True
    """Install it."""
    type: Literal["steward", "kamaji", "none"] = "steward"
    """Which one."""
    version: str | None = None
    """Version."""


class BootstrapCertManager(Model):
    """Certificates by cert-manager; left out, it is installed."""

    enabled: bool = True
    """Install it."""
    version: str | None = None
    """Version."""


class BootstrapIngress(Model):
    """Ingress controller; left out, it is installed except in a cloud."""

    enabled: bool = True
    """Install it."""
    type: Literal["traefik", "nginx", "none"] = "traefik"
    """Which one."""
    version: str | None = None
    """Version."""


class GitOpsTool(Model):
    """GitOps for the platform itself; left out, none is installed."""

    enabled: bool = True
    """Install it."""
    type: Literal["flux", "none"] = "flux"
    """Which one."""


class InfrastructureProvider(Model):
    """A further Cluster API provider."""

    name: Literal["harvester", "nutanix", "proxmox", "gcp", "aws", "azure"]
    """Which one."""
    version: str | None = None
    """Version."""
    credentials_secret_ref: SecretRef | None = None
    """Credentials; needed for providers other than the cluster's own."""


class ClusterApi(Model):
    """Cluster API; left out, it is installed."""

    enabled: bool = True
    """Install it."""
    version: str = "v1.9.4"
    """Version of the core."""
    infrastructure_providers: tuple[InfrastructureProvider, ...] = ()
    """Further providers; the cluster's own is always there."""


class ButlerControllers(Model):
    """Butler's own controllers; left out, they are installed."""

    enabled: bool = True
    """Install them."""
    image: str = "ghcr.io/butlerdotdev/butler-controller"
    """Image without tag."""
    version: str = "latest"
    """Image tag."""


class ConsoleIngress(Model):
    """How the console is reached from outside."""

    enabled: bool = False
    """Create an Ingress."""
    host: str | None = None
    """Host name; left out, butler.<cluster>.local."""
    class_name: str | None = None
    """Ingress class."""
    tls: bool = False
    """Use TLS."""
    tls_secret_name: str | None = None
    """Secret with the certificate."""


class Console(Model):
    """The web console; left out, it is installed."""

    enabled: bool = False
    """Install it."""
    version: str = "latest"
    """Image tag."""
    ingress: ConsoleIngress | None = None


class BootstrapAddons(Model):
    """What is installed on the management cluster."""

    cni: BootstrapCni | None = None
    storage: BootstrapStorage | None = None
    load_balancer: BootstrapLoadBalancer | None = None
    control_plane_ha: ControlPlaneHa | None = None
    control_plane_provider: ControlPlaneProvider | None = None
    cert_manager: BootstrapCertManager | None = None
    ingress: BootstrapIngress | None = None
    git_ops: GitOpsTool | None = None
    capi: ClusterApi | None = None
    butler_controller: ButlerControllers | None = None
    console: Console | None = None
