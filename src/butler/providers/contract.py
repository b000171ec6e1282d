"""What a provider is: verbs on one machine, and the Cluster API objects of its infrastructure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Protocol

from butler.api.model import Address
from butler.api.provider import ProviderConfig
from butler.runtime.clock import Chance, Clock, SystemChance, SystemClock

Object = dict[str, Any]


class Power(Enum):
    """What a machine does at the moment."""

    STARTING = "Starting"
    RUNNING = "Running"
    STOPPED = "Stopped"
    DELETING = "Deleting"


@dataclass(frozen=True, slots=True)
class MachineOrder:
    """A machine that is wanted. `token` is the UID of who wants it: two orders with the same token are one machine."""

    name: str
    token: str
    cpu: int
    memory_mb: int
    disk_gb: int
    user_data: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine as the infrastructure shows it."""

    id: str
    """The providerID a node of it carries."""
    name: str
    token: str
    power: Power
    addresses: tuple[str, ...] = ()
    """Private ones first; empty until it has one."""
    mac_addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """Something that was tried on an account, with what to do when it does not hold."""

    name: str
    passed: bool
    message: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Asset:
    """Something on the infrastructure that carries our mark."""

    kind: str
    id: str
    name: str
    token: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a provider takes from the process it runs in."""

    clock: Clock = field(default_factory=SystemClock)
    chance: Chance = field(default_factory=SystemChance)
    simulation: object = None
    """The simulated data centre, where there is one."""


class Provider(Protocol):
    """An account on an infrastructure.

    The verbs are idempotent and never wait for the infrastructure to finish: what is not done yet is seen by asking
    again. They raise from the tree in `butler.errors`, and see neither Kubernetes nor phases."""

    name: ClassVar[str]

    async def create(self, order: MachineOrder) -> Machine:
        """Ask for a machine; answers the one there is if it was asked for before."""
        ...

    async def find(self, name: str, token: str) -> Machine | None: ...

    async def delete(self, name: str, token: str) -> None:
        """Ask for its end; nothing to do if there is none."""
        ...

    async def check(self) -> tuple[Check, ...]: ...

    async def inventory(self) -> tuple[Asset, ...]:
        """Everything that carries our mark."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Pool:
    """A group of equal workers, with every default filled in."""

    name: str
    """Empty for the pool that has no name."""
    cpu: int
    memory: str
    disk: str
    image: str = ""
    failure_domain: str = ""


@dataclass(frozen=True, slots=True)
class Blueprint:
    """What a tenant cluster's Cluster API objects are made from."""

    name: str
    namespace: str
    provider: ProviderConfig
    """Normalised."""
    version: str
    """Of Kubernetes, with its v."""
    pools: tuple[Pool, ...]
    override: Mapping[str, Any] = field(default_factory=dict)
    """The cluster's own differences from the ProviderConfig, for this provider."""


class Templates(Protocol):
    """The Cluster API objects of an infrastructure. Pure: the same blueprint gives the same objects."""

    cluster_kind: ClassVar[Address]
    machine_template_kind: ClassVar[Address]
    machine_kind: ClassVar[Address]
    endpoint_is_handed_over: ClassVar[bool]
    """Whether Kamaji's Cluster API provider writes the endpoint into the infrastructure's cluster object. Where it
    does not, Butler does."""

    def cluster(self, blueprint: Blueprint) -> Object:
        """The spec of the infrastructure's cluster object, without the endpoint."""
        ...

    def machine(self, blueprint: Blueprint, pool: Pool) -> Object:
        """The spec of one machine, as it stands in the template."""
        ...

    def joining(self, blueprint: Blueprint, pool: Pool) -> Object:
        """What the infrastructure adds to the KubeadmConfig of a worker."""
        ...

    def extras(self, blueprint: Blueprint) -> tuple[tuple[Address, Object], ...]:
        """Further objects in the tenant's namespace, such as identities and Secrets, before all others."""
        ...
