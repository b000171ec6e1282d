"""What exists in the fake Azure, and how long it has been what it is."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from butler.providers.testing import Faults
from tests.providers.azure.fake_shapes import Json

LATE, BOOT, REMOVAL, LINGER, NETWORKING = 7.0, 20.0, 10.0, 5.0, 5.0
"""Seconds until something new is shown, until a VM runs, until it is gone, for which its parts stay longer, and for
which an address or a load balancer is being made."""
NEVER = float("inf")
SUBSCRIPTION = "0aa1b2c3-1111-4222-8333-944455556666"
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/Butler-RG"
LOCATION = "westeurope"
VNET = f"{GROUP}/providers/Microsoft.Network/virtualNetworks/machines"
SUBNET = f"{VNET}/subnets/nodes"


class Refused(Exception):
    """An error answer."""

    def __init__(self, status: int, code: str, message: str, details: list[Json] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"error": {"code": code, "message": message, **({"details": details} if details else {})}}


@dataclass
class Thing:
    """A resource."""

    path: str
    kind: str
    """In small letters: `virtualmachines`, `galleries/images`."""
    body: Json
    made_at: float
    ready_at: float
    gone_at: float = NEVER
    failure: Json | None = None
    power: str = "running"
    reserved_until: float = 0.0
    """Of a network card: nobody else may have it."""

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def properties(self) -> Json:
        found: Json = self.body["properties"]
        return found


@dataclass
class Operation:
    """Something that takes a while."""

    ready_at: float
    failure: Json | None = None


@dataclass
class World:
    """Everything, and the knobs."""

    faults: Faults = field(default_factory=Faults)
    now: float = 0.0
    moves_by: float = 0.0
    """So many seconds pass with every call, for clients that wait by themselves."""
    things: dict[str, Thing] = field(default_factory=dict)
    operations: dict[str, Operation] = field(default_factory=dict)
    cores: int = 200
    failing: list[Json] = field(default_factory=list)
    """What the next VMs end with."""
    nic_takes: float = 0.0
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    requests: list[tuple[str, str, dict[str, str], Any]] = field(default_factory=list)
    """Method, path, query and body of every call."""

    def existing(self, kind: str = "") -> list[Thing]:
        self.things = {key: one for key, one in self.things.items() if one.gone_at > self.now}
        return [one for one in self.things.values() if not kind or one.kind == kind]

    def get(self, path: str) -> Thing | None:
        """Whether it is shown or not."""
        return next((one for one in self.existing() if one.path.lower() == path.lower()), None)

    def is_shown(self, thing: Thing) -> bool:
        return self.now >= thing.made_at + (LATE if thing.kind in ("virtualmachines", "networkinterfaces") else 0.0)

    def add(self, path: str, kind: str, body: Json, takes: float = 0.0, **more: Any) -> Thing:
        thing = Thing(path, kind, deepcopy(body), self.now, self.now + takes, **more)
        thing.body.setdefault("properties", {})
        self.things[path.lower()] = thing
        return thing

    def begin(self, takes: float, failure: Json | None = None) -> str:
        """A new operation, by its id."""
        number = next(self.numbers)
        key = f"0be7a710-0000-4000-8000-{number:012x}"
        self.operations[key] = Operation(self.now + takes, failure)
        return key

    def state(self, thing: Thing) -> str:
        if thing.gone_at != NEVER:
            return "Deleting"
        if self.now < thing.ready_at:
            return "Creating" if thing.kind == "virtualmachines" else "Updating"
        return "Failed" if thing.failure else "Succeeded"

    def user_of(self, path: str) -> Thing | None:
        """The VM that a disk or a network card is attached to."""
        return next((vm for vm in self.existing("virtualmachines") if path.lower() in parts_of(vm)), None)


def parts_of(vm: Thing) -> dict[str, str]:
    """The disks and network cards of a VM in small letters, with what becomes of them when it goes."""
    storage = vm.properties["storageProfile"]
    disks = [storage["osDisk"], *storage.get("dataDisks", ())]
    cards = vm.properties["networkProfile"]["networkInterfaces"]
    return {
        **{one["managedDisk"]["id"].lower(): one.get("deleteOption", "Detach") for one in disks},
        **{one["id"].lower(): one.get("properties", {}).get("deleteOption", "Detach") for one in cards},
    }
