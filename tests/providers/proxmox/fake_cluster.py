"""The rest of the fake: logging in, the cluster's lists, tasks, storages and what is on them."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from tests.providers.clocks import EPOCH
from tests.providers.proxmox.fake import (
    GIB,
    PASSWORD,
    TICKET_LIFE,
    TOKEN_USER,
    USER,
    Call,
    Guest,
    Pve,
    Refused,
    Storage,
    Task,
    Volume,
    csrf_of,
    handles,
)

COPY, REMOVE, DOWNLOAD = 0.5, 1.0, 20.0
_STORAGE = "/nodes/{node}/storage/{storage}"
_EXTENSIONS = {"iso": r"\.(iso|img)", "import": r"\.(ova|qcow2|raw|vmdk)", "vztmpl": r"\.tar\.(gz|xz|zst)"}


@handles("GET", "/version")
def version(pve: Pve, call: Call) -> Any:
    return {"version": pve.version, "release": pve.version.rpartition(".")[0], "repoid": "0123abcd"}


@handles("POST", "/access/ticket")
def ticket(pve: Pve, call: Call) -> Any:
    given = call.given
    is_renewal = pve.tickets.get(given["password"], -1.0) >= pve.now
    if given["username"] != USER or (given["password"] != PASSWORD and not is_renewal):
        raise Refused(401, "authentication failure")
    made = f"PVE:{USER}:{next(pve.numbers):08X}::c2lnbmF0dXJl+/{len(pve.tickets)}=="
    pve.tickets[made] = pve.now + TICKET_LIFE
    if pve.needs_second_factor:
        return {"username": USER, "ticket": f"PVE:!tfa!{made}", "CSRFPreventionToken": csrf_of(made), "NeedTFA": 1}
    return {"username": USER, "ticket": made, "CSRFPreventionToken": csrf_of(made), "clustername": "lab"}


@handles("GET", "/access/permissions")
def permissions(pve: Pve, call: Call) -> Any:
    return {path: {name: int(below) for name, below in held.items()} for path, held in pve.acl.items()}


@handles("GET", "/cluster/resources")
def resources(pve: Pve, call: Call) -> Any:
    wanted = call.given.get("type", "")
    found: list[dict[str, Any]] = []
    if wanted in ("", "vm"):
        found += [_guest(pve, one) for one in pve.guests.values() if _is_seen(pve, one)]
    if wanted in ("", "node"):
        found += [_node(pve, name) for name in pve.hosts]
    if wanted in ("", "storage"):
        stores = [one for one in pve.storages.values() if pve.may(f"/storage/{one.name}", "Datastore.Audit")]
        found += [_store(one, node) for one in stores for node in pve.hosts]
    return found + ([{"type": "sdn", "id": "sdn/pve1/localnetwork", "sdn": "localnetwork"}] if not wanted else [])


def _is_seen(pve: Pve, guest: Guest) -> bool:
    return guest.vmid not in pve.unseen and pve.may(f"/vms/{guest.vmid}", "VM.Audit")


def _guest(pve: Pve, guest: Guest) -> dict[str, Any]:
    kind = "lxc" if guest.vmid in pve.containers else "qemu"
    found: dict[str, Any] = {
        "type": kind, "id": f"{kind}/{guest.vmid}", "vmid": guest.vmid, "node": guest.node, "status": "unknown",
    }  # fmt: skip
    live = {name: guest.conf[name] for name in ("lock", "tags") if name in guest.conf}
    return found | pve.statistics.get(guest.vmid, {}) | live


def _node(pve: Pve, name: str) -> dict[str, Any]:
    host = pve.hosts[name]
    found: dict[str, Any] = {"type": "node", "id": f"node/{name}", "node": name}
    found["status"] = "online" if host.is_online else "offline"
    if pve.may(f"/nodes/{name}", "Sys.Audit"):
        found |= {"maxmem": host.memory, "mem": host.used, "maxcpu": host.cores}
    return found


def _store(store: Storage, node: str) -> dict[str, Any]:
    return {
        "type": "storage", "id": f"storage/{node}/{store.name}", "storage": store.name, "node": node,
        "status": "available", "shared": int(store.is_shared), "content": ",".join(sorted(store.content)),
        "maxdisk": store.size, "disk": store.used, "plugintype": "dir" if store.is_file else "rbd",
    }  # fmt: skip


@handles("GET", "/cluster/nextid")
def nextid(pve: Pve, call: Call) -> Any:
    if "vmid" not in call.given:
        return str(next(one for one in range(100, 1_000_000) if one not in pve.guests))
    if int(call.given["vmid"]) in pve.guests:
        problem = f"VM {call.given['vmid']} already exists"
        raise Refused(400, "Parameter verification failed.", {"vmid": problem})
    return call.given["vmid"]


@handles("GET", "/nodes")
def nodes(pve: Pve, call: Call) -> Any:
    return [_node(pve, name) for name in pve.hosts]


@handles("GET", "/nodes/{node}/network")
def network(pve: Pve, call: Call) -> Any:
    bridges = pve.hosts[call.at["node"]].bridges
    return [{"iface": one, "type": "bridge", "active": 1, "cidr": "10.0.0.2/24"} for one in bridges]


@handles("GET", "/nodes/{node}/qemu")
def guests(pve: Pve, call: Call) -> Any:
    found = [one for one in pve.guests.values() if one.node == call.at["node"] and _is_seen(pve, one)]
    return [
        {
            "vmid": one.vmid, "name": one.conf.get("name", ""), "tags": one.conf.get("tags", ""),
            "status": "running" if one.running_since is not None else "stopped",
        }
        for one in found
    ]  # fmt: skip


def _task(pve: Pve, call: Call) -> Task:
    if re.fullmatch(r"UPID:[^:]+(:[0-9A-F]+){3}:[^:]+:[^:]*:[^:]+:", call.at["upid"]) is None:
        raise Refused(400, "Parameter verification failed.", {"upid": "unable to parse worker upid"})
    if call.at["upid"] not in pve.tasks:
        raise Refused(500, "no such task")
    return pve.tasks[call.at["upid"]]


@handles("GET", "/nodes/{node}/tasks/{upid}/status")
def task_status(pve: Pve, call: Call) -> Any:
    return _shown(_task(pve, call))


def _shown(task: Task) -> dict[str, Any]:
    found = {"upid": task.upid, "node": task.node, "type": task.kind, "id": task.about, "user": task.user}
    ended = {"exitstatus": task.exit} if task.exit else {}
    return found | {"status": "running" if task.is_running else "stopped"} | ended


@handles("GET", "/nodes/{node}/tasks/{upid}/log")
def task_log(pve: Pve, call: Call) -> Any:
    return [{"n": 1, "t": f"TASK {_task(pve, call).exit or 'RUNNING'}"}]


@handles("GET", "/nodes/{node}/tasks")
def task_list(pve: Pve, call: Call) -> Any:
    source, kind = call.given.get("source", "archive"), call.given.get("typefilter", "")
    found = [one for one in pve.tasks.values() if one.node == call.at["node"] and kind in ("", one.kind)]
    return [_shown(one) for one in found if source == "all" or one.is_running == (source == "active")]


@handles("DELETE", "/nodes/{node}/tasks/{upid}")
def task_stop(pve: Pve, call: Call) -> Any:
    task = _task(pve, call)
    if task.is_running:
        task.exit = "received interrupt"


def _storage(pve: Pve, call: Call) -> Storage:
    if call.at["storage"] not in pve.storages:
        raise Refused(500, f"storage '{call.at['storage']}' does not exist")
    return pve.storages[call.at["storage"]]


@handles("GET", "/nodes/{node}/storage")
def storages(pve: Pve, call: Call) -> Any:
    return [_store(one, call.at["node"]) for one in pve.storages.values()]


@handles("GET", f"{_STORAGE}/content")
def content(pve: Pve, call: Call) -> Any:
    store = _storage(pve, call)
    pve.demand(f"/storage/{store.name}", "Datastore.Audit")
    wanted = call.given.get("content", "")
    return [
        {
            "volid": one.volid, "size": one.size, "content": one.content, "format": one.form,
            "ctime": int(EPOCH.timestamp() + one.made),
        }
        for one in store.on(call.at["node"]).values()
        if wanted in ("", one.content)
    ]  # fmt: skip


@handles("POST", f"{_STORAGE}/upload")
def upload(pve: Pve, call: Call) -> Any:
    store, kind = _storage(pve, call), call.given["content"]
    pve.demand(f"/storage/{store.name}", "Datastore.AllocateTemplate")
    name = _takes(store, kind, call.given["filename"])
    volume = Volume(f"{store.name}:{kind}/{name}", len(call.data), kind, pve.now, call.data, "iso")
    return pve.work(call, "imgcopy", "", (COPY, partial(_copied, pve, store, call.at["node"], volume)))


def _copied(pve: Pve, store: Storage, node: str, volume: Volume) -> None:
    if volume.content == "iso" and volume.data[32769:32774] != b"CD001":
        raise Refused(500, "bad ISO file - could not find the identifier")
    volume.made = pve.now
    store.on(node)[volume.volid] = volume


def _takes(store: Storage, kind: str, filename: str) -> str:
    if not store.is_file:
        raise Refused(500, "can't upload to storage type 'rbd'")
    if not re.fullmatch(rf"[A-Za-z0-9+._\-]+{_EXTENSIONS[kind]}", filename):
        raise Refused(400, "Parameter verification failed.", {"filename": "wrong file extension"})
    if kind not in store.content:
        raise Refused(500, f"storage '{store.name}' does not support '{kind}' content")
    return filename


@handles("POST", f"{_STORAGE}/download-url")
def download(pve: Pve, call: Call) -> Any:
    store, given = _storage(pve, call), call.given
    pve.demand(f"/storage/{store.name}", "Datastore.AllocateTemplate")
    pve.demand(f"/nodes/{call.at['node']}", "Sys.AccessNetwork")
    if ("checksum" in given) != ("checksum-algorithm" in given):
        raise Refused(400, "Parameter verification failed.", {"checksum": "missing property - 'checksum-algorithm'"})
    name = _takes(store, given["content"], given["filename"])
    form = name.rpartition(".")[2]
    volume = Volume(f"{store.name}:{given['content']}/{name}", 2 * GIB, given["content"], pve.now, b"", form)
    return pve.work(call, "download", name, (DOWNLOAD, partial(_downloaded, store, call, volume)))


def _downloaded(store: Storage, call: Call, volume: Volume) -> None:
    if "unreachable" in call.given["url"]:
        raise Refused(500, "download failed: could not resolve host: unreachable")
    if call.given.get("checksum", "").startswith("bad"):
        raise Refused(500, "checksum mismatch: got 'abc' != expect 'bad'")
    store.on(call.at["node"])[volume.volid] = volume


@handles("DELETE", f"{_STORAGE}/content/{{volume}}")
def remove(pve: Pve, call: Call) -> Any:
    store, volid = _storage(pve, call), call.at["volume"]
    volid = volid if ":" in volid else f"{store.name}:{volid}"
    pve.demand(f"/storage/{store.name}", "Datastore.Allocate")
    volumes = store.on(call.at["node"])
    if volid not in volumes:
        raise Refused(500, f"volume '{volid}' does not exist")
    return pve.work(call, "imgdel", store.name, (REMOVE, partial(_removed, volumes, volid)))


def _removed(volumes: dict[str, Volume], volid: str) -> None:
    volumes.pop(volid, None)


assert TOKEN_USER.startswith(USER), "a token belongs to a user"
