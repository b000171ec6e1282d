"""Version 3 of the fake's API."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aiohttp import web

from tests.providers.nutanix import fake_schema as schema
from tests.providers.nutanix.fake import CENTRAL, CLUSTER, NEVER, PAGE, Disk, Image, Prism, Subnet, Task, Vm

BASE = "/api/nutanix/v3"
Json = dict[str, Any]
_MOST = {"vm": 500, "image": 500, "subnet": 500, "cluster": 500, "host": 500}
_FILTERS = {"vm": "vm_name", "image": "name", "subnet": "name", "cluster": "name", "host": "name"}


def error(status: int, reason: str, message: str) -> web.Response:
    said = [{"reason": reason, "message": message}]
    return web.json_response(
        {"state": "ERROR", "code": status, "message_list": said, "api_version": "3.1"}, status=status
    )


class Refused(Exception):
    """A request that gets an error."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        self.answer = error(status, reason, message)


class V3Api:
    """The handlers."""

    def __init__(self, prism: Prism) -> None:
        self.prism = prism

    def add_to(self, router: web.UrlDispatcher) -> None:
        for method, path, handler in (
            ("POST", "/vms", self._make_vm),
            ("GET", "/vms/{uuid}", self._vm),
            ("PUT", "/vms/{uuid}", self._change_vm),
            ("DELETE", "/vms/{uuid}", self._remove_vm),
            ("GET", "/tasks/{uuid}", self._task),
            ("POST", "/images", self._make_image),
            ("GET", "/images/{uuid}", self._image),
            ("DELETE", "/images/{uuid}", self._remove_image),
            ("GET", "/subnets/{uuid}", self._subnet),
            ("GET", "/clusters/{uuid}", self._cluster),
            ("POST", "/{kind}s/list", self._list),
            ("POST", "/groups", self._groups),
            ("POST", "/idempotence_identifiers", self._identifiers),
            ("DELETE", "/idempotence_identifiers/{key}", self._forget_identifiers),
        ):
            router.add_route(method, BASE + path, _answering(handler))

    def _make_vm(self, request: web.Request) -> web.Response:
        body = _checked(request[schema.BODY], schema.V3_VM)
        uuid = self._own_uuid(body["metadata"], self.prism.vms)
        spec = body["spec"]
        wanted = spec["resources"]
        vm = _vm_of(self.prism, uuid, spec)
        if wanted.get("num_sockets", 1) * wanted.get("num_vcpus_per_socket", 1) > 64:
            raise Refused(422, "INVALID_REQUEST", f"too many vCPUs in {body}")
        self._check_references(vm)
        task = self.prism.add_vm(vm, wanted.get("power_state") == "ON", keeps_failed=True)
        return _accepted(body, uuid, task)

    def _check_references(self, vm: Vm) -> None:
        prism = self.prism
        known: tuple[tuple[str, Mapping[str, object]], ...] = (
            (vm.cluster, prism.clusters), *((one, prism.subnets) for one in vm.subnets),
            *((disk.image, prism.images) for disk in vm.disks if disk.image),
            *((disk.container, prism.containers) for disk in vm.disks if disk.container),
        )  # fmt: skip
        for uuid, there in known:
            if uuid not in there:
                raise Refused(422, "INVALID_REQUEST", f"{uuid} does not exist")

    def _vm(self, request: web.Request) -> web.Response:
        return web.json_response(self._shown(_there(request, self.prism.vms)))

    def _change_vm(self, request: web.Request) -> web.Response:
        vm = _there(request, self.prism.vms)
        body = _checked(request[schema.BODY], schema.V3_VM)
        self.prism.meddle(vm)
        if body["metadata"].get("categories") != {"Environment": "Test"}:
            raise Refused(422, "INVALID_REQUEST", "the change would take the categories away")
        if body["metadata"].get("spec_version") != vm.version or vm.gone_at != NEVER:
            raise Refused(409, "CONCURRENT_REQUESTS_NOT_ALLOWED", "Edit conflict: please retry change.")
        task = self.prism.switch(vm, body["spec"]["resources"].get("power_state") == "ON")
        return _accepted(body, vm.uuid, task)

    def _remove_vm(self, request: web.Request) -> web.Response:
        vm = _there(request, self.prism.vms)
        if not vm.is_made and not vm.failure:
            raise Refused(409, "CONCURRENT_REQUESTS_NOT_ALLOWED", "Edit conflict: please retry change.")
        return _accepted({"metadata": {"kind": "vm"}}, vm.uuid, self.prism.remove_vm(vm), "DELETE_PENDING")

    def _shown(self, vm: Vm) -> Json:
        spec = _spec(vm, self.prism.now)
        state = "COMPLETE" if vm.is_made else "PENDING"
        state = "ERROR" if vm.failure else state
        state = "DELETE_PENDING" if vm.gone_at != NEVER else state
        status: Json = {"state": state, "execution_context": {"task_uuid": [self.prism.new_uuid()]}}
        if vm.failure:
            status["message_list"] = [{"reason": "INTERNAL_ERROR", "message": vm.failure}]
        if vm.is_made or vm.failure:
            status |= spec
        wished = {**spec, "resources": {**spec["resources"], "power_state": "ON"}}
        metadata = {"kind": "vm", "uuid": vm.uuid, "spec_version": vm.version, "categories": {"Environment": "Test"}}
        return {"api_version": "3.1", "metadata": metadata, "spec": wished, "status": status}

    def _task(self, request: web.Request) -> web.Response:
        task = _there(request, self.prism.tasks)
        is_done = task.effect is None
        status = "RUNNING" if not is_done else "FAILED" if task.failure else "SUCCEEDED"
        shown: Json = {
            "uuid": task.uuid,
            "status": status,
            "operation_type": task.operation,
            "percentage_complete": 100 if is_done else 50,
            "entity_reference_list": [{"kind": task.kind, "uuid": task.entity}],
        }
        if task.failure:
            code, _, detail = task.failure.partition(": ")
            shown |= {"error_code": code, "error_detail": detail}
        return web.json_response(shown)

    def _make_image(self, request: web.Request) -> web.Response:
        body = _checked(request[schema.BODY], schema.V3_IMAGE)
        uuid = self._own_uuid(body["metadata"], self.prism.images)
        spec, wanted = body["spec"], body["spec"]["resources"]
        image = Image(
            uuid, spec["name"], spec.get("description", ""), wanted["image_type"], posted_at=self.prism.now
        )  # fmt: skip
        return _accepted(body, uuid, self.prism.add_image(image, wanted["source_uri"]))

    def _image(self, request: web.Request) -> web.Response:
        return web.json_response(_shown_image(_there(request, self.prism.images)))

    def _remove_image(self, request: web.Request) -> web.Response:
        image = _there(request, self.prism.images)
        return _accepted({"metadata": {"kind": "image"}}, image.uuid, self.prism.remove_image(image), "DELETE_PENDING")

    def _subnet(self, request: web.Request) -> web.Response:
        return web.json_response(_shown_subnet(_there(request, self.prism.subnets)))

    def _cluster(self, request: web.Request) -> web.Response:
        _there(request, self.prism.clusters)
        return web.json_response(self._shown_cluster(request.match_info["uuid"]))

    def _shown_cluster(self, uuid: str) -> Json:
        service = "PRISM_CENTRAL" if uuid == CENTRAL else "AOS"
        nodes = [] if uuid == CENTRAL else [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}]
        resources = {"config": {"service_list": [service]}, "nodes": {"hypervisor_server_list": nodes}}
        status = {"state": "COMPLETE", "name": self.prism.clusters[uuid], "resources": resources}
        return {"metadata": {"kind": "cluster", "uuid": uuid}, "spec": {}, "status": status}

    def _list(self, request: web.Request) -> web.Response:
        kind = request.match_info["kind"]
        body = _checked(request[schema.BODY], schema.V3_LIST)
        if kind not in _FILTERS or body.get("kind", kind) != kind:
            raise Refused(422, "INVALID_REQUEST", f"no kind {kind}")
        if body.get("length", 20) > _MOST[kind]:
            raise Refused(422, "INVALID_REQUEST", f"length is more than {_MOST[kind]}")
        found = self._entities(kind)
        if criteria := body.get("filter"):
            attribute, _, value = criteria.partition("==")
            if attribute != _FILTERS[kind]:
                raise Refused(422, "INVALID_REQUEST", f"cannot filter by {attribute}")
            found = [one for one in found if one["status"].get("name", one["spec"].get("name")) == value]
        offset, length = body.get("offset", 0), min(body.get("length", 20), PAGE)
        part = found[offset : offset + length]
        metadata = {"kind": kind, "total_matches": len(found), "length": len(part), "offset": offset}
        return web.json_response({"api_version": "3.1", "metadata": metadata, "entities": part})

    def _entities(self, kind: str) -> list[Json]:
        prism = self.prism
        match kind:
            case "vm":
                return [self._shown(one) for one in prism.listed()]
            case "image":
                return [_shown_image(one) for one in prism.listed_images()]
            case "subnet":
                return [_shown_subnet(one) for one in prism.subnets.values()]
            case "cluster":
                return [self._shown_cluster(uuid) for uuid in prism.clusters]
        size = {"memory_capacity_mib": 393216, "num_cpu_cores": 32}
        return [
            {
                "metadata": {"kind": "host"},
                "spec": {},
                "status": {"cluster_reference": {"uuid": uuid}, "resources": part},
            }
            for uuid, part in ((CLUSTER, size), (CLUSTER, size), (CENTRAL, {}))
        ]

    def _groups(self, request: web.Request) -> web.Response:
        body = _checked(request[schema.BODY], schema.V3_GROUPS)
        if body["entity_type"] != "storage_container":
            raise Refused(422, "INVALID_REQUEST", f"no entity type {body['entity_type']}")
        found = list(self.prism.containers.items())[body.get("group_member_offset", 0) :][:PAGE]
        results = [{"entity_id": uuid, "data": _data(container_name=name, cluster=CLUSTER)} for uuid, name in found]
        groups = [{"entity_results": results}]
        return web.json_response({"group_results": groups, "filtered_entity_count": len(self.prism.containers)})

    def _identifiers(self, request: web.Request) -> web.Response:
        body = _checked(request[schema.BODY], schema.V3_IDENTIFIERS)
        prism, key = self.prism, body.get("client_identifier", "")
        uuid, end = prism.identifiers.get(key, ("", 0.0))
        if end <= prism.now:
            uuid, end = prism.new_uuid(), prism.now + 60 * body.get("valid_duration_in_minutes", 1)
            prism.identifiers[key] = (uuid, end)
        shown = {"client_identifier": key, "count": 1, "uuid_list": [uuid]}
        return web.json_response({**shown, "expiration_time": prism.time(end).isoformat()})

    def _forget_identifiers(self, request: web.Request) -> web.Response:
        if self.prism.identifiers.pop(request.match_info["key"], None) is None:
            raise Refused(404, "ENTITY_NOT_FOUND", "no such identifier")
        return web.json_response({})

    def _own_uuid(self, metadata: Json, there: dict[str, Any]) -> str:
        """A UUID of one's own has to be reserved before, and is good for one entity."""
        uuid: str = metadata.get("uuid") or self.prism.new_uuid()
        reserved = {uuid for uuid, end in self.prism.identifiers.values() if end > self.prism.now}
        if "uuid" in metadata and uuid not in reserved:
            raise Refused(422, "INVALID_REQUEST", f"{uuid} was not reserved")
        if uuid in self.prism.used or uuid in there:
            raise Refused(409, "ALREADY_EXISTS", f"there is or was an entity {uuid}")
        return uuid


