"""Other people's kinds that a tenant cluster is made of, in the form in which they are cached."""

from __future__ import annotations

from typing import ClassVar

from butler.engines.capi import kinds as capi
from butler.engines.kamaji import kinds as kamaji
from kubekit.model.resource import Address, Model, ObjectMeta

NAMESPACE = Address("", "v1", "Namespace", "namespaces", namespaced=False)
SECRET = Address("", "v1", "Secret", "secrets", namespaced=True)

CLUSTER = capi.Cluster.address
MACHINE_DEPLOYMENT = capi.MachineDeployment.address
KUBEADM_CONFIG_TEMPLATE = capi.KubeadmConfigTemplate.address
KAMAJI_CONTROL_PLANE = kamaji.KamajiControlPlane.address
TenantControlPlane = kamaji.TenantControlPlane


class NodeRef(Model):
    """A node of the tenant's cluster."""

    name: str


class MachineSeenSpec(Model):
    """What is asked of a machine."""

    provider_id: str | None = None
    version: str | None = None


class MachineSeenStatus(Model):
    """How far a machine is."""

    phase: str | None = None
    node_ref: NodeRef | None = None


class MachineSeen(Model):
    """As much of a Machine as a cluster's status says of it."""

    address: ClassVar[Address] = capi.Machine.address
    metadata: ObjectMeta
    spec: MachineSeenSpec = MachineSeenSpec()
    status: MachineSeenStatus = MachineSeenStatus()


class SecretSeen(Model):
    """That there is a Secret, and nothing of what is in it."""

    address: ClassVar[Address] = SECRET
    metadata: ObjectMeta
    type: str = ""


class Named(Model):
    """A reference."""

    name: str


class Joining(Model):
    """How a machine joins."""

    config_ref: Named | None = None


class MachineLook(Model):
    """What makes a machine another one: it can only be replaced, not changed."""

    version: str | None = None
    infrastructure_ref: Named | None = None
    bootstrap: Joining = Joining()
    failure_domain: str | None = None


class MachineSetTemplate(Model):
    """What the machines of a set are made from."""

    spec: MachineLook = MachineLook()


class MachineSetSeenSpec(Model):
    """What is asked of a set."""

    replicas: int | None = None
    template: MachineSetTemplate = MachineSetTemplate()


class MachineSetSeenStatus(Model):
    """How many machines there are."""

    replicas: int | None = None


class MachineSetSeen(Model):
    """As much of a MachineSet as tells whether old machines are left."""

    address: ClassVar[Address] = capi.MachineSet.address
    metadata: ObjectMeta
    spec: MachineSetSeenSpec = MachineSetSeenSpec()
    status: MachineSetSeenStatus = MachineSetSeenStatus()

    @property
    def machines(self) -> int:
        """How many there are, or are to be."""
        return max(self.spec.replicas or 0, self.status.replicas or 0)
