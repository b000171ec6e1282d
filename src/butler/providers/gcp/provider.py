"""Google Cloud's Compute Engine as a provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from butler.api.provider import ProviderConfig
from butler.errors import MachineRejected, ProviderUnavailable

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
)
from . import checks, inventory, vm
from .api import Compute, Operation, last, zone_of_task
from .section import NAME, Settings, settings_of


def connect(config: ProviderConfig, credentials: Mapping[str, str], surroundings: Surroundings) -> Gcp:
    """The project a normalised ProviderConfig stands for. Raises InvalidConfiguration and CredentialsInvalid."""
    settings = settings_of(config, credentials)
    return Gcp(settings, Compute(settings, surroundings.clock, surroundings.patience))


class Gcp:
    """A project, as a service account sees it."""

    name: ClassVar[str] = NAME
    settles_in: ClassVar[float] = 10.0
    """Operations are seen at once; this is for what Google may need to agree on that."""

    def __init__(self, settings: Settings, api: Compute) -> None:
        self.settings, self.api = settings, api
        self._zones: tuple[str, ...] = ()

    async def create(self, order: MachineOrder, known: Known = NOTHING_KNOWN) -> Machine:
        followed = await self.api.operation(known.task, order.name)
        if followed is not None and not followed.is_done:
            return _coming(order, followed)
        instance = await self._seen(order.name, order.token, known)
        if instance is not None and followed is not None and followed.code:
            # A list may go on showing what the operation took back.
            instance = await self._in(last(instance["zone"]), order.name, order.token)
        if instance is not None:
            return vm.shown(self.api.project, instance)
        vm.refuse(order, self.settings)
        attempts = await self._attempts(order.name, order.token)
        if pending := next((one for one in attempts if not one.is_done), None):
            return _coming(order, pending)
        if instance := await self._result(order.name, order.token, attempts):
            return vm.shown(self.api.project, instance)
        if followed is not None and followed.code and not await self._has_another_zone(followed):
            raise followed.error(order.name)
        return await self._ordered(order, attempts)

    async def find(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> Machine | None:
        instance = await self._seen(name, token, known)
        return vm.shown(self.api.project, instance) if instance is not None else None

    async def delete(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> bool:
        instance = await self._seen(name, token, known)
        if instance is None:
            attempts = await self._attempts(name, token)
            if not all(one.is_done for one in attempts):
                return False
            instance = await self._result(name, token, attempts, _zone_of(known, self.api.project))
        if instance is None:
            return await self._is_without_disks(name, token)
        if instance["status"] != "STOPPING":
            await self.api.remove(f"zones/{last(instance['zone'])}/instances/{instance['name']}", name)
        return False

    async def check(self) -> tuple[Check, ...]:
        return await checks.checks(self.settings, self.api)

    async def inventory(self) -> tuple[Asset, ...]:
        return await inventory.inventory(self.api)

    async def images(self) -> tuple[Choice, ...]:
        return await inventory.images(self.settings, self.api)

    async def networks(self) -> tuple[Choice, ...]:
        return await inventory.networks(self.settings, self.api)

    async def close(self) -> None:
        await self.api.close()

    async def _seen(self, name: str, token: str, known: Known) -> Any:
        """The instance of a token: where it was last, else wherever it is."""
        if (zone := _zone_of(known, self.api.project)) and (instance := await self._in(zone, name, token)):
            return instance
        listed = await self.api.listed("aggregated/instances", vm.SHOWN, name, f'labels.{vm.MARK} = "{token}"')
        return listed[0] if listed else None

    async def _in(self, zone: str, name: str, token: str) -> Any:
        instance = await self.api.get(f"zones/{zone}/instances/{name}", name, vm.SHOWN)
        return instance if instance is not None and vm.token_of(instance) == token else None

    async def _attempts(self, name: str, token: str) -> list[Operation]:
        """How often the machine was asked for, oldest first. Google remembers it when nobody else does, and shows it
        before it shows the instance."""
        operations = await self.api.operations(f"instances/{name}", name)
        return [one for one in operations if one.kind == "insert" and vm.is_request_of(one.request, token, one.zone)]

    async def _result(self, name: str, token: str, attempts: Sequence[Operation], but: str = "") -> Any:
        """What the last attempt led to, which a list may show only later."""
        if not attempts or attempts[-1].code or attempts[-1].zone == but:
            return None
        return await self._in(attempts[-1].zone, name, token)

    async def _ordered(self, order: MachineOrder, attempts: Sequence[Operation]) -> Machine:
        zone = await self._next_zone(attempts)
        count = sum(one.zone == zone for one in attempts)
        operation = await self.api.insert(
            f"zones/{zone}/instances",
            order.name,
            vm.body(order, self.settings, zone),
            vm.request_id(order.token, zone, count),
            hidden=(order.user_data,),
        )
        return _coming(order, operation) if operation is not None else await self._adopted(order, zone)

    async def _adopted(self, order: MachineOrder, zone: str) -> Machine:
        """The instance that has the name already, if it is ours."""
        instance = await self.api.get(f"zones/{zone}/instances/{order.name}", order.name, vm.SHOWN)
        if instance is None:
            raise ProviderUnavailable(NAME, order.name, f"the name is taken in {zone} by something that does not show")
        if vm.token_of(instance) != order.token:
            raise MachineRejected(
                NAME, order.name, f"there is another machine {order.name!r} in {zone}; choose another name"
            )
        return vm.shown(self.api.project, instance)

    async def _next_zone(self, attempts: Sequence[Operation]) -> str:
        """Where to try: where it was tried last, or after that when there was no room."""
        zones = await self._possible_zones()
        if not attempts or attempts[-1].zone not in zones:
            return zones[0]
        return zones[(zones.index(attempts[-1].zone) + attempts[-1].has_no_room) % len(zones)]

    async def _has_another_zone(self, failed: Operation) -> bool:
        """Whether it failed for want of room, and there are zones that were not tried in this round."""
        return failed.has_no_room and failed.zone != (await self._possible_zones())[-1]

    async def _possible_zones(self) -> tuple[str, ...]:
        """The zone of the ProviderConfig; without one all of the region, zone a first where there is such a zone."""
        return (self.settings.zone,) if self.settings.zone else await self.zones()

    async def zones(self) -> tuple[str, ...]:
        """All zones of the region. Raises MachineRejected when there is no such region."""
        if not self._zones:
            region = await self.api.get(f"regions/{self.settings.region}", fields="zones")
            self._zones = tuple(sorted(map(last, (region or {}).get("zones") or ())))
        if not self._zones:
            raise MachineRejected(NAME, "", f"there is no region {self.settings.region!r} for {self.settings.project}")
        return self._zones

    async def _is_without_disks(self, name: str, token: str) -> bool:
        """Disks go with their machine; these are left of one that someone else removed."""
        disks = await self.api.listed("aggregated/disks", "name,zone,users", name, f'labels.{vm.MARK} = "{token}"')
        for disk in disks:
            if not disk.get("users"):
                await self.api.remove(f"zones/{last(disk['zone'])}/disks/{disk['name']}", name)
        return not disks


def _coming(order: MachineOrder, operation: Operation) -> Machine:
    return Machine("", order.name, order.token, Power.STARTING, task=operation.task)


def _zone_of(known: Known, project: str) -> str:
    """The zone in which it was seen, or asked for."""
    return vm.place_of(known.id, project) or zone_of_task(known.task)
