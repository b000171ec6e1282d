"""The Cluster API kinds of the simulated infrastructure."""

from __future__ import annotations

from collections.abc import Mapping

from butler.api.shared import ProviderRef
from butler.engines.capi.kinds import INFRASTRUCTURE, VERSION, Endpoint, MachineAddress, TemplateMeta
from kubekit.model.resource import AGE, Column, Model, Positive, Resource
from kubekit.model.status import Status

MACHINE_FINALIZER = f"simulatedmachine.{INFRASTRUCTURE}"
"""Whoever creates a SimulatedMachine may put it there at once and save a write."""

CONTRACT = {"cluster.x-k8s.io/v1beta2": VERSION}
"""By this label of a definition Cluster API knows which versions of the kind keep which contract."""


class Initialization(Model):
    """What was reached once and stays true."""

    provisioned: bool | None = None


class FailureDomain(Model):
    """A zone."""

    name: str
    control_plane: bool | None = None
    attributes: Mapping[str, str] = {}


class SimulatedClusterSpec(Model):
    """What the machines of a cluster share."""

    control_plane_endpoint: Endpoint | None = None
    provider_config_ref: ProviderRef | None = None


class SimulatedClusterStatus(Status):
    """The shared infrastructure as it is."""

    initialization: Initialization | None = None
    failure_domains: tuple[FailureDomain, ...] = ()


class SimulatedCluster(
    Resource,
    plural="simulatedclusters",
    group=INFRASTRUCTURE,
    version=VERSION,
    labels=CONTRACT,
    columns=(
        Column("Provisioned", ".status.initialization.provisioned", "boolean"),
        Column("Endpoint", ".spec.controlPlaneEndpoint.host"),
        AGE,
    ),
):
    """The infrastructure of one cluster in the simulated data centre."""

    spec: SimulatedClusterSpec = SimulatedClusterSpec()
    status: SimulatedClusterStatus = SimulatedClusterStatus()


class SimulatedMachineSpec(Model):
    """One machine."""

    provider_id: str | None = None
    provider_config_ref: ProviderRef | None = None
    failure_domain: str | None = None
    cpu: Positive = 2
    memory_mb: Positive = 4096
    disk_gb: Positive = 20


class SimulatedMachineStatus(Status):
    """The machine as it is."""

    initialization: Initialization | None = None
    addresses: tuple[MachineAddress, ...] = ()
    failure_domain: str | None = None


class SimulatedMachine(
    Resource,
    plural="simulatedmachines",
    group=INFRASTRUCTURE,
    version=VERSION,
    labels=CONTRACT,
    columns=(
        Column("Provisioned", ".status.initialization.provisioned", "boolean"),
        Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
        Column("Address", ".status.addresses[0].address"),
        AGE,
        Column("ProviderID", ".spec.providerID", priority=1),
    ),
):
    """One machine in the simulated data centre."""

    spec: SimulatedMachineSpec = SimulatedMachineSpec()
    status: SimulatedMachineStatus = SimulatedMachineStatus()


class SimulatedMachineResource(Model):
    """What is copied for each machine."""

    metadata: TemplateMeta | None = None
    spec: SimulatedMachineSpec


class SimulatedMachineTemplateSpec(Model):
    """What machines look like."""

    template: SimulatedMachineResource


class SimulatedMachineTemplate(
    Resource, plural="simulatedmachinetemplates", group=INFRASTRUCTURE, version=VERSION, labels=CONTRACT
):
    """What simulated machines look like."""

    spec: SimulatedMachineTemplateSpec


KINDS = (SimulatedCluster, SimulatedMachine, SimulatedMachineTemplate)
