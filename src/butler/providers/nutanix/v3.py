"""Version 3 of the API: entities with a spec that is wished for and a status that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from butler.errors import ProviderUnavailable

from ..contract import MachineOrder
from ..images import ImageOrder
from ..rest import Question, Rest
from . import v3_shapes as shapes
from .api import Begun, Hosts, Kind, Places, Task, Thing, Vm
from .section import NAME
from .vm import hidden

BASE = "/api/nutanix/v3"
_PAGE = 500
_VALID_MINUTES = 60
"""For so long the same identifier is answered to whoever asks with the same token. By then a VM shows in every list."""
_PLURAL = {Kind.CLUSTER: "clusters", Kind.SUBNET: "subnets", Kind.IMAGE: "images"}


class V3:
    """`butler.providers.nutanix.api.Api`."""

    version = "v3"

    def __init__(self, rest: Rest, product: str = "") -> None:
        self._rest, self.product = rest, product

    async def vm(self, uuid: str, about: str) -> Vm | None:
        found = await self._call("GET", f"/vms/{uuid}", about, expected=(404,))
        return shapes.vm(found) if found else None

    async def vms(self, about: str, name: str = "") -> list[Vm]:
        return [shapes.vm(one) for one in await self._listed("vm", about, f"vm_name=={name}" if name else "")]

    async def make_vm(self, order: MachineOrder, places: Places) -> Begun:
        uuid = await self._identifier(order.token, order.name)
        if await self.vm(uuid, order.name) is not None:
            return Begun(uuid)
        body = shapes.vm_body(order, places, uuid)
        return await self._made(Question("POST", "/vms", order.name, body, hidden=hidden(order)), order.token)

    async def give_up(self, token: str, vm: Vm | None, about: str) -> None:
        if vm is not None:
            await self.end_vm(vm, about)
        await self._release(token, about)

    async def start_vm(self, vm: Vm, about: str) -> str:
        found = await self._call("GET", f"/vms/{vm.uuid}", about)
        body = shapes.with_power(found)
        # Whoever changed it in between has raised its spec_version, and this is answered with 409.
        return _begun(await self._call("PUT", f"/vms/{vm.uuid}", about, body)).task

    async def end_vm(self, vm: Vm, about: str) -> str:
        return _begun(await self._call("DELETE", f"/vms/{vm.uuid}", about, expected=(404,))).task

    async def task(self, task: str, about: str) -> Task | None:
        found = await self._call("GET", f"/tasks/{quote(task, safe='')}", about, expected=(400, 404, 422))
        return shapes.task(found) if found else None

    async def thing(self, kind: Kind, uuid: str, about: str) -> Thing | None:
        if kind is Kind.CONTAINER:
            return next((one for one in await self._containers(about) if one.uuid == uuid), None)
        found = await self._call("GET", f"/{_PLURAL[kind]}/{uuid}", about, expected=(404,))
        return shapes.THINGS[kind](found) if found else None

    async def things(self, kind: Kind, about: str, name: str = "") -> list[Thing]:
        if kind is Kind.CONTAINER:
            return [one for one in await self._containers(about) if name in ("", one.name)]
        found = await self._listed(kind.value, about, f"name=={name}" if name else "")
        listed = [shapes.THINGS[kind](one) for one in found]
        return [one for one in listed if name in ("", one.name)]

    async def hosts(self, cluster: str, about: str) -> Hosts:
        return shapes.hosts(await self._listed("host", about), cluster)

    async def make_image(self, order: ImageOrder, cluster: str) -> Begun:
        key = _image_key(order.name)
        uuid = await self._identifier(key, order.name)
        if await self.thing(Kind.IMAGE, uuid, order.name) is not None:
            return Begun(uuid)
        return await self._made(Question("POST", "/images", order.name, shapes.image_body(order, uuid)), key)

    async def end_image(self, image: Thing, about: str) -> str:
        task = _begun(await self._call("DELETE", f"/images/{image.uuid}", about, expected=(404,))).task
        await self._release(_image_key(image.name), about)
        return task

    async def _identifier(self, key: str, about: str) -> str:
        """The UUID that a new entity will have: the same one for the same key, so that it cannot be made twice."""
        body = {"client_identifier": key, "count": 1, "valid_duration_in_minutes": _VALID_MINUTES}
        return str((await self._call("POST", "/idempotence_identifiers", about, body))["uuid_list"][0])

    async def _made(self, question: Question, key: str) -> Begun:
        """Make an entity with a reserved UUID. One that was used before is good for nothing any more, unless somebody
        else made the same entity just now; either way the next call sees what to do."""
        asked = replace(question, path=BASE + question.path, expected=(409,))
        reply = await self._rest.ask(asked)
        if reply.status != 409:
            return _begun(reply.body)
        uuid = question.body["metadata"]["uuid"]
        if await self._call("GET", f"{question.path}/{uuid}", question.about, expected=(404,)) is None:
            await self._release(key, question.about)
        raise ProviderUnavailable(NAME, question.about, f"409 for POST {asked.path}: the UUID {uuid} is taken")

    async def _release(self, key: str, about: str) -> None:
        await self._call("DELETE", f"/idempotence_identifiers/{key}", about, expected=(404,))

    async def _containers(self, about: str) -> list[Thing]:
        found: list[Thing] = []
        while True:
            answer = await self._call("POST", "/groups", about, shapes.containers_query(len(found), _PAGE))
            page = shapes.containers(answer)
            found += page
            if not page or len(found) >= answer["filtered_entity_count"]:
                return found

    async def _listed(self, kind: str, about: str, criteria: str = "") -> list[Any]:
        found: list[Any] = []
        while True:
            body = {"kind": kind, "length": _PAGE, "offset": len(found)} | ({"filter": criteria} if criteria else {})
            answer = await self._call("POST", f"/{kind}s/list", about, body)
            found += answer["entities"]
            if not answer["entities"] or len(found) >= answer["metadata"]["total_matches"]:
                return found

    async def _call(self, method: str, path: str, about: str, body: Any = None, **more: Any) -> Any:
        return await self._rest.call(method, BASE + path, about, body, **more)


def _begun(answer: Mapping[str, Any] | None) -> Begun:
    """From the answer to a change, or from none: then there is nothing to change any more."""
    if not answer:
        return Begun()
    return Begun(answer.get("metadata", {}).get("uuid", ""), shapes.task_of(answer))


def _image_key(name: str) -> str:
    return str(uuid5(NAMESPACE_URL, f"butler/image/{name}"))
