"""Azure on loopback: the Resource Manager and Microsoft Entra ID, strict about what they are asked."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from copy import deepcopy
from typing import Any
from urllib.parse import urlencode

from aiohttp import web

from butler.providers.testing import Fault
from butler.providers.testing.faults import RETRY_AFTER
from butler.providers.testing.web import troubling
from tests.providers.azure import fake_compute, fake_facts, fake_market, fake_network
from tests.providers.azure.fake_shapes import SHAPES, Json, wrong
from tests.providers.azure.fake_things import GROUP, LOCATION, SUBSCRIPTION, Refused, Thing, World

TENANT, CLIENT, SECRET = (
    "7e4a0000-aaaa-4bbb-8ccc-dddddddddddd",
    "c11e0000-1111-4222-8333-444444444444",
    "Zq8~canary-5f1b",
)
PAGE, LONG_PAGE = 3, 10
_VERSION = re.compile(r"20\d\d-\d\d-\d\d")
_RESOURCE = re.compile(
    r"(?P<group>/subscriptions/[^/]+/resourcegroups/[^/]+)/providers/microsoft\.(?P<rest>.+)", re.IGNORECASE
)
_PUTS = {
    "virtualmachines": fake_compute.put_vm,
    "networkinterfaces": fake_network.put_nic,
    "publicipaddresses": fake_network.put_address,
    "loadbalancers": fake_network.put_balancer,
}
_DELETES = {
    "virtualmachines": fake_compute.delete_vm,
    "disks": fake_compute.delete_disk,
    "networkinterfaces": fake_network.delete_nic,
    "publicipaddresses": fake_network.delete_address,
    "loadbalancers": fake_network.delete_balancer,
}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Azure(World):
    """A subscription with one resource group."""

    permissions: tuple[Json, ...] = ({"actions": ["*"], "notActions": []},)
    registration: str = "Registered"
    subscription_state: str = "Enabled"

    def __init__(self) -> None:
        super().__init__()
        fake_market.furnish(self)
        self.tokens: set[str] = set()
        self.expired: set[str] = set()
        self.forbidden = ""
        """A part of paths that nobody may read."""

    def app(self) -> web.Application:
        app = web.Application(middlewares=[self._recording, troubling(self.faults, _trouble), self._explaining])
        app.router.add_post(r"/{tenant}/oauth2/v2.0/token", self._token)
        app.router.add_route("*", "/{path:subscriptions/.*}", self._resource_manager)
        return app

    async def _token(self, request: web.Request) -> web.Response:
        form = dict(await request.post())
        if request.match_info["tenant"] != TENANT:
            return _no_token(400, "invalid_request", "AADSTS90002: Tenant was not found.")
        if form.get("grant_type") != "client_credentials" or not str(form.get("scope", "")).endswith("/.default"):
            return _no_token(
                400, "invalid_request", "AADSTS900144: The request body must contain grant_type and scope."
            )
        if form.get("client_id") != CLIENT:
            return _no_token(400, "unauthorized_client", "AADSTS700016: Application was not found in the directory.")
        if form.get("client_secret") != SECRET:
            return _no_token(401, "invalid_client", "AADSTS7000215: Invalid client secret provided.")
        token = f"bearer-canary-{next(self.numbers)}"
        self.tokens.add(token)
        return web.json_response({"token_type": "Bearer", "expires_in": 3599, "access_token": token})

    @web.middleware
    async def _recording(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        self.now += self.moves_by
        text = await request.text()
        if request.content_type == "application/json" and text:
            self.requests.append((request.method, request.path, dict(request.query), json.loads(text)))
        return await handler(request)

    @web.middleware
    async def _explaining(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except Refused as error:
            return web.json_response(error.body, status=error.status)

    async def _resource_manager(self, request: web.Request) -> web.Response:
        self._admit(request)
        version = request.query.get("api-version")
        if version is None:
            message = "The api-version query parameter (?api-version=) is required for all requests."
            raise Refused(400, "MissingApiVersionParameter", message)
        if not _VERSION.fullmatch(version):
            raise Refused(400, "NoRegisteredProviderFound", f"There is no API version {version}.")
        path = request.path.rstrip("/")
        if path.split("/")[2] != SUBSCRIPTION:
            raise Refused(404, "SubscriptionNotFound", "The subscription could not be found.")
        if (place := _RESOURCE.fullmatch(path)) is not None:
            if place["group"].lower() != GROUP.lower():
                raise Refused(404, "ResourceGroupNotFound", f"Resource group {place['group']} could not be found.")
            return await self._resource(request, path, place["rest"].split("/")[1:])
        return self._paged(request, fake_facts.answer(self, path, dict(request.query)))

    def _admit(self, request: web.Request) -> None:
        given = request.headers.get("Authorization", "")
        if self.forbidden and self.forbidden in request.path:
            raise Refused(403, "AuthorizationFailed", f"The client does not have authorization over {request.path}.")
        if given.removeprefix("Bearer ") in self.expired:
            raise Refused(401, "ExpiredAuthenticationToken", "The access token has expired.")
        if not given:
            raise Refused(401, "AuthenticationFailed", "Authentication failed. The 'Authorization' header is missing.")
        if given.removeprefix("Bearer ") not in {*self.tokens, "static"}:
            raise Refused(401, "InvalidAuthenticationToken", f"The access token is invalid: {given}")

    async def _resource(self, request: web.Request, path: str, parts: list[str]) -> web.Response:
        """`parts` is kind, name, kind, name and so on."""
        kind = "/".join(parts[::2]).lower()
        if request.method == "POST":
            return self._acted(request, path, parts)
        if kind == "loadbalancers/backendaddresspools" and request.method == "PUT":
            return await self._pool(request, path.rpartition("/backendAddressPools/")[0], parts[3])
        if kind == "virtualmachines/instanceview":
            vm = self.shown(fake_facts.there(self, path.rpartition("/")[0]), "instanceView")
            return web.json_response(vm["properties"]["instanceView"])
        if len(parts) % 2:
            return self._paged(request, fake_facts.all_of(self, path, kind, GROUP))
        if request.method == "PUT" and kind in _PUTS:
            return await self._put(request, path, kind)
        thing = self.get(path)
        if request.method == "DELETE" and kind in _DELETES:
            return self._deleted(request, thing, kind)
        if request.method != "GET":
            raise Refused(405, "MethodNotAllowed", f"{request.method} is not for {kind}.")
        if "/subnets/" in path:
            return web.json_response(fake_facts.subnet(self, path))
        return web.json_response(self.shown(fake_facts.there(self, path), request.query.get("$expand", "")))

    async def _put(self, request: web.Request, path: str, kind: str) -> web.Response:
        body = await request.json()
        if said := wrong(body, SHAPES[kind]):
            message = f"The request content was invalid and could not be deserialized: '{said}'"
            raise Refused(400, "InvalidRequestContent", message)
        _check_outline(body)
        old = self.get(path)
        if old is not None and request.headers.get("If-None-Match") == "*":
            raise Refused(412, "PreconditionFailed", "The precondition given in the request headers was not met.")
        if old is not None and self.state(old) == "Deleting":
            raise Refused(409, "Conflict", f"{path} is being deleted.")
        thing, operation, is_new = _PUTS[kind](self, path, body)
        return web.json_response(
            self.shown(thing, ""), status=201 if is_new else 200, headers=self._following(request, operation)
        )

    async def _pool(self, request: web.Request, path: str, name: str) -> web.Response:
        balancer = self.get(path)
        if balancer is None:
            raise Refused(404, "ParentResourceNotFound", f"There is no {path}.")
        pool = fake_network.put_pool(self, balancer, name, await request.json())
        shown = {**pool, "properties": {**pool["properties"], "provisioningState": self.state(balancer)}}
        return web.json_response(shown, headers=self._following(request, self.begin(5.0)))

    def _acted(self, request: web.Request, path: str, parts: list[str]) -> web.Response:
        vm, action = self.get(path.rpartition("/")[0]), parts[-1].lower()
        if parts[0].lower() != "virtualmachines" or vm is None:
            raise Refused(404, "ResourceNotFound", f"The Resource {path} was not found.")
        operation = fake_compute.act(self, vm, action)
        return web.Response(status=202, headers=self._following(request, operation))

    def _deleted(self, request: web.Request, thing: Thing | None, kind: str) -> web.Response:
        if thing is None:
            return web.Response(status=204)
        operation = _DELETES[kind](self, thing)
        return web.Response(status=202, headers=self._following(request, operation))

    def shown(self, thing: Thing, expand: str) -> Json:
        match thing.kind:
            case "virtualmachines":
                shown = fake_compute.shown_vm(self, thing, expand == "instanceView")
            case "networkinterfaces":
                shown = fake_network.shown_nic(self, thing)
            case "disks":
                shown = fake_compute.shown_disk(self, thing)
            case _:
                shown = deepcopy(thing.body)
                shown["properties"]["provisioningState"] = self.state(thing)
        return {"id": thing.path, "name": thing.name, **shown}

    def _following(self, request: web.Request, operation: str) -> dict[str, str]:
        """How a client learns when it is done."""
        place = f"{request.scheme}://{request.host}/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute"
        address = (
            f"{place}/locations/{LOCATION}/operations/{operation}?p=c0ffee&api-version={request.query['api-version']}"
        )
        patience = {} if self.moves_by else {"Retry-After": "10"}
        return {"Azure-AsyncOperation": address, "Location": f"{address}&monitor=true", **patience}

    def _paged(self, request: web.Request, answer: Any) -> web.Response:
        headers = {"x-ms-ratelimit-remaining-subscription-reads": "11999"}
        if not (isinstance(answer, dict) and answer.keys() == {"value"} and isinstance(answer["value"], list)):
            return web.json_response(answer, headers=headers)
        begin, length = int(request.query.get("$skiptoken", "0")), LONG_PAGE if "/skus" in request.path else PAGE
        page: Json = {"value": answer["value"][begin : begin + length]}
        if len(answer["value"]) > begin + length:
            query = urlencode({**request.query, "$skiptoken": str(begin + length)})
            page["nextLink"] = f"{request.scheme}://{request.host}{request.path}?{query}"
        return web.json_response(page, headers=headers)


def _check_outline(body: Json) -> None:
    if body.get("location", "").replace(" ", "").lower() != LOCATION:
        message = f"The provided location {body.get('location')!r} is not available for the resource."
        raise Refused(400, "LocationNotAvailableForResourceType", message)
    tags = body.get("tags", {})
    if len(tags) > 50:
        raise Refused(400, "InvalidTags", "There are more than 50 tags.")
    if any(set(name) & set("<>%&\\?/") for name in tags) or len({name.lower() for name in tags}) < len(tags):
        raise Refused(400, "InvalidTagNameCharacters", f"The tag names {sorted(tags)} have reserved characters.")


def _no_token(status: int, code: str, message: str) -> web.Response:
    return web.json_response({"error": code, "error_description": message, "error_codes": [0]}, status=status)


def _trouble(fault: Fault) -> web.Response:
    if fault is Fault.LIMITED:
        headers = {"Retry-After": f"{RETRY_AFTER:g}", "x-ms-ratelimit-remaining-subscription-writes": "0"}
        body = {"error": {"code": "TooManyRequests", "message": "The request is being throttled."}}
        return web.json_response(body, status=429, headers=headers)
    body = {"error": {"code": "InternalServerError", "message": "Encountered internal server error."}}
    return web.json_response(body, status=500)
