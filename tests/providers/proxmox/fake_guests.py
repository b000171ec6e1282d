"""VMs of the fake: how they come, and what they are told."""

from __future__ import annotations

import hashlib
import re
from functools import partial
from typing import Any

from tests.providers.proxmox.fake import GIB, Call, Guest, Pve, Refused, Storage, Volume, handles

BEGIN, FULL, LINKED, IMPORT, CONFIG = 1.0, 15.0, 3.0, 12.0, 2.0
"""Seconds that workers take."""
_QEMU, _ONE = "/nodes/{node}/qemu", "/nodes/{node}/qemu/{vmid}"
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": GIB, "T": 1 << 40, "": 1}
DRIVE = re.compile(r"(scsi|virtio|sata|ide)\d+")
_PRIVILEGES = {
    "VM.Config.CPU": r"cores|sockets|cpu|vcpus|numa", "VM.Config.Memory": r"memory|balloon",
    "VM.Config.Network": r"net\d+",
    "VM.Config.HWType": r"smbios1|scsihw|machine|serial\d+|hotplug|vmgenid|bios",
    "VM.Config.Options": r"name|tags|description|onboot|agent|boot|ostype|protection",
}  # fmt: skip


def guest_of(pve: Pve, call: Call) -> Guest:
    vmid, node = int(call.at["vmid"]), call.at["node"]
    guest = pve.guests.get(vmid)
    if guest is None or guest.node != node:
        raise Refused(500, f"Configuration file 'nodes/{node}/qemu-server/{vmid}.conf' does not exist")
    if vmid in pve.unseen:
        raise Refused(403, f"Permission check failed (/vms/{vmid}, VM.Audit)")
    return guest


def unlocked(guest: Guest) -> None:
    if lock := guest.conf.get("lock"):
        raise Refused(500, f"VM is locked ({lock})")


def alone(guest: Guest, upid: str = "") -> None:
    """Only one worker has the lock file of a VM."""
    if guest.busy is not None and guest.busy.is_running and guest.busy.upid != upid:
        raise Refused(500, f"can't lock file '/var/lock/qemu-server/lock-{guest.vmid}.conf' - got timeout")


def storage_of(pve: Pve, name: str, content: str = "images") -> Storage:
    if name not in pve.storages:
        raise Refused(500, f"storage '{name}' does not exist")
    if content not in pve.storages[name].content:
        raise Refused(
            400, "Parameter verification failed.", {"storage": f"storage '{name}' does not support vm images"}
        )
    return pve.storages[name]


def digest_of(guest: Guest) -> str:
    text = "".join(f"{name}: {value}\n" for name, value in sorted(guest.conf.items()))
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def size_of(text: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)", text)
    assert found is not None
    return int(float(found[1]) * _UNITS[found[2]])


def allocated(pve: Pve, guest: Guest, storage: str, size: int) -> str:
    """A new disk for a VM."""
    store = storage_of(pve, storage)
    if store.is_full:
        raise Refused(500, f"unable to create image: no space left on device on storage '{storage}'")
    volumes = store.on(guest.node)
    number = next(n for n in range(100) if f"{storage}:vm-{guest.vmid}-disk-{n}" not in volumes)
    volid = f"{storage}:vm-{guest.vmid}-disk-{number}"
    volumes[volid] = Volume(volid, size, "images", pve.now)
    return f"{volid},size={size // GIB}G"


@handles("POST", f"{_ONE}/clone")
def clone(pve: Pve, call: Call) -> Any:
    source, given = guest_of(pve, call), call.given
    newid, target = int(given["newid"]), given.get("target", call.at["node"])
    pve.demand(f"/vms/{source.vmid}", "VM.Clone")
    pve.demand(f"/pool/{given['pool']}" if "pool" in given else f"/vms/{newid}", "VM.Allocate")
    if "pool" in given and given["pool"] not in pve.pools:
        raise Refused(500, f"pool '{given['pool']}' does not exist")
    is_full = given.get("full", "0" if source.is_template else "1") == "1"
    unlocked(source)
    if "storage" in given and not is_full:
        raise Refused(500, "parameter 'storage' not allowed for linked clones")
    used = [pve.storages[value.partition(":")[0]] for value in _disks(source.conf).values()]
    if "storage" in given:
        store = storage_of(pve, given["storage"])
        pve.demand(f"/storage/{store.name}", "Datastore.AllocateSpace")
        if target != source.node and not store.is_shared:
            raise Refused(500, f"can't clone to non-shared storage '{store.name}'")
    if target not in pve.hosts:
        raise Refused(500, f"no such cluster node '{target}'")
    if target != source.node and not all(one.is_shared for one in used):
        raise Refused(500, f"can't clone VM to node '{target}' (VM uses local storage)")
    for card in (value for name, value in source.conf.items() if name.startswith("net")):
        pve.demand(f"/sdn/zones/localnetwork/{bridge_of(card)}", "SDN.Use")
    _free(pve, newid, source.node)
    steps = (BEGIN, partial(_reserved, pve, newid, source.node, given)), (
        FULL if is_full else LINKED, partial(_cloned, pve, newid, source, target, given, is_full)
    )  # fmt: skip
    upid = pve.work(call, "qmclone", str(source.vmid), *steps)
    pve.tasks[upid].makes = _unwritten(newid, source.node, given)
    return upid


