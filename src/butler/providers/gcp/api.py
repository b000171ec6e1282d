"""Compute Engine's REST API: resources by path, pages, and operations that are followed by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from butler.errors import ProviderError, ProviderUnavailable
from kubekit.clock import Clock

from ..rest import Question, Reply, Rest
from .errors import Busy, is_stock_out, judged, kind_of_operation
from .section import NAME, Settings
from .tokens import Tokens

_PAGE = "500"
_TASK = re.compile(r"(?:zones/[a-z0-9-]+|regions/[a-z0-9-]+|global)/operations/[a-z0-9-]+")
_OPERATION = "name,status,zone,region,operationType,targetLink,clientOperationId,insertTime,httpErrorStatusCode,error"


@dataclass(frozen=True, slots=True)
class Operation:
    """Something that Compute Engine is doing, or has done."""

    task: str
    """Its path within the project; it is followed by that across calls."""
    is_done: bool
    kind: str
    """insert, delete, …"""
    zone: str
    """Empty when it is of a region, or of none."""
    request: str
    """The requestId it was asked for with."""
    begun: float
    code: str = ""
    """Why it failed; empty when it did not."""
    message: str = ""
    status: int = 0

    @property
    def has_no_room(self) -> bool:
        return is_stock_out(self.code)

    def error(self, about: str) -> ProviderError:
        """What it failed with."""
        message = f"{self.code} in {self.task}: {self.message}"
        return kind_of_operation(self.code, self.status)(NAME, about, message)


class Compute:
    """The API of one project. Paths are within the project; what is not there is None."""

    def __init__(self, settings: Settings, clock: Clock, patience: float) -> None:
        self.project = settings.project
        self._tokens = Tokens(settings.key, settings.trust, clock, patience)
        self._compute = self._rest(settings, settings.endpoint, patience)
        self._resource_manager = self._rest(settings, settings.resource_manager, patience)

    def _rest(self, settings: Settings, url: str, patience: float) -> Rest:
        return Rest(
            NAME, url, trust=settings.trust, patience=patience, secrets=(settings.key.private,), judge=self._judged
        )

    async def get(self, path: str, about: str = "", fields: str = "") -> Any:
        """One resource; `fields` says which parts of it are wanted."""
        query = {"fields": fields} if fields else {}
        reply = await self._ask(Question("GET", self._path(path), about, query=query, expected=(404,)))
        return reply.body if reply.status < 400 else None

    async def insert(
        self, path: str, about: str, body: Any, request: str = "", hidden: tuple[str, ...] = ()
    ) -> Operation | None:
        """Ask for a resource in the collection `path`; None when the name is taken."""
        query = {"requestId": request} if request else {}
        question = Question("POST", self._path(path), about, body, query=query, expected=(409,), hidden=hidden)
        reply = await self._ask(question)
        return operation_of(reply.body) if reply.status < 400 else None

    async def change(self, method: str, path: str, about: str, body: Any) -> Operation:
        """Ask for a change of something that is there."""
        return operation_of((await self._ask(Question(method, self._path(path), about, body))).body)

    async def remove(self, path: str, about: str) -> bool:
        """Ask for the end of a resource. Answers whether it is gone; one that is still in use is not."""
        try:
            reply = await self._ask(Question("DELETE", self._path(path), about, expected=(404,)))
        except Busy:
            return False
        return reply.status == 404

    async def listed(self, path: str, fields: str, about: str = "", chosen: str = "", body: Any = None) -> list[Any]:
        """All resources of a collection, or those that the filter `chosen` lets through. None of its pages is left
        out, and a part of Google's that cannot be reached is an error: nothing is to be taken for gone that is not."""
        collection = path.rpartition("/")[2]
        is_aggregated = path.startswith("aggregated/")
        shape = f"items({fields})"
        if is_aggregated:
            shape = f"items/*/{collection}({fields}),items/*/warning/code,unreachables"
        query = {"maxResults": _PAGE, "fields": f"{shape},nextPageToken", **({"filter": chosen} if chosen else {})}
        found: list[Any] = []
        method, page = "GET" if body is None else "POST", "first"
        while page:
            answer = (await self._ask(Question(method, self._path(path), about, body, query))).body or {}
            found += _gathered(answer, collection, about) if is_aggregated else answer.get("items") or ()
            page = answer.get("nextPageToken") or ""
            query = {**query, "pageToken": page}
        return found

    async def operation(self, task: str, about: str) -> Operation | None:
        """None when there is no such operation, or none any more."""
        if not _TASK.fullmatch(task):
            return None
        found = await self.get(task, about, _OPERATION)
        return operation_of(found) if found is not None else None

    async def operations(self, target: str, about: str) -> list[Operation]:
        """Everything that was done to the resources whose path ends so, oldest first."""
        # Only one field may be matched by a regular expression.
        found = await self.listed("aggregated/operations", _OPERATION, about, f"targetLink eq .*/{re.escape(target)}")
        return sorted(map(operation_of, found), key=lambda one: one.begun)

    async def permitted(self, permissions: tuple[str, ...]) -> frozenset[str]:
        """Which of them the account has in the project."""
        path = f"/v1/projects/{self.project}:testIamPermissions"
        question = Question("POST", path, body={"permissions": list(permissions)})
        reply = await self._ask(question, self._resource_manager)
        return frozenset(reply.body.get("permissions", ()))

    async def close(self) -> None:
        for one in (self._compute, self._resource_manager, self._tokens):
            await one.close()

    async def _ask(self, question: Question, rest: Rest | None = None) -> Reply:
        token = await self._tokens.current(question.about)
        headers: Mapping[str, str] = {"Authorization": f"Bearer {token}"}
        asked = replace(question, headers=headers, hidden=(token, *question.hidden))
        reply = await (rest or self._compute).ask(asked)
        self._tokens.served()
        return reply

    def _judged(self, reply: Reply) -> type[ProviderError] | None:
        return self._tokens.refused() if reply.status == 401 else judged(reply)

    def _path(self, path: str) -> str:
        """Paths that name a project of their own, such as that of an image, stay as they are."""
        within = path if path.startswith("projects/") else f"projects/{self.project}/{path}".rstrip("/")
        return f"/compute/v1/{within}"


