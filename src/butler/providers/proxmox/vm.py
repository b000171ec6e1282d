"""A VM of Proxmox: whose it is, and the forms by which one is made. Nothing here asks anybody."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

from butler.errors import MachineRejected

from ..contract import MachineOrder
from .section import BRIDGE, CPU_TYPE, NAME, Settings

Config = Mapping[str, Any]
Address = IPv4Address | IPv6Address

SCHEME = "proxmox://"
MARK = "butler"
"""The tag of everything that is ours."""
GOING = "butler-deleting"
"""The tag of a machine whose end was asked for."""
CIDATA_SLOTS = ("ide2", "ide0", "ide1", "ide3", "sata5", "sata4", "scsi30")
_BOOT_DISKS = ("scsi0", "virtio0", "sata0", "ide0")
_SCSI_DISKS = 30
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "": 1}
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_TAG = re.compile(rf"{MARK}-(?P<token>{_UUID})")
_NOTE = re.compile(r"^butler-token: (\S+), VM (\d+)$", re.MULTILINE)
_FILE = re.compile(rf"{MARK}-(?P<token>{_UUID})-(?P<vmid>\d+)\.iso")


def identity(token: str) -> str:
    """The UUID that a machine shows to its guest: the token itself, so that it is known before there is a machine,
    and a copy that someone makes of the machine is not mistaken for it."""
    try:
        return str(UUID(token))
    except ValueError:
        return str(uuid5(NAMESPACE_OID, token))


def provider_id(token: str) -> str:
    return SCHEME + identity(token)


def tag(token: str) -> str:
    return f"{MARK}-{identity(token)}"


def token_in(tags: str) -> str:
    """For whom something with these tags was made; empty when it is not ours."""
    found = (_TAG.fullmatch(one) for one in split_tags(tags))
    return next((one["token"] for one in found if one), "")


def split_tags(text: str) -> tuple[str, ...]:
    return tuple(one for one in re.split(r"[;, ]+", text) if one)


def is_configured(config: Config, token: str) -> bool:
    """Whether a VM has got everything that an order says but the size of its disk."""
    return tag(token) in split_tags(config.get("tags", "")) and uuid_of(config) == identity(token)


def is_ours(config: Config, token: str, vmid: int) -> bool:
    """Whether a VM was made for a token, as far as it has been made. The note names the number too, because a copy that
    someone makes of the machine has the same note."""
    noted = _NOTE.search(config.get("description", ""))
    return is_configured(config, token) or (noted is not None and noted.groups() == (token, str(vmid)))


def is_nameless(config: Config) -> bool:
    """Whether a VM is at a point at which it does not say whose it is: just begun, or almost gone."""
    return "lock" in config and "smbios1" not in config


def uuid_of(config: Config) -> str:
    return properties(config.get("smbios1", "")).get("uuid", "").lower()


def numbers(token: str, vmids: range) -> Iterator[int]:
    """The numbers a machine may have, the best first. Whoever asks gets them in the same order: two that make the
    same machine at the same time meet at the same number, where only one can pass."""
    start = int.from_bytes(sha256(token.encode()).digest()[:8]) % len(vmids)
    yield from vmids[start:]
    yield from vmids[:start]


def iso_name(token: str, vmid: int) -> str:
    """The file with the configuration of a machine. Its name says which number was chosen for the token, and it is
    there before the machine is."""
    return f"{MARK}-{identity(token)}-{vmid}.iso"


def iso_parts(name: str) -> tuple[str, int] | None:
    """Token and number."""
    found = _FILE.fullmatch(name)
    return (found["token"], int(found["vmid"])) if found else None


def properties(text: str) -> dict[str, str]:
    """`virtio=BC:24:11:00:00:01,bridge=vmbr0` by name; what stands without a name is under the empty one."""
    found = {}
    for part in str(text).split(","):
        name, equals, value = part.partition("=")
        found[name if equals else ""] = value if equals else name
    return found


def boot_disk(config: Config) -> str:
    """The disk a VM boots from; empty when it has none."""
    order = properties(config.get("boot", "")).get("order", "").split(";")
    candidates = [*order, config.get("bootdisk", ""), *_BOOT_DISKS]
    return next((one for one in candidates if one in config and is_disk(config[one])), "")


def is_disk(value: object) -> bool:
    return ":" in str(value) and "media=cdrom" not in str(value) and "cloudinit" not in str(value)


def disk_bytes(config: Config, disk: str) -> int:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)", properties(config.get(disk, "")).get("size", "0"))
    return int(float(match[1]) * _UNITS[match[2]]) if match else 0


def mac_addresses(config: Config) -> tuple[str, ...]:
    cards = sorted((name for name in config if re.fullmatch(r"net\d+", name)), key=lambda name: int(name[3:]))
    found = (_mac(str(config[card])) for card in cards)
    return tuple(one for one in found if one)


def _mac(card: str) -> str:
    match = re.search(r"=([0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5})", card)
    return match[1].lower() if match else ""


def addresses(interfaces: list[Any], macs: tuple[str, ...]) -> tuple[str, ...]:
    """What the guest agent tells, of the cards Proxmox has given to the machine: private addresses first."""
    found: dict[Address, None] = {}
    for interface in interfaces:
        if str(interface.get("hardware-address", "")).lower() in macs:
            found |= dict.fromkeys(ip_address(one["ip-address"]) for one in interface.get("ip-addresses") or ())
    usable = [one for one in found if not (one.is_loopback or one.is_link_local or one.is_unspecified)]
    return tuple(str(one) for one in sorted(usable, key=lambda one: (not one.is_private, one.version)))


def clone_form(settings: Settings, order: MachineOrder, vmid: int, target: str) -> dict[str, str | int]:
    """A copy of a template; `target` is empty when it stays on the template's host."""
    form: dict[str, str | int] = {
        "newid": vmid,
        "name": order.name,
        "description": notes(order, vmid),
        "full": int(settings.is_full),
    }
    if settings.is_full:
        form["storage"] = settings.storage
    return form | _given(target=target, pool=settings.pool)