def _free(pve: Pve, vmid: int, node: str) -> None:
    if vmid in pve.guests and pve.guests[vmid].node == node:
        raise Refused(500, f"unable to create VM {vmid}: config file already exists")


def _reserved(pve: Pve, vmid: int, node: str, given: dict[str, str]) -> None:
    if vmid in pve.guests:
        raise Refused(500, f"unable to create VM {vmid}: config file already exists")
    pve.guests[vmid] = _unwritten(vmid, node, given)


def _unwritten(vmid: int, node: str, given: dict[str, str]) -> Guest:
    conf = {"lock": "clone", "description": "qmclone temporary file\n"}
    return Guest(vmid, node, conf, given.get("name", ""), given.get("description", ""))


def _cloned(pve: Pve, vmid: int, source: Guest, target: str, given: dict[str, str], is_full: bool) -> None:
    guest = pve.guests[vmid]
    conf = {name: value for name, value in source.conf.items() if name != "template"}
    for name, value in conf.items():
        if name.startswith("net"):
            conf[name] = re.sub(r"=([0-9A-F]{2}:){5}[0-9A-F]{2}", f"={pve.mac()}", value)
    conf |= {"smbios1": f"uuid={pve.uuid()}", "name": given.get("name") or f"Copy-of-VM-{source.name}"}
    if "description" in given:
        conf["description"] = given["description"]
    try:
        for name, value in _disks(source.conf).items():
            storage = given.get("storage") or value.partition(":")[0]
            conf[name] = allocated(pve, guest, storage, size_of(value.rpartition("size=")[2]))
    except Refused as failure:
        del pve.guests[vmid]
        raise Refused(500, f"clone failed: {failure.reason}") from failure
    guest.conf, guest.node = conf, target


def _disks(conf: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in conf.items() if DRIVE.fullmatch(name) and "media=cdrom" not in value}


def bridge_of(card: str) -> str:
    return card.partition("bridge=")[2].partition(",")[0]


@handles("POST", _QEMU)
def create(pve: Pve, call: Call) -> Any:
    given = dict(call.given)
    vmid, node = int(given.pop("vmid")), call.at["node"]
    pool = given.pop("pool", "")
    pve.demand(f"/pool/{pool}" if pool else f"/vms/{vmid}", "VM.Allocate")
    _may_change(pve, vmid, given)
    if vmid in pve.guests:
        raise Refused(500, f"unable to create VM {vmid}: config file already exists")
    guest = Guest(vmid, node, {"lock": "create"}, given.get("name", ""), given.get("description", ""))
    _checked_drives(pve, guest, given)
    pve.guests[vmid] = guest
    return pve.work(call, "qmcreate", str(vmid), (IMPORT, partial(_created, pve, guest, given)))


def _created(pve: Pve, guest: Guest, given: dict[str, str]) -> None:
    conf = {"smbios1": f"uuid={pve.uuid()}"}
    try:
        conf |= _applied(pve, guest, given)
    except Refused:
        del pve.guests[guest.vmid]
        raise
    guest.conf = conf


@handles("GET", f"{_ONE}/config")
def config(pve: Pve, call: Call) -> Any:
    pve.demand(f"/vms/{call.at['vmid']}", "VM.Audit")
    guest = guest_of(pve, call)
    numbers = {"cores", "sockets", "onboot", "template"}
    shown = {name: int(value) if name in numbers else value for name, value in guest.conf.items()}
    return {**shown, "digest": digest_of(guest)}


@handles("PUT", f"{_ONE}/config")
def change(pve: Pve, call: Call) -> Any:
    guest = _may_be_changed(pve, call)
    alone(guest)
    _changed(pve, guest, dict(call.given))


@handles("POST", f"{_ONE}/config")
def change_later(pve: Pve, call: Call) -> Any:
    guest = _may_be_changed(pve, call)
    upid = pve.work(call, "qmconfig", str(guest.vmid), (0.0, lambda: _begin_change(pve, guest, upid)),
                    (CONFIG, lambda: _changed(pve, guest, dict(call.given))))  # fmt: skip
    return upid


