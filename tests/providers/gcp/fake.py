"""Google Cloud on loopback: tokens, and Compute Engine as its discovery document describes it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from aiohttp import web

from butler.providers.testing import Faults
from butler.providers.testing.web import troubling
from tests.providers.clocks import HandClock
from tests.providers.gcp import discovery, fake_balancing, fake_instances
from tests.providers.gcp.discovery import Method
from tests.providers.gcp.fake_answers import Json, Refused, aggregated, error, invalid, listed, page_of, troubled
from tests.providers.gcp.fake_answers import chosen as chosen_by
from tests.providers.gcp.fake_issuer import Issuer
from tests.providers.gcp.fake_project import PROJECT, Done, Thing, furnished

Handler = Callable[["Google", Method, Json, Any], Json]
HANDLERS: dict[str, Handler] = {**fake_instances.HANDLERS, **fake_balancing.HANDLERS}
_VERBS = {
    "insert": "create",
    "aggregatedList": "list",
    "patch": "update",
    "addInstances": "update",
    "removeInstances": "update",
    "listInstances": "list",
    "listUsable": "list",
    "stop": "stop",
    "start": "start",
}
NEVER = float("inf")
MEMORY = 1800.0
"""Seconds for which operations are remembered."""


@dataclass
class Google:
    """One project. What is asked for takes effect when its operation starts, and lists show it a little later."""

    clock: HandClock = field(default_factory=HandClock)
    faults: Faults = field(default_factory=Faults)
    issuer: Issuer = field(default_factory=Issuer)
    things: dict[str, Thing] = field(default_factory=dict)
    operations: dict[str, Done] = field(default_factory=dict)
    requests: list[tuple[str, str, Json, Any]] = field(default_factory=list)
    """Every call of Compute Engine: verb, path, query, body."""
    answers: list[tuple[str, Json]] = field(default_factory=list)
    """What was answered, before `fields` chose from it, by the id of the method."""
    page: int = 3
    """Most entries of a list in one answer."""
    denied: set[str] = field(default_factory=set)
    """Permissions the account does not have."""
    exhausted: set[str] = field(default_factory=set)
    """Zones without room."""
    failing: tuple[str, str, int] | None = None
    """What every instance that is asked for comes to: code, message and HTTP status."""
    unreachable: set[str] = field(default_factory=set)
    """Scopes that lists do not show."""
    echoes: bool = False
    """Whether a refusal repeats what it was given."""
    is_resource_manager_enabled: bool = True
    _numbers: int = 0

    def __post_init__(self) -> None:
        self.things.update(furnished())

    @property
    def now(self) -> float:
        return self.clock.monotonic()

    def number(self) -> int:
        self._numbers += 1
        return self._numbers

    def existing(self, collection: str) -> list[Thing]:
        """Everything of a kind, from the moment it was asked for."""
        return [one for one in self.things.values() if one.collection == collection and self.now < one.gone_at]

    def seen(self, path: str) -> Thing:
        """Raises Refused when it does not exist, or does not show yet."""
        thing = self.things.get(path)
        if thing is None or thing.is_ghost or not thing.appears_at <= self.now < thing.gone_at:
            raise Refused(404, "notFound", f"The resource '{path}' was not found")
        return thing

    def add(self, path: str, body: Json, appears_at: float) -> Thing:
        thing = Thing(path, {**body, "id": str(10**18 + self.number())}, appears_at)
        self.things[path] = thing
        return thing

    def operate(self, kind: str, target: str, takes: float, request: str = "", failure: Any = None) -> Json:
        done = Done(f"operation-{self.number():06}", kind, target, self.now, takes, request, failure)
        self.operations[done.path] = done
        return done.shown(self.now)

    def app(self) -> web.Application:
        app = web.Application(middlewares=[troubling(self.faults, troubled)], client_max_size=2**22)
        app.router.add_post("/token", self._token)
        app.router.add_post("/v1/projects/{what}", self._permissions)
        app.router.add_route("*", "/compute/v1/{path:.+}", self._compute)
        return app

    async def _token(self, request: web.Request) -> web.Response:
        answer, status = self.issuer.issued(dict(await request.post()), str(request.url), self.clock)
        return web.json_response(answer, status=status)

    async def _permissions(self, request: web.Request) -> web.Response:
        if not self.issuer.is_good(request.headers.get("Authorization", ""), self.clock):
            return error(_unauthenticated(request))
        if request.match_info["what"] != f"{PROJECT}:testIamPermissions" or not self.is_resource_manager_enabled:
            return error(Refused(403, "accessNotConfigured", "Cloud Resource Manager API has not been used before"))
        asked = (await request.json())["permissions"]
        return web.json_response({"permissions": [one for one in asked if one not in self.denied]})

    async def _compute(self, request: web.Request) -> web.Response:
        body = json.loads(await request.read()) if request.can_read_body else None
        query = dict(request.query)
        try:
            if not self.issuer.is_good(request.headers.get("Authorization", ""), self.clock):
                raise _unauthenticated(request)
            self.requests.append((request.method, request.match_info["path"], query, body))
            answer = self._answer(request.method, request.match_info["path"], query, body)
        except Refused as refused:
            if self.echoes:
                given = json.dumps((body or {}).get("metadata"))
                refused.message = f"{request.headers.get('Authorization')} sent {given}. {refused.message}"
            return error(refused)
        return web.json_response(discovery.masked(answer, discovery.mask_of(query.get("fields", ""))))

    def _answer(self, verb: str, path: str, query: Json, body: Any) -> Json:
        self._forget()
        method = discovery.method_of(verb, path)
        if method is None:
            raise Refused(404, "notFound", f"The requested URL {path} was not found on this server")
        if problem := next(discovery.problems(method, query, body), None):
            raise invalid(problem)
        self._authorise(method, path)
        if request := query.get("requestId"):
            UUID(request)
            if known := next((one for one in self.operations.values() if one.request == request), None):
                return known.shown(self.now)
        handler = HANDLERS.get(method.id) or _GENERAL.get(method.id.rpartition(".")[2])
        assert handler is not None, f"the fake has no {method.id}"
        answer = handler(self, method, query, body)
        self.answers.append((method.id, answer))
        return answer

    def _forget(self) -> None:
        """What is gone, and operations that ended long ago."""
        self.things = {path: one for path, one in self.things.items() if self.now < one.gone_at}
        self.operations = {path: one for path, one in self.operations.items() if self.now < one.made_at + MEMORY}

    def _authorise(self, method: Method, path: str) -> None:
        _, resource, verb = method.id.split(".")
        permission = f"compute.{resource}.{_VERBS.get(verb, verb)}"
        if permission in self.denied:
            raise Refused(403, "forbidden", f"Required '{permission}' permission for '{path}'")
        project = method.arguments["project"]
        if project not in {one.path.split("/")[1] for one in self.things.values()}:
            raise Refused(404, "notFound", f"The resource 'projects/{project}' was not found")

    def path_of(self, method: Method) -> str:
        path: str = method.description["path"]
        for name, value in method.arguments.items():
            path = path.replace(f"{{{name}}}", value)
        return path


def _unauthenticated(request: web.Request) -> Refused:
    given = request.headers.get("Authorization", "nothing")
    return Refused(401, "authError", f"Request had invalid authentication credentials: {given}")


def _get(google: Google, method: Method, query: Json, body: Any) -> Json:
    return google.seen(google.path_of(method)).shown(google.now)


def _list(google: Google, method: Method, query: Json, body: Any) -> Json:
    path = google.path_of(method)
    found = [one for one in _listable(google) if one.path.rpartition("/")[0] == path]
    part, next_page = _part(google, found, query)
    return listed(path.rpartition("/")[2].removesuffix("s"), part, next_page)


def _aggregated_list(google: Google, method: Method, query: Json, body: Any) -> Json:
    _, project, _, collection = google.path_of(method).split("/")
    found = [one for one in _listable(google) if one.collection == collection and one.path.split("/")[1] == project]
    part, next_page = _part(google, found, query)
    scopes = [f"{one.collection}/{one.path.rpartition('/')[2]}" for one in google.existing("zones")]
    regions = [f"regions/{one.path.rpartition('/')[2]}" for one in google.existing("regions")]
    return aggregated(collection, (*scopes, *regions, "global"), part, next_page, google.unreachable)


def _usable(google: Google, method: Method, query: Json, body: Any) -> Json:
    """The subnetworks of a project that may be used, in a form of their own."""
    own = f"projects/{method.arguments['project']}/"
    found = [one.shown(google.now) for one in google.existing("subnetworks") if one.path.startswith(own)]
    names = ("network", "ipCidrRange", "purpose")
    shown = [{"subnetwork": one["selfLink"], **{name: one[name] for name in names}} for one in found]
    return listed("usableSubnetworksAggregated", *page_of(shown, query, google.page))


def _listable(google: Google) -> list[Thing | Done]:
    things = [one for one in google.things.values() if one.is_listed(google.now)]
    return [*things, *google.operations.values()]


def _part(google: Google, found: list[Any], query: Json) -> tuple[list[Json], str]:
    shown = [one.shown(google.now) for one in found]
    shown = chosen_by(query["filter"], shown) if query.get("filter") else shown
    return page_of(shown, query, google.page)


def _delete(google: Google, method: Method, query: Json, body: Any) -> Json:
    thing = google.seen(google.path_of(method))
    if thing.gone_at != NEVER:
        raise Refused(400, "resourceNotReady", f"The resource '{thing.path}' is not ready")
    if user := google_user(google, thing):
        message = f"The {thing.collection} resource '{thing.path}' is already being used by '{user}'"
        raise Refused(400, "resourceInUseByAnotherResource", message)
    takes = fake_instances.delete(google, thing) if thing.collection == "instances" else fake_balancing.TAKES
    thing.gone_at = google.now + takes
    return google.operate("delete", thing.path, takes, query.get("requestId", ""))


def google_user(google: Google, thing: Thing) -> str:
    """What cannot do without it."""
    if thing.collection == "instances":
        return ""
    for other in google.things.values():
        if other is not thing and other.appears_at <= google.now < other.gone_at and other.refers_to(thing):
            return other.path
    return ""


_GENERAL: dict[str, Handler] = {
    "get": _get,
    "list": _list,
    "listUsable": _usable,
    "aggregatedList": _aggregated_list,
    "delete": _delete,
}
