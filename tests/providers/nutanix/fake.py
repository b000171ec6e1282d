"""Prism Central on loopback: what is there, and how it changes by a clock that is moved by hand."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from aiohttp import web

from butler.providers.testing import Faults

USER, PASSWORD = "butler", "prism-password-canary-5d27"
PRODUCT = "pc.2024.3.0.1"
MAKING, BOOT, REMOVAL, FETCHING, LATE = 10.0, 15.0, 10.0, 20.0, 5.0
"""Seconds: to make a VM, to boot it, to remove anything, to fetch an image, and until lists show what is there."""
PAGE = 4
MOST_CPUS = 64
CLUSTER, OTHER_CLUSTER, CENTRAL = (f"0005b0f1-0000-4000-8000-00000000000{number}" for number in (1, 2, 3))
SUBNET, IMAGE, ISO, CONTAINER = (f"0005b0f1-0000-4000-8000-0000000001{number}0" for number in (1, 2, 3, 4))
_EPOCH = datetime(2030, 1, 1, tzinfo=UTC)
_SPACE = UUID("0005b0f1-1111-4111-8111-000000000000")
NEVER = float("inf")
BODY: web.RequestKey[Any] = web.RequestKey("body", object)
"""What came with a request, as JSON."""


@dataclass
class Disk:
    size: int
    image: str = ""
    container: str = ""


@dataclass
class Vm:
    uuid: str
    name: str
    description: str
    cluster: str
    sockets: int
    cores: int
    memory_mb: int
    boot: str
    subnets: list[str]
    disks: list[Disk]
    number: int
    posted_at: float
    user_data: str | None = None
    """In base64."""
    meta_data: str | None = None
    is_made: bool = False
    made_at: float = NEVER
    is_on: bool = False
    on_at: float = NEVER
    gone_at: float = NEVER
    version: int = 0
    failure: str = ""

    @property
    def mac(self) -> str:
        return f"50:6b:8d:00:{self.number // 256:02x}:{self.number % 256:02x}"

    def addresses(self, now: float) -> list[str]:
        """What was learned by watching the network: at first an address that nobody can use."""
        if not self.is_on:
            return []
        usable = [f"10.9.{self.number // 256}.{self.number % 256}"] if now >= self.on_at + BOOT else []
        return [f"169.254.{self.number // 256}.{self.number % 256}", *usable]


@dataclass
class Image:
    uuid: str
    name: str
    description: str
    type: str = "DISK_IMAGE"
    size: int = 0
    posted_at: float = 0.0
    gone_at: float = NEVER
    failure: str = ""


@dataclass
class Subnet:
    uuid: str
    name: str
    cluster: str = CLUSTER
    vlan: int = 100
    network: str = "10.9.0.0"


@dataclass
class Task:
    uuid: str
    operation: str
    kind: str
    entity: str
    created_at: float
    done_at: float
    failure: str = ""
    effect: Callable[[], None] | None = None


@dataclass
class Prism:
    """All there is."""

    faults: Faults = field(default_factory=Faults)
    now: float = 1000.0
    pace: float = 0.0
    """Seconds that pass with every request."""
    offers_v4: bool = True
    has_room: bool = True
    can_start: bool = True
    meddling: int = 0
    """So many changes of VMs come a moment after one of somebody else."""
    denied: set[str] = field(default_factory=set)
    """Parts of paths that the user may not see."""
    recorded: list[tuple[str, str, object]] = field(default_factory=list)
    """Every request: method, path and body."""
    vms: dict[str, Vm] = field(default_factory=dict)
    images: dict[str, Image] = field(default_factory=dict)
    subnets: dict[str, Subnet] = field(default_factory=dict)
    clusters: dict[str, str] = field(default_factory=dict)
    containers: dict[str, str] = field(default_factory=dict)
    tasks: dict[str, Task] = field(default_factory=dict)
    requests: dict[str, str] = field(default_factory=dict)
    """The task of each NTNX-Request-Id."""
    identifiers: dict[str, tuple[str, float]] = field(default_factory=dict)
    """UUID and end of each idempotence identifier."""
    used: set[str] = field(default_factory=set)
    """UUIDs that were given to something, which may be gone."""
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        self.clusters = {CLUSTER: "cluster-01", OTHER_CLUSTER: "cluster-02", CENTRAL: "Unnamed"}
        self.containers = {CONTAINER: "default-container"}
        self.subnets[SUBNET] = Subnet(SUBNET, "workload-subnet")
        self.images[IMAGE] = Image(IMAGE, "talos-1.9", "", size=3 * 2**30)
        self.images[ISO] = Image(ISO, "talos-iso", "", type="ISO_IMAGE", size=2**28)

    def time(self, at: float | None = None) -> datetime:
        return _EPOCH + timedelta(seconds=self.now if at is None else at)

    def settle(self) -> None:
        """Let everything happen that is due."""
        due = [one for one in self.tasks.values() if one.effect is not None and one.done_at <= self.now]
        for task in sorted(due, key=lambda one: one.done_at):
            effect, task.effect = task.effect, None
            if effect is not None:
                effect()
        self.vms = {key: one for key, one in self.vms.items() if one.gone_at > self.now}
        self.images = {key: one for key, one in self.images.items() if one.gone_at > self.now}

    def existing(self) -> list[Vm]:
        """Machines, made or being made; not what is left of those that came to nothing."""
        self.settle()
        return [one for one in self.vms.values() if not one.failure]

    def listed(self) -> list[Vm]:
        return [one for one in self.vms.values() if self.now >= one.posted_at + MAKING + LATE]

    def listed_images(self) -> list[Image]:
        return [one for one in self.images.values() if not one.posted_at or self.now >= one.posted_at + LATE]

    def new_uuid(self) -> str:
        return str(uuid5(_SPACE, str(next(self._numbers))))

    def next_number(self) -> int:
        return next(self._numbers)

    def begin(self, operation: str, kind: str, entity: str, lasts: float, effect: Callable[[], None]) -> Task:
        task = Task(self.new_uuid(), operation, kind, entity, self.now, self.now + lasts, effect=effect)
        self.tasks[task.uuid] = task
        return task

    def add_vm(self, vm: Vm, is_on: bool, keeps_failed: bool) -> Task:
        """Version 3 keeps a VM that came to nothing, as a wish that cannot be fulfilled."""
        self.vms[vm.uuid] = vm
        self.used.add(vm.uuid)
        failure = self.why_not(vm)

        def effect() -> None:
            if failure:
                task.failure = vm.failure = failure
                if not keeps_failed:
                    del self.vms[vm.uuid]
                return
            vm.is_made, vm.made_at, vm.version = True, task.done_at, vm.version + 1
            if is_on:
                vm.is_on, vm.on_at = True, task.done_at

        task = self.begin("CreateVm", "vm", vm.uuid, MAKING, effect)
        return task

    def why_not(self, vm: Vm) -> str:
        if not self.has_room:
            return "NoHostResources: No host has enough available memory for VM"
        if vm.sockets * vm.cores > MOST_CPUS:
            return f"InvalidArgument: a VM has at most {MOST_CPUS} vCPUs; it was made of {vm.user_data}"
        if unknown := [one.image for one in vm.disks if one.image and one.image not in self.images]:
            return f"ImageNotFound: {unknown}"
        return ""

    def switch(self, vm: Vm, is_on: bool) -> Task:
        def effect() -> None:
            if is_on and not self.can_start:
                task.failure = "NoHostResources: No host has enough available memory for VM"
                return
            vm.is_on, vm.on_at, vm.version = is_on, task.done_at if is_on else NEVER, vm.version + 1

        task = self.begin("PowerOnVm" if is_on else "PowerOffVm", "vm", vm.uuid, 2.0, effect)
        return task

    def meddle(self, vm: Vm) -> None:
        if self.meddling:
            self.meddling, vm.version = self.meddling - 1, vm.version + 1

    def remove_vm(self, vm: Vm) -> Task:
        vm.gone_at = min(vm.gone_at, self.now + REMOVAL)
        return self.begin("DeleteVm", "vm", vm.uuid, REMOVAL, lambda: None)

    def add_image(self, image: Image, url: str) -> Task:
        self.images[image.uuid] = image
        self.used.add(image.uuid)

        def effect() -> None:
            if "missing" in url:
                task.failure = image.failure = "InvalidArgument: 404 when fetching the image"
                return
            image.size = 2 * 2**30

        task = self.begin("CreateImage", "image", image.uuid, FETCHING, effect)
        return task

    def remove_image(self, image: Image) -> Task:
        image.gone_at = min(image.gone_at, self.now + REMOVAL)
        return self.begin("DeleteImage", "image", image.uuid, REMOVAL, lambda: None)
