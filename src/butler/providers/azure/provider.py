"""Azure as a provider."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import ClassVar

from butler.api.provider import ProviderConfig
from butler.errors import MachineRejected, ProviderError, ProviderUnavailable

from ..contract import NOTHING_KNOWN, Asset, Check, Choice, Known, Machine, MachineOrder, Power, Surroundings
from . import boot_image, checks, inventory, section, sizes
from .api import COMPUTE, DISKS, NETWORK, Arm, Object, ended, state_of, task_of
from .section import NAME, Settings
from .vm import (
    addresses,
    encoded,
    failure_of,
    fits,
    machine,
    never_ran,
    nic_body,
    part,
    power_of,
    token_of,
    vm_body,
)

_OFFERS_LAST = 900.0
"""Seconds for which the sizes of a region are believed: the list is long, and changes by the day."""

_CARDS_LAST = 300.0
"""Seconds for which the addresses of a machine that runs are believed."""


def connect(config: ProviderConfig, credentials: Mapping[str, str], surroundings: Surroundings) -> Azure:
    """The account a normalised ProviderConfig stands for. Raises InvalidConfiguration and CredentialsInvalid."""
    return Azure(section.settings(config, credentials), surroundings)


class Azure:
    """A resource group of a subscription."""

    name: ClassVar[str] = NAME
    settles_in: ClassVar[float] = 60.0

    def __init__(self, settings: Settings, surroundings: Surroundings) -> None:
        self.settings, self._clock = settings, surroundings.clock
        self.arm = Arm(settings, surroundings.patience)
        self._offered: list[Object] = []
        self._offered_until = float("-inf")
        self._offering = asyncio.Lock()
        self._cards: dict[str, tuple[float, Object]] = {}
        self._plans: dict[str, Object | None] = {}

    async def create(self, order: MachineOrder, known: Known = NOTHING_KNOWN) -> Machine:
        vm = await self._vm(order.name)
        if vm is None:
            return await self._begun(order, known)
        if token_of(vm) != order.token:
            group = self.settings.resource_group
            raise MachineRejected(NAME, order.name, f"resource group {group} has a VM of this name for someone else")
        if not never_ran(vm):
            return await self._shown(vm, known)
        if known.task:
            raise ended(order.name, failure_of(vm))
        # What a VM is asked for once more, it tries once more.
        return await self._asked(order, await self._body(order), {})

    async def find(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> Machine | None:
        vm = await self._vm(name)
        return await self._shown(vm, known) if vm is not None and token_of(vm) == token else None

    async def delete(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> bool:
        vm = await self.arm.get(self._vm_path(name), COMPUTE, name)
        if vm is not None and token_of(vm) == token:
            if state_of(vm) != "Deleting":
                await self.arm.delete(self._vm_path(name), COMPUTE, name)
            return False
        if (await self.arm.operation(known.task, name)).is_running:
            return False
        # Azure removes these with the VM; but the VM may never have come about, or someone may have changed it.
        return not await self._nic_removed(name, token) and not await self._disks_removed(name, token)

    async def check(self) -> tuple[Check, ...]:
        return await checks.all_of(self.arm, self.settings, self._offers)

    async def inventory(self) -> tuple[Asset, ...]:
        return await inventory.assets(self.arm, self.settings)

    async def images(self) -> tuple[Choice, ...]:
        return await inventory.images(self.arm, self.settings)

    async def networks(self) -> tuple[Choice, ...]:
        return await inventory.networks(self.arm, self.settings)

    async def close(self) -> None:
        await self.arm.close()

    async def nics_of(self, vm: Object, about: str) -> list[Object]:
        """The network cards of a VM, with their public addresses."""
        paths = [one["id"] for one in vm["properties"]["networkProfile"]["networkInterfaces"]]
        found = [await self._card(path, about) for path in paths]
        return [one for one in found if one is not None]

    async def _begun(self, order: MachineOrder, known: Known) -> Machine:
        operation = await self.arm.operation(known.task, order.name)
        if operation.error is not None:
            raise ended(order.name, operation.error)
        if operation.is_running:
            return _coming(order, known.task)
        body = await self._body(order)
        path = self._nic_path(order.name, order.token)
        reply = await self.arm.put(path, NETWORK, order.name, nic_body(self.settings, order))
        if reply.body["properties"].get("virtualMachine"):
            # It is in the VM that was asked for a moment ago, and that does not show yet.
            return _coming(order, known.task or task_of(reply))
        if state_of(reply.body) != "Succeeded":
            return _coming(order, task_of(reply))
        try:
            return await self._asked(order, body, {"If-None-Match": "*"})
        except MachineRejected:
            with suppress(ProviderError):
                await self._nic_removed(order.name, order.token)
            raise

    async def _asked(self, order: MachineOrder, body: Object, headers: Mapping[str, str]) -> Machine:
        reply = await self.arm.put(
            self._vm_path(order.name), COMPUTE, order.name, body,
            headers=headers, hidden=(order.user_data, encoded(order.user_data)), expected=(412,),
        )  # fmt: skip
        if reply.status == 412:
            raise ProviderUnavailable(NAME, order.name, "a VM of this name was made a moment ago and does not show yet")
        # It has an id when it was seen: until then its absence proves nothing.
        return _coming(order, task_of(reply))

    async def _body(self, order: MachineOrder) -> Object:
        fits(order)
        return vm_body(self.settings, order, await self._size(order), await self._plan(order))

    async def _size(self, order: MachineOrder) -> str:
        if self.settings.vm_size:
            return self.settings.vm_size
        found = sizes.fitting(await self._offers(), self.settings, order.cpu, order.memory_mb)
        if found is None:
            wanted = f"{order.cpu} cores and {order.memory_mb} MiB of memory"
            raise MachineRejected(NAME, order.name, f"no VM size in {self.settings.location} has {wanted}")
        return found.name

    async def _offers(self) -> list[Object]:
        async with self._offering:
            if self._clock.monotonic() >= self._offered_until:
                self._offered = await sizes.offers(self.arm, self.settings)
                self._offered_until = self._clock.monotonic() + _OFFERS_LAST
        return self._offered

    async def _plan(self, order: MachineOrder) -> Object | None:
        wanted = boot_image.Image(order.image or self.settings.image)
        if not wanted.is_urn:
            return None
        if wanted.text not in self._plans:
            found = await boot_image.shown(self.arm, self.settings, wanted, order.name)
            if found is None:
                place = self.settings.location
                raise MachineRejected(NAME, order.name, f"there is no image {wanted.text} in {place}")
            self._plans[wanted.text] = boot_image.plan_of(found)
        return self._plans[wanted.text]

    async def _vm(self, name: str) -> Object | None:
        return await self.arm.get(self._vm_path(name), COMPUTE, name, expand="instanceView")

    async def _card(self, path: str, about: str) -> Object | None:
        """A network card; kept for a while, because a machine that runs is looked at every half minute."""
        now = self._clock.monotonic()
        self._cards = {key: kept for key, kept in self._cards.items() if now < kept[0]}
        if path in self._cards:
            return self._cards[path][1]
        found = await self.arm.get(path, NETWORK, about, expand="ipConfigurations/publicIPAddress")
        if found is not None and addresses(found):
            self._cards[path] = (now + _CARDS_LAST, found)
        return found

    async def _shown(self, vm: Object, known: Known) -> Machine:
        nics = await self.nics_of(vm, vm["name"]) if power_of(vm) is Power.RUNNING else []
        return machine(vm, nics, known.task)

    async def _nic_removed(self, name: str, token: str) -> bool:
        """Asks for its end; answers whether there was one."""
        path = self._nic_path(name, token)
        nic = await self.arm.get(path, NETWORK, name)
        if nic is None or token_of(nic) != token:
            return False
        if state_of(nic) != "Deleting":
            await self.arm.delete(path, NETWORK, name)
        return True

    async def _disks_removed(self, name: str, token: str) -> bool:
        """Asks for the end of all disks; answers whether there were any."""
        listed = await self.arm.listed(self.settings.compute("disks"), DISKS)
        prefix = part(name, token, "")
        ours = [one for one in listed if token_of(one) == token or one["name"].startswith(prefix)]
        for one in ours:
            if state_of(one) != "Deleting":
                await self.arm.delete(self.settings.compute("disks", one["name"]), DISKS, name)
        return bool(ours)

    def _vm_path(self, name: str) -> str:
        return self.settings.compute("virtualMachines", name)

    def _nic_path(self, name: str, token: str) -> str:
        return self.settings.network("networkInterfaces", part(name, token, "nic"))


def _coming(order: MachineOrder, task: str) -> Machine:
    return Machine("", order.name, order.token, Power.STARTING, task=task)
