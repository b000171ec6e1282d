"""ClusterBootstrap: a management cluster, from bare machines to a running platform."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, field

from kubekit.model.resource import AGE, Column, Model, Rule, Time
from kubekit.model.status import Condition, Status

from ..model import NOT_YET, Cidr, DnsLabel, Resource
from ..shared import Disk, Exposure, IPv4Range, Platform, ProviderRef, ProviderType, TemplateSize
from .addons import BootstrapAddons


def _size_rule(flat: str, template: str) -> Rule:
    return Rule(
        f"has(self.{flat}) || (has(self.machineTemplate) && has(self.machineTemplate.{template}))",
        f"here or as machineTemplate.{template}",
        f".{flat}",
    )


class NodePool(Model):
    """Machines of one role.

    After normalise(), cpu, memory_mb and disk_gb are always set.
    """

    rules = (
        _size_rule("cpu", "cpu"),
        _size_rule("memoryMB", "memory"),
        Rule(
            "has(self.diskGB) || (has(self.machineTemplate)"
            " && (has(self.machineTemplate.diskSize) || has(self.machineTemplate.disk)))",
            "here or as machineTemplate.diskSize",
            ".diskGB",
        ),
    )

    replicas: Annotated[int, Meta(ge=1, le=10)]
    """How many."""
    cpu: Annotated[int, Meta(ge=1, le=128)] = field(default=0)
    """Cores."""
    memory_mb: Annotated[int, Meta(ge=2048)] = field(default=0)
    """Memory in MB."""
    disk_gb: Annotated[int, Meta(ge=20)] = field(default=0)
    """Root disk in GB."""
    machine_template: TemplateSize | None = None
    """Another way to write cpu, memoryMB and diskGB."""
    extra_disks: tuple[Disk, ...] = ()
    """Further disks."""
    labels: Mapping[str, str] = {}
    """Labels of the nodes."""


class WorkerNodePool(NodePool):
    """Worker machines; none when replicas is 0."""

    replicas: Annotated[int, Meta(ge=0, le=10)]
    """How many."""


class ClusterShape(Model):
    """The management cluster."""

    name: DnsLabel
    """Name; machine names begin with it."""
    topology: Literal["single-node", "ha"] = "ha"
    """One machine for everything, or separate control plane and workers."""
    control_plane: NodePool
    """Control plane machines."""
    workers: WorkerNodePool | None = None
    """Worker machines; ignored on a single node."""
    control_plane_endpoint: str | None = None
    """Another way to write network.vip; may carry a port."""
    kubernetes_version: str | None = None
    """Kubernetes version; left out, that of the Talos version."""


class BootstrapNetwork(Model):
    """Networks of the management cluster."""

    pod_cidr: Cidr
    """Addresses of pods."""
    service_cidr: Cidr
    """Addresses of Services."""
    vip: str | None = None
    """Address or name of the API server; may be left out in a cloud."""
    vip_interface: str | None = None
    """Network card that carries the address; left out, the provider's usual one."""
    load_balancer_pool: IPv4Range | None = None
    """Addresses for LoadBalancer Services; must not contain the vip."""


NO_NETWORK = BootstrapNetwork(pod_cidr="", service_cidr="")
"""Stands for "not said yet"; normalise() puts the real network in its place or refuses."""


class ConfigPatch(Model):
    """A change to the Talos machine configuration."""

    op: Literal["add", "remove", "replace"]
    """What to do."""
    path: str
    """Where, as JSON pointer."""
    value: str | None = None
    """The value, as text."""


class TalosSettings(Model):
    """Talos Linux on the management machines."""

    version: Annotated[str, Meta(pattern=r"^v[0-9]+\.[0-9]+\.[0-9]+$")]
    """Talos version."""
    schematic: str
    """Image Factory schematic."""
    install_disk: str = "/dev/vda"
    """Disk Talos is installed on."""
    config_patches: tuple[ConfigPatch, ...] = ()
    """Changes to the machine configuration."""


