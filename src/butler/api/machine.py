"""MachineRequest, LoadBalancerRequest, ImageSync: what Butler asks of a provider."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta, field

from kubekit.model.resource import AGE, Column, Model, Quantity, Rule, Time
from kubekit.model.status import Status

from .model import DnsLabel, Port, Resource
from .shared import Disk, ProviderRef


def _settled_rule(phases: tuple[str, ...], what: str) -> Rule:
    """Providers make things and remove them. What was asked for before would stay behind, or as it is."""
    return Rule(
        f"!has(oldSelf.status) || !has(oldSelf.status.phase) || !(oldSelf.status.phase in {list(phases)})"
        " || self.spec == oldSelf.spec",
        f"{what} that was asked for cannot be changed; delete the request and make another",
        forbidden=".spec",
    )


class MachineRole(StrEnum):
    """What a machine is for; `controlplane` is another spelling that normalise() replaces."""

    CONTROL_PLANE = "control-plane"
    WORKER = "worker"
    CONTROLPLANE = "controlplane"


class MachinePhase(StrEnum):
    """Where a machine is in its life."""

    PENDING = "Pending"
    CREATING = "Creating"
    RUNNING = "Running"
    FAILED = "Failed"
    DELETING = "Deleting"
    DELETED = "Deleted"
    UNKNOWN = "Unknown"


class MachineResources(Model):
    """Size of a machine as quantities."""

    cpu: Quantity | None = None
    """Cores."""
    memory: Quantity | None = None
    """Memory."""
    disk: Quantity | None = None
    """Root disk."""


NO_PROVIDER = ProviderRef(name="")
"""Stands for "not said yet"; normalise() puts the real reference in its place or refuses."""


def _size_rule(number: str, quantity: str) -> Rule:
    return Rule(
        f"has(self.{number}) || (has(self.resources) && has(self.resources.{quantity}))",
        f"here or as resources.{quantity}",
        f".{number}",
    )


class MachineSpec(Model):
    """The machine that is wanted.

    After normalise(), provider_ref, cpu, memory_mb and disk_gb are always set.
    """

    rules = (
        Rule("has(self.providerRef) || has(self.providerConfigRef)", "here or as providerConfigRef", ".providerRef"),
        Rule(
            "!has(self.providerRef) || !has(self.providerConfigRef)"
            " || self.providerRef.name == self.providerConfigRef.name",
            "providerRef and providerConfigRef are two names of one field and must be equal",
        ),
        _size_rule("cpu", "cpu"),
        _size_rule("memoryMB", "memory"),
        _size_rule("diskGB", "disk"),
    )

    provider_ref: ProviderRef = NO_PROVIDER
    """ProviderConfig that makes the machine; without a namespace, one beside this object."""
    provider_config_ref: ProviderRef | None = None
    """Another name for providerRef."""
    machine_name: DnsLabel
    """Name of the machine."""
    role: MachineRole
    """What the machine is for."""
    cpu: Annotated[int, Meta(ge=1, le=128)] = field(default=0)
    """Cores."""
    memory_mb: Annotated[int, Meta(ge=1024)] = field(default=0)
    """Memory in MB."""
    disk_gb: Annotated[int, Meta(ge=10)] = field(default=0)
    """Root disk in GB."""
    resources: MachineResources | None = None
    """Another way to write cpu, memoryMB and diskGB."""
    extra_disks: tuple[Disk, ...] = ()
    """Further disks."""
    image: str | None = None
    """Image, in the provider's own terms; left out, that of the ProviderConfig."""
    labels: Mapping[str, str] = {}
    """Tags on the machine."""
    user_data: str | None = None
    """Machine configuration: cloud-init or Talos."""
    network_data: str | None = None
    """Network configuration for cloud-init."""


class MachineStatus(Status):
    """The machine as it is."""

    phase: MachinePhase | None = None
    """Where the machine is in its life."""
    provider_id: str | None = None
    """What the provider calls the machine."""
    provider_task_id: str | None = None
    """The provider's task that is at work."""
    ip_address: str | None = None
    """Primary address, known once the machine runs."""
    ip_addresses: tuple[str, ...] = ()
    """All addresses, private first."""
    mac_address: str | None = None
    """Hardware address of the first network card."""
    failure_reason: str | None = None
    """Why it failed, in one word."""
    failure_message: str | None = None
    """Why it failed, in a sentence."""
    last_updated: Time | None = None
    """When this status was written."""


class MachineRequest(
    Resource,
    plural="machinerequests",
    short="mr",
    columns=(
        Column("Machine", ".spec.machineName"),
        Column("Role", ".spec.role"),
        Column("Phase", ".status.phase"),
        Column("IP", ".status.ipAddress"),
        AGE,
    ),
):
    """Asks a provider for one machine."""

    rules = (_settled_rule(("Creating", "Running", "Deleting", "Deleted"), "a machine"),)

    spec: MachineSpec
    status: MachineStatus = MachineStatus()


