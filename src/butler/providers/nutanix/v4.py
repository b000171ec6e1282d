"""Version 4 of the API: tasks that are recognised by the id of their request, and entities by their ETag."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote
from uuid import NAMESPACE_URL, UUID, uuid5

from butler.errors import ProviderUnavailable
from kubekit.clock import Chance

from ..contract import MachineOrder
from ..images import ImageOrder
from ..rest import Question, Reply, Rest
from . import v4_shapes as shapes
from .api import Begun, Hosts, Kind, Places, Task, TaskState, Thing, Vm
from .section import NAME
from .vm import hidden

NEWEST = {"vmm": 3, "prism": 4, "networking": 4, "clustermgmt": 3}
"""The newest minor version of each part of the API that this was written for."""
_PAGE = 100
_NEWS = 60.0
"""A task that is older than so many seconds and failed was told of before."""
_MOST_ATTEMPTS = 200
_PATHS = {
    Kind.CLUSTER: ("clustermgmt", "/config/clusters"),
    Kind.SUBNET: ("networking", "/config/subnets"),
    Kind.IMAGE: ("vmm", "/content/images"),
    Kind.CONTAINER: ("clustermgmt", "/config/storage-containers"),
}
_VMS = ("vmm", "/ahv/config/vms")

IsThere = Callable[[str, str], Awaitable[Any]]


class V4:
    """`butler.providers.nutanix.api.Api`."""

    version = "v4"

    def __init__(self, rest: Rest, versions: Mapping[str, str], chance: Chance, product: str = "") -> None:
        self._rest, self._versions, self._chance, self.product = rest, versions, chance, product
        self._latest: dict[str, str] = {}
        """The id of the last request for what was asked for more than once."""

    async def vm(self, uuid: str, about: str) -> Vm | None:
        reply = await self._rest.ask(Question("GET", self._path(*_VMS, uuid), about, expected=(404,)))
        return shapes.vm(reply.body["data"], _etag(reply)) if reply.status != 404 else None

    async def vms(self, about: str, name: str = "") -> list[Vm]:
        return [shapes.vm(one) for one in await self._listed(_VMS, about, name)]

    async def make_vm(self, order: MachineOrder, places: Places) -> Begun:
        body = shapes.vm_body(order, places)
        question = Question("POST", self._path(*_VMS), order.name, body, hidden=hidden(order))
        return await self._made(question, f"vm/{order.token}", self.vm)

    async def give_up(self, token: str, vm: Vm | None, about: str) -> None:
        """What fails here leaves nothing."""

    async def start_vm(self, vm: Vm, about: str) -> str:
        return await self._changed("POST", self._path(*_VMS, vm.uuid) + "/$actions/power-on", about, vm)

    async def end_vm(self, vm: Vm, about: str) -> str:
        return await self._changed("DELETE", self._path(*_VMS, vm.uuid), about, vm)

    async def task(self, task: str, about: str) -> Task | None:
        path = self._path("prism", "/config/tasks", quote(task, safe="=:"))
        found = await self._rest.call("GET", path, about, expected=(400, 404))
        return shapes.task(found["data"]) if found else None

    async def thing(self, kind: Kind, uuid: str, about: str) -> Thing | None:
        found = await self._rest.call("GET", self._path(*_PATHS[kind], uuid), about, expected=(404,))
        return shapes.THINGS[kind](found["data"]) if found else None

    async def things(self, kind: Kind, about: str, name: str = "") -> list[Thing]:
        return [shapes.THINGS[kind](one) for one in await self._listed(_PATHS[kind], about, name)]

    async def hosts(self, cluster: str, about: str) -> Hosts:
        part, path = _PATHS[Kind.CLUSTER]
        return shapes.hosts(await self._listed((part, f"{path}/{cluster}/hosts"), about))

    async def make_image(self, order: ImageOrder, cluster: str) -> Begun:
        question = Question("POST", self._path(*_PATHS[Kind.IMAGE]), order.name, shapes.image_body(order, cluster))
        return await self._made(question, f"image/{order.name}", self._image_is_there)

    async def end_image(self, image: Thing, about: str) -> str:
        path = self._path(*_PATHS[Kind.IMAGE], image.uuid)
        reply = await self._rest.ask(Question("GET", path, about, expected=(404,)))
        if reply.status == 404:
            return ""
        headers = {"NTNX-Request-Id": self._new_id(), "If-Match": _etag(reply)}
        return _task_of(await self._rest.call("DELETE", path, about, headers=headers, expected=(404,)))

    async def _image_is_there(self, uuid: str, about: str) -> Thing | None:
        return await self.thing(Kind.IMAGE, uuid, about)

    async def _made(self, question: Question, key: str, is_there: IsThere) -> Begun:
        """Requests with one id are one task, also when that failed long ago. Then the next id is derived from it, so
        that everybody who asks again comes to the same one, whatever they have forgotten."""
        request = self._latest.get(key) or str(uuid5(NAMESPACE_URL, f"butler/{key}"))
        for _ in range(_MOST_ATTEMPTS):
            reply = await self._rest.ask(replace(question, headers={"NTNX-Request-Id": request}))
            task = await self.task(_task_of(reply.body), question.about)
            if task is None or not await self._is_spent(task, reply, question.about, is_there):
                known = task or Task(_task_of(reply.body), TaskState.RUNNING)
                return Begun(known.entity, known.id, known.failure)
            request = self._latest[key] = str(uuid5(UUID(request), task.id))
        raise ProviderUnavailable(NAME, question.about, f"{_MOST_ATTEMPTS} tasks failed for it")

    async def _is_spent(self, task: Task, reply: Reply, about: str, is_there: IsThere) -> bool:
        """Whether a task is history: it failed, or what it made is gone. By the clock of Prism Central alone."""
        now = parsedate_to_datetime(reply.headers["Date"]) if "Date" in reply.headers else None
        if now is None or task.created is None or (now - task.created).total_seconds() < _NEWS:
            return False
        if task.state is TaskState.DONE and task.entity:
            return await is_there(task.entity, about) is None
        return task.state is TaskState.FAILED

    async def _changed(self, method: str, path: str, about: str, vm: Vm) -> str:
        current = vm if vm.etag else await self.vm(vm.uuid, about)
        if current is None:
            return ""
        headers = {"NTNX-Request-Id": self._new_id(), "If-Match": current.etag}
        return _task_of(await self._rest.call(method, path, about, headers=headers, expected=(404,)))

    async def _listed(self, where: tuple[str, str], about: str, name: str = "") -> list[Any]:
        found: list[Any] = []
        criteria = {"$filter": "name eq '{}'".format(name.replace("'", "''"))} if name else {}
        page = 0
        while True:
            query = {"$page": str(page), "$limit": str(_PAGE), **criteria}
            answer = await self._rest.call("GET", self._path(*where), about, query=query)
            found += answer.get("data") or ()
            if not answer.get("data") or len(found) >= answer["metadata"]["totalAvailableResults"]:
                return found
            page += 1

    def _path(self, part: str, path: str, uuid: str = "") -> str:
        return f"/api/{part}/{self._versions[part]}{path}" + (f"/{uuid}" if uuid else "")

    def _new_id(self) -> str:
        return str(UUID(bytes=self._chance.bytes(16), version=4))


def _etag(reply: Reply) -> str:
    return reply.headers.get("ETag") or reply.headers.get("X-Ntnx-Etag", "")


def _task_of(answer: Any) -> str:
    """The task that an answer to a change names; none in an answer that says there is nothing to change."""
    return str(answer["data"]["extId"]) if answer else ""
