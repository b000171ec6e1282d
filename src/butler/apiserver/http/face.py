"""One request from its first byte to its answer: who asks, may they, what for, and in which form."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from aiohttp.web import BaseRequest, Response, StreamResponse

from butler.apiserver import deleting, negotiation, patching, reading, tables, writing
from butler.apiserver.auth import impersonation
from butler.apiserver.auth.authentication import Authenticator
from butler.apiserver.auth.rbac import Attributes, forbidden
from butler.apiserver.auth.users import UserInfo
from butler.apiserver.requests import Answer, Target, WriteOptions
from butler.apiserver.served import ServedSpace
from butler.apiserver.watching import Watch
from butler.errors import (
    ApiError,
    BadRequest,
    FieldError,
    FieldProblem,
    InternalError,
    MethodNotAllowed,
    StorageError,
    invalid,
)

from . import addresses, answers, bodies, queries, subresources
from .addresses import Address
from .documents import Documents
from .queries import Query

log = logging.getLogger("butler.apiserver")

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "GET": "get", "HEAD": "get"}


@dataclass(slots=True)
class Call:
    """A request that is understood and allowed."""

    request: BaseRequest
    space: ServedSpace
    address: Address
    query: Query
    user: UserInfo
    verb: str
    target: Target

    @property
    def media_type(self) -> str:
        return str(self.request.headers.get("Content-Type", "")).partition(";")[0].strip().lower()

    def view(self) -> answers.View:
        headers = self.request.headers
        return answers.View(
            negotiation.negotiate(headers.get("Accept"), self.target.resource.is_custom),
            tables.included(self.query.get("includeObject")),
            self.space.now(),
            negotiation.wants_pretty(self.query.get("pretty"), headers.get("User-Agent")),
        )

    def write_options(self, kind: str) -> WriteOptions:
        options = WriteOptions(
            self.user,
            queries.field_manager(self.query, kind, self.request.headers.get("User-Agent", "")),
            queries.dry_run(self.query, kind),
            queries.field_validation(self.query, kind),
        )
        if self.target.resource.deprecation:
            options.warn(self.target.resource.deprecation)
        return options


class Face:
    """Answers every request of every space."""

    def __init__(self, spaces: Callable[[str], ServedSpace | None], authenticator: Authenticator, root: str) -> None:
        self._spaces, self._authenticator, self._root = spaces, authenticator, root
        self._documents = Documents()

    async def __call__(self, request: BaseRequest) -> StreamResponse:
        try:
            return await self._serve(request)
        except ApiError as error:
            return answers.refusal(error)
        except RecursionError:
            return answers.refusal(bodies.too_deep())
        except StorageError as error:
            log.error("storage error=%s path=%s", error, request.path)
            return answers.refusal(InternalError(f"Internal error occurred: {error}"))
        except (asyncio.CancelledError, ConnectionError):
            raise
        except Exception:
            log.exception("request failed method=%s path=%s", request.method, request.path)
            return answers.refusal(InternalError("Internal error occurred: see the log of the server"))

    async def _serve(self, request: BaseRequest) -> StreamResponse:
        raw_path, _, raw_query = request.raw_path.partition("?")
        address = addresses.parse(raw_path, self._root)
        space = self._spaces(address.space)
        if space is None:
            return page_not_found()
        query = queries.parse(raw_query)
        attributes = self._attributes(request, address, query)
        user = self._authorized(request, space, attributes)
        if not address.plural:
            return await self._documents.answer(request, space, address.path)
        resource = space.kinds.at(address.group, address.version, address.plural)
        if resource is None or (address.namespace and not resource.namespaced):
            return page_not_found()
        target = Target(resource, address.namespace, address.name, address.subresource)
        return await self._dispatch(Call(request, space, address, query, user, attributes.verb, target))

    def _attributes(self, request: BaseRequest, address: Address, query: Query) -> Attributes:
        certificate = None
        if request.transport is not None:
            tls = request.transport.get_extra_info("ssl_object")
            certificate = tls.getpeercert(binary_form=True) if tls is not None else None
        user = self._authenticator.authenticate(request.headers, certificate, address.space)
        if not address.plural:
            return Attributes(user, request.method.lower(), path=address.path)
        return Attributes(
            user,
            _verb(request.method, address, query),
            address.group,
            address.version,
            address.plural,
            address.subresource,
            address.name if address.plural == "namespaces" and address.name else address.namespace,
            address.name,
        )

    def _authorized(self, request: BaseRequest, space: ServedSpace, attributes: Attributes) -> UserInfo:
        """The user the request goes on as. Raises Forbidden."""
        wanted = impersonation.wanted_user(request.headers)
        if wanted is not None:
            user = space.impersonator.act_as(wanted, attributes)
            attributes = replace(attributes, user=user)
        decision = space.rbac.authorize(attributes)
        if not decision.allowed:
            raise forbidden(attributes, decision.reason)
        return attributes.user

    async def _dispatch(self, call: Call) -> StreamResponse:
        target, verb = call.target, call.verb
        if target.subresource and target.subresource != "status":
            return await subresources.answer(call)
        if target.subresource == "status" and not target.resource.status:
            return page_not_found()
        if verb not in target.resource.verbs and not (verb == "create" and target.name):
            raise not_allowed()
        if target.resource.verbs == ("create",):
            return await subresources.review(call)
        handler = _HANDLERS.get((verb, bool(target.name)))
        if handler is None or (target.subresource and verb not in ("get", "update", "patch")):
            raise not_allowed()
        return await handler(call)


def _verb(method: str, address: Address, query: Query) -> str:
    verb = _VERBS.get(method, "")
    if address.is_legacy_watch and verb == "get":
        return "watch"
    if verb == "get" and not address.subresource:
        if queries.is_true(query, "watch") and (not address.name or "fieldSelector" in query):
            return "watch"
        return "get" if address.name else "list"
    if verb == "delete" and not address.name:
        return "deletecollection"
    return verb


# -- handlers -----------------------------------------------------------------------------------------------------


async def _get(call: Call) -> StreamResponse:
    return answers.one(reading.get(call.space, call.target), call.view())


async def _list(call: Call) -> StreamResponse:
    options = queries.list_options(call.query)
    found = reading.list_objects(call.space, call.target.resource, call.target.namespace, options)
    return answers.listing(found, call.view())


async def _watch(call: Call) -> StreamResponse:
    options = queries.watch_options(call.query)
    if call.target.name:
        options = options.narrowed_to(call.target.name)
    watch = Watch(call.space, call.space.hub, call.target.resource, call.target.namespace, options)
    return await answers.stream(call.request, watch, call.view())


async def _create(call: Call) -> StreamResponse:
    view, options = call.view(), call.write_options("CreateOptions")
    target = call.target
    if target.resource.namespaced and not target.namespace:
        raise BadRequest("an empty namespace may not be set during creation")
    obj = await read_object(call, options)
    return answers.one(await writing.create(call.space, target, obj, options), view, warnings=options.warnings)


async def _update(call: Call) -> StreamResponse:
    view, options = call.view(), call.write_options("UpdateOptions")
    obj = await read_object(call, options)
    return answers.one(await writing.update(call.space, call.target, obj, options), view, warnings=options.warnings)


async def _patch(call: Call) -> StreamResponse:
    view, options = call.view(), call.write_options("PatchOptions")
    change = await read_patch(call, options)
    answer = await patching.patch(call.space, call.target, call.media_type, change, options)
    return answers.one(answer, view, warnings=options.warnings)


async def _delete(call: Call) -> StreamResponse:
    view, options = call.view(), call.write_options("DeleteOptions")
    body = await _optional_body(call)
    answer = await deleting.delete(call.space, call.target, queries.delete_options(call.query, body), options)
    return deleted(answer, call.target, view, options)


async def _delete_collection(call: Call) -> StreamResponse:
    view, options = call.view(), call.write_options("DeleteOptions")
    body = await _optional_body(call)
    wanted = queries.delete_options(call.query, body)
    resource = call.target.resource
    found = reading.list_objects(call.space, resource, call.target.namespace, queries.list_options(call.query))
    values = await deleting.delete_all(call.space, resource, found.values, wanted, options)
    return answers.listing(reading.Listing(resource, values, call.space.store.committed), view)


_HANDLERS: dict[tuple[str, bool], Callable[[Call], Awaitable[StreamResponse]]] = {
    ("get", True): _get,
    ("list", False): _list,
    ("watch", False): _watch,
    ("watch", True): _watch,
    ("create", False): _create,
    ("update", True): _update,
    ("patch", True): _patch,
    ("delete", True): _delete,
    ("deletecollection", False): _delete_collection,
}


def deleted(answer: Answer, target: Target, view: answers.View, options: WriteOptions) -> Response:
    """The object while something still waits for it, else the plain news."""
    if not answer.deleted or target.resource.storage_key in _SHOWN_WHEN_GONE:
        return answers.one(answer, view, warnings=options.warnings)
    resource = target.resource
    details = {"name": target.name, "group": resource.group, "kind": resource.plural}
    uid = answer.decode()["metadata"]["uid"]
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {key: value for key, value in {**details, "uid": uid}.items() if value},
    }
    return answers.document(status, view=view, warnings=options.warnings)


_SHOWN_WHEN_GONE = frozenset(
    {"/pods", "/services", "/serviceaccounts", "/persistentvolumes", "/persistentvolumeclaims"}
)
"""Kinds whose last state a deletion answers with, as in Kubernetes."""


async def read_object(call: Call, options: WriteOptions) -> Any:
    content = await bodies.read(call.request)
    if not content:
        raise BadRequest(f"the object provided is not a {call.target.resource.kind}: the body of the request is empty")
    value = bodies.decode(content, call.media_type)
    _report_duplicates(call, content, options)
    return value


async def read_patch(call: Call, options: WriteOptions) -> Any:
    """The body of a PATCH; sets what only an apply may carry. Raises UnsupportedMediaType or Invalid."""
    accepted = patching.accepted_types(call.target)
    media_type = call.media_type
    if media_type not in accepted:
        raise bodies.unsupported(media_type, ", ".join(accepted))
    content = await bodies.read(call.request)
    options.force = queries.is_true(call.query, "force")
    if media_type != patching.APPLY_PATCH:
        return bodies.decode_json(content)
    if not call.query.get("fieldManager"):
        problem = FieldError(FieldProblem.REQUIRED, "fieldManager", "is required for apply patch")
        raise invalid("PatchOptions", "meta.k8s.io", "", [problem])
    value = bodies.decode_yaml(content)
    _report_duplicates(call, content, options)
    return value


def _report_duplicates(call: Call, content: bytes, options: WriteOptions) -> None:
    """Only for clients that ask: finding a field that stands twice costs more than decoding."""
    if call.query.get("fieldValidation") not in ("Strict", "Warn") or call.media_type == bodies.PROTOBUF:
        return
    for path in bodies.duplicate_fields(content):
        text = f'duplicate field "{path}"'
        if options.field_validation == "Strict":
            raise BadRequest(f"strict decoding error: {text}")
        options.warn(text)


async def _optional_body(call: Call) -> dict[str, object] | None:
    content = await bodies.read(call.request)
    if not content:
        return None
    value = bodies.decode(content, call.media_type)
    if not isinstance(value, dict):
        raise BadRequest("the body of a deletion must be DeleteOptions")
    return value


def page_not_found() -> Response:
    return Response(status=404, text="404 page not found\n")


def not_allowed() -> MethodNotAllowed:
    return MethodNotAllowed("the server does not allow this method on the requested resource")
