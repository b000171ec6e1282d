"""A VM of Harvester's as a machine."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address

from butler.api.units import MIB, whole
from butler.errors import CapacityExhausted, ProviderError
from kubekit.model.resource import Object

from ..contract import Asset, Machine, Power
from .section import NAME
from .vm import ADDRESSES, MARK

SCHEME = f"{NAME}://"
SHORT_OF_QUOTA = "harvesterhci.io/insufficient-resource-quota"
"""The annotation under which Harvester says why it has stopped a VM."""
_POWER = {
    "Running": Power.RUNNING,
    "Migrating": Power.RUNNING,
    "Stopped": Power.STOPPED,
    "Paused": Power.STOPPED,
    "Terminating": Power.DELETING,
}
_NO_ROOM = "ErrorUnschedulable"
_TROUBLES = ("CrashLoopBackOff", "DataVolumeError", "ErrImagePull", "ImagePullBackOff")
_TELLING = {"Failure": "True", "PodScheduled": "False", "Synchronized": "False", "Ready": "False"}
"""Conditions that say why a VM does not start, and when they do; the most telling first."""


def machine(vm: Object, instance: Object | None) -> Machine:
    """With the addresses that its instance tells, if it has one."""
    meta = vm["metadata"]
    power = power_of(vm)
    told = _addresses(instance) or _configured(vm)
    interfaces = _interfaces(instance)
    return Machine(
        id=f"{SCHEME}{meta['uid']}",
        name=meta["name"],
        token=token_of(vm),
        power=power,
        addresses=told if power is Power.RUNNING and instance is not None else (),
        mac_addresses=tuple(dict.fromkeys(one["mac"] for one in interfaces if one.get("mac"))),
    )


def asset(vm: Object) -> Asset:
    domain = vm["spec"]["template"]["spec"]["domain"]
    cores, memory = domain.get("cpu", {}).get("cores", "?"), domain.get("memory", {}).get("guest", "?")
    size = f"{cores} vCPU, {memory}" if memory == "?" else f"{cores} vCPU, {whole(memory, MIB)} MiB"
    return Asset("vm", f"{SCHEME}{vm['metadata']['uid']}", vm["metadata"]["name"], token_of(vm), size)


def token_of(obj: Object) -> str:
    return str((obj["metadata"].get("labels") or {}).get(MARK, ""))


def is_going(obj: Object) -> bool:
    return bool(obj["metadata"].get("deletionTimestamp"))


def power_of(vm: Object) -> Power:
    return Power.DELETING if is_going(vm) else _POWER.get(_status(vm), Power.STARTING)


def trouble(vm: Object) -> ProviderError | None:
    """What keeps a VM from starting. It may pass; until then somebody should see it."""
    name, status = vm["metadata"]["name"], _status(vm)
    if is_going(vm):
        return None
    if short := (vm["metadata"].get("annotations") or {}).get(SHORT_OF_QUOTA):
        return CapacityExhausted(NAME, name, f"Harvester has stopped it: {_line(short)}")
    if status == _NO_ROOM:
        return CapacityExhausted(NAME, name, f"no host has room for it: {_reason(vm)}")
    if status in _TROUBLES:
        return ProviderError(NAME, name, f"it does not start: {status}: {_reason(vm)}")
    return None


def _status(vm: Object) -> str:
    return str((vm.get("status") or {}).get("printableStatus") or "")


def _reason(vm: Object) -> str:
    conditions = {one.get("type"): one for one in (vm.get("status") or {}).get("conditions") or ()}
    for kind, status in _TELLING.items():
        found = conditions.get(kind) or {}
        if found.get("status") == status and found.get("message"):
            return _line(found["message"])
    return "look at the events of the VM"


def _line(text: str) -> str:
    return " ".join(str(text).split())[:300]


def _interfaces(instance: Object | None) -> list[Object]:
    """Those of our own making. A guest agent tells of more, such as bridges of containers; they have no name here."""
    if instance is None:
        return []
    names = {one.get("name") for one in instance.get("spec", {}).get("networks") or ()}
    listed = (instance.get("status") or {}).get("interfaces") or ()
    return [one for one in listed if one.get("name") and one["name"] in names]


def _addresses(instance: Object | None) -> tuple[str, ...]:
    listed: list[str] = []
    for interface in _interfaces(instance):
        listed += [interface.get("ipAddress") or "", *(interface.get("ipAddresses") or ())]
    return usable(listed)


def _configured(vm: Object) -> tuple[str, ...]:
    """Without a guest agent nothing is told of a bridged interface; what was configured is true then."""
    return usable(((vm["metadata"].get("annotations") or {}).get(ADDRESSES) or "").split(","))


def usable(texts: Iterable[str]) -> tuple[str, ...]:
    """Addresses at which a machine can be reached, each once, private ones first."""
    found: dict[str, IPv4Address | IPv6Address] = {}
    for text in texts:
        try:
            address = ip_address(text.partition("/")[0].strip())
        except ValueError:
            continue
        if not (address.is_loopback or address.is_link_local or address.is_unspecified or address.is_multicast):
            found.setdefault(str(address), address)
    return tuple(sorted(found, key=lambda one: not found[one].is_private))
