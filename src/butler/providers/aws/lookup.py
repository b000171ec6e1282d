"""What an account has to make machines of: AMIs, subnets and instance types."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from butler.errors import MachineRejected, ProviderUnavailable
from kubekit.clock import Clock

from ..contract import MachineOrder
from ..sizes import InstanceType, smallest
from .api import NAME, Api
from .section import Settings
from .vm import Ami, Subnet

Found = TypeVar("Found")

_LONG, _SHORT = 3600.0, 300.0
"""Seconds for which something is believed: what never changes once it is made, and what a person may change."""
_ORDINARY = re.compile(r"[cmr]\d+[agi]?\.[a-z0-9]+")
"""Types without graphics cards, disks of their own and the like, for which nobody wants to pay by accident."""
_FAMILIES = ["c*", "m*", "r*"]
_PARAMETER = ("resolve:ssm:", "ssm:")


class Catalog:
    """Looks things up, and remembers them for a while: a hundred machines do not ask a hundred times."""

    def __init__(self, api: Api, settings: Settings, clock: Clock) -> None:
        self._api, self._settings, self._clock = api, settings, clock
        self._kept: dict[tuple[str, ...], tuple[float, Any]] = {}
        self._looking = asyncio.Lock()

    async def ami(self, wanted: str, about: str = "") -> Ami:
        """The AMI an order means, or else the ProviderConfig. Raises ProviderError."""
        name = wanted or self._settings.image
        if not name:
            raise MachineRejected(NAME, about, "there is no image; name one in spec.aws.image of the ProviderConfig")
        keep = _LONG if name.startswith("ami-") else _SHORT
        return await self._remembered(("ami", name), keep, lambda: self._look_for_ami(name, about))

    async def places(self, about: str = "") -> tuple[Subnet, ...]:
        """The subnets for machines, in the order of the ProviderConfig. Raises ProviderError."""
        return await self._remembered(("places",), _SHORT, lambda: self.look_for_places(about))

    async def size(self, order: MachineOrder, ami: Ami, place: Subnet) -> str | None:
        """The smallest type of a zone that has what is asked for and runs the AMI; None when there is none. Raises
        ProviderError."""
        if self._settings.instance_type:
            return self._settings.instance_type
        types = await self._remembered(
            ("types", ami.architecture), _LONG, lambda: self._look_for_types(ami.architecture, order.name)
        )
        offered = await self._remembered(
            ("offered", place.zone), _LONG, lambda: self._look_for_offers(place.zone, order.name)
        )
        found = smallest((one for one in types if one.name in offered), order.cpu, order.memory_mb)
        return found.name if found is not None else None

    async def look_for_places(self, about: str = "") -> tuple[Subnet, ...]:
        """As `places`, without remembering."""
        settings = self._settings
        given: dict[str, Any] = {"SubnetIds": list(settings.subnets)}
        if not settings.subnets:
            only = ("vpc-id", settings.vpc) if settings.vpc else ("default-for-az", "true")
            given = {"Filters": _filters(only)}
        found = await self._api.every("ec2.describe_subnets", "Subnets", about, **given)
        places = [_place(one) for one in found]
        order = {name: number for number, name in enumerate(settings.subnets)}
        places.sort(key=lambda one: (order.get(one.id, 0), one.zone, one.id))
        if not places:
            where = f"VPC {settings.vpc} has no subnet" if settings.vpc else "there is no default VPC"
            raise MachineRejected(NAME, about, f"{where}; name subnets in spec.aws.subnetIDs")
        return tuple(places)

    async def _remembered(self, key: tuple[str, ...], keep: float, look: Callable[[], Awaitable[Found]]) -> Found:
        async with self._looking:
            until, value = self._kept.get(key, (0.0, None))
            now = self._clock.monotonic()
            if key not in self._kept or now >= until:
                value = await look()
                self._kept[key] = (now + keep, value)
            found: Found = value
            return found

    async def _look_for_ami(self, name: str, about: str) -> Ami:
        parameter = next((name.removeprefix(one) for one in _PARAMETER if name.startswith(one)), "")
        if parameter:
            answer = await self._api.ask("ssm.get_parameter", about, Name=parameter)
            name = str(answer["Parameter"]["Value"])
        if name.startswith("ami-"):
            found = await self._api.every("ec2.describe_images", "Images", about, ImageIds=[name])
        else:
            found = await self._api.every(
                "ec2.describe_images", "Images", about,
                Owners=list(self._settings.image_owners), Filters=_filters(("name", name), ("state", "available")),
            )  # fmt: skip
        if not found:
            owners = ", ".join(self._settings.image_owners)
            raise MachineRejected(NAME, about, f"there is no AMI {name!r} of {owners}; see spec.aws.imageOwners")
        return _ami(max(found, key=lambda one: (one.get("CreationDate", ""), one["ImageId"])), about)

    async def _look_for_types(self, architecture: str, about: str) -> tuple[InstanceType, ...]:
        found = await self._api.every(
            "ec2.describe_instance_types", "InstanceTypes", about,
            Filters=[
                *_filters(("processor-info.supported-architecture", architecture), ("current-generation", "true")),
                *_filters(("bare-metal", "false"), ("hypervisor", "nitro")),
                {"Name": "instance-type", "Values": _FAMILIES},
            ],
        )  # fmt: skip
        return tuple(
            InstanceType(one["InstanceType"], one["VCpuInfo"]["DefaultVCpus"], one["MemoryInfo"]["SizeInMiB"])
            for one in found
            if _ORDINARY.fullmatch(one["InstanceType"])
        )

    async def _look_for_offers(self, zone: str, about: str) -> frozenset[str]:
        found = await self._api.every(
            "ec2.describe_instance_type_offerings", "InstanceTypeOfferings", about,
            LocationType="availability-zone", Filters=_filters(("location", zone)),
        )  # fmt: skip
        return frozenset(one["InstanceType"] for one in found)


def _filters(*wanted: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"Name": name, "Values": [value]} for name, value in wanted]


def _place(subnet: Mapping[str, Any]) -> Subnet:
    return Subnet(
        subnet["SubnetId"], subnet["AvailabilityZone"], subnet["VpcId"], int(subnet.get("AvailableIpAddressCount", 0))
    )


def _ami(image: Mapping[str, Any], about: str) -> Ami:
    disks = {one["DeviceName"]: one.get("Ebs", {}) for one in image.get("BlockDeviceMappings", ())}
    root, state = image.get("RootDeviceName", ""), image.get("State", "available")
    if state == "pending":
        raise ProviderUnavailable(NAME, about, f"AMI {image['ImageId']} is not ready yet")
    if state != "available":
        raise MachineRejected(NAME, about, f"AMI {image['ImageId']} is {state}")
    if image.get("RootDeviceType", "ebs") != "ebs" or not root:
        raise MachineRejected(NAME, about, f"AMI {image['ImageId']} has no root disk on EBS")
    return Ami(
        id=image["ImageId"],
        name=image.get("Name", ""),
        architecture=image.get("Architecture", "x86_64"),
        root_device=root,
        root_gb=int(disks.get(root, {}).get("VolumeSize", 0)),
        devices=frozenset(disks),
    )