def _answering(handler: Callable[[web.Request], web.Response]) -> Any:
    async def answer(request: web.Request) -> web.Response:
        try:
            return handler(request)
        except Refused as refused:
            return refused.answer

    return answer


def _checked(body: Any, shape: Json) -> Json:
    if wrong := schema.problems(body, shape):
        raise Refused(422, "INVALID_REQUEST", f"{'; '.join(wrong)}; you sent {body}")
    checked: Json = body
    return checked


def _there(request: web.Request, things: dict[str, Any]) -> Any:
    uuid = request.match_info["uuid"]
    if uuid not in things:
        raise Refused(404, "ENTITY_NOT_FOUND", f"The entity {uuid} does not exist")
    return things[uuid]


def _accepted(body: Json, uuid: str, task: Task, state: str = "PENDING") -> web.Response:
    status = {"state": state, "execution_context": {"task_uuid": task.uuid}}
    answer = {**body, "api_version": "3.1", "metadata": {**body["metadata"], "uuid": uuid}, "status": status}
    return web.json_response(answer, status=202)


def _vm_of(prism: Prism, uuid: str, spec: Json) -> Vm:
    wanted = spec["resources"]
    script = wanted.get("guest_customization", {}).get("cloud_init", {})
    return Vm(
        uuid=uuid,
        name=spec["name"],
        description=spec.get("description", ""),
        cluster=spec["cluster_reference"]["uuid"],
        sockets=wanted.get("num_sockets", 1),
        cores=wanted.get("num_vcpus_per_socket", 1),
        memory_mb=wanted.get("memory_size_mib", 1024),
        boot=wanted.get("boot_config", {}).get("boot_type", "LEGACY"),
        subnets=[nic["subnet_reference"]["uuid"] for nic in wanted.get("nic_list", ())],
        disks=[_disk_of(one) for one in wanted.get("disk_list", ())],
        number=prism.next_number(),
        posted_at=prism.now,
        user_data=script.get("user_data"),
        meta_data=script.get("meta_data"),
    )


