"""Values that more than one kind carries: references, conditions, ranges, exposure."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from kubekit.model.resource import Model, NotEmpty, Positive, Quantity, Rule

from .model import IPv4

SYSTEM_NAMESPACE = "butler-system"
TENANTS_NAMESPACE = "butler-tenants"
DEFAULT_NAMESPACE = "default"
"""Where Kubernetes puts what names no namespace."""


class ProviderType(StrEnum):
    """The kinds of infrastructure."""

    HARVESTER = "harvester"
    NUTANIX = "nutanix"
    PROXMOX = "proxmox"
    AZURE = "azure"
    AWS = "aws"
    GCP = "gcp"
    LOCAL = "local"
    SIMULATED = "simulated"
    EXTERNAL = "external"
    """One that others wrote; `spec.external` says which."""


class LocalRef(Model):
    """An object by name."""

    name: NotEmpty
    """Its name."""


class ProviderRef(Model):
    """A ProviderConfig."""

    name: NotEmpty
    """Its name."""
    namespace: str | None = None
    """Its namespace; left out, that of the object that refers to it."""


class RepositorySecretRef(Model):
    """A Secret that opens a repository of charts, with entries of customary names."""

    name: NotEmpty
    """Secret."""
    namespace: str | None = None
    """Namespace."""


class SecretRef(Model):
    """A Secret, or one key of it."""

    name: NotEmpty
    """Its name."""
    namespace: str | None = None
    """Its namespace; left out, that of the object that refers to it."""
    key: str | None = None
    """Key of the main entry; left out, the customary one."""


class NsRef(Model):
    """An object in a namespace."""

    name: NotEmpty
    """Its name."""
    namespace: NotEmpty
    """Its namespace."""


class IPRange(Model):
    """Addresses from start to end, both included."""

    start: str
    """First address."""
    end: str
    """Last address."""


class IPv4Range(Model):
    """IPv4 addresses from start to end, both included."""

    start: IPv4
    """First address."""
    end: IPv4
    """Last address."""


class Amounts(Model):
    """CPU and memory."""

    cpu: Quantity | None = None
    """Cores."""
    memory: Quantity | None = None
    """Memory."""


class ComponentResources(Model):
    """Requests and limits of one component."""

    requests: Amounts | None = None
    """What is reserved."""
    limits: Amounts | None = None
    """What is never exceeded."""


class ControlPlaneResources(Model):
    """Requests and limits of a hosted control plane, component by component."""

    api_server: ComponentResources | None = None
    """For kube-apiserver."""
    controller_manager: ComponentResources | None = None
    """For kube-controller-manager."""
    scheduler: ComponentResources | None = None
    """For kube-scheduler."""
    konnectivity: ComponentResources | None = None
    """For the konnectivity server."""


class Exposure(Model):
    """How the API servers of tenant clusters are reached."""

    rules = (
        Rule(
            "!has(self.mode) || self.mode != 'Ingress' || (has(self.hostname) && self.hostname != '')",
            "hostname is needed when mode is Ingress",
        ),
        Rule(
            "!has(self.mode) || self.mode != 'Gateway' || (has(self.hostname) && self.hostname != '')",
            "hostname is needed when mode is Gateway",
        ),
        Rule(
            "!has(self.mode) || self.mode != 'Gateway' || (has(self.gatewayRef) && self.gatewayRef != '')",
            "gatewayRef is needed when mode is Gateway",
        ),
    )

    mode: Literal["LoadBalancer", "Ingress", "Gateway"] = "LoadBalancer"
    """One load balancer address per cluster, or one shared entrance."""
    hostname: str | None = None
    """Wildcard name such as *.k8s.example.com; needed for Ingress and Gateway."""
    ingress_class_name: str | None = None
    """Ingress class, for mode Ingress."""
    controller_type: Literal["haproxy", "nginx", "traefik", "generic"] | None = None
    """Ingress controller that passes TLS through."""
    gateway_ref: str | None = None
    """Gateway as namespace/name; needed for mode Gateway."""


class Disk(Model):
    """A further disk of a machine."""

    size_gb: Positive
    """Size in GB."""
    storage_class: str | None = None
    """Storage class of the provider."""


class Platform(Model):
    """Settings for the platform as a whole."""

    metal_lb_pool: str | None = None
    """Addresses for LoadBalancer Services: a range a-b, one address, a CIDR, or several with commas."""


class HelmRelease(Model):
    """The Helm release behind an addon."""

    name: str | None = None
    """Release name."""
    namespace: str | None = None
    """Namespace it is in."""
    version: str | None = None
    """Chart version."""
    status: str | None = None
    """What Helm says about it."""
    revision: int | None = None
    """Revision number."""


class TemplateSize(Model):
    """Machine size as quantities."""

    cpu: Quantity | None = None
    """Cores."""
    memory: Quantity | None = None
    """Memory."""
    disk_size: Quantity | None = None
    """Root disk."""
    disk: Quantity | None = None
    """Another name for diskSize."""
