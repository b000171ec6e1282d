"""The address of a fake Harvester: an API server behind a gate that counts calls, lets them fail, and is strict."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import aiohttp
from aiohttp import web
from yarl import URL

from butler.providers.harvester import kinds
from butler.providers.testing import Fault, Faults
from butler.providers.testing.faults import RETRY_AFTER
from butler.providers.testing.web import troubling
from kubekit.client.protocol import Client
from kubekit.errors import InternalError, NotFound

PAGE = 2
"""So many objects the gate lets through at a time."""
_STRATEGIES = {"start": "RerunOnFailure", "stop": "Halted"}
_HOP = {"host", "content-length", "transfer-encoding", "connection", "content-encoding"}


@dataclass
class Gate:
    """In front of the API server at `server`, believed by `trust`."""

    server: str
    trust: ssl.SSLContext
    client: Client
    faults: Faults = field(default_factory=Faults)
    requests: list[tuple[str, str, bytes]] = field(default_factory=list)
    """Method, path and body of all that came."""
    _session: aiohttp.ClientSession | None = None

    @asynccontextmanager
    async def open(self, tls: ssl.SSLContext) -> AsyncIterator[str]:
        app = web.Application(middlewares=[troubling(self.faults, _status)], client_max_size=4 * 2**20)
        app.router.add_put(
            "/apis/subresources.kubevirt.io/v1/namespaces/{namespace}/virtualmachines/{name}/{verb}", self._power
        )
        app.router.add_route("*", "/{rest:.*}", self._pass_on)
        async with (
            aiohttp.ClientSession(skip_auto_headers=["Content-Type"]) as self._session,
            serving(app, tls) as url,
        ):
            yield url

    async def _pass_on(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.requests.append((request.method, request.path, body))
        url = URL(self.server).with_path(request.path).with_query(_strict(request))
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _HOP}
        assert self._session is not None
        async with self._session.request(
            request.method,
            url,
            data=BytesIO(body) if body else None,
            headers=headers,
            ssl=self.trust,
            allow_redirects=False,
        ) as answer:
            kept = {name: value for name, value in answer.headers.items() if name.lower() not in _HOP}
            return web.Response(status=answer.status, body=await answer.read(), headers=kept)

    async def _power(self, request: web.Request) -> web.Response:
        """KubeVirt's own API for what happens at once."""
        verb, name, namespace = (request.match_info[key] for key in ("verb", "name", "namespace"))
        if verb not in _STRATEGIES:
            return _failure(NotFound(f"the server could not find the requested resource {verb}"))
        try:
            change = {"spec": {"runStrategy": _STRATEGIES[verb]}}
            await self.client.patch(kinds.VIRTUAL_MACHINE, name, change, namespace)
        except NotFound as error:
            return _failure(error)
        return web.Response(status=202)


def _strict(request: web.Request) -> dict[str, str]:
    """Unknown fields are errors here, and lists come in small pages."""
    query = dict(request.query)
    if request.method in ("POST", "PUT", "PATCH"):
        query["fieldValidation"] = "Strict"
    if request.method == "GET" and "limit" in query:
        query["limit"] = str(PAGE)
    return query


def _status(fault: Fault) -> web.Response:
    if fault is Fault.LIMITED:
        body: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 429}
        body |= {"reason": "TooManyRequests", "message": "the server has received too many requests"}
        return web.json_response(body, status=429, headers={"Retry-After": f"{RETRY_AFTER:g}"})
    return _failure(InternalError("etcdserver: leader changed"))


def _failure(error: Any) -> web.Response:
    return web.json_response(error.status(), status=error.code)


@asynccontextmanager
async def serving(app: web.Application, tls: ssl.SSLContext) -> AsyncIterator[str]:
    """The address on loopback at which an application answers over TLS."""
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
        yield f"https://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        _abort(runner.server)
        await runner.cleanup()


def _abort(server: web.Server | None) -> None:
    """Over TLS, each connection would wait for its client's farewell."""
    for connection in server.connections if server is not None else ():
        if connection.transport is not None:
            connection.transport.abort()
