"""The bodies of version 3: what is sent, and what is read from answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..contract import MachineOrder, Object, Power
from ..images import ImageOrder
from .api import Hosts, Kind, Places, Task, TaskState, Thing, Vm
from .vm import GIB, description, disks, encoded, has_guest_data, metadata, usable

_API = "3.1"
_KEPT = ("kind", "uuid", "spec_version", "categories", "project_reference", "owner_reference")
"""What a change has to repeat, lest it is taken away."""
_TASKS = {"SUCCEEDED": TaskState.DONE, "FAILED": TaskState.FAILED, "ABORTED": TaskState.FAILED}


def vm_body(order: MachineOrder, places: Places, uuid: str) -> Object:
    resources: Object = {
        "num_sockets": order.cpu,
        "num_vcpus_per_socket": 1,
        "memory_size_mib": order.memory_mb,
        "power_state": "ON",
        "boot_config": {"boot_type": places.boot_type.upper()},
        "nic_list": [{"nic_type": "NORMAL_NIC", "subnet_reference": {"kind": "subnet", "uuid": places.subnet}}],
        "disk_list": [_disk(index, size, places) for index, size in enumerate(disks(order))],
    }
    if has_guest_data(order):
        script = {"user_data": encoded(order.user_data)} if order.user_data else {}
        resources["guest_customization"] = {"cloud_init": {**script, "meta_data": encoded(metadata(order))}}
    return {
        "api_version": _API,
        "metadata": {"kind": "vm", "uuid": uuid},
        "spec": {
            "name": order.name,
            "description": description(order.token, order.labels),
            "cluster_reference": {"kind": "cluster", "uuid": places.cluster},
            "resources": resources,
        },
    }


def _disk(index: int, size: int, places: Places) -> Object:
    address = {"adapter_type": "SCSI", "device_index": index}
    disk: Object = {
        "device_properties": {"device_type": "DISK", "disk_address": address},
        "disk_size_bytes": size,
    }
    if index == 0:
        disk["data_source_reference"] = {"kind": "image", "uuid": places.image}
    if places.containers[index]:
        reference = {"kind": "storage_container", "uuid": places.containers[index]}
        disk["storage_config"] = {"storage_container_reference": reference}
    return disk


def with_power(found: Mapping[str, Any]) -> Object:
    """The same VM, switched on."""
    spec = found["spec"]
    kept = {name: found["metadata"][name] for name in _KEPT if name in found["metadata"]}
    return {
        "api_version": _API,
        "metadata": kept,
        "spec": {**spec, "resources": {**spec["resources"], "power_state": "ON"}},
    }


def image_body(order: ImageOrder, uuid: str) -> Object:
    resources: Object = {
        "image_type": "ISO_IMAGE" if order.format == "iso" else "DISK_IMAGE",
        "source_uri": order.url,
    }
    if order.sha256:
        resources["checksum"] = {"checksum_algorithm": "SHA_256", "checksum_value": order.sha256}
    return {
        "api_version": _API,
        "metadata": {"kind": "image", "uuid": uuid},
        "spec": {"name": order.name, "description": description(order.token, {}), "resources": resources},
    }


def containers_query(offset: int, length: int) -> Object:
    """This version has no list of storage containers, but the query that its own pages are made from."""
    return {
        "entity_type": "storage_container",
        "group_member_attributes": [{"attribute": "container_name"}, {"attribute": "cluster"}],
        "group_member_count": length,
        "group_member_offset": offset,
    }


def vm(found: Mapping[str, Any]) -> Vm:
    status, spec = found["status"], found.get("spec", {})
    resources = status.get("resources") or spec.get("resources", {})
    power = _power(status)
    nics = resources.get("nic_list", ())
    endpoints = [one for nic in nics for one in nic.get("ip_endpoint_list", ())]
    return Vm(
        uuid=found["metadata"]["uuid"],
        name=status.get("name") or spec.get("name", ""),
        description=status.get("description") or spec.get("description", ""),
        power=power,
        cpu=resources.get("num_sockets", 0) * resources.get("num_vcpus_per_socket", 1),
        memory_mb=resources.get("memory_size_mib", 0),
        addresses=usable(one["ip"] for one in endpoints if one.get("ip")) if power is Power.RUNNING else (),
        mac_addresses=tuple(nic["mac_address"] for nic in nics if nic.get("mac_address")),
        failure=_failure(status),
    )


def _power(status: Mapping[str, Any]) -> Power:
    state = str(status.get("state", ""))
    if state.startswith("DELETE"):
        return Power.DELETING
    # One that is being changed while it runs is pending too.
    if status.get("resources", {}).get("power_state") == "ON":
        return Power.RUNNING
    return Power.STARTING if state == "PENDING" else Power.STOPPED


def _failure(status: Mapping[str, Any]) -> str:
    if status.get("state") != "ERROR":
        return ""
    said = [f"{one.get('reason', '')} {one.get('message', '')}".strip() for one in status.get("message_list", ())]
    return "; ".join(said) or "it is in the state ERROR"


def task(found: Mapping[str, Any]) -> Task:
    state = _TASKS.get(found["status"], TaskState.RUNNING)
    said = " ".join(str(found[name]) for name in ("error_code", "error_detail") if found.get(name))
    entities = [one["uuid"] for one in found.get("entity_reference_list", ()) if one.get("kind") in ("vm", "image")]
    failure = (said or "the task failed and does not say why") if state is TaskState.FAILED else ""
    return Task(found["uuid"], state, failure, next(iter(entities), ""))


def task_of(answer: Mapping[str, Any]) -> str:
    """The task that an answer names; it is a list in some."""
    named = answer.get("status", {}).get("execution_context", {}).get("task_uuid", "")
    return str(next(iter(named), "") if isinstance(named, list) else named)


def _cluster(found: Mapping[str, Any]) -> Thing:
    resources = found["status"]["resources"]
    services = resources.get("config", {}).get("service_list", ())
    problem = "" if "AOS" in services else "it is a Prism Central, on which no machines run"
    nodes = len(resources.get("nodes", {}).get("hypervisor_server_list", ()))
    return Thing(found["metadata"]["uuid"], found["status"]["name"], f"{nodes} hosts", problem=problem)


def _subnet(found: Mapping[str, Any]) -> Thing:
    status = found["status"]
    resources, where = status["resources"], status.get("cluster_reference") or {}
    parts = [f"VLAN {resources['vlan_id']}" if "vlan_id" in resources else str(resources.get("subnet_type", ""))]
    if config := resources.get("ip_config"):
        parts.append(f"{config['subnet_ip']}/{config['prefix_length']}")
    clusters = (where["uuid"],) if where.get("uuid") else ()
    return Thing(found["metadata"]["uuid"], status["name"], ", ".join(part for part in parts if part), clusters)


def _image(found: Mapping[str, Any]) -> Thing:
    status, spec = found["status"], found.get("spec", {})
    resources = status.get("resources") or spec.get("resources", {})
    kind, is_ready = resources.get("image_type", ""), status.get("state") == "COMPLETE"
    size = resources.get("size_bytes", 0)
    problem = "" if is_ready else f"it is in the state {status.get('state')}"
    if kind != "DISK_IMAGE":
        problem = f"it is of the type {kind or 'unknown'}, and machines boot from DISK_IMAGE"
    return Thing(
        found["metadata"]["uuid"],
        status.get("name") or spec.get("name", ""),
        f"{-(-size // GIB)} GB" if size else "",
        problem=problem,
        description=status.get("description") or spec.get("description", ""),
        failure=_failure(status),
        is_ready=is_ready,
    )


THINGS: dict[Kind, Callable[[Mapping[str, Any]], Thing]] = {
    Kind.CLUSTER: _cluster,
    Kind.SUBNET: _subnet,
    Kind.IMAGE: _image,
}


def containers(answer: Mapping[str, Any]) -> list[Thing]:
    results = [one for group in answer["group_results"] for one in group["entity_results"]]
    found = []
    for one in results:
        data = {part["name"]: part["values"][0]["values"][0] for part in one["data"] if part["values"]}
        clusters = (data["cluster"],) if "cluster" in data else ()
        found.append(Thing(one["entity_id"], data.get("container_name", ""), clusters=clusters))
    return found


def hosts(found: Iterable[Mapping[str, Any]], cluster: str) -> Hosts:
    inside = [one["status"] for one in found if one["status"].get("cluster_reference", {}).get("uuid") == cluster]
    sizes = [status["resources"] for status in inside if "memory_capacity_mib" in status["resources"]]
    return Hosts(
        len(sizes), sum(one.get("num_cpu_cores", 0) for one in sizes), sum(one["memory_capacity_mib"] for one in sizes)
    )