class BootstrapPlatform(Platform):
    """Older way to choose addons and addresses."""

    cni: str | None = None
    """Another way to write addons.cni.type."""
    storage: str | None = None
    """Another way to write addons.storage.type."""
    load_balancer: str | None = None
    """Another way to write addons.loadBalancer.type."""


class BootstrapGitOps(Model):
    """Older way to write addons.gitOps."""

    enabled: bool | None = None
    """Install it."""
    provider: str | None = None
    """Which tool."""
    repository: str | None = None
    """Git repository."""
    branch: str | None = None
    """Branch."""
    path: str | None = None
    """Directory."""


class ClusterBootstrapSpec(Model):
    """The management cluster that is wanted.

    After normalise(), network is always set.
    """

    rules = (
        Rule("has(self.network) || has(self.networking)", "here or as networking", ".network"),
        Rule(
            "!has(self.network) || !has(self.networking) || (self.network.podCIDR == self.networking.podCIDR"
            " && self.network.serviceCIDR == self.networking.serviceCIDR)",
            "network and networking are two names of one field and must be equal",
        ),
        Rule(
            "!has(self.cluster.controlPlaneEndpoint) || !has(self.network) || !has(self.network.vip)"
            " || self.network.vip == self.cluster.controlPlaneEndpoint",
            "network.vip and cluster.controlPlaneEndpoint are two names of one field and must be equal",
        ),
    )

    provider: ProviderType
    """Kind of infrastructure."""
    provider_ref: ProviderRef
    """ProviderConfig; without a namespace, one beside this object."""
    cluster: ClusterShape
    network: BootstrapNetwork = NO_NETWORK
    networking: BootstrapNetwork | None = None
    """Another name for network."""
    talos: TalosSettings
    addons: BootstrapAddons = BootstrapAddons()
    control_plane_exposure: Exposure | None = None
    platform: BootstrapPlatform | None = None
    gitops: BootstrapGitOps | None = None
    paused: bool | None = None
    """Stop where it is."""


class BootstrapMachine(Model):
    """One machine of the cluster."""

    name: str
    """MachineRequest."""
    role: str
    """What it is for."""
    phase: str
    """Where it is in its life."""
    ip_address: str | None = None
    """Address."""
    talos_configured: bool | None = None
    """Talos has its configuration."""
    ready: bool | None = None
    """The node has joined."""


class ClusterBootstrapStatus(Status):
    """The management cluster as it is."""

    phase: str | None = None
    """Pending, ProvisioningMachines, ConfiguringTalos, BootstrappingCluster, InstallingAddons, Pivoting, Ready
    or Failed."""
    control_plane_endpoint: str | None = None
    """API server."""
    console_url: str | None = None
    """Web console."""
    machines: tuple[BootstrapMachine, ...] = ()
    """The machines."""
    addons_installed: Mapping[str, bool] = {}
    """Steps that are done."""
    kubeconfig: str | None = None
    """Kubeconfig as base64."""
    talosconfig: str | None = None
    """Talos client configuration as base64."""
    failure_reason: str | None = None
    """Why it failed, in one word."""
    failure_message: str | None = None
    """Why it failed, in a sentence."""
    last_updated: Time | None = None
    """When this status was written."""
    conditions: tuple[Condition, ...] = ()
    """What is known about the bootstrap, aspect by aspect."""


class ClusterBootstrap(
    Resource,
    plural="clusterbootstraps",
    short="cb",
    columns=(
        Column("Cluster", ".spec.cluster.name"),
        Column("Topology", ".spec.cluster.topology"),
        Column("Phase", ".status.phase"),
        Column("Endpoint", ".status.controlPlaneEndpoint"),
        AGE,
    ),
):
    """Builds a management cluster: machines, Talos, Kubernetes, addons."""

    spec: Annotated[ClusterBootstrapSpec, NOT_YET]
    status: ClusterBootstrapStatus = ClusterBootstrapStatus()
