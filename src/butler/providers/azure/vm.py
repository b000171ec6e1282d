"""A machine in Azure's words: the bodies that ask for it, and what its VM says."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from ipaddress import ip_address

from butler.errors import MachineRejected

from ..contract import Machine, MachineOrder, Power
from .api import Object, state_of
from .boot_image import Image
from .section import NAME, Settings

MARK = "butler-token"
"""The tag that says for whom something was made."""
USER_DATA_LIMIT = 65535
"""Bytes before they are encoded."""
ADMIN = "butler"
SCHEME = "azure://"

_MOST_TAGS = 50
_FORBIDDEN = re.compile(r"[<>%&\\?/]")
"""Letters that the name of a tag may not have."""
_OFF = ("stopped", "stopping", "deallocated", "deallocating")


def part(name: str, token: str, what: str) -> str:
    """The name of something that is made for a machine; no other token has it."""
    return f"{name}-{hashlib.sha256(token.encode()).hexdigest()[:8]}-{what}"


def tags(token: str, labels: Mapping[str, str]) -> dict[str, str]:
    """The mark, and as many labels as there is room for."""
    named = {_FORBIDDEN.sub("_", name): value for name, value in sorted(labels.items())}
    return {MARK: token, **dict(list(named.items())[: _MOST_TAGS - 1])}


def token_of(resource: Object) -> str:
    """For whom something was made; empty for what is not ours. Azure may change the case of a tag's name."""
    found = resource.get("tags") or {}
    return next((str(value) for name, value in found.items() if name.lower() == MARK), "")


def nic_body(settings: Settings, order: MachineOrder) -> Object:
    address = {
        "name": "primary",
        "properties": {
            "subnet": {"id": settings.subnet},
            "privateIPAllocationMethod": "Dynamic",
            "primary": True,
        },
    }
    group = {"networkSecurityGroup": {"id": settings.security_group}} if settings.security_group else {}
    return {
        "location": settings.location,
        "tags": tags(order.token, order.labels),
        "properties": {"ipConfigurations": [address], **group},
    }


def vm_body(settings: Settings, order: MachineOrder, size: str, plan: Object | None) -> Object:
    """Raises MachineRejected for an image that is none."""
    nic = settings.network("networkInterfaces", part(order.name, order.token, "nic"))
    return {
        "location": settings.location,
        "tags": tags(order.token, order.labels),
        **({"zones": [settings.zone]} if settings.zone else {}),
        **({"plan": plan} if plan else {}),
        "properties": {
            "hardwareProfile": {"vmSize": size},
            "storageProfile": _storage(settings, order),
            "osProfile": _system(settings, order),
            "networkProfile": {
                "networkInterfaces": [{"id": nic, "properties": {"primary": True, "deleteOption": "Delete"}}]
            },
            # Where the console of the machine is seen.
            "diagnosticsProfile": {"bootDiagnostics": {"enabled": True}},
        },
    }


def _storage(settings: Settings, order: MachineOrder) -> Object:
    image = Image(order.image or settings.image)
    root = _disk(settings, order, "os", order.disk_gb, "")
    further = [
        {
            "lun": number,
            "createOption": "Empty",
            **_disk(settings, order, f"data{number}", disk.size_gb, disk.storage_class),
        }
        for number, disk in enumerate(order.extra_disks)
    ]
    return {
        "imageReference": image.reference(order.name),
        "osDisk": {"createOption": "FromImage", "osType": "Linux", **root},
        **({"dataDisks": further} if further else {}),
    }


def _disk(settings: Settings, order: MachineOrder, what: str, size_gb: int, kind: str) -> Object:
    return {
        "name": part(order.name, order.token, what),
        "diskSizeGB": size_gb,
        "deleteOption": "Delete",
        "managedDisk": {"storageAccountType": kind or settings.disk_type},
    }


def _system(settings: Settings, order: MachineOrder) -> Object:
    """userData goes as customData: that is where Talos and cloud-init look."""
    key = {"path": f"/home/{ADMIN}/.ssh/authorized_keys", "keyData": settings.ssh_public_key}
    return {
        "computerName": order.name,
        "adminUsername": ADMIN,
        **({"customData": encoded(order.user_data)} if order.user_data else {}),
        "linuxConfiguration": {"disablePasswordAuthentication": True, "ssh": {"publicKeys": [key]}},
    }


def encoded(user_data: str) -> str:
    return base64.b64encode(user_data.encode()).decode()


def fits(order: MachineOrder) -> None:
    """Raises MachineRejected for userData that is too large, and for what Azure has no place for."""
    if order.network_data:
        raise MachineRejected(NAME, order.name, "networkData has no place on Azure, which gives the addresses itself")
    size = len(order.user_data.encode())
    if size > USER_DATA_LIMIT:
        message = f"userData has {size} bytes, and Azure takes no more than {USER_DATA_LIMIT}"
        raise MachineRejected(NAME, order.name, message)


def provider_id(resource_id: str) -> str:
    """What a node carries: the id with its resource group in small letters."""
    group = re.compile(r"(?<=/resourceGroups/)[^/]+", re.IGNORECASE)
    return SCHEME + group.sub(lambda found: found[0].lower(), resource_id)


def machine(vm: Object, nics: list[Object], task: str = "") -> Machine:
    """The machine that a VM is, with the network cards it has while it runs."""
    power = power_of(vm)
    found = {address for nic in nics for address in addresses(nic)}
    return Machine(
        id=provider_id(vm["id"]),
        name=vm["name"],
        token=token_of(vm),
        power=power,
        addresses=tuple(sorted(found, key=lambda one: (not ip_address(one).is_private, one))),
        mac_addresses=tuple(_hardware_address(nic) for nic in nics if nic["properties"].get("macAddress")),
        task=task if power is Power.STARTING else "",
    )


def power_of(vm: Object) -> Power:
    """By what its instance does; how far Azure is with it says less."""
    state = _status(vm, "PowerState")
    if state_of(vm) == "Deleting":
        return Power.DELETING
    if state == "running":
        return Power.RUNNING
    return Power.STOPPED if state in _OFF else Power.STARTING


def never_ran(vm: Object) -> bool:
    """Whether it did not come about: a machine that once ran always shows what its power is."""
    return state_of(vm) == "Failed" and not _status(vm, "PowerState")


def failure_of(vm: Object) -> Object:
    """Why it did not come about, as its instance shows it."""
    for status in _statuses(vm):
        if status["code"].startswith("ProvisioningState/failed"):
            return {"code": status["code"].rpartition("/")[2], "message": status.get("message", "")}
    return {"code": "ProvisioningFailed"}


def _status(vm: Object, kind: str) -> str:
    found = (one["code"].partition("/") for one in _statuses(vm))
    return next((value for name, _, value in found if name == kind), "")


def _statuses(vm: Object) -> list[Object]:
    return list((vm["properties"].get("instanceView") or {}).get("statuses") or ())


def addresses(nic: Object) -> list[str]:
    """Those it has, private and public."""
    found = []
    for one in nic["properties"].get("ipConfigurations") or ():
        public = (one["properties"].get("publicIPAddress") or {}).get("properties") or {}
        found += [one["properties"].get("privateIPAddress"), public.get("ipAddress")]
    return [one for one in found if one]


def _hardware_address(nic: Object) -> str:
    return str(nic["properties"]["macAddress"]).replace("-", ":").lower()
