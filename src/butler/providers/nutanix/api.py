"""What Prism Central is asked and what it answers, whichever version of its API it speaks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Protocol

from ..contract import MachineOrder, Power
from ..images import ImageOrder


class Kind(Enum):
    """Things that machines are made from; the value is for people."""

    CLUSTER = "cluster"
    SUBNET = "subnet"
    IMAGE = "image"
    CONTAINER = "storage container"


@dataclass(frozen=True, slots=True)
class Thing:
    """One of them."""

    uuid: str
    name: str
    detail: str = ""
    clusters: tuple[str, ...] = ()
    """Where it is; empty for everywhere."""
    problem: str = ""
    """Why no machine can be made from it; empty when nothing is wrong."""
    description: str = ""
    failure: str = ""
    """What its making ended with."""
    is_ready: bool = True


@dataclass(frozen=True, slots=True)
class Vm:
    """A VM as Prism Central shows it."""

    uuid: str
    name: str
    description: str
    power: Power
    cpu: int
    memory_mb: int
    addresses: tuple[str, ...] = ()
    mac_addresses: tuple[str, ...] = ()
    failure: str = ""
    """What the last change of it ended with, if that failed."""
    etag: str = ""
    """By which v4 recognises the version that was seen."""


class TaskState(Enum):
    """How far a task is."""

    RUNNING = "Running"
    DONE = "Done"
    FAILED = "Failed"


@dataclass(frozen=True, slots=True)
class Task:
    """Something Prism Central is at."""

    id: str
    state: TaskState
    failure: str = ""
    entity: str = ""
    """The UUID of what it makes or changes, once that is known."""
    created: datetime | None = None


@dataclass(frozen=True, slots=True)
class Begun:
    """Something that was asked for."""

    uuid: str = ""
    """Empty while Prism Central has not said it."""
    task: str = ""
    failure: str = ""
    """What it ended with, if that is known already."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where a machine goes, all by UUID."""

    cluster: str
    subnet: str
    image: str
    containers: tuple[str, ...]
    """The storage container of each disk, the first one's first; empty for that of the cluster."""
    boot_type: str


@dataclass(frozen=True, slots=True)
class Hosts:
    """What a cluster consists of."""

    count: int
    cores: int
    memory_mb: int


class Api(Protocol):
    """One version of the API. `about` is the machine that a call is for, for errors; all raise ProviderError."""

    version: str
    product: str
    """The version of Prism Central; empty when it does not say."""

    async def vm(self, uuid: str, about: str) -> Vm | None: ...

    async def vms(self, about: str, name: str = "") -> list[Vm]:
        """All, or those with a name. What was made a moment ago may be missing."""
        ...

    async def make_vm(self, order: MachineOrder, places: Places) -> Begun:
        """However often it is called with one token, there is one VM, unless the last one failed or is gone."""
        ...

    async def give_up(self, token: str, vm: Vm | None, about: str) -> None:
        """Remove what is left of a VM that came to nothing, so that it can be asked for again."""
        ...

    async def start_vm(self, vm: Vm, about: str) -> str:
        """Switch it on; answers a task."""
        ...

    async def end_vm(self, vm: Vm, about: str) -> str:
        """Answers a task; none when it is gone already."""
        ...

    async def task(self, task: str, about: str) -> Task | None: ...

    async def thing(self, kind: Kind, uuid: str, about: str) -> Thing | None: ...

    async def things(self, kind: Kind, about: str, name: str = "") -> list[Thing]: ...

    async def hosts(self, cluster: str, about: str) -> Hosts: ...

    async def make_image(self, order: ImageOrder, cluster: str) -> Begun:
        """However often it is called with one name, there is one image, unless the last one failed or is gone."""
        ...

    async def end_image(self, image: Thing, about: str) -> str:
        """Answers a task; none when it is gone already."""
        ...