def _disk_of(found: Json) -> Disk:
    container = found.get("storage_config", {}).get("storage_container_reference", {}).get("uuid", "")
    size = found.get("disk_size_bytes") or found.get("disk_size_mib", 0) * 2**20
    return Disk(size, found.get("data_source_reference", {}).get("uuid", ""), container)


def _spec(vm: Vm, now: float) -> Json:
    endpoints = [{"ip": one, "type": "LEARNED"} for one in vm.addresses(now)]
    nics = [
        {"nic_type": "NORMAL_NIC", "mac_address": vm.mac, "subnet_reference": {"kind": "subnet", "uuid": one}}
        for one in vm.subnets
    ]
    return {
        "name": vm.name,
        "description": vm.description,
        "cluster_reference": {"kind": "cluster", "uuid": vm.cluster},
        "resources": {
            "num_sockets": vm.sockets,
            "num_vcpus_per_socket": vm.cores,
            "memory_size_mib": vm.memory_mb,
            "power_state": "ON" if vm.is_on else "OFF",
            "nic_list": [{**nic, "ip_endpoint_list": endpoints} for nic in nics],
            "disk_list": [{"disk_size_bytes": disk.size} for disk in vm.disks],
        },
    }


def _shown_image(image: Image) -> Json:
    state = "ERROR" if image.failure else "COMPLETE" if image.size else "PENDING"
    resources = {"image_type": image.type, **({"size_bytes": image.size} if image.size else {})}
    status: Json = {"state": state, "name": image.name, "description": image.description, "resources": resources}
    if image.failure:
        status["message_list"] = [{"reason": "INTERNAL_ERROR", "message": image.failure}]
    return {"metadata": {"kind": "image", "uuid": image.uuid}, "spec": {"name": image.name}, "status": status}


def _shown_subnet(subnet: Subnet) -> Json:
    config = {"subnet_ip": subnet.network, "prefix_length": 16}
    status = {
        "state": "COMPLETE",
        "name": subnet.name,
        "cluster_reference": {"kind": "cluster", "uuid": subnet.cluster},
        "resources": {"subnet_type": "VLAN", "vlan_id": subnet.vlan, "ip_config": config},
    }
    return {"metadata": {"kind": "subnet", "uuid": subnet.uuid}, "spec": {"name": subnet.name}, "status": status}


def _data(**values: str) -> Sequence[Json]:
    return [{"name": name, "values": [{"values": [value]}]} for name, value in values.items()]
