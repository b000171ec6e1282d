"""As much of an object as a line about it shows: the rest is not even decoded."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct, field

from butler.api.model import GROUP, VERSION
from kubekit.model.resource import Address

CLUSTERS = Address(GROUP, VERSION, "TenantCluster", "tenantclusters", True)
PROVIDERS = Address(GROUP, VERSION, "ProviderConfig", "providerconfigs", True)
MACHINES = Address("cluster.x-k8s.io", "v1beta2", "Machine", "machines", True)
EVENTS = Address("", "v1", "Event", "events", True)


class Meta(Struct, rename="camel", gc=False):
    """Who an object is."""

    name: str = ""
    namespace: str = ""
    creation_timestamp: str | None = None
    resource_version: str = ""
    labels: dict[str, str] = {}

    @property
    def revision(self) -> int:
        """When it was last written, among objects of the same kind."""
        return int(self.resource_version) if self.resource_version.isdecimal() else 0


class Named(Struct, gc=False):
    """A reference."""

    name: str = ""


class Pool(Struct, rename="camel", gc=False):
    """A pool of workers."""

    name: str = ""
    replicas: int | None = None
    min_replicas: int | None = None


class Workers(Struct, gc=False):
    """How many are wanted."""

    replicas: int | None = None
    pools: list[Pool] = []


class ClusterSpec(Struct, rename="camel", gc=False):
    """What is wanted."""

    kubernetes_version: str | None = None
    workers: Workers = field(default_factory=Workers)
    provider_config_ref: Named | None = None


class Observed(Struct, rename="camel", gc=False):
    """What was seen."""

    kubernetes_version: str | None = None


class ConditionSeen(Struct, gc=False):
    """One thing that is said of it."""

    type: str = ""
    status: str = ""


class ClusterStatus(Struct, rename="camel", gc=False):
    """How it is."""

    conditions: list[ConditionSeen] = []
    phase: str | None = None
    tenant_namespace: str | None = None
    provider_config_ref: Named | None = None
    control_plane_endpoint: str | None = None
    worker_nodes_desired: int | None = None
    worker_nodes_ready: int | None = None
    observed_state: Observed | None = None


_GATES = ("Accepted", "QuotaSatisfied")
"""The conditions that say whether a change may be."""


class ClusterRow(Struct, gc=False):
    """A TenantCluster."""

    address: ClassVar[Address] = CLUSTERS

    metadata: Meta
    spec: ClusterSpec = field(default_factory=ClusterSpec)
    status: ClusterStatus = field(default_factory=ClusterStatus)

    @property
    def phase(self) -> str:
        return self.status.phase or "Pending"

    @property
    def is_refused(self) -> bool:
        """Whether it cannot become what is written."""
        return any(one.status == "False" and one.type in _GATES for one in self.status.conditions)

    @property
    def version(self) -> str:
        """The one that runs."""
        seen = self.status.observed_state
        return (seen.kubernetes_version if seen else None) or ""

    @property
    def desired(self) -> int | None:
        if self.status.worker_nodes_desired is not None:
            return self.status.worker_nodes_desired
        workers = self.spec.workers
        counts = [workers.replicas, *(pool.replicas or pool.min_replicas for pool in workers.pools)]
        return sum(filter(None, counts)) if any(count is not None for count in counts) else None

    @property
    def workers(self) -> str:
        """`ready/desired`."""
        if self.desired is None:
            return ""
        return f"{self.status.worker_nodes_ready or 0}/{self.desired}"

    @property
    def provider(self) -> str:
        ref = self.status.provider_config_ref or self.spec.provider_config_ref
        return ref.name if ref else ""


class ProviderRow(Struct, gc=False):
    """A ProviderConfig."""

    address: ClassVar[Address] = PROVIDERS

    metadata: Meta


class InfrastructureRef(Struct, gc=False):
    """The object of the infrastructure that a machine is."""

    kind: str = ""
    name: str = ""


class MachineSpec(Struct, rename="camel", gc=False):
    """What a machine is to be."""

    provider_id: str | None = field(default=None, name="providerID")
    version: str | None = None
    failure_domain: str | None = None
    infrastructure_ref: InfrastructureRef = field(default_factory=InfrastructureRef)


class MachineAddress(Struct, gc=False):
    """Where a machine is reached."""

    type: str = ""
    address: str = ""


class MachineStatus(Struct, rename="camel", gc=False):
    """How it is."""

    phase: str | None = None
    node_ref: Named | None = None
    failure_domain: str | None = None
    addresses: list[MachineAddress] = []

    @property
    def address(self) -> str:
        """The one inside its network; another one if it has only that."""
        for kind in ("InternalIP", "ExternalIP"):
            if found := next((one.address for one in self.addresses if one.type == kind), ""):
                return found
        return ""


class MachineRow(Struct, gc=False):
    """A Machine of Cluster API."""

    address: ClassVar[Address] = MACHINES

    metadata: Meta
    spec: MachineSpec = field(default_factory=MachineSpec)
    status: MachineStatus = field(default_factory=MachineStatus)


class InvolvedObject(Struct, gc=False):
    """What an event is about."""

    kind: str = ""
    name: str = ""


class EventRow(Struct, rename="camel", gc=False):
    """An Event."""

    address: ClassVar[Address] = EVENTS

    metadata: Meta
    involved_object: InvolvedObject = field(default_factory=InvolvedObject)
    type: str = ""
    reason: str = ""
    message: str = ""
    count: int | None = None
    first_timestamp: str | None = None
    last_timestamp: str | None = None
    event_time: str | None = None

    @property
    def last_seen(self) -> str:
        return self.last_timestamp or self.event_time or self.first_timestamp or self.metadata.creation_timestamp or ""
