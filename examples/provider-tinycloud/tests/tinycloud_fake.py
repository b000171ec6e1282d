"""Tinycloud on loopback: strict about what it is asked, and slow by a clock that is moved by hand."""

from __future__ import annotations

import base64
import itertools
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from butler.providers.testing import Faults
from butler.providers.testing.web import troubling

KEY = "tiny-key-canary-9a31"
BOOT, REMOVAL, PAGE = 20.0, 10.0, 3
_FIELDS = {
    "name": str, "cores": int, "memory_mb": int, "disks_gb": list, "image": str, "network": str, "user_data": str,
    "tags": dict,
}  # fmt: skip


@dataclass
class Tinycloud:
    """All servers, and how long they have been what they are."""

    faults: Faults = field(default_factory=Faults)
    now: float = 0.0
    limit: int = 100
    servers: dict[str, dict[str, Any]] = field(default_factory=dict)
    images: list[str] = field(default_factory=lambda: ["talos", "flatcar"])
    networks: list[dict[str, str]] = field(default_factory=list)
    _orders: dict[str, str] = field(default_factory=dict)
    _numbers: Any = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        self.add_network("default")

    def existing(self) -> list[dict[str, Any]]:
        self.servers = {key: one for key, one in self.servers.items() if one["gone_at"] > self.now}
        return list(self.servers.values())

    def add(self, name: str, tags: dict[str, str], **more: Any) -> dict[str, Any]:
        number = next(self._numbers)
        server = {
            "id": f"srv-{number:06}", "name": name, "tags": tags, "cores": 1, "off": False, "gone_at": float("inf"),
            "made_at": self.now, "mac": f"02:71:00:00:{number // 256:02x}:{number % 256:02x}",
            "private": [f"10.7.{number // 256}.{number % 256}"], "public": [f"203.0.113.{number % 256}"], **more,
        }  # fmt: skip
        self.servers[server["id"]] = server
        return server

    def add_network(self, name: str) -> str:
        number = len(self.networks) + 1
        self.networks.append({"id": f"net-{number}", "name": name, "range": f"10.{number}.0.0/16"})
        return f"net-{number}"

    def shown(self, server: dict[str, Any]) -> dict[str, Any]:
        status = "running" if self.now >= server["made_at"] + BOOT else "building"
        status = "stopped" if server["off"] else status
        status = "deleting" if server["gone_at"] != float("inf") else status
        return {
            **{key: server[key] for key in ("id", "name", "tags", "cores", "mac")},
            "status": status,
            "private": server["private"] if status == "running" else [],
            "public": server["public"] if status == "running" else [],
        }

    def app(self) -> web.Application:
        app = web.Application(middlewares=[troubling(self.faults), self._admit])
        app.router.add_get("/v1/account", self._account)
        app.router.add_get("/v1/images", self._images)
        app.router.add_get("/v1/networks", self._networks)
        app.router.add_get("/v1/servers", self._list)
        app.router.add_post("/v1/servers", self._create)
        app.router.add_delete("/v1/servers/{id}", self._delete)
        return app

    @web.middleware
    async def _admit(self, request: web.Request, handler: Any) -> web.StreamResponse:
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return _error(401, "unauthorized", f"unknown key {request.headers.get('Authorization')}")
        answer: web.StreamResponse = await handler(request)
        return answer

    async def _account(self, request: web.Request) -> web.Response:
        return web.json_response({"version": "3.2", "servers": {"used": len(self.existing()), "limit": self.limit}})

    async def _images(self, request: web.Request) -> web.Response:
        return _page(request, "images", self.images)

    async def _networks(self, request: web.Request) -> web.Response:
        return _page(request, "networks", self.networks)

    async def _list(self, request: web.Request) -> web.Response:
        name, _, value = request.query["tag"].partition("=")
        found = [self.shown(one) for one in self.existing() if name in one["tags"] and value in ("", one["tags"][name])]
        return _page(request, "servers", found)

    async def _create(self, request: web.Request) -> web.Response:
        body = await request.json()
        if wrong := _wrong(body):
            return _error(400, "bad_request", f"{wrong}; you sent {body}")
        key = request.headers["Idempotency-Key"]
        known = self.servers.get(self._orders.get(key, ""))
        if known is None or known not in self.existing():
            if len(self.existing()) >= self.limit:
                return _error(409, "limit_reached", f"the account may have {self.limit} servers")
            known = self.add(**body)
            self._orders[key] = known["id"]
        return web.json_response(self.shown(known), status=202)

    async def _delete(self, request: web.Request) -> web.Response:
        server = self.servers.get(request.match_info["id"])
        if server is None or server not in self.existing():
            return _error(404, "not_found", "there is no such server")
        server["gone_at"] = min(server["gone_at"], self.now + REMOVAL)
        return web.json_response(self.shown(server), status=202)


def _page(request: web.Request, kind: str, found: list[Any]) -> web.Response:
    page = int(request.query["page"])
    part = found[(page - 1) * PAGE : page * PAGE]
    return web.json_response({kind: part, "next": str(page + 1) if len(found) > page * PAGE else ""})


def _wrong(body: dict[str, Any]) -> str:
    unknown, missing = body.keys() - _FIELDS.keys(), _FIELDS.keys() - body.keys()
    if unknown or missing:
        return f"unknown fields {sorted(unknown)}, missing fields {sorted(missing)}"
    if wrong := [name for name, kind in _FIELDS.items() if not isinstance(body[name], kind)]:
        return f"fields of the wrong type: {wrong}"
    if body["cores"] not in (1, 2, 4, 8):
        return "cores must be 1, 2, 4 or 8"
    base64.b64decode(body["user_data"], validate=True)
    return ""


def _error(status: int, code: str, message: str) -> web.Response:
    return web.json_response({"error": {"code": code, "message": message}}, status=status)
