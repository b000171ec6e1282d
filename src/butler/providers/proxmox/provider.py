"""Proxmox VE as a provider."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar

from butler.api.provider import ProviderConfig
from butler.errors import CapacityExhausted, MachineRejected

from ..contract import (
    NOTHING_KNOWN,
    Asset,
    Check,
    Choice,
    Known,
    Machine,
    MachineOrder,
    Power,
    Surroundings,
    by_name,
)
from ..guest_network import with_name_servers
from . import inventory, vm
from .api import Api
from .boot_images import Iso, Isos
from .checks import checked
from .errors import Absent, AgentSilent, NoAgent, Off, Taken
from .lookup import Cluster, Template, VmLocation, template_for
from .section import NAME, Settings, settings

_TRIES = 8
"""So many numbers are tried for one machine at a time."""
_GIB = 1 << 30


def connect(config: ProviderConfig, credentials: Mapping[str, str], surroundings: Surroundings) -> Proxmox:
    """The account a normalised ProviderConfig stands for. Raises InvalidConfiguration and CredentialsInvalid."""
    return Proxmox(settings(config, credentials), surroundings)


class Proxmox:
    """A cluster of Proxmox VE, or a single host.

    There is no idempotency key. What makes one machine of many attempts is its number: it follows from the token, it is
    written down (in the name of the ISO image that holds the machine's configuration) before the machine is asked for,
    and no two machines can have it. While a VM is cloned it says nothing of itself, so the number is also how it is
    recognised until it can be marked."""

    name: ClassVar[str] = NAME
    settles_in: ClassVar[float] = 30.0

    def __init__(self, chosen: Settings, surroundings: Surroundings) -> None:
        self.settings = chosen
        self.api = Api(chosen, surroundings.clock, surroundings.patience)
        self._isos = Isos(self.api, chosen.iso_storage, self.settles_in)
        self._places: dict[str, VmLocation] = {}
        """Where a machine was seen last: a hint that saves a look at the whole cluster."""

    async def create(self, order: MachineOrder, known: Known = NOTHING_KNOWN) -> Machine:
        order = with_name_servers(order, self.settings.name_servers)
        if known.task and await self.api.is_busy(known.task, order.name):
            return _coming(order, known, known.task)
        if (seen := await self._where_it_was(order.name, order.token)) is not None:
            return await self._go_on(order, *seen)
        cluster = await self._look(order.name)
        found = await self._sought(cluster, [], order.name, order.token)
        isos: list[Iso] = []
        if not found:
            isos, _ = await self._isos.of(cluster, self._online(cluster), order.name, order.token)
            found = await self._sought(cluster, isos, order.name, order.token) if isos else []
        return await self._go_on(order, *found[0]) if found else await self._begin(order, cluster, isos)

    async def _begin(self, order: MachineOrder, cluster: Cluster, isos: list[Iso]) -> Machine:
        """Write down the number, and ask for the machine in the same breath: as long as the note is young, nobody
        concludes from there being no machine that there will be none."""
        source = order.image or self.settings.source
        if not source:
            raise MachineRejected(
                NAME, order.name, "neither the ProviderConfig nor the machine says what to make it of"
            )
        vmid = await self._number(order, cluster, isos)
        preferred = next((one.node for one in isos if one.vmid == vmid), "")
        try:
            node, task = await self._ask_for(order, cluster, source, vmid, preferred)
        except Absent as error:
            raise MachineRejected(NAME, order.name, f"there is no {source} to make it from: {error}") from error
        self._places[order.token] = VmLocation(node, vmid)
        return _coming(order, NOTHING_KNOWN, task)

    async def _ask_for(
        self, order: MachineOrder, cluster: Cluster, source: str, vmid: int, preferred: str
    ) -> tuple[str, Any]:
        """The host of the machine, and the task that makes it."""
        if ":" in source:
            node = await self._home(order, cluster, source, preferred)
            iso = await self._isos.put(node, order, vmid)
            form = vm.import_form(self.settings, order, vmid, source, iso)
            return node, await self.api.post(f"/nodes/{node}/qemu", order.name, form)
        template = await self._template(order, cluster, source, preferred)
        await self._isos.put(template.target, order, vmid)
        form = vm.clone_form(self.settings, order, vmid, template.elsewhere)
        return template.target, await self.api.post(f"{template.place.path}/clone", order.name, form)

    async def _home(self, order: MachineOrder, cluster: Cluster, image: str, preferred: str) -> str:
        """The roomiest host that has the image. Raises MachineRejected when none has it."""
        storage, nodes = image.partition(":")[0], list(self.settings.nodes)
        while nodes:
            node = cluster.roomiest(order, nodes, preferred)
            listed = await self.api.get(f"/nodes/{node}/storage/{storage}/content", order.name)
            if image in {one["volid"] for one in listed}:
                return node
            nodes = [] if cluster.is_shared(storage) else [one for one in nodes if one != node]
        raise MachineRejected(NAME, order.name, f"there is no {image} on {', '.join(self.settings.nodes)}")

    async def _template(self, order: MachineOrder, cluster: Cluster, source: str, preferred: str) -> Template:
        found = cluster.templates(source)
        is_movable = False
        if found and set(self.settings.nodes) - {one.place.node for one in found}:
            config = await self._config(found[0].place, order.name)
            disks = [str(value).partition(":")[0] for value in config.values() if vm.is_disk(value)]
            stores = [one for one in disks if any(store.name == one for store in cluster.stores)]
            stores += [self.settings.storage] if self.settings.is_full else []
            is_movable = all(cluster.is_shared(one) for one in stores)
        return template_for(self.settings, cluster, order, source, is_movable, preferred)

    async def _number(self, order: MachineOrder, cluster: Cluster, isos: list[Iso]) -> int:
        """The number that was written down, else the first that is free."""
        for iso in isos:
            if cluster.guest(iso.vmid) is None:
                return iso.vmid
        free = (one for one in vm.numbers(order.token, self.settings.vmids) if cluster.guest(one) is None)
        for _, vmid in zip(range(_TRIES), free, strict=False):
            try:
                # There may be machines that this user is not allowed to see.
                await self.api.get("/cluster/nextid", order.name, vmid=str(vmid))
            except Taken:
                continue
            return vmid
        vmids = self.settings.vmids
        raise CapacityExhausted(NAME, order.name, f"there is no free number from {vmids[0]} to {vmids[-1]}")

    async def _go_on(self, order: MachineOrder, place: VmLocation, config: vm.Config) -> Machine:
        """Do the next thing a machine needs, up to one that takes time."""
        is_configured = vm.is_configured(config, order.token)
        if "lock" in config:
            return self._made(order, "") if is_configured else _coming(order, NOTHING_KNOWN)
        self._places[order.token] = place
        if not is_configured and (task := await self._configure(order, place, config)):
            return _coming(order, NOTHING_KNOWN, task)
        disk = vm.boot_disk(config)
        if disk and vm.disk_bytes(config, disk) < order.disk_gb * _GIB:
            size = {"disk": disk, "size": f"{order.disk_gb}G"}
            return self._made(order, await self.api.put(f"{place.path}/resize", order.name, size))
        machine = await self._shown(order.name, order.token, place, config) if is_configured else None
        if machine is not None and machine.power is not Power.STOPPED:
            return machine
        return self._made(order, await self.api.post(f"{place.path}/status/start", order.name, {}))

    async def _configure(self, order: MachineOrder, place: VmLocation, config: vm.Config) -> str:
        """Tell a clone what it is. Answers the task at work for it; disks that have to be made take time."""
        volume = await self._isos.found_on(place.node, order, place.vmid)
        volume = volume or await self._isos.put(place.node, order, place.vmid)
        form = vm.config_form(self.settings, order, config, volume)
        tell = self.api.post if order.extra_disks else self.api.put
        return str(await tell(f"{place.path}/config", order.name, form) or "")

    def _made(self, order: MachineOrder, task: Any) -> Machine:
        return Machine(vm.provider_id(order.token), order.name, order.token, Power.STARTING, task=str(task or ""))

    async def find(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> Machine | None:
        seen = await self._where_it_was(name, token)
        if seen is None:
            cluster = Cluster.of(await self.api.get("/cluster/resources", name, type="vm"))
            seen = next(iter(await self._sought(cluster, [], name, token)), None)
        if seen is None or not vm.is_configured(seen[1], token):
            return None
        self._places[token] = seen[0]
        with suppress(Absent):
            return await self._shown(name, token, *seen)
        return None

    async def _shown(self, name: str, token: str, place: VmLocation, config: vm.Config) -> Machine:
        macs = vm.mac_addresses(config)
        power, addresses = await self._state(place, name, macs)
        if vm.GOING in vm.split_tags(config.get("tags", "")):
            power, addresses = Power.DELETING, ()
        elif power is Power.STOPPED and "lock" in config:
            power = Power.STARTING
        return Machine(vm.provider_id(token), str(config.get("name", name)), token, power, addresses, macs)

    async def _state(self, place: VmLocation, name: str, macs: tuple[str, ...]) -> tuple[Power, tuple[str, ...]]:
        """What a machine does, with its addresses: asking its guest tells both."""
        try:
            told = await self.api.get(f"{place.path}/agent/network-get-interfaces", name)
            return Power.RUNNING, vm.addresses(told["result"], macs)
        except Off:
            return Power.STOPPED, ()
        except NoAgent:
            status = await self.api.get(f"{place.path}/status/current", name)
            return (Power.RUNNING if status["status"] == "running" else Power.STOPPED), ()
        except AgentSilent:
            return Power.RUNNING, ()

    async def _where_it_was(self, name: str, token: str) -> tuple[VmLocation, vm.Config] | None:
        if (place := self._places.get(token)) is None:
            return None
        try:
            config = await self._config(place, name)
        except Absent:
            config = {}
        if vm.is_ours(config, token, place.vmid):
            return place, config
        del self._places[token]
        return None

    async def _sought(
        self, cluster: Cluster, isos: list[Iso], name: str, token: str
    ) -> list[tuple[VmLocation, vm.Config]]:
        """VMs that are ours, and after them those that may turn out to be."""
        first = next(vm.numbers(token, self.settings.vmids))
        written = {one.vmid for one in isos}
        found = []
        for guest in cluster.guests:
            is_marked, is_written = guest.token == vm.identity(token), guest.place.vmid in written
            is_fresh = not guest.token and guest.place.vmid in self.settings.vmids and not guest.is_template
            is_likely = is_fresh and (guest.name == name or (guest.place.vmid == first and not guest.name))
            if not guest.is_vm or not (is_marked or is_written or is_likely):
                continue
            try:
                config = await self._config(guest.place, name)
            except Absent:
                continue
            is_ours = vm.is_ours(config, token, guest.place.vmid)
            if is_ours or (vm.is_nameless(config) and guest.place.vmid in {*written, first}):
                found.append((not is_ours, guest.place, config))
        return [(place, config) for _, place, config in sorted(found, key=lambda one: one[:2])]

    async def delete(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> bool:
        if known.task and await self.api.outcome(known.task, name) is None:
            # What is being made is locked. How it ends does not matter.
            return False
        if (seen := await self._where_it_was(name, token)) is not None:
            return await self._remove([seen], name, token)
        cluster = await self._look(name)
        if left := await self._sought(cluster, [], name, token):
            return await self._remove(left, name, token)
        isos, now = await self._isos.of(cluster, self.settings.nodes, name, token)
        if isos and (left := await self._sought(cluster, isos, name, token)):
            return await self._remove(left, name, token)
        self._places.pop(token, None)
        for iso in isos:
            # A machine may be on its way as long as the note is young; without the note nobody would recognise it.
            if not self._isos.is_young(iso, now):
                await self._isos.remove(iso, name)
        return not isos

    async def _remove(self, left: list[tuple[VmLocation, vm.Config]], name: str, token: str) -> bool:
        """Bring the end of VMs a step nearer; what is locked cannot be changed. Answers that it is not there yet."""
        for place, config in left:
            if vm.is_ours(config, token, place.vmid) and "lock" not in config:
                with suppress(Absent):
                    await self._stop_or_destroy(place, config, name)
        return False

    async def _stop_or_destroy(self, place: VmLocation, config: vm.Config, name: str) -> None:
        status = await self.api.get(f"{place.path}/status/current", name)
        if status["status"] == "stopped":
            await self.api.delete(place.path, name, **{"purge": "1", "destroy-unreferenced-disks": "1"})
            return
        tags = vm.split_tags(config.get("tags", ""))
        if vm.GOING not in tags:
            await self.api.put(f"{place.path}/config", name, {"tags": ";".join((*tags, vm.GOING))})
        await self.api.post(f"{place.path}/status/stop", name, {})

    async def check(self) -> tuple[Check, ...]:
        return await checked(self.api, self.settings)

    async def inventory(self) -> tuple[Asset, ...]:
        return await inventory.inventory(self.api, self.settings, self._isos)

    async def images(self) -> tuple[Choice, ...]:
        return by_name(await inventory.images(self.api, self.settings))

    async def networks(self) -> tuple[Choice, ...]:
        return by_name(await inventory.networks(self.api, self.settings))

    async def close(self) -> None:
        await self.api.close()

    async def _look(self, about: str) -> Cluster:
        return Cluster.of(await self.api.get("/cluster/resources", about))

    def _online(self, cluster: Cluster) -> tuple[str, ...]:
        return tuple(one for one in self.settings.nodes if one in cluster.nodes and cluster.nodes[one].is_online)

    async def _config(self, place: VmLocation, about: str) -> vm.Config:
        found: vm.Config = await self.api.get(f"{place.path}/config", about)
        return found


def _coming(order: MachineOrder, known: Known, task: Any = "") -> Machine:
    """A machine that is being made. It has no id before it was seen."""
    ours = known.id if known.id == vm.provider_id(order.token) else ""
    return Machine(ours, order.name, order.token, Power.STARTING, task=str(task or ""))
