"""What a provider is: verbs on one machine, and the Cluster API objects of its infrastructure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Protocol, runtime_checkable

from butler.api.provider import ProviderConfig
from kubekit.clock import Chance, Clock, SystemChance, SystemClock
from kubekit.model.resource import Address

Object = dict[str, Any]


class Power(StrEnum):
    """What a machine does at the moment."""

    STARTING = "Starting"
    RUNNING = "Running"
    STOPPED = "Stopped"
    DELETING = "Deleting"


@dataclass(frozen=True, slots=True)
class ExtraDisk:
    """A further disk, which goes when its machine goes."""

    size_gb: int
    storage_class: str = ""


@dataclass(frozen=True, slots=True)
class MachineOrder:
    """A machine that is wanted. `token` is the UID of who wants it: two orders with the same token are one machine."""

    name: str
    token: str
    cpu: int
    memory_mb: int
    disk_gb: int
    user_data: str = field(default="", repr=False)
    """What the machine boots with, to be delivered unchanged; it holds secrets."""
    labels: Mapping[str, str] = field(default_factory=dict)
    image: str = ""
    """In the infrastructure's own terms; empty for that of the ProviderConfig."""
    network_data: str = field(default="", repr=False)
    extra_disks: tuple[ExtraDisk, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """What was seen of a machine before. A hint that makes a verb quicker: it may be missing, and it may be wrong."""

    id: str = ""
    task: str = ""
    """The infrastructure's task that was at work for it."""


NOTHING_KNOWN = Known()


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine as the infrastructure shows it."""

    id: str
    """The providerID a node of it carries; empty while the infrastructure has not said it."""
    name: str
    token: str
    power: Power
    addresses: tuple[str, ...] = ()
    """Private ones first; empty until it has one."""
    mac_addresses: tuple[str, ...] = ()
    task: str = ""
    """The infrastructure's task that is at work for it; it comes back as `Known` with the next call."""


@dataclass(frozen=True, slots=True)
class Check:
    """Something that was tried on an account, with what to do when it does not hold."""

    name: str
    """One of CHECKS, where one fits."""
    passed: bool
    message: str
    remedy: str = ""
    value: str = ""
    """What was found, where that is of use by itself: the version of the platform."""


CHECKS = ("reachable", "version", "credentials", "permissions", "image", "network", "storage", "capacity")


@dataclass(frozen=True, slots=True)
class Asset:
    """Something on the infrastructure that carries our mark."""

    kind: str
    """One of ASSETS, where one fits."""
    id: str
    name: str
    token: str
    """For whom it was made."""
    size: str = ""
    """What keeping it takes, for people: `4 vCPU, 8 GiB`, `40 GB`."""


ASSETS = ("vm", "disk", "nic", "address", "secret", "loadbalancer", "image")


@dataclass(frozen=True, slots=True)
class Choice:
    """Something on the infrastructure that a ProviderConfig may name."""

    id: str
    """What to write into the ProviderConfig."""
    name: str
    """For people; the same as the id where there is no other."""
    detail: str = ""
    """What tells it from the others: `40 GB, qcow2`, `VLAN 100, 10.0.0.0/24`."""


def by_name(choices: Iterable[Choice]) -> tuple[Choice, ...]:
    """The order in which choices are listed."""
    return tuple(sorted(choices, key=lambda one: (one.name, one.id)))


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a provider takes from the process it runs in."""

    clock: Clock = field(default_factory=SystemClock)
    chance: Chance = field(default_factory=SystemChance)
    simulation: object = None
    """The simulated data centre, where there is one."""
    patience: float = 30.0
    """Seconds within which an infrastructure has to answer one call."""


class Provider(Protocol):
    """An account on an infrastructure. The rules are in docs/reference/provider-contract.md.

    The verbs are idempotent and never wait for the infrastructure to finish: what is not done yet is seen by asking
    again. They raise ProviderError, retry nothing, and see neither Kubernetes nor phases."""

    name: ClassVar[str]
    settles_in: ClassVar[float]
    """Seconds after which `delete` sees whatever `create` has made, at the latest."""

    async def create(self, order: MachineOrder, known: Known = NOTHING_KNOWN) -> Machine:
        """Ask for a machine, or go on with one that is half made; answers the one there is if it was asked for
        before. Raises what the task in `known` ended with, if it failed."""
        ...

    async def find(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> Machine | None: ...

    async def delete(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> bool:
        """Ask for the end of everything that was made for a token. Answers whether nothing of it is left."""
        ...

    async def check(self) -> tuple[Check, ...]:
        """Try everything a machine needs, and change nothing. Raises ProviderError when nothing can be tried."""
        ...

    async def inventory(self) -> tuple[Asset, ...]:
        """Everything that carries our mark."""
        ...

    async def images(self) -> tuple[Choice, ...]:
        """What machines can boot from, ours or not."""
        ...

    async def networks(self) -> tuple[Choice, ...]:
        """What machines can be connected to."""
        ...

    async def close(self) -> None: ...


class Connect(Protocol):
    """How a ProviderConfig becomes a Provider: `connect` in the `provider` module of every provider."""

    def __call__(
        self, config: ProviderConfig, credentials: Mapping[str, str], surroundings: Surroundings, /
    ) -> Provider: ...


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
        """The spec of the infrastructure's cluster object, without the endpoint. What annotations that object needs
        besides, such as who manages it, is in a class variable `cluster_annotations`, where there are any."""
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


@runtime_checkable
class KeptByButler(Protocol):
    """Templates whose cluster object has an annotation by which the infrastructure's own controller leaves it alone,
    as it would make a control plane for it. Butler says when it is ready."""

    def cluster_status(self, blueprint: Blueprint) -> Object:
        """The status of the cluster object, from the moment its endpoint is known."""
        ...
