"""NetworkPool and IPAllocation: addresses, and who has them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta

from kubekit.model.resource import AGE, Column, Model, Positive, Time, keyed_by
from kubekit.model.status import Status

from .model import NOT_YET, Cidr, IPv4, Percent, Resource
from .shared import IPRange, LocalRef, NsRef


class Reserved(Model):
    """A part of the network that is never given away."""

    cidr: Cidr
    """Which part."""
    description: str | None = None
    """Why."""


class BlockSizes(Model):
    """How many addresses a cluster gets when it does not say."""

    nodes_per_tenant: Positive = 5
    """For nodes."""
    lb_pool_per_tenant: Positive = 8
    """For LoadBalancer Services."""


class TenantAllocation(Model):
    """Which addresses tenants get; left out, all that are not reserved."""

    start: str | None = None
    """First address; use ranges instead."""
    end: str | None = None
    """Last address; use ranges instead."""
    ranges: Annotated[tuple[IPRange, ...], Meta(max_length=16)] = ()
    """Ranges inside the network, ascending, apart from each other; win over start and end."""
    defaults: BlockSizes = BlockSizes()


class NetworkPoolSpec(Model):
    """The network and how it is shared out."""

    cidr: Cidr
    """The whole network."""
    reserved: tuple[Reserved, ...] = ()
    """Parts that are never given away."""
    tenant_allocation: TenantAllocation = TenantAllocation()


class InfrastructureAddress(Model):
    """An address in the network that the management plane uses."""

    ip: IPv4
    """The address."""
    source: str
    """What uses it: metallb, node, machine, static."""
    machine_ref: NsRef | None = None
    """Cluster API machine that uses it."""
    node_ref: LocalRef | None = None
    """Node that uses it."""
    service_ref: NsRef | None = None
    """Service that uses it."""


class NetworkPoolStatus(Status):
    """The pool as it is."""

    total_ips: int | None = None
    """Addresses that can be given away."""
    available_ips: int | None = None
    """Of these, free."""
    allocated_ips: int | None = None
    """Of these, given away."""
    allocation_count: int | None = None
    """To how many allocations."""
    largest_free_block: int | None = None
    """Longest run of free addresses."""
    fragmentation_percent: Percent | None = None
    """How scattered the free addresses are."""
    pool_size_ips: int | None = None
    """All addresses of the network."""
    reserved_ips: int | None = None
    """Reserved addresses."""
    unmanaged_ranges: tuple[IPRange, ...] = ()
    """Addresses that are neither reserved nor given away."""
    unmanaged_scope_ips: int | None = None
    """How many these are."""
    infrastructure_consumed_ips: int | None = None
    """How many the management plane uses."""
    infrastructure_allocations: Annotated[tuple[InfrastructureAddress, ...], keyed_by("ip")] = ()
    """Which these are."""


class NetworkPool(
    Resource,
    plural="networkpools",
    short="np",
    columns=(
        Column("CIDR", ".spec.cidr"),
        Column("Available", ".status.availableIPs", "integer"),
        Column("Allocated", ".status.allocatedIPs", "integer"),
        Column("Total", ".status.totalIPs", "integer"),
        AGE,
    ),
):
    """IPv4 addresses that Butler shares out among clusters."""

    spec: Annotated[NetworkPoolSpec, NOT_YET]
    status: NetworkPoolStatus = NetworkPoolStatus()


class AllocationPhase(StrEnum):
    """Where an allocation is in its life."""

    PENDING = "Pending"
    ALLOCATED = "Allocated"
    RELEASED = "Released"
    FAILED = "Failed"


class PinnedRange(Model):
    """Exactly these addresses."""

    start_address: IPv4
    """First address."""
    end_address: IPv4
    """Last address."""


class IPAllocationSpec(Model):
    """The addresses that are wanted."""

    pool_ref: LocalRef
    """NetworkPool beside this object."""
    tenant_cluster_ref: NsRef
    """Cluster they are for."""
    type: Literal["nodes", "loadbalancer"]
    """What they are for."""
    count: Positive | None = None
    """How many; left out, as the pool says."""
    pinned_range: PinnedRange | None = None


class IPAllocationStatus(Status):
    """The addresses that were given."""

    phase: AllocationPhase | None = None
    """Where the allocation is in its life."""
    start_address: str | None = None
    """First address."""
    end_address: str | None = None
    """Last address."""
    addresses: tuple[str, ...] = ()
    """Every address."""
    cidr: str | None = None
    """The block as CIDR, when it is one."""
    allocated_count: int | None = None
    """How many."""
    allocated_at: Time | None = None
    """When they were given."""
    allocated_by: str | None = None
    """Who gave them."""
    released_at: Time | None = None
    """When they were given back."""


class IPAllocation(
    Resource,
    plural="ipallocations",
    short="ipa",
    columns=(
        Column("Pool", ".spec.poolRef.name"),
        Column("Cluster", ".spec.tenantClusterRef.name"),
        Column("Type", ".spec.type"),
        Column("Phase", ".status.phase"),
        Column("Start", ".status.startAddress"),
        Column("End", ".status.endAddress"),
        AGE,
    ),
):
    """A block of addresses from a NetworkPool, for one cluster."""

    spec: Annotated[IPAllocationSpec, NOT_YET]
    status: IPAllocationStatus = IPAllocationStatus()
