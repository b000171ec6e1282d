"""Nutanix AHV as a provider."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from butler.api.provider import ProviderConfig
from butler.errors import MachineRejected, ProviderError

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
from ..rest import Rest, cleaned
from . import checks, errors, version
from .api import Api, Kind, TaskState, Vm
from .lookup import Atlas
from .section import NAME, Settings, settings
from .vm import SCHEME, check, encoded, hidden, token_of, uuid_of


def connect(config: ProviderConfig, credentials: Mapping[str, str], surroundings: Surroundings) -> Nutanix:
    """The account a normalised ProviderConfig stands for. Raises InvalidConfiguration, CredentialsInvalid."""
    return Nutanix(settings(config, credentials), surroundings)


class Nutanix:
    """An account of a Prism Central."""

    name: ClassVar[str] = NAME
    settles_in: ClassVar[float] = 60.0
    """Lists show a VM some seconds after it was made; the rest is for a task that has to wait for others."""

    def __init__(self, settings: Settings, surroundings: Surroundings) -> None:
        self.settings, self._chance = settings, surroundings.chance
        basic = encoded(f"{settings.username}:{settings.password}")
        self._secrets = (settings.password, basic)
        self._rest = Rest(
            NAME,
            settings.url,
            trust=settings.trust,
            patience=surroundings.patience,
            headers={"Authorization": f"Basic {basic}", "Accept": "application/json"},
            secrets=self._secrets,
            explain=errors.explain,
            judge=errors.judge,
        )
        self._spoken: Api | None = None
        self._asking = asyncio.Lock()
        self._atlas = Atlas(settings)
        self._ending: dict[str, str] = {}
        """The task that ends a VM, where it was this connection that asked: nothing else shows that it is going."""

    async def create(self, order: MachineOrder, known: Known = NOTHING_KNOWN) -> Machine:
        api, uuid = await self.api(order.name), uuid_of(known.id)
        task = await api.task(known.task, order.name) if known.task else None
        if task is not None and task.state is TaskState.RUNNING:
            return _awaited(order, uuid, known.task)
        if task is not None:
            uuid = task.entity or uuid
        vm = await self._found(api, order.name, order.token, uuid)
        failure = (task.failure if task is not None else "") or (vm.failure if vm is not None else "")
        if failure and (vm is None or vm.power is Power.STOPPED):
            await api.give_up(order.token, vm if vm is not None and vm.failure else None, order.name)
            raise self.failed(order.name, failure, *hidden(order))
        if vm is None:
            return await self._begun(api, order)
        if vm.power is Power.STOPPED and vm.uuid not in self._ending:
            return _awaited(order, vm.uuid, await api.start_vm(vm, order.name))
        return self._shown(vm)

    async def find(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> Machine | None:
        vm = await self._found(await self.api(name), name, token, uuid_of(known.id))
        return self._shown(vm) if vm is not None else None

    async def delete(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> bool:
        api = await self.api(name)
        vm = await self._found(api, name, token, uuid_of(known.id))
        if vm is None and known.task:
            task = await api.task(known.task, name)
            if task is not None and task.state is TaskState.RUNNING:
                return False
            vm = await self._of_token(api, task.entity if task is not None else "", name, token)
        if vm is None:
            self._ending.pop(uuid_of(known.id), None)
            return True
        await self._end(api, vm, name)
        return False

    async def check(self) -> tuple[Check, ...]:
        return await checks.all_of(self)

    async def inventory(self) -> tuple[Asset, ...]:
        api = await self.api("")
        vms = [(vm, token_of(vm.description)) for vm in await api.vms("")]
        images = [(image, token_of(image.description)) for image in await api.things(Kind.IMAGE, "")]
        return (
            *(Asset("vm", SCHEME + vm.uuid, vm.name, token, _size(vm)) for vm, token in vms if token),
            *(Asset("image", image.uuid, image.name, token, image.detail) for image, token in images if token),
        )

    async def images(self) -> tuple[Choice, ...]:
        listed = await (await self.api("")).things(Kind.IMAGE, "")
        return by_name(Choice(one.uuid, one.name, one.detail) for one in listed if not one.problem)

    async def networks(self) -> tuple[Choice, ...]:
        listed = await (await self.api("")).things(Kind.SUBNET, "")
        return by_name(Choice(one.uuid, one.name, one.detail) for one in listed)

    async def close(self) -> None:
        await self._rest.close()

    async def api(self, about: str) -> Api:
        """The version of the API that is spoken, asked for once. Raises ProviderError."""
        async with self._asking:
            if self._spoken is None:
                self._spoken = await version.choose(self._rest, self._chance, about)
            return self._spoken

    async def cluster(self, api: Api, about: str) -> str:
        """The UUID of the cluster. Raises ProviderError."""
        return await self._atlas.cluster(api, about)

    def failed(self, about: str, failure: str, *secrets: str) -> ProviderError:
        """The error that a task ended with."""
        kind = errors.kind_of(failure)
        if kind is MachineRejected:
            self._atlas.forget()
        return kind(NAME, about, cleaned(failure, (*self._secrets, *secrets)))

    async def _begun(self, api: Api, order: MachineOrder) -> Machine:
        check(order)
        try:
            begun = await api.make_vm(order, await self._atlas.places(api, order))
        except MachineRejected:
            # A name may mean something else by now.
            self._atlas.forget()
            raise
        if begun.failure:
            raise self.failed(order.name, begun.failure, *hidden(order))
        return _awaited(order, begun.uuid, begun.task)

    async def _found(self, api: Api, name: str, token: str, uuid: str) -> Vm | None:
        if vm := await self._of_token(api, uuid, name, token):
            return vm
        listed = [vm for vm in await api.vms(name, name) if token_of(vm.description) == token]
        return min(listed, key=lambda vm: vm.uuid, default=None)

    async def _of_token(self, api: Api, uuid: str, name: str, token: str) -> Vm | None:
        vm = await api.vm(uuid, name) if uuid else None
        return vm if vm is not None and token_of(vm.description) == token else None

    async def _end(self, api: Api, vm: Vm, name: str) -> None:
        """Ask for the end of a VM once; what became of that is in its task."""
        if vm.uuid not in self._ending:
            self._ending[vm.uuid] = await api.end_vm(vm, name)
            return
        asked = self._ending[vm.uuid]
        task = await api.task(asked, name) if asked else None
        if task is None or task.state is not TaskState.RUNNING:
            del self._ending[vm.uuid]
        if task is not None and task.failure:
            raise self.failed(name, task.failure)

    def _shown(self, vm: Vm) -> Machine:
        machine = Machine(
            SCHEME + vm.uuid, vm.name, token_of(vm.description), vm.power, vm.addresses, vm.mac_addresses
        )  # fmt: skip
        return replace(machine, power=Power.DELETING, addresses=()) if vm.uuid in self._ending else machine


def _awaited(order: MachineOrder, uuid: str, task: str) -> Machine:
    """A machine that is not there yet, or not on yet."""
    return Machine(SCHEME + uuid if uuid else "", order.name, order.token, Power.STARTING, task=task)


def _size(vm: Vm) -> str:
    return f"{vm.cpu} vCPU, {vm.memory_mb} MiB"
