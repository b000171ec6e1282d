"""The bodies of version 4: what is sent, and what is read from answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from butler.api.units import MIB

from ..contract import MachineOrder, Object, Power
from ..images import ImageOrder
from .api import Hosts, Kind, Places, Task, TaskState, Thing, Vm
from .vm import GIB, description, disks, encoded, has_guest_data, metadata, usable

_TASKS = {"SUCCEEDED": TaskState.DONE, "FAILED": TaskState.FAILED, "CANCELED": TaskState.FAILED}
_POWER = {"ON": Power.RUNNING, "OFF": Power.STOPPED, "PAUSED": Power.STOPPED}
_MADE = ("vmm:ahv:config:vm", "vmm:content:image")
"""What tasks make, in their own words."""
_BOOT = {"legacy": "vmm.v4.ahv.config.LegacyBoot", "uefi": "vmm.v4.ahv.config.UefiBoot"}


def vm_body(order: MachineOrder, places: Places) -> Object:
    body: Object = {
        "name": order.name,
        "description": description(order.token, order.labels),
        "numSockets": order.cpu,
        "numCoresPerSocket": 1,
        "memorySizeBytes": order.memory_mb * MIB,
        "cluster": {"extId": places.cluster},
        "bootConfig": {"$objectType": _BOOT[places.boot_type]},
        "nics": [{"networkInfo": {"nicType": "NORMAL_NIC", "subnet": {"extId": places.subnet}}}],
        "disks": [_disk(index, size, places) for index, size in enumerate(disks(order))],
    }
    if has_guest_data(order):
        body["guestCustomization"] = {"config": _cloud_init(order)}
    return body


def _cloud_init(order: MachineOrder) -> Object:
    config: Object = {
        "$objectType": "vmm.v4.ahv.config.CloudInit",
        "datasourceType": "CONFIG_DRIVE_V2",
        "metadata": encoded(metadata(order)),
    }
    if order.user_data:
        script = {"$objectType": "vmm.v4.ahv.config.Userdata", "value": encoded(order.user_data)}
        config["cloudInitScript"] = script
    return config


def _disk(index: int, size: int, places: Places) -> Object:
    backing: Object = {"$objectType": "vmm.v4.ahv.config.VmDisk", "diskSizeBytes": size}
    if index == 0:
        reference = {"$objectType": "vmm.v4.ahv.config.ImageReference", "imageExtId": places.image}
        backing["dataSource"] = {"reference": reference}
    if places.containers[index]:
        backing["storageContainer"] = {"extId": places.containers[index]}
    return {"diskAddress": {"busType": "SCSI", "index": index}, "backingInfo": backing}


def image_body(order: ImageOrder, cluster: str) -> Object:
    body: Object = {
        "name": order.name,
        "description": description(order.token, {}),
        "type": "ISO_IMAGE" if order.format == "iso" else "DISK_IMAGE",
        "source": {"$objectType": "vmm.v4.content.UrlSource", "url": order.url},
        "clusterLocationExtIds": [cluster],
    }
    if order.sha256:
        body["checksum"] = {"$objectType": "vmm.v4.content.ImageSha256Checksum", "hexDigest": order.sha256}
    return body


def vm(found: Mapping[str, Any], etag: str = "") -> Vm:
    power = _POWER.get(found.get("powerState", ""), Power.STARTING)
    nics = [_Nic(one) for one in found.get("nics") or ()]
    return Vm(
        uuid=found["extId"],
        name=found.get("name", ""),
        description=found.get("description", ""),
        power=power,
        cpu=found.get("numSockets", 0) * found.get("numCoresPerSocket", 1) * found.get("numThreadsPerCore", 1),
        memory_mb=found.get("memorySizeBytes", 0) // MIB,
        addresses=usable(one for nic in nics for one in nic.addresses()) if power is Power.RUNNING else (),
        mac_addresses=tuple(nic.mac_address for nic in nics if nic.mac_address),
        etag=etag,
    )


class _Nic:
    """A network card; its two halves have other names since v4.2."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        self._network = found.get("nicNetworkInfo") or found.get("networkInfo") or {}
        backing = found.get("nicBackingInfo") or found.get("backingInfo") or {}
        self.mac_address = str(backing.get("macAddress") or "")

    def addresses(self) -> list[str]:
        assigned = (self._network.get("ipv4Config") or {}).get("ipAddress")
        learned = (self._network.get("ipv4Info") or {}).get("learnedIpAddresses")
        return [one["value"] for one in (*([assigned] if assigned else ()), *(learned or ()))]


def task(found: Mapping[str, Any]) -> Task:
    state = _TASKS.get(found["status"], TaskState.RUNNING)
    said = "; ".join(f"{one.get('code', '')} {one.get('message', '')}" for one in found.get("errorMessages") or ())
    failure = said or found.get("legacyErrorMessage") or "the task failed and does not say why"
    entities = [one["extId"] for one in found.get("entitiesAffected") or () if one.get("rel") in _MADE]
    created = found.get("createdTime")
    return Task(
        found["extId"],
        state,
        failure if state is TaskState.FAILED else "",
        next(iter(entities), ""),
        datetime.fromisoformat(created) if created else None,
    )


def _cluster(found: Mapping[str, Any]) -> Thing:
    functions = (found.get("config") or {}).get("clusterFunction") or ()
    problem = "" if "AOS" in functions else "it is a Prism Central, on which no machines run"
    nodes = (found.get("nodes") or {}).get("numberOfNodes", 0)
    return Thing(found["extId"], found["name"], f"{nodes} hosts", problem=problem)


def _subnet(found: Mapping[str, Any]) -> Thing:
    parts = [f"VLAN {found['networkId']}" if "networkId" in found else str(found.get("subnetType", ""))]
    parts += [_network(one["ipv4"]["ipSubnet"]) for one in found.get("ipConfig") or () if one.get("ipv4")]
    clusters = found.get("clusterReferenceList") or [one for one in (found.get("clusterReference"),) if one]
    return Thing(found["extId"], found["name"], ", ".join(part for part in parts if part), tuple(clusters))


def _network(found: Mapping[str, Any]) -> str:
    return f"{found['ip']['value']}/{found['prefixLength']}"


def _image(found: Mapping[str, Any]) -> Thing:
    size, kind = found.get("sizeBytes") or 0, found.get("type", "")
    problem = "" if size else "it is not there yet"
    if kind != "DISK_IMAGE":
        problem = f"it is of the type {kind or 'unknown'}, and machines boot from DISK_IMAGE"
    return Thing(
        found["extId"],
        found["name"],
        f"{-(-size // GIB)} GB" if size else "",
        problem=problem,
        description=found.get("description", ""),
        is_ready=bool(size),
    )


def _container(found: Mapping[str, Any]) -> Thing:
    where = found.get("clusterExtId")
    return Thing(found.get("extId") or found["containerExtId"], found["name"], clusters=(where,) if where else ())


THINGS: dict[Kind, Callable[[Mapping[str, Any]], Thing]] = {
    Kind.CLUSTER: _cluster,
    Kind.SUBNET: _subnet,
    Kind.IMAGE: _image,
    Kind.CONTAINER: _container,
}


def hosts(found: Iterable[Mapping[str, Any]]) -> Hosts:
    sizes = [one for one in found if one.get("memorySizeBytes")]
    memory = sum(one["memorySizeBytes"] for one in sizes) // MIB
    return Hosts(len(sizes), sum(one.get("numberOfCpuCores", 0) for one in sizes), memory)
