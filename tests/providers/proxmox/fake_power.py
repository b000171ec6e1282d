"""VMs of the fake: power, what their guests say, and their end."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from tests.providers.proxmox.fake import Call, Guest, Pve, Refused, handles
from tests.providers.proxmox.fake_guests import BEGIN, DRIVE, alone, bridge_of, guest_of, unlocked, volume_of

START, STOP, DESTROY, BOOT = 2.0, 3.0, 4.0, 20.0
"""Seconds that workers take, and until a guest agent answers."""
_ONE = "/nodes/{node}/qemu/{vmid}"


@handles("GET", f"{_ONE}/status/current")
def status(pve: Pve, call: Call) -> Any:
    pve.demand(f"/vms/{call.at['vmid']}", "VM.Audit")
    guest = guest_of(pve, call)
    state = "running" if guest.running_since is not None else "stopped"
    found = {"vmid": guest.vmid, "name": guest.conf.get("name", ""), "status": state, "qmpstatus": state, "agent": 1}
    return found | ({"lock": guest.conf["lock"]} if "lock" in guest.conf else {})


@handles("POST", f"{_ONE}/status/start")
def start(pve: Pve, call: Call) -> Any:
    guest = guest_of(pve, call)
    pve.demand(f"/vms/{guest.vmid}", "VM.PowerMgmt")
    return pve.work(call, "qmstart", str(guest.vmid), (START, lambda: _started(pve, guest)))


def _started(pve: Pve, guest: Guest) -> None:
    unlocked(guest)
    alone(guest)
    if guest.running_since is not None:
        raise Refused(500, f"VM {guest.vmid} already running")
    if guest.is_template:
        raise Refused(500, "you can't start a vm if it's a template")
    host = pve.hosts[guest.node]
    if int(guest.conf.get("cores", 1)) > host.cores:
        raise Refused(500, f"MAX {host.cores} vcpus allowed per VM on this node")
    for name, value in guest.conf.items():
        volid = value.partition(",")[0]
        if DRIVE.fullmatch(name) and volid != "none" and volume_of(pve, volid, guest.node) is None:
            raise Refused(500, f"volume '{volid}' does not exist")
        if name.startswith("net") and bridge_of(value) not in host.bridges:
            raise Refused(500, f"bridge '{bridge_of(value)}' does not exist")
    guest.running_since = pve.now


@handles("POST", f"{_ONE}/status/stop")
def stop(pve: Pve, call: Call) -> Any:
    guest = guest_of(pve, call)
    pve.demand(f"/vms/{guest.vmid}", "VM.PowerMgmt")
    return pve.work(call, "qmstop", str(guest.vmid), (STOP, lambda: _stopped(guest)))


handles("POST", f"{_ONE}/status/shutdown")(stop)


def _stopped(guest: Guest) -> None:
    unlocked(guest)
    guest.running_since = None


@handles("GET", f"{_ONE}/agent/network-get-interfaces")
def interfaces(pve: Pve, call: Call) -> Any:
    guest = guest_of(pve, call)
    if not pve.may(f"/vms/{guest.vmid}", "VM.Monitor") and not pve.may(f"/vms/{guest.vmid}", "VM.GuestAgent.Audit"):
        raise Refused(403, f"Permission check failed (/vms/{guest.vmid}, VM.Monitor)")
    if "enabled=1" not in guest.conf.get("agent", ""):
        raise Refused(500, "No QEMU guest agent configured")
    if guest.running_since is None:
        raise Refused(500, f"VM {guest.vmid} is not running")
    if pve.now < guest.running_since + BOOT:
        raise Refused(500, "QEMU guest agent is not running")
    mac = re.findall(r"(?:[0-9A-F]{2}:){5}[0-9A-F]{2}", guest.conf["net0"])[0].lower()
    low = int(mac[-2:], 16), int(mac[-5:-3], 16)
    return {"result": [
        _interface("lo", "00:00:00:00:00:00", ("127.0.0.1", 8)),
        _interface("eth0", mac, (f"93.184.216.{low[0]}", 24), ("fe80::1", 64), (f"10.40.{low[1]}.{low[0]}", 16)),
        _interface("cni0", "3a:00:00:00:00:01", ("10.244.0.1", 24)),
        {"name": "bond0", "hardware-address": mac},
    ]}  # fmt: skip


def _interface(name: str, mac: str, *addresses: tuple[str, int]) -> dict[str, Any]:
    return {
        "name": name, "hardware-address": mac,
        "ip-addresses": [
            {"ip-address": one, "prefix": prefix, "ip-address-type": "ipv6" if ":" in one else "ipv4"}
            for one, prefix in addresses
        ],
    }  # fmt: skip


@handles("DELETE", _ONE)
def destroy(pve: Pve, call: Call) -> Any:
    guest = guest_of(pve, call)
    pve.demand(f"/vms/{guest.vmid}", "VM.Allocate")
    if guest.conf.get("protection") == "1":
        raise Refused(500, f"can't remove VM {guest.vmid} - protection mode enabled")
    if guest.running_since is not None:
        raise Refused(500, f"VM {guest.vmid} is running - destroy failed")
    return pve.work(call, "qmdestroy", str(guest.vmid), (BEGIN, lambda: _emptied(pve, guest)),
                    (DESTROY, partial(pve.forget, guest.vmid)))  # fmt: skip


def _emptied(pve: Pve, guest: Guest) -> None:
    """Its disks go first; until the end a configuration is left that says nothing but that."""
    if guest.vmid not in pve.guests:
        raise Refused(500, f"Configuration file 'nodes/{guest.node}/qemu-server/{guest.vmid}.conf' does not exist")
    unlocked(guest)
    for store in pve.storages.values():
        for volid in [one for one in store.on(guest.node) if f":vm-{guest.vmid}-" in one]:
            del store.on(guest.node)[volid]
    guest.conf = {"lock": "destroyed"}