def operation_of(body: Any) -> Operation:
    errors = (body.get("error") or {}).get("errors") or [{}]
    scope = next((f"{name}s/{last(body[name])}" for name in ("zone", "region") if body.get(name)), "global")
    is_done = body["status"] == "DONE"
    return Operation(
        task=f"{scope}/operations/{body['name']}",
        is_done=is_done,
        kind=body.get("operationType", ""),
        zone=last(body.get("zone", "")),
        request=body.get("clientOperationId", ""),
        begun=datetime.fromisoformat(body["insertTime"]).timestamp() if body.get("insertTime") else 0.0,
        code=errors[0].get("code", "") if is_done else "",
        message=errors[0].get("message", ""),
        status=body.get("httpErrorStatusCode", 0),
    )


def zone_of_task(task: str) -> str:
    """Empty when it is of a region or of none, or is no operation at all."""
    scope, _, rest = task.partition("/")
    return rest.partition("/")[0] if scope == "zones" and _TASK.fullmatch(task) else ""


def last(link: str) -> str:
    """The name at the end of a path or URL."""
    return link.rpartition("/")[2]


def _gathered(answer: Any, collection: str, about: str) -> list[Any]:
    scopes: Mapping[str, Any] = answer.get("items") or {}
    silent = [scope for scope, held in scopes.items() if (held.get("warning") or {}).get("code") == "UNREACHABLE"]
    if silent := [*silent, *(answer.get("unreachables") or ())]:
        message = f"{silent[0]} cannot be reached, so nobody knows which {collection} it has"
        raise ProviderUnavailable(NAME, about, message)
    return [one for held in scopes.values() for one in held.get(collection) or ()]
