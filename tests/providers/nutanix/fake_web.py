"""Prism Central as a web server: who may come in, and which versions of the API there are."""

from __future__ import annotations

import base64
from email.utils import format_datetime
from typing import Any

from aiohttp import web

from butler.providers.testing import Fault
from butler.providers.testing.faults import RETRY_AFTER
from butler.providers.testing.web import Handler, troubling
from tests.providers.nutanix import fake_schema as schema
from tests.providers.nutanix.fake import PASSWORD, PRODUCT, USER, Prism
from tests.providers.nutanix.fake_v3 import V3Api
from tests.providers.nutanix.fake_v3 import error as v3_error
from tests.providers.nutanix.fake_v4 import OFFERED, V4Api
from tests.providers.nutanix.fake_v4 import error as v4_error

_BASIC = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


def app(prism: Prism) -> web.Application:
    """The web server of a fake; its faults befall the requests."""

    @web.middleware
    async def admit(request: web.Request, handler: Handler) -> web.StreamResponse:
        prism.now += prism.pace
        prism.settle()
        body = await request.json() if request.can_read_body else None
        prism.recorded.append((request.method, request.path, body))
        request[schema.BODY] = body
        try:
            answer = _refused(prism, request) or await handler(request)
        except web.HTTPNotFound:
            answer = v4_error(404, "RESOURCE_NOT_FOUND", f"there is no {request.path}")
        answer.headers.update({"X-Ntnx-Product": PRODUCT, "Date": format_datetime(prism.time(), usegmt=True)})
        return answer

    def turned_away(fault: Fault) -> web.Response:
        if fault is Fault.LIMITED:
            answer = v4_error(429, "RATE_LIMIT_EXCEEDED", "too many requests")
            answer.headers["Retry-After"] = f"{RETRY_AFTER:g}"
            return answer
        return v3_error(500, "INTERNAL_ERROR", "something broke")

    made = web.Application(middlewares=[troubling(prism.faults, turned_away), admit], client_max_size=2**20)
    if prism.offers_v4:
        made.router.add_get("/api/actuator/versionroutes", _routes)
        V4Api(prism).add_to(made.router)
    V3Api(prism).add_to(made.router)
    return made


def _refused(prism: Prism, request: web.Request) -> web.Response | None:
    error = v3_error if request.path.startswith("/api/nutanix/v3") else v4_error
    if request.headers.get("Authorization") != _BASIC:
        told = f"Authentication required; you sent {request.headers.get('Authorization')}"
        return error(401, "AUTHENTICATION_REQUIRED", told)
    if any(part in request.path for part in prism.denied):
        return error(403, "ACCESS_DENIED", "You are not allowed to do this")
    return None


async def _routes(request: web.Request) -> web.Response:
    """As a real one answers, with versions that were never released among the others."""
    routes: list[dict[str, Any]] = [
        {
            "namespace": part,
            "versionRoutes": [
                {"version": version, "routes": [f"/{part}/{version}/config"]} for version in ("v4.0.a1", *versions)
            ],
        }
        for part, versions in OFFERED.items()
    ]
    return web.json_response([*routes, {"namespace": "objects", "versionRoutes": [{"version": "v4.0.b1"}]}])