class LoadBalancerPhase(StrEnum):
    """Where a load balancer is in its life."""

    PENDING = "Pending"
    CREATING = "Creating"
    READY = "Ready"
    FAILED = "Failed"
    DELETING = "Deleting"


class Target(Model):
    """A machine behind a load balancer."""

    instance_id: str | None = None
    """Its id in the cloud."""
    instance_name: str | None = None
    """Its name in the cloud."""
    ip: str | None = None
    """Its address."""


class LoadBalancerSpec(Model):
    """The load balancer that is wanted."""

    rules = (
        Rule("self.clusterName == oldSelf.clusterName", "clusterName is immutable"),
        Rule("self.providerConfigRef == oldSelf.providerConfigRef", "providerConfigRef is immutable"),
    )

    cluster_name: DnsLabel
    """Cluster that is served; the cloud's names begin with it."""
    provider_config_ref: ProviderRef
    """Cloud account; without a namespace, one beside this object."""
    port: Port = 6443
    """Port of the API servers."""
    health_check_port: Port | None = None
    """Port that is probed; left out, the same."""
    targets: tuple[Target, ...] = ()
    """Machines behind it; grows as machines appear."""


class LoadBalancerStatus(Status):
    """The load balancer as it is."""

    phase: LoadBalancerPhase | None = None
    """Where it is in its life."""
    endpoint: str | None = None
    """Address or DNS name."""
    resource_id: str | None = None
    """What the cloud calls it."""
    provider_task_id: str | None = None
    """The cloud's task that is at work."""
    registered_targets: int | None = None
    """Machines registered."""
    failure_reason: str | None = None
    """Why it failed, in one word."""
    failure_message: str | None = None
    """Why it failed, in a sentence."""
    last_updated: Time | None = None
    """When this status was written."""


class LoadBalancerRequest(
    Resource,
    plural="loadbalancerrequests",
    short="lbr",
    columns=(
        Column("Cluster", ".spec.clusterName"),
        Column("Phase", ".status.phase"),
        Column("Endpoint", ".status.endpoint"),
        Column("Targets", ".status.registeredTargets", "integer"),
        AGE,
    ),
):
    """Asks a cloud for a load balancer in front of a control plane."""

    spec: LoadBalancerSpec
    status: LoadBalancerStatus = LoadBalancerStatus()


class ImagePhase(StrEnum):
    """Where an image is on its way."""

    PENDING = "Pending"
    BUILDING = "Building"
    DOWNLOADING = "Downloading"
    UPLOADING = "Uploading"
    READY = "Ready"
    FAILED = "Failed"


class FactoryRef(Model):
    """An image of the Image Factory."""

    schematic_id: Annotated[str, Meta(min_length=8)]
    """Schematic."""
    version: str
    """Version of the operating system."""
    arch: Literal["amd64", "arm64"] = "amd64"
    """CPU architecture."""
    platform: str = "nocloud"
    """Platform the image is made for."""


class ImageSyncSpec(Model):
    """The image that is wanted, and where."""

    factory_ref: FactoryRef
    """Image of the factory."""
    provider_config_ref: ProviderRef
    """Provider that gets it; without a namespace, one beside this object."""
    display_name: str | None = None
    """Name on the provider; left out, made from platform, version, architecture and schematic."""
    format: str = "qcow2"
    """File format: qcow2, raw or iso."""
    transfer_mode: Literal["direct", "proxy"] = "direct"
    """The provider fetches it itself, or Butler carries it there."""


class ImageSyncStatus(Status):
    """The image as it is."""

    phase: ImagePhase | None = None
    """Where it is on its way."""
    provider_image_ref: str | None = None
    """What the provider calls it."""
    provider_task_id: str | None = None
    """The provider's task that is at work."""
    artifact_url: str | None = None
    """Where it comes from."""
    artifact_sha256: str | None = None
    """Its checksum."""
    failure_reason: str | None = None
    """Why it failed, in one word."""
    failure_message: str | None = None
    """Why it failed, in a sentence."""
    last_updated: Time | None = None
    """When this status was written."""


class ImageSync(
    Resource,
    plural="imagesyncs",
    short="is",
    columns=(
        Column("Phase", ".status.phase"),
        Column("Schematic", ".spec.factoryRef.schematicID", priority=1),
        Column("Version", ".spec.factoryRef.version"),
        Column("Provider", ".spec.providerConfigRef.name"),
        Column("Image Ref", ".status.providerImageRef"),
        AGE,
    ),
):
    """Brings an operating system image to a provider."""

    rules = (_settled_rule(("Building", "Downloading", "Uploading", "Ready"), "an image"),)

    spec: ImageSyncSpec
    status: ImageSyncStatus = ImageSyncStatus()
