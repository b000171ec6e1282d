"""Instances: what is asked for, and what is read from the answer."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, ip_address
from typing import Any
from uuid import UUID, uuid5

from butler.errors import MachineRejected

from ..contract import ExtraDisk, Machine, MachineOrder, Power
from . import sizes
from .api import last
from .section import NAME, RESOURCE_NAME, Settings, image_path

MARK = "butler-token"
"""The label that says for whom something was made."""
USER_DATA_LIMIT = 256 * 1024
SHOWN = "id,name,status,zone,labels,networkInterfaces(networkIP,accessConfigs/natIP),machineType"
"""What is read of an instance; its metadata, which holds userData, stays where it is."""

_POWER = {
    "PENDING": Power.STARTING,
    "PROVISIONING": Power.STARTING,
    "STAGING": Power.STARTING,
    "REPAIRING": Power.STARTING,
    "RUNNING": Power.RUNNING,
    "PENDING_STOP": Power.STOPPED,
    "STOPPING": Power.STOPPED,
    "STOPPED": Power.STOPPED,
    "SUSPENDING": Power.STOPPED,
    "SUSPENDED": Power.STOPPED,
    "TERMINATED": Power.STOPPED,
    "DEPROVISIONING": Power.DELETING,
}
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_REQUESTS = UUID("6f5c1b9e-8f0a-5d0e-9a53-6d1c0c7f2e41")
_PLACE = re.compile(r"gce://([a-z0-9.:-]+)/([a-z0-9-]+)/([a-z0-9-]+)")
_ILLEGAL = re.compile(r"[^a-z0-9_-]")


def refuse(order: MachineOrder, settings: Settings) -> None:
    """Raises MachineRejected for what Compute Engine would refuse, in clearer words."""
    if not RESOURCE_NAME.fullmatch(order.name):
        raise MachineRejected(NAME, order.name, "the name has to begin with a letter on Google Cloud")
    size = len(order.user_data.encode())
    if size > USER_DATA_LIMIT:
        raise MachineRejected(
            NAME, order.name, f"userData has {size} bytes, and Google Cloud takes {USER_DATA_LIMIT} at most"
        )
    if order.network_data:
        raise MachineRejected(
            NAME, order.name, "networkData: Google Cloud configures the network by itself; leave it out"
        )
    if not order.image and not settings.image:
        raise MachineRejected(
            NAME, order.name, "no image is named: set spec.gcp.image or spec.gcp.imageFamily of the ProviderConfig"
        )
    if not _machine_type(order, settings):
        wanted = f"{order.cpu} cores and {order.memory_mb} MB"
        raise MachineRejected(NAME, order.name, f"no usual machine type has {wanted}: name one as spec.gcp.machineType")


def body(order: MachineOrder, settings: Settings, zone: str) -> dict[str, Any]:
    """The instance that is asked for."""
    labels = labels_of(order)
    wanted: dict[str, Any] = {
        "name": order.name,
        "machineType": f"zones/{zone}/machineTypes/{_machine_type(order, settings)}",
        "labels": labels,
        "disks": list(_disks(order, settings, zone, labels)),
        "networkInterfaces": [_interface(settings)],
    }
    if order.user_data:
        wanted["metadata"] = {"items": [{"key": "user-data", "value": order.user_data}]}
    if settings.tags:
        wanted["tags"] = {"items": list(settings.tags)}
    if settings.service_account:
        wanted["serviceAccounts"] = [{"email": settings.service_account, "scopes": [_SCOPE]}]
    return wanted


def labels_of(order: MachineOrder) -> dict[str, str]:
    """Those of the order as far as Google's alphabet goes, and the mark."""
    found = {_label_key(key): _ILLEGAL.sub("_", value.lower())[:63] for key, value in sorted(order.labels.items())}
    return {**found, MARK: order.token}


def request_id(token: str, zone: str, attempt: int) -> str:
    """The same for the same attempt, so that an order whose answer was lost is recognised."""
    return f"{_request_stem(token, zone)}{attempt:012x}"


def is_request_of(request: str, token: str, zone: str) -> bool:
    """Whether an operation was asked for with a request_id of this token."""
    return request[:-12] == _request_stem(token, zone)


def place_of(provider_id: str, project: str) -> str:
    """The zone in a providerID; empty when it is none of this project."""
    found = _PLACE.fullmatch(provider_id)
    return found[2] if found and found[1] == project else ""


def provider_id(project: str, instance: Any) -> str:
    return f"gce://{project}/{last(instance['zone'])}/{instance['name']}"


def token_of(thing: Any) -> str:
    return str((thing.get("labels") or {}).get(MARK, ""))


def shown(project: str, instance: Any) -> Machine:
    power = _POWER.get(instance["status"], Power.STARTING)
    addresses = tuple(_addresses(instance)) if power is Power.RUNNING else ()
    return Machine(
        id=provider_id(project, instance),
        name=instance["name"],
        token=token_of(instance),
        power=power,
        addresses=addresses,
        mac_addresses=tuple(_hardware_address(one) for one in _internal(instance)) if addresses else (),
    )


def _machine_type(order: MachineOrder, settings: Settings) -> str:
    return settings.machine_type or sizes.machine_type(order.cpu, order.memory_mb)


def _disks(order: MachineOrder, settings: Settings, zone: str, labels: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    image = image_path(settings.image_project, order.image) if order.image else settings.image
    for number, disk in enumerate((ExtraDisk(order.disk_gb), *order.extra_disks)):
        kind = disk.storage_class or settings.disk_type
        yield {
            "boot": number == 0,
            "autoDelete": True,
            "deviceName": f"disk-{number}",
            "initializeParams": {
                "diskName": _disk_name(order, number),
                "diskSizeGb": str(disk.size_gb),
                "diskType": f"zones/{zone}/diskTypes/{kind}",
                "labels": dict(labels),
                **({"sourceImage": image} if number == 0 else {}),
            },
        }


def _disk_name(order: MachineOrder, number: int) -> str:
    """A name that nobody else has: a disk that is there already would be attached, and deleted with the machine."""
    digest = hashlib.sha256(order.token.encode()).hexdigest()[:10]
    return f"{order.name[:48]}-{digest}-{number}"


def _interface(settings: Settings) -> dict[str, Any]:
    found = {"network": settings.network, "subnetwork": settings.subnetwork}
    interface: dict[str, Any] = {name: path for name, path in found.items() if path}
    if settings.has_public_ip:
        interface["accessConfigs"] = [{"type": "ONE_TO_ONE_NAT", "name": "External NAT"}]
    return interface


def _addresses(instance: Any) -> Iterator[str]:
    yield from _internal(instance)
    for interface in instance.get("networkInterfaces") or ():
        yield from (one["natIP"] for one in interface.get("accessConfigs") or () if one.get("natIP"))


def _internal(instance: Any) -> list[str]:
    interfaces = instance.get("networkInterfaces") or ()
    return [one["networkIP"] for one in interfaces if one.get("networkIP")]


def _hardware_address(address: str) -> str:
    """Compute Engine does not tell it, but makes it from the address."""
    digits = ip_address(address)
    assert isinstance(digits, IPv4Address)
    return ":".join(f"{byte:02x}" for byte in (0x42, 0x01, *digits.packed))


def _label_key(key: str) -> str:
    legal = _ILLEGAL.sub("_", key.lower())
    return (legal if legal[:1].isalpha() else f"x{legal}")[:63]


def _request_stem(token: str, zone: str) -> str:
    return str(uuid5(_REQUESTS, f"{token}/{zone}"))[:-12]
