"""Version 4 of the fake's API."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from aiohttp import web

from tests.providers.nutanix import fake_schema as schema
from tests.providers.nutanix.fake import CENTRAL, CLUSTER, NEVER, PAGE, Disk, Image, Prism, Subnet, Task, Vm

OFFERED = {
    "vmm": ("v4.0", "v4.1", "v4.3", "v4.9"),
    "prism": ("v4.0", "v4.1", "v4.4"),
    "networking": ("v4.0", "v4.4"),
    "clustermgmt": ("v4.0", "v4.3"),
}
"""v4.9 is newer than any client knows."""
Json = dict[str, Any]
_FILTER = re.compile(r"name eq '((?:[^']|'')*)'")
_TASK_PREFIX = "ZXJnb24=:"
_RELATIONS = {"vm": "vmm:ahv:config:vm", "image": "vmm:content:image"}
_NEWEST = {"vmm": "v4.3", "prism": "v4.4", "networking": "v4.4", "clustermgmt": "v4.3"}


def error(status: int, group: str, message: str) -> web.Response:
    found = {"message": message, "severity": "ERROR", "code": "VMM-20000", "errorGroup": group}
    said = {"error": [_typed("vmm.v4.error.AppMessage", found)]}
    return web.json_response(_wrapped(_typed("vmm.v4.error.ErrorResponse", said)), status=status)


class Refused(Exception):
    """A request that gets an error."""

    def __init__(self, status: int, group: str, message: str) -> None:
        self.answer = error(status, group, message)


class V4Api:
    """The handlers."""

    def __init__(self, prism: Prism) -> None:
        self.prism = prism

    def add_to(self, router: web.UrlDispatcher) -> None:
        vms, images = "/api/vmm/{version}/ahv/config/vms", "/api/vmm/{version}/content/images"
        clusters = "/api/clustermgmt/{version}/config/clusters"
        containers = "/api/clustermgmt/{version}/config/storage-containers"
        subnets = "/api/networking/{version}/config/subnets"
        for method, path, handler in (
            ("GET", vms, self._vms),
            ("POST", vms, self._make_vm),
            ("GET", vms + "/{uuid}", self._vm),
            ("DELETE", vms + "/{uuid}", self._remove_vm),
            ("POST", vms + "/{uuid}/$actions/{action:power-on|power-off}", self._switch),
            ("GET", images, self._images),
            ("POST", images, self._make_image),
            ("GET", images + "/{uuid}", self._image),
            ("DELETE", images + "/{uuid}", self._remove_image),
            ("GET", "/api/prism/{version}/config/tasks/{uuid}", self._task),
            ("GET", clusters, self._clusters),
            ("GET", clusters + "/{uuid}", self._cluster),
            ("GET", clusters + "/{uuid}/hosts", self._hosts),
            ("GET", containers, self._containers),
            ("GET", containers + "/{uuid}", self._container),
            ("GET", subnets, self._subnets),
            ("GET", subnets + "/{uuid}", self._subnet),
        ):
            router.add_route(method, path, _answering(handler))
        router.add_route("OPTIONS", "/api/{part}/unversioned/info", _newest)

    def _vms(self, request: web.Request) -> web.Response:
        shown = [_shown_vm(one, self.prism) for one in self.prism.listed()]
        return _page(request, shown, "vmm.v4.ahv.config.ListVmsApiResponse")

    def _make_vm(self, request: web.Request) -> web.Response:
        body = _checked(request[schema.BODY], schema.V4_VM)

        def make() -> Task:
            return self.prism.add_vm(_vm_of(self.prism, body), False, keeps_failed=False)

        return self._once(request, make, "vmm.v4.ahv.config.CreateVmApiResponse")

    def _vm(self, request: web.Request) -> web.Response:
        vm = self._made(request)
        answer = _answer(_shown_vm(vm, self.prism), "vmm.v4.ahv.config.GetVmApiResponse")
        answer.headers["ETag"] = _etag(vm)
        return answer

    def _remove_vm(self, request: web.Request) -> web.Response:
        vm = self._made(request)
        self.prism.meddle(vm)
        _match(request, vm)
        if vm.gone_at != NEVER:
            raise Refused(409, "VM_BUSY", f"VM {vm.uuid} is being deleted")
        return self._once(request, lambda: self.prism.remove_vm(vm), "vmm.v4.ahv.config.DeleteVmApiResponse")

    def _switch(self, request: web.Request) -> web.Response:
        vm, is_on = self._made(request), request.match_info["action"] == "power-on"
        self.prism.meddle(vm)
        _match(request, vm)
        if vm.gone_at != NEVER:
            raise Refused(409, "VM_BUSY", f"VM {vm.uuid} is being deleted")
        kind = "PowerOnVm" if is_on else "PowerOffVm"
        return self._once(request, lambda: self.prism.switch(vm, is_on), f"vmm.v4.ahv.config.{kind}ApiResponse")

    def _made(self, request: web.Request) -> Vm:
        vm: Vm = _there(request, self.prism.vms)
        if not vm.is_made:
            raise Refused(404, "ENTITY_NOT_FOUND", f"VM {vm.uuid} does not exist")
        return vm

    def _task(self, request: web.Request) -> web.Response:
        uuid = request.match_info["uuid"]
        if not uuid.startswith(_TASK_PREFIX):
            raise Refused(400, "INVALID_INPUT", f"{uuid} is not a task")
        task = self.prism.tasks.get(uuid.removeprefix(_TASK_PREFIX))
        if task is None:
            raise Refused(404, "ENTITY_NOT_FOUND", f"there is no task {uuid}")
        return _answer(_shown_task(task, self.prism), "prism.v4.config.GetTaskApiResponse")

    def _images(self, request: web.Request) -> web.Response:
        shown = [_shown_image(one) for one in self.prism.listed_images()]
        return _page(request, shown, "vmm.v4.content.ListImagesApiResponse")

    def _image(self, request: web.Request) -> web.Response:
        image = _there(request, self.prism.images)
        answer = _answer(_shown_image(image), "vmm.v4.content.GetImageApiResponse")
        answer.headers["ETag"] = f"image-{image.size}"
        return answer

    def _make_image(self, request: web.Request) -> web.Response:
        body = _checked(request[schema.BODY], schema.V4_IMAGE)

        def make() -> Task:
            uuid, now = self.prism.new_uuid(), self.prism.now
            image = Image(uuid, body["name"], body.get("description", ""), body["type"], posted_at=now)
            return self.prism.add_image(image, body["source"]["url"])

        return self._once(request, make, "vmm.v4.content.CreateImageApiResponse")

    def _remove_image(self, request: web.Request) -> web.Response:
        image = _there(request, self.prism.images)
        if request.headers.get("If-Match") != f"image-{image.size}":
            raise Refused(412 if "If-Match" in request.headers else 428, "PRECONDITION", "If-Match does not match")
        return self._once(request, lambda: self.prism.remove_image(image), "vmm.v4.content.DeleteImageApiResponse")

    def _clusters(self, request: web.Request) -> web.Response:
        shown = [_shown_cluster(uuid, name) for uuid, name in self.prism.clusters.items()]
        return _page(request, shown, "clustermgmt.v4.config.ListClustersApiResponse")

    def _cluster(self, request: web.Request) -> web.Response:
        shown = _shown_cluster(request.match_info["uuid"], _there(request, self.prism.clusters))
        return _answer(shown, "clustermgmt.v4.config.GetClusterApiResponse")

    def _hosts(self, request: web.Request) -> web.Response:
        _there(request, self.prism.clusters)
        host = {"hostName": "ahv", "memorySizeBytes": 393216 * 2**20, "numberOfCpuCores": 32}
        shown = [_typed("clustermgmt.v4.config.Host", host)] * 2 if request.match_info["uuid"] == CLUSTER else []
        return _page(request, shown, "clustermgmt.v4.config.ListHostsByClusterIdApiResponse")

    def _containers(self, request: web.Request) -> web.Response:
        shown = [_shown_container(uuid, name) for uuid, name in self.prism.containers.items()]
        return _page(request, shown, "clustermgmt.v4.config.ListStorageContainersApiResponse")

    def _container(self, request: web.Request) -> web.Response:
        shown = _shown_container(request.match_info["uuid"], _there(request, self.prism.containers))
        return _answer(shown, "clustermgmt.v4.config.GetStorageContainerApiResponse")

    def _subnets(self, request: web.Request) -> web.Response:
        shown = [_shown_subnet(one) for one in self.prism.subnets.values()]
        return _page(request, shown, "networking.v4.config.ListSubnetsApiResponse")

    def _subnet(self, request: web.Request) -> web.Response:
        return _answer(_shown_subnet(_there(request, self.prism.subnets)), "networking.v4.config.GetSubnetApiResponse")

    def _once(self, request: web.Request, change: Callable[[], Task], kind: str) -> web.Response:
        """One id, one task, however often it comes."""
        request_id = request.headers.get("NTNX-Request-Id", "")
        if schema.problems(request_id, schema.UUID):
            raise Refused(400, "INVALID_INPUT", "the header NTNX-Request-Id is missing")
        if request_id not in self.prism.requests:
            self.prism.requests[request_id] = change().uuid
        reference = {"extId": _TASK_PREFIX + self.prism.requests[request_id]}
        return _answer(_typed("prism.v4.config.TaskReference", reference), kind, 202)


def _answering(handler: Callable[[web.Request], web.Response]) -> Any:
    async def answer(request: web.Request) -> web.Response:
        part, version = request.path.split("/")[2:4]
        if version not in OFFERED[part]:
            return error(404, "RESOURCE_NOT_FOUND", f"{part} has no {version}")
        try:
            return handler(request)
        except Refused as refused:
            return refused.answer

    return answer


async def _newest(request: web.Request) -> web.Response:
    return web.json_response({"data": _NEWEST[request.match_info["part"]]})


def _checked(body: Any, shape: Json) -> Json:
    if wrong := schema.problems(body, shape):
        raise Refused(400, "INVALID_INPUT", f"{'; '.join(wrong)}; you sent {body}")
    checked: Json = body
    return checked


def _there(request: web.Request, things: dict[str, Any]) -> Any:
    uuid = request.match_info["uuid"]
    if uuid not in things:
        raise Refused(404, "ENTITY_NOT_FOUND", f"there is no {uuid}")
    return things[uuid]


def _match(request: web.Request, vm: Vm) -> None:
    if "If-Match" not in request.headers:
        raise Refused(428, "PRECONDITION_REQUIRED", "the header If-Match is missing")
    if request.headers["If-Match"] != _etag(vm):
        raise Refused(412, "PRECONDITION_FAILED", "it has changed since")


def _etag(vm: Vm) -> str:
    return f"YXBwbGljYXRpb24vanNvbg==:{vm.version}"


def _page(request: web.Request, items: list[Json], kind: str) -> web.Response:
    """The page may be smaller than what was asked for; then the next one begins where it ends."""
    query = request.query
    if unknown := query.keys() - {"$page", "$limit", "$filter", "$orderby", "$select"}:
        raise Refused(400, "INVALID_INPUT", f"unknown parameters {sorted(unknown)}")
    limit, page = int(query.get("$limit", "50")), int(query.get("$page", "0"))
    if not 1 <= limit <= 100:
        raise Refused(400, "INVALID_INPUT", "$limit is not between 1 and 100")
    if "$filter" in query:
        found = _FILTER.fullmatch(query["$filter"])
        if not found:
            raise Refused(400, "INVALID_INPUT", f"cannot filter by {query['$filter']}")
        items = [one for one in items if one["name"] == found.group(1).replace("''", "'")]
    size = min(limit, PAGE)
    part = items[page * size : (page + 1) * size]
    metadata = _typed("common.v1.response.ApiResponseMetadata", {"totalAvailableResults": len(items)})
    body = {"metadata": metadata, **({"data": part} if part else {})}
    return web.json_response(_typed(kind, body))


def _answer(data: Json, kind: str, status: int = 200) -> web.Response:
    return web.json_response(_typed(kind, _wrapped(data)), status=status)


def _wrapped(data: Json) -> Json:
    return {"data": data, "metadata": _typed("common.v1.response.ApiResponseMetadata", {})}


def _typed(kind: str, body: Json) -> Json:
    return {**body, "$objectType": kind, "$reserved": {"$fv": "v4.r3"}}


def _vm_of(prism: Prism, body: Json) -> Vm:
    script = body.get("guestCustomization", {}).get("config", {})
    return Vm(
        uuid=prism.new_uuid(),
        name=body["name"],
        description=body.get("description", ""),
        cluster=body["cluster"]["extId"],
        sockets=body.get("numSockets", 1),
        cores=body.get("numCoresPerSocket", 1),
        memory_mb=body.get("memorySizeBytes", 2**30) // 2**20,
        boot=body.get("bootConfig", {}).get("$objectType", "LegacyBoot").rpartition(".")[2],
        subnets=[nic["networkInfo"]["subnet"]["extId"] for nic in body.get("nics", ())],
        disks=[_disk_of(one["backingInfo"]) for one in body.get("disks", ())],
        number=prism.next_number(),
        posted_at=prism.now,
        user_data=script.get("cloudInitScript", {}).get("value"),
        meta_data=script.get("metadata"),
    )


def _disk_of(backing: Json) -> Disk:
    image = backing.get("dataSource", {}).get("reference", {}).get("imageExtId", "")
    return Disk(backing.get("diskSizeBytes", 0), image, backing.get("storageContainer", {}).get("extId", ""))


def _shown_vm(vm: Vm, prism: Prism) -> Json:
    body = {
        "extId": vm.uuid,
        "name": vm.name,
        "description": vm.description,
        "powerState": "ON" if vm.is_on else "OFF",
        "numSockets": vm.sockets,
        "numCoresPerSocket": vm.cores,
        "numThreadsPerCore": 1,
        "memorySizeBytes": vm.memory_mb * 2**20,
        "cluster": _typed("vmm.v4.ahv.config.ClusterReference", {"extId": vm.cluster}),
        "nics": [_shown_nic(vm, subnet, prism.now) for subnet in vm.subnets],
        "disks": [_shown_disk(index, disk) for index, disk in enumerate(vm.disks)],
    }
    return _typed("vmm.v4.ahv.config.Vm", body)


def _shown_nic(vm: Vm, subnet: str, now: float) -> Json:
    learned = [_typed("common.v1.config.IPv4Address", {"value": one, "prefixLength": 32}) for one in vm.addresses(now)]
    network: Json = {"nicType": "NORMAL_NIC", "subnet": {"extId": subnet}}
    if learned:
        network["ipv4Info"] = {"learnedIpAddresses": learned}
    backing = _typed("vmm.v4.ahv.config.EmulatedNic", {"macAddress": vm.mac, "isConnected": True})
    network = _typed("vmm.v4.ahv.config.NicNetworkInfo", network)
    return _typed("vmm.v4.ahv.config.Nic", {"backingInfo": backing, "networkInfo": network})


def _shown_disk(index: int, disk: Disk) -> Json:
    address = _typed("vmm.v4.ahv.config.DiskAddress", {"busType": "SCSI", "index": index})
    backing = _typed("vmm.v4.ahv.config.VmDisk", {"diskSizeBytes": disk.size})
    return _typed("vmm.v4.ahv.config.Disk", {"diskAddress": address, "backingInfo": backing})


def _shown_task(task: Task, prism: Prism) -> Json:
    is_done = task.effect is None
    body: Json = {
        "extId": _TASK_PREFIX + task.uuid,
        "operation": task.operation,
        "createdTime": prism.time(task.created_at).isoformat().replace("+00:00", "Z"),
        "status": "RUNNING" if not is_done else "FAILED" if task.failure else "SUCCEEDED",
        "progressPercentage": 100 if is_done else 50,
        "entitiesAffected": _affected(task, is_done),
    }
    if task.failure:
        said = {"code": "VMM-30100", "message": task.failure, "severity": "ERROR", "errorGroup": "VM_OPERATION_ERROR"}
        body["errorMessages"] = [_typed("prism.v4.error.AppMessage", said)]
    return _typed("prism.v4.config.Task", body)


def _affected(task: Task, is_done: bool) -> list[Json]:
    """The cluster is known from the beginning, what is made when it is made."""
    made = [(task.entity, _RELATIONS[task.kind])] if is_done and not task.failure else []
    return [
        _typed("prism.v4.config.EntityReference", {"extId": uuid, "rel": relation})
        for uuid, relation in ((CLUSTER, "clustermgmt:config:cluster"), *made)
    ]


def _shown_image(image: Image) -> Json:
    body: Json = {"extId": image.uuid, "name": image.name, "description": image.description, "type": image.type}
    if image.size:
        body["sizeBytes"] = image.size
    return _typed("vmm.v4.content.Image", body)


def _shown_subnet(subnet: Subnet) -> Json:
    address = _typed("common.v1.config.IPv4Address", {"value": subnet.network, "prefixLength": 32})
    ipv4 = {"ipSubnet": _typed("networking.v4.config.IPv4Subnet", {"ip": address, "prefixLength": 16})}
    config = [_typed("networking.v4.config.IPConfig", {"ipv4": _typed("networking.v4.config.IPv4Config", ipv4)})]
    body = {"extId": subnet.uuid, "name": subnet.name, "subnetType": "VLAN", "networkId": subnet.vlan}
    return _typed("networking.v4.config.Subnet", {**body, "clusterReference": subnet.cluster, "ipConfig": config})


def _shown_cluster(uuid: str, name: str) -> Json:
    function = "PRISM_CENTRAL" if uuid == CENTRAL else "AOS"
    config = _typed("clustermgmt.v4.config.ClusterConfigReference", {"clusterFunction": [function]})
    nodes = _typed("clustermgmt.v4.config.NodeReference", {"numberOfNodes": 2})
    return _typed("clustermgmt.v4.config.Cluster", {"extId": uuid, "name": name, "config": config, "nodes": nodes})


def _shown_container(uuid: str, name: str) -> Json:
    body = {"containerExtId": uuid, "extId": uuid, "name": name, "clusterExtId": CLUSTER}
    return _typed("clustermgmt.v4.config.StorageContainer", body)