def _begin_change(pve: Pve, guest: Guest, upid: str) -> None:
    alone(guest)
    guest.busy = pve.tasks[upid]


def _may_be_changed(pve: Pve, call: Call) -> Guest:
    guest = guest_of(pve, call)
    _may_change(pve, guest.vmid, call.given)
    _checked_drives(pve, guest, call.given)
    return guest


def _may_change(pve: Pve, vmid: int, given: dict[str, str]) -> None:
    for name, value in given.items():
        for privilege, names in _PRIVILEGES.items():
            if re.fullmatch(names, name):
                pve.demand(f"/vms/{vmid}", privilege)
        if DRIVE.fullmatch(name):
            pve.demand(f"/vms/{vmid}", "VM.Config.CDROM" if "media=cdrom" in value else "VM.Config.Disk")
        if name.startswith("net"):
            pve.demand(f"/sdn/zones/localnetwork/{bridge_of(value)}", "SDN.Use")


def _checked_drives(pve: Pve, guest: Guest, given: dict[str, str]) -> None:
    for name, value in given.items():
        if not DRIVE.fullmatch(name) or value.startswith("none"):
            continue
        storage = value.partition(":")[0]
        if storage not in pve.storages:
            raise Refused(500, f"storage '{storage}' does not exist")
        if "media=cdrom" in value:
            pve.demand(f"/storage/{storage}", "Datastore.Audit")
            continue
        pve.demand(f"/storage/{storage}", "Datastore.AllocateSpace")
        source = value.partition("import-from=")[2].partition(",")[0]
        if source and volume_of(pve, source, guest.node) is None:
            raise Refused(500, f"volume '{source}' does not exist")


def volume_of(pve: Pve, volid: str, node: str) -> Volume | None:
    store = pve.storages.get(volid.partition(":")[0])
    return store.on(node).get(volid) if store is not None else None


def _changed(pve: Pve, guest: Guest, given: dict[str, str]) -> None:
    if guest.vmid not in pve.guests:
        raise Refused(500, f"Configuration file 'nodes/{guest.node}/qemu-server/{guest.vmid}.conf' does not exist")
    unlocked(guest)
    if given.pop("digest", digest_of(guest)) != digest_of(guest):
        raise Refused(500, "detected modified configuration - file changed by other user? Try again.")
    for name in filter(None, given.pop("delete", "").split(",")):
        guest.conf.pop(name, None)
    guest.conf |= _applied(pve, guest, given)


def _applied(pve: Pve, guest: Guest, given: dict[str, str]) -> dict[str, str]:
    """Options as they are written down: addresses drawn, disks allocated, tags in order."""
    found = dict(given)
    for name, value in given.items():
        if name.startswith("net") and not re.match(r"\w+=([0-9A-Fa-f]{2}:){5}", value):
            found[name] = value.replace(value.partition(",")[0], f"{value.partition(',')[0]}={pve.mac()}", 1)
        elif name == "tags":
            found[name] = ";".join(sorted({one.lower() for one in re.split(r"[;, ]+", value) if one}))
        elif DRIVE.fullmatch(name) and "media=cdrom" not in value:
            storage, _, rest = value.partition(":")
            source = rest.partition("import-from=")[2].partition(",")[0]
            volume = volume_of(pve, source, guest.node) if source else None
            size = volume.size if volume is not None else int(rest.partition(",")[0]) * GIB
            found[name] = allocated(pve, guest, storage, size)
    return found


@handles("PUT", f"{_ONE}/resize")
def resize(pve: Pve, call: Call) -> Any:
    guest, disk = guest_of(pve, call), call.given["disk"]
    pve.demand(f"/vms/{guest.vmid}", "VM.Config.Disk")
    if disk not in guest.conf:
        raise Refused(500, f"disk '{disk}' does not exist")
    upid = pve.work(call, "resize", str(guest.vmid), (0.0, lambda: _begin_change(pve, guest, upid)),
                    (BEGIN, lambda: _resized(pve, guest, disk, call.given["size"])))  # fmt: skip
    return upid


def _resized(pve: Pve, guest: Guest, disk: str, size: str) -> None:
    unlocked(guest)
    volid, _, before = guest.conf[disk].partition(",size=")
    wanted = size_of(before) + size_of(size[1:]) if size.startswith("+") else size_of(size)
    if wanted < size_of(before):
        raise Refused(500, "shrinking disks is not supported")
    store = pve.storages[volid.partition(":")[0]]
    store.on(guest.node)[volid].size = wanted
    guest.conf[disk] = f"{volid},size={wanted // GIB}G"
