"""What is served beside resources: discovery, OpenAPI, versions, keys and health."""

from __future__ import annotations

import msgspec
from aiohttp.web import BaseRequest, Response, StreamResponse

from kubekit.server.access.tokens import openid_configuration
from kubekit.server.kinds.documents import negotiation
from kubekit.server.kinds.documents.discovery import version_info
from kubekit.server.kinds.documents.document import Document
from kubekit.server.objects import refusals
from kubekit.server.objects.long_work import LARGE
from kubekit.server.objects.user import NOBODY, UserInfo
from kubekit.server.spaces.served_space import ServedSpace

from . import answers, queries
from .answers import UNCACHED

_HEALTH = ("healthz", "livez", "readyz")
_OPENAPI = "/openapi/v3/"
_PLAIN = {**UNCACHED, "X-Content-Type-Options": "nosniff"}
_GET_ONLY = ("/version", "/openid/v1/jwks", "/.well-known/openid-configuration")
_FOR_AN_HOUR = {"Cache-Control": "public, max-age=3600"}


class Documents:
    """Answers GET requests for paths that are not resources."""

    async def answer(self, request: BaseRequest, space: ServedSpace, path: str, user: UserInfo) -> StreamResponse:
        query = queries.parse(request.raw_path.partition("?")[2])
        accept = request.headers.get("Accept")
        path = path if path == "/metrics/" else path.rstrip("/") or "/"
        if path.split("/")[1] in _HEALTH:
            return _health(space, path, query)
        _check_route(path, request.method, accept)
        match path:
            case "/version":
                # Strangers could tell by it which APIs there are.
                shown = "" if user == NOBODY else space.version
                return _json(version_info(space.product.name, space.product.version, shown))
            case "/metrics":
                return _metrics(space)
            case "/openid/v1/jwks":
                body = msgspec.json.encode(space.access.tokens.key.key_set())
                return Response(body=body, content_type="application/jwk-set+json", headers=_FOR_AN_HOUR)
            case "/.well-known/openid-configuration":
                body = msgspec.json.encode(openid_configuration(f"https://{request.host}{space.prefix}"))
                return Response(body=body, content_type="application/json", headers=_FOR_AN_HOUR)
            case "/openapi/v2":
                await _prepare(space, "v2", accept)
                return await _document(request, space, space.openapi.v2(accept))
            case "/openapi/v3":
                return await _document(request, space, space.openapi.index())
        if path.startswith(_OPENAPI):
            await _prepare(space, path.removeprefix(_OPENAPI), accept)
            found = space.openapi.document(path.removeprefix(_OPENAPI), query.get("hash", ""), accept)
        else:
            pretty = negotiation.wants_pretty(query.get("pretty"), request.headers.get("User-Agent"))
            found = space.discovery.document(path, accept, pretty)
        if found is not None:
            return await _document(request, space, found)
        if path.startswith(_OPENAPI):
            return Response(status=404, headers=UNCACHED)
        root, *rest = path.split("/")[1:]
        if root == "api" or (root == "apis" and len(rest) > 1 and space.kinds.is_built_in_group(rest[0])):
            raise refusals.no_such_resource()
        return page_not_found()


def _check_route(path: str, method: str, accept: str | None) -> None:
    """Some documents look at how they are asked for. Raises MethodNotAllowed, NotAcceptable."""
    first, *rest = path.split("/")[1:]
    is_strict = path in _GET_ONLY or first == "api" or (first == "apis" and len(rest) > 1)
    if is_strict and method != "GET":
        raise refusals.method_not_allowed()
    if path == "/api":
        negotiation.check_type(accept)
    if path == "/version" and not negotiation.accepts_json(accept):
        raise negotiation.no_such_type("application/json")


async def _prepare(space: ServedSpace, path: str, accept: str | None) -> None:
    """Make a document of OpenAPI where nobody waits for it; kinds may change while that is done."""
    while (work := space.openapi.unmade(path, accept)) is not None:
        await space.bench.do(LARGE + 1, work)


async def _document(request: BaseRequest, space: ServedSpace, document: Document) -> StreamResponse:
    if document.is_known(request.headers.get("If-None-Match")):
        return Response(status=304, headers=document.headers)
    headers, body = document.headers, document.body
    if document.is_gzipped and "gzip" not in request.headers.get("Accept-Encoding", ""):
        headers.pop("Content-Encoding")
        body = await space.bench.do(len(body), document.plain)
    return await answers.in_pieces(request, Response(body=body, status=document.status, headers=headers))


def _health(space: ServedSpace, path: str, query: queries.Query) -> Response:
    """The server is well while its storage takes writes and its background work runs, and alive while a restart would
    mend nothing."""
    checks = space.health(is_alive=path.split("/")[1] == "livez")
    asked = path.split("/")[2:]
    if asked and asked[0] not in checks:
        return page_not_found()
    chosen = {asked[0]: checks[asked[0]]} if asked else checks
    failed = [name for name, problem in chosen.items() if problem]
    if not failed and "verbose" not in query:
        return Response(text="ok", headers=_PLAIN)
    lines = [f"[-]{name} failed: {problem}" if problem else f"[+]{name} ok" for name, problem in chosen.items()]
    end = f"{path.split('/')[1]} check {'failed' if failed else 'passed'}"
    return Response(text="\n".join([*lines, end, ""]), status=500 if failed else 200, headers=_PLAIN)


def _metrics(space: ServedSpace) -> Response:
    lines: list[str] = []
    for name, kind, text, value in space.figures():
        lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}", f"{name} {value}"]
    body = "\n".join([*lines, ""]).encode()
    return Response(body=body, headers={**UNCACHED, "Content-Type": "text/plain; version=0.0.4; charset=utf-8"})


def _json(value: object) -> Response:
    body = msgspec.json.format(msgspec.json.encode(value), indent=2)
    return Response(body=body, content_type="application/json", headers=UNCACHED)


def page_not_found() -> Response:
    return Response(status=404, text="404 page not found\n", headers=_PLAIN)
