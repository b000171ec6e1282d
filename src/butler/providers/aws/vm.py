"""An order as RunInstances takes it, and an instance as DescribeInstances shows it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

import msgspec

from butler.api.model import GROUP
from butler.errors import MachineRejected

from ..contract import Machine, MachineOrder, Object, Power
from .api import NAME
from .section import Settings

TOKEN = f"{GROUP}/token"
"""The tag that says for whom something was made."""
MANAGED_BY = f"{GROUP}/managed-by"
IMAGE = f"{GROUP}/image"
"""The tag that says for which image a snapshot or an import is."""
USER_DATA_LIMIT = 16 * 1024
"""Bytes before they are encoded."""

_DEVICES = tuple(f"/dev/sd{letter}" for letter in "fghijklmnop")
"""Names that AWS keeps for further disks."""
_POWER = {
    "pending": Power.STARTING,
    "running": Power.RUNNING,
    "stopping": Power.STOPPED,
    "stopped": Power.STOPPED,
    "shutting-down": Power.DELETING,
}
ALIVE = tuple(_POWER)
"""States of an instance that still is one; a record of those that were stays for an hour."""


@dataclass(frozen=True, slots=True)
class Ami:
    """What machines boot from, and what it takes."""

    id: str
    name: str
    architecture: str
    root_device: str
    root_gb: int
    devices: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Subnet:
    """A subnet."""

    id: str
    zone: str
    vpc: str
    free_addresses: int = 0


def launch(order: MachineOrder, settings: Settings, ami: Ami, size: str, place: Subnet, after: str = "") -> Object:
    """The parameters of RunInstances; `after` is the instance that was made for the order before and has ended.
    Raises MachineRejected."""
    _check(order)
    parameters: Object = {
        "ImageId": ami.id,
        "InstanceType": size,
        "MinCount": 1,
        "MaxCount": 1,
        "NetworkInterfaces": [_card(settings, place)],
        "BlockDeviceMappings": _disks(order, settings, ami),
        "MetadataOptions": {"HttpTokens": "required", "HttpEndpoint": "enabled", "HttpPutResponseHopLimit": 2},
        "TagSpecifications": tagged(order.name, order.token, order.labels, "instance", "volume", "network-interface"),
    }
    if settings.instance_profile:
        by = "Arn" if settings.instance_profile.startswith("arn:") else "Name"
        parameters["IamInstanceProfile"] = {by: settings.instance_profile}
    if order.user_data:
        parameters["UserData"] = order.user_data
    return {**parameters, "ClientToken": _once(order.token, parameters, after)}


def hidden(order: MachineOrder) -> tuple[str, ...]:
    """What must not come back in an error."""
    return (order.user_data, base64.b64encode(order.user_data.encode()).decode()) if order.user_data else ()


def tags(name: str, token: str, labels: Mapping[str, str]) -> list[Object]:
    wanted = {**labels, "Name": name, MANAGED_BY: "butler", TOKEN: token}
    return [{"Key": key, "Value": value} for key, value in wanted.items()]


def tagged(name: str, token: str, labels: Mapping[str, str], *kinds: str) -> list[Object]:
    return [{"ResourceType": kind, "Tags": tags(name, token, labels)} for kind in kinds]


def tag_of(thing: Mapping[str, Any], key: str) -> str:
    return next((str(tag["Value"]) for tag in thing.get("Tags", ()) if tag["Key"] == key), "")


def shown(instance: Mapping[str, Any]) -> Machine:
    power = _POWER[instance["State"]["Name"]]
    cards = instance.get("NetworkInterfaces", ())
    return Machine(
        id=provider_id(instance),
        name=tag_of(instance, "Name"),
        token=tag_of(instance, TOKEN),
        power=power,
        addresses=_addresses(instance) if power is Power.RUNNING else (),
        mac_addresses=tuple(card["MacAddress"] for card in cards if card.get("MacAddress")),
        task=instance["InstanceId"] if power is Power.STARTING else "",
    )


def provider_id(instance: Mapping[str, Any]) -> str:
    return f"aws:///{instance['Placement']['AvailabilityZone']}/{instance['InstanceId']}"


def instance_of(known: str) -> str:
    """The instance of a providerID, or what is one already; empty for anything else."""
    last = known.rpartition("/")[2]
    return last if last.startswith("i-") else ""


def _check(order: MachineOrder) -> None:
    size = len(order.user_data.encode())
    if size > USER_DATA_LIMIT:
        message = f"userData has {size} bytes, and EC2 takes {USER_DATA_LIMIT}"
        raise MachineRejected(NAME, order.name, message)
    if order.network_data:
        raise MachineRejected(NAME, order.name, "networkData has no place on EC2, which gives addresses by DHCP")
    if len(order.extra_disks) > len(_DEVICES):
        message = f"{len(order.extra_disks)} further disks are more than the {len(_DEVICES)} that EC2 has names for"
        raise MachineRejected(NAME, order.name, message)


def _once(token: str, parameters: Object, after: str) -> str:
    """EC2 refuses a key that comes back with other parameters, even if the first attempt failed; and one of an
    instance that has ended. So the key says which attempt it is."""
    told = hashlib.sha256(msgspec.json.encode([after, parameters], order="sorted")).hexdigest()
    return f"{token[:47]}-{told[:16]}"


def _card(settings: Settings, place: Subnet) -> Object:
    card: Object = {"DeviceIndex": 0, "SubnetId": place.id, "DeleteOnTermination": True}
    if settings.security_groups:
        card["Groups"] = list(settings.security_groups)
    if settings.public_address is not None:
        card["AssociatePublicIpAddress"] = settings.public_address
    return card


def _disks(order: MachineOrder, settings: Settings, ami: Ami) -> list[Object]:
    root = _disk(ami.root_device, max(order.disk_gb, ami.root_gb), settings.volume_type, settings)
    free = [name for name in _DEVICES if name not in ami.devices]
    others = (
        _disk(name, disk.size_gb, disk.storage_class or settings.volume_type, settings)
        for name, disk in zip(free, order.extra_disks, strict=False)
    )
    return [root, *others]


def _disk(name: str, size_gb: int, kind: str, settings: Settings) -> Object:
    ebs: Object = {"VolumeSize": size_gb, "VolumeType": kind, "Encrypted": True, "DeleteOnTermination": True}
    return {"DeviceName": name, "Ebs": {**ebs, **({"KmsKeyId": settings.kms_key} if settings.kms_key else {})}}


def _addresses(instance: Mapping[str, Any]) -> tuple[str, ...]:
    """Private ones first, each once."""
    found = [one for card in instance.get("NetworkInterfaces", ()) for one in _addresses_of(card)]
    found += [instance[key] for key in ("PrivateIpAddress", "PublicIpAddress") if instance.get(key)]
    usable = [one for one in dict.fromkeys(found) if not ip_address(one).is_link_local]
    return tuple(sorted(usable, key=lambda one: not ip_address(one).is_private))


def _addresses_of(card: Mapping[str, Any]) -> Iterator[str]:
    for address in card.get("PrivateIpAddresses", ()):
        yield address["PrivateIpAddress"]
        if public := address.get("Association", {}).get("PublicIp"):
            yield public
    yield from (address["Ipv6Address"] for address in card.get("Ipv6Addresses", ()))
