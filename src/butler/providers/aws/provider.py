"""Amazon EC2 as a provider."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from butler.api.provider import ProviderConfig
from butler.errors import CapacityExhausted, MachineRejected, ProviderError, ProviderUnavailable

from ..contract import NOTHING_KNOWN, Asset, Check, Choice, Known, Machine, MachineOrder, Power, Surroundings
from . import checks, inventory, vm
from .api import NAME, Api, Refusal
from .errors import NO_ROOM_HERE, UNSUPPORTED, kind_of_end
from .lookup import Catalog
from .section import Settings, settings_of
from .vm import TOKEN, Ami, Subnet

_GONE = ("InvalidInstanceID.NotFound", "InvalidInstanceID.Malformed")


def connect(config: ProviderConfig, credentials: Mapping[str, str], surroundings: Surroundings) -> Aws:
    """The account a normalised ProviderConfig stands for. Raises InvalidConfiguration, CredentialsInvalid."""
    return Aws(settings_of(config, credentials), surroundings)


class Aws:
    """An account of AWS, in one region."""

    name: ClassVar[str] = NAME
    settles_in: ClassVar[float] = 60.0

    def __init__(self, settings: Settings, surroundings: Surroundings) -> None:
        self.settings = settings
        self.api = Api(settings, surroundings.patience)
        self.catalog = Catalog(self.api, settings, surroundings.clock)
        self._unsure: dict[str, str] = {}
        """The subnet in which a machine may have been made without an answer, by token."""

    async def create(self, order: MachineOrder, known: Known = NOTHING_KNOWN) -> Machine:
        instances = await self._instances(order.name, order.token)
        living = _living(instances)
        if living:
            await self._terminate(order.name, living[1:])
            return vm.shown(living[0])
        ended = instances[-1]["InstanceId"] if instances else ""
        if ended and known.task == ended:
            raise _end_of(instances[-1], order.name)
        ami = await self.catalog.ami(order.image, order.name)
        return await self._launch(order, ami, ended)

    async def find(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> Machine | None:
        instances = await self._instances(name, token)
        seen, before = {one["InstanceId"] for one in instances}, vm.instance_of(known.id)
        if before and before not in seen:
            # Not every part of EC2 knows at once what another has told already.
            instances = [one for one in await self._described(name, before) if vm.tag_of(one, TOKEN) == token]
        living = _living(instances)
        return vm.shown(living[0]) if living else None

    async def delete(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> bool:
        self._unsure.pop(token, None)
        living = _living(await self._instances(name, token))
        if living:
            await self._terminate(name, living)
            return False
        return await self._parts_are_gone(name, token)

    async def check(self) -> tuple[Check, ...]:
        return await checks.checked(self.api, self.settings, self.catalog)

    async def inventory(self) -> tuple[Asset, ...]:
        return await inventory.marked(self.api)

    async def images(self) -> tuple[Choice, ...]:
        return await inventory.images(self.api, self.settings.image_owners)

    async def networks(self) -> tuple[Choice, ...]:
        return await inventory.networks(self.api, self.settings.vpc)

    async def close(self) -> None:
        await self.api.close()

    async def _launch(self, order: MachineOrder, ami: Ami, ended: str) -> Machine:
        """Asks in one subnet after the other for room. The id is not told before EC2 shows it: until then nobody
        could see, and delete, the machine by it."""
        refusals: list[Refusal] = []
        for place in await self._places(order):
            size = await self.catalog.size(order, ami, place)
            if size is None:
                refusals.append(_no_size(order, ami, place))
                continue
            parameters = vm.launch(order, self.settings, ami, size, place, ended)
            try:
                instance = await self._run(order, place, parameters)
            except Refusal as refusal:
                refusals.append(refusal)
                continue
            return Machine("", order.name, order.token, Power.STARTING, task=instance)
        raise _nowhere(order.name, refusals)

    async def _run(self, order: MachineOrder, place: Subnet, parameters: Mapping[str, Any]) -> str:
        try:
            answer = await self.api.ask(
                "ec2.run_instances", order.name, hidden=vm.hidden(order), expected=NO_ROOM_HERE, **parameters
            )
        except ProviderUnavailable:
            self._unsure[order.token] = place.id
            raise
        self._unsure.pop(order.token, None)
        return str(answer["Instances"][0]["InstanceId"])

    async def _places(self, order: MachineOrder) -> Iterable[Subnet]:
        """First the one whose answer is missing: there the same question gets the same machine."""
        places, unsure = await self.catalog.places(order.name), self._unsure.get(order.token)
        return sorted(places, key=lambda one: one.id != unsure)

    async def _instances(self, name: str, token: str) -> list[Any]:
        """All of a token, those that have ended too, oldest first."""
        only = [{"Name": f"tag:{TOKEN}", "Values": [token]}]
        found = await self.api.every("ec2.describe_instances", "Reservations", name, Filters=only)
        instances = [one for reservation in found for one in reservation["Instances"]]
        return sorted(instances, key=lambda one: (one["LaunchTime"], one["InstanceId"]))

    async def _described(self, name: str, instance: str) -> list[Any]:
        try:
            answer = await self.api.ask("ec2.describe_instances", name, expected=_GONE, InstanceIds=[instance])
        except Refusal:
            return []
        return [one for reservation in answer["Reservations"] for one in reservation["Instances"]]

    async def _terminate(self, name: str, instances: list[Any]) -> None:
        ids = [one["InstanceId"] for one in instances if one["State"]["Name"] != "shutting-down"]
        if ids:
            await self.api.ask("ec2.terminate_instances", name, InstanceIds=ids)

    async def _parts_are_gone(self, name: str, token: str) -> bool:
        """Disks and network cards go with their machine, if nobody took them off it before."""
        only = [{"Name": f"tag:{TOKEN}", "Values": [token]}]
        disks = await self.api.every("ec2.describe_volumes", "Volumes", name, Filters=only)
        cards = await self.api.every("ec2.describe_network_interfaces", "NetworkInterfaces", name, Filters=only)
        for disk in disks:
            if disk["State"] == "available":
                await self._remove("ec2.delete_volume", name, VolumeId=disk["VolumeId"])
        for card in cards:
            if card["Status"] == "available":
                await self._remove("ec2.delete_network_interface", name, NetworkInterfaceId=card["NetworkInterfaceId"])
        return not disks and not cards

    async def _remove(self, call: str, name: str, **what: Any) -> None:
        expected = ("InvalidVolume.NotFound", "InvalidNetworkInterfaceID.NotFound")
        try:
            await self.api.ask(call, name, expected=expected, **what)
        except Refusal:
            return


def _living(instances: Iterable[Any]) -> list[Any]:
    return [one for one in instances if one["State"]["Name"] in vm.ALIVE]


def _end_of(instance: Mapping[str, Any], name: str) -> ProviderError:
    """Why a machine ended before it ever ran."""
    reason = instance.get("StateReason", {})
    code, said = reason.get("Code", ""), reason.get("Message", "") or "no reason is given"
    return kind_of_end(code)(NAME, name, f"instance {instance['InstanceId']} ended before it ran: {said}")


def _no_size(order: MachineOrder, ami: Ami, place: Subnet) -> Refusal:
    size = f"{order.cpu} cores and {order.memory_mb} MiB for {ami.architecture}"
    message = f"no ordinary instance type of {place.zone} has {size}; name another in spec.aws.instanceType"
    return Refusal(order.name, UNSUPPORTED, message)


def _nowhere(name: str, refusals: list[Refusal]) -> ProviderError:
    """Another day there may be room; a type that a zone does not have, it never has."""
    is_full = any(one.code != UNSUPPORTED for one in refusals)
    told = "; ".join(dict.fromkeys(one.said for one in refusals))
    return (CapacityExhausted if is_full else MachineRejected)(NAME, name, told)