def import_form(settings: Settings, order: MachineOrder, vmid: int, image: str, iso: str) -> dict[str, str | int]:
    """A VM from nothing, with a disk that is read from an image."""
    form: dict[str, str | int] = {
        "vmid": vmid,
        "name": order.name,
        "ostype": "l26",
        "scsihw": "virtio-scsi-single",
        "scsi0": f"{settings.storage}:0,import-from={image}",
        "boot": "order=scsi0",
        "cpu": settings.cpu_type or CPU_TYPE,
        "net0": _card(settings, "virtio", settings.bridge or BRIDGE),
        "serial0": "socket",
        "description": notes(order, vmid),
    }
    return form | _common(settings, order, {"scsi0": form["scsi0"]}, iso) | _given(pool=settings.pool)


def config_form(settings: Settings, order: MachineOrder, config: Config, iso: str) -> dict[str, str | int]:
    """What a fresh clone has to be told. Its digest sees to it that nobody is told twice."""
    form = _common(settings, order, config, iso) | _given(cpu=settings.cpu_type, digest=config.get("digest", ""))
    if settings.bridge or "net0" not in config:
        model = str(config.get("net0", "virtio")).partition(",")[0]
        form["net0"] = _card(settings, model, settings.bridge or BRIDGE)
    ours = _cidata_slot(config)
    if others := [slot for slot, value in config.items() if "cloudinit" in str(value) and slot in _drives() - {ours}]:
        # Proxmox labels its own volume `cidata` as well, and a guest would read either.
        form["delete"] = ",".join(sorted(others))
    return form


def _common(settings: Settings, order: MachineOrder, config: Config, iso: str) -> dict[str, str | int]:
    smbios = {**properties(config.get("smbios1", "")), "uuid": identity(order.token)}
    return {
        "sockets": 1,
        "cores": order.cpu,
        "memory": order.memory_mb,
        "agent": "enabled=1",
        "onboot": 1,
        "tags": ";".join((MARK, tag(order.token))),
        "smbios1": ",".join(f"{name}={value}" for name, value in smbios.items() if name),
        _cidata_slot(config): f"{iso},media=cdrom",
        **_further_disks(settings, order, config),
    }


def _further_disks(settings: Settings, order: MachineOrder, config: Config) -> dict[str, str | int]:
    free = (f"scsi{at}" for at in range(1, _SCSI_DISKS) if f"scsi{at}" not in config)
    disks = zip(order.extra_disks, free, strict=False)
    found: dict[str, str | int] = {at: f"{disk.storage_class or settings.storage}:{disk.size_gb}" for disk, at in disks}
    if len(found) < len(order.extra_disks):
        raise MachineRejected(NAME, order.name, f"there is no room for {len(order.extra_disks)} further disks")
    return found


def _cidata_slot(config: Config) -> str:
    """Where the configuration is put in: instead of the volume Proxmox makes for cloud-init, if there is one."""
    theirs = (slot for slot in CIDATA_SLOTS if "cloudinit" in str(config.get(slot, "")))
    free = (slot for slot in CIDATA_SLOTS if slot not in config or str(config[slot]).startswith("none,"))
    return next(theirs, "") or next(free, CIDATA_SLOTS[0])


def _drives() -> set[str]:
    buses = (("ide", 4), ("sata", 6), ("scsi", 31), ("virtio", 16))
    return {f"{bus}{at}" for bus, count in buses for at in range(count)}


def _card(settings: Settings, model: str, bridge: str) -> str:
    return f"{model},bridge={bridge}" + (f",tag={settings.vlan}" if settings.vlan else "")


def notes(order: MachineOrder, vmid: int) -> str:
    """What people read beside the VM. Proxmox has no place for labels but this."""
    labels = "".join(f"{name}={value}\n" for name, value in sorted(order.labels.items()))
    return f"Made by Butler, which also removes it.\n\nbutler-token: {order.token}, VM {vmid}\n{labels}"


def _given(**values: str) -> dict[str, str | int]:
    return {name: value for name, value in values.items() if value}
