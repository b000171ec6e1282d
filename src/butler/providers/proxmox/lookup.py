"""A look at the whole cluster: hosts, storages and guests, and which of them suits a machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from butler.errors import CapacityExhausted, MachineRejected

from ..contract import MachineOrder
from . import vm
from .section import NAME, Settings

MIB = 1 << 20


class VmLocation(NamedTuple):
    """Where a VM is."""

    node: str
    vmid: int

    @property
    def path(self) -> str:
        return f"/nodes/{self.node}/qemu/{self.vmid}"


@dataclass(frozen=True, slots=True)
class Guest:
    """A VM or container as the cluster lists it. Its name may be missing for the first seconds."""

    place: VmLocation
    name: str
    tags: str
    status: str
    is_template: bool
    is_vm: bool
    cores: int
    memory: int

    @property
    def token(self) -> str:
        return vm.token_in(self.tags)


@dataclass(frozen=True, slots=True)
class Node:
    """A host."""

    name: str
    is_online: bool
    memory: int
    """Bytes in all; 0 when we may not know."""
    free: int


@dataclass(frozen=True, slots=True)
class Store:
    """A storage as one host sees it."""

    name: str
    node: str
    is_available: bool
    is_shared: bool
    content: frozenset[str]
    free: int


@dataclass(frozen=True, slots=True)
class Cluster:
    """Everything, at one moment."""

    guests: tuple[Guest, ...]
    nodes: Mapping[str, Node]
    stores: tuple[Store, ...]

    @classmethod
    def of(cls, resources: Iterable[Mapping[str, Any]]) -> Cluster:
        """From `/cluster/resources`."""
        listed = list(resources)
        nodes = (_node(one) for one in listed if one["type"] == "node")
        return cls(
            guests=tuple(_guest(one) for one in listed if one["type"] in ("qemu", "lxc")),
            nodes={one.name: one for one in nodes},
            stores=tuple(_store(one) for one in listed if one["type"] == "storage"),
        )

    def guest(self, vmid: int) -> Guest | None:
        return next((one for one in self.guests if one.place.vmid == vmid), None)

    def marked(self, token: str) -> list[Guest]:
        """Guests with the tag of a token."""
        wanted = vm.identity(token)
        return [one for one in self.guests if one.is_vm and one.token == wanted]

    def store(self, name: str, node: str) -> Store | None:
        return next((one for one in self.stores if (one.name, one.node) == (name, node)), None)

    def holders(self, storage: str, nodes: tuple[str, ...]) -> tuple[str, ...]:
        """Hosts to ask so that everything on a storage is seen, and nothing twice where it is shared."""
        found = [one for one in self.stores if one.name == storage and one.node in nodes]
        online = [one.node for one in found if one.node in self.nodes and self.nodes[one.node].is_online]
        if online and all(one.is_shared for one in found):
            return (online[0],)
        # A host that is down keeps what is on it: whoever asks it is told so.
        return tuple(one.node for one in found)

    def is_shared(self, storage: str) -> bool:
        found = [one for one in self.stores if one.name == storage]
        return bool(found) and all(one.is_shared for one in found)

    def templates(self, name_or_number: str) -> list[Guest]:
        """Templates that are meant; by name there may be one on each host."""
        templates = [one for one in self.guests if one.is_vm and one.is_template]
        if name_or_number.isdigit():
            return [one for one in templates if one.place.vmid == int(name_or_number)]
        return [one for one in templates if one.name == name_or_number]

    def roomiest(self, order: MachineOrder, candidates: Iterable[str], preferred: str = "") -> str:
        """The host with most free memory. Raises CapacityExhausted when the machine fits on none."""
        online = [self.nodes[name] for name in candidates if name in self.nodes and self.nodes[name].is_online]
        if not online:
            raise CapacityExhausted(NAME, order.name, f"of the hosts {', '.join(candidates)} none is online")
        room = {node.name: node.free - self._promised(node.name, order) for node in online if node.memory}
        fitting = [name for name, free in room.items() if free >= order.memory_mb * MIB]
        if room and not fitting:
            most = max(room.values()) // MIB
            raise CapacityExhausted(NAME, order.name, f"no host has {order.memory_mb} MB free; the most is {most} MB")
        if preferred in (fitting or [node.name for node in online]):
            return preferred
        return max(fitting or [node.name for node in online], key=lambda name: (room.get(name, 0), name))

    def _promised(self, node: str, order: MachineOrder) -> int:
        """Memory of machines of ours that do not use it yet."""
        coming = (one for one in self.guests if one.place.node == node and one.token and one.status != "running")
        return sum(one.memory or order.memory_mb * MIB for one in coming)


@dataclass(frozen=True, slots=True)
class Template:
    """A template to clone, and the host where the clone comes to be."""

    place: VmLocation
    target: str

    @property
    def elsewhere(self) -> str:
        """Empty when the clone stays on the template's host."""
        return "" if self.target == self.place.node else self.target


def template_for(
    settings: Settings, cluster: Cluster, order: MachineOrder, source: str, is_movable: bool, preferred: str = ""
) -> Template:
    """`is_movable` says whether its disks can be reached from every host. Raises MachineRejected when there is no such
    template, CapacityExhausted when there is no room."""
    homes = {one.place.node: one.place for one in cluster.templates(source)}
    if not homes:
        raise MachineRejected(NAME, order.name, f"there is no template {source}")
    reach = settings.nodes if is_movable else tuple(node for node in settings.nodes if node in homes)
    if not reach:
        where = ", ".join(sorted(homes))
        raise MachineRejected(
            NAME,
            order.name,
            f"the template {source} is on {where}, not on a host of spec.proxmox.nodes, and not shared",
        )
    target = cluster.roomiest(order, reach, preferred)
    return Template(homes.get(target) or next(iter(homes.values())), target)


def _guest(one: Mapping[str, Any]) -> Guest:
    return Guest(
        place=VmLocation(one["node"], int(one["vmid"])),
        name=one.get("name", ""),
        tags=one.get("tags", ""),
        status=one.get("status", "unknown"),
        is_template=bool(int(one.get("template") or 0)),
        is_vm=one["type"] == "qemu",
        cores=int(one.get("maxcpu") or 0),
        memory=int(one.get("maxmem") or 0),
    )


def _node(one: Mapping[str, Any]) -> Node:
    memory = int(one.get("maxmem") or 0)
    return Node(one["node"], one.get("status") == "online", memory, memory - int(one.get("mem") or 0))


def _store(one: Mapping[str, Any]) -> Store:
    return Store(
        name=one["storage"],
        node=one["node"],
        is_available=one.get("status", "available") == "available",
        is_shared=bool(int(one.get("shared") or 0)),
        content=frozenset(str(one.get("content", "")).split(",")),
        free=int(one.get("maxdisk") or 0) - int(one.get("disk") or 0),
    )
