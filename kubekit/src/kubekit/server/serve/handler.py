"""One request from its first byte to its answer: who asks, may they, what for, and in which form."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

from aiohttp.web import BaseRequest, Response, StreamResponse

from kubekit.errors import (
    ApiError,
    BadRequest,
    Details,
    Gone,
    InternalError,
    MethodNotAllowed,
    NotAcceptable,
    StorageError,
    go_quoted,
)
from kubekit.server.access import impersonation
from kubekit.server.access.authentication import Authenticator
from kubekit.server.access.rbac import Attributes, forbidden
from kubekit.server.kinds.documents import negotiation
from kubekit.server.objects import name_rules, refusals
from kubekit.server.objects.long_work import LARGE
from kubekit.server.objects.request import Answer, Target, WriteOptions
from kubekit.server.objects.resource import Resource
from kubekit.server.objects.user import UserInfo
from kubekit.server.pipeline import deletion, patches, reads, writes
from kubekit.server.pipeline.watches import Watch
from kubekit.server.spaces import addresses
from kubekit.server.spaces.addresses import Address
from kubekit.server.spaces.served_space import ServedSpace

from . import answers, queries, request_body, subresources
from .call import WARNINGS, Call
from .documents import Documents, page_not_found
from .queries import Query

log = logging.getLogger("kubekit.server")

_ABOUT_MANY = ("list", "watch")
"""Verbs for which the name in a field selector counts as that of the object."""
_READS = ("get", "list", "watch")
_PARTS = ("", "status", "approval", "finalize")
"""Endpoints through which an object, or a part of it, is written like any other."""
_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "GET": "get", "HEAD": "get"}


class Handler:
    """Answers every request of every space."""

    def __init__(self, spaces: Callable[[str, UserInfo], ServedSpace], authenticator: Authenticator, root: str) -> None:
        """`spaces` answers where a user, as whom somebody is recognised there, is served; it may have to be loaded."""
        self._spaces, self._authenticator, self._root = spaces, authenticator, root
        self._documents = Documents()

    async def __call__(self, request: BaseRequest) -> StreamResponse:
        try:
            return await self._serve(request)
        except ApiError as error:
            return answers.refusal(error, _layout(request), request.get(WARNINGS, ()))
        except RecursionError:
            return answers.refusal(refusals.too_deep(), _layout(request))
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
        if queries.is_broken(raw_path):
            return Response(status=400, text="400 Bad Request")
        address = addresses.parse(raw_path, self._root)
        query = queries.parse(raw_query)
        attributes = self._attributes(request, address, query)
        try:
            space = self._spaces(address.space, attributes.user)
        except Gone as error:
            if address.plural:
                raise
            # Before anything else, kubectl asks for the kinds there are, and of all refusals of that it shows the words
            # of this one only.
            return Response(status=403, text=str(error))
        if not space.loading.is_done:
            await space.loading.finish()
        if not space.rbac.is_loaded and not _is_master(request, attributes.user):
            await space.rbac.load()
        if space.rbac.is_long:
            user = await space.bench.do(LARGE + 1, self._authorized, request, space, attributes)
        else:
            user = self._authorized(request, space, attributes)
        if not address.plural:
            queries.check_timeout(query)
            return await self._documents.answer(request, space, address.path, user)
        resource = space.kinds.at(address.group, address.version, address.plural) if address.verb != "proxy" else None
        if resource is None or not _is_in_scope(resource, address, attributes.verb):
            return _nothing_there(space, address)
        # What stands behind the name of a subresource of a custom kind, nobody looks at; behind a proxy, others do.
        subresource = address.part if resource.is_custom or address.part == "proxy" else address.subresource
        target = Target(resource, address.namespace, address.name, subresource)
        if resource.deprecation:
            request[WARNINGS] = [resource.deprecation]
        return await self._dispatch(Call(request, space, address, query, user, attributes.verb, target))

    def _attributes(self, request: BaseRequest, address: Address, query: Query) -> Attributes:
        certificate = None
        if request.transport is not None:
            tls = request.transport.get_extra_info("ssl_object")
            certificate = tls.getpeercert(binary_form=True) if tls is not None else None
        user = self._authenticator.authenticate(request.headers, certificate, address.space)
        if not address.plural:
            return Attributes(user, request.method.lower(), path=address.path)
        verb = _verb(request.method, address, query)
        return Attributes(
            user,
            verb,
            address.group,
            address.version,
            address.plural,
            address.part,
            address.name if address.plural == "namespaces" and address.name else address.namespace,
            address.name or (queries.named(query) if verb in _ABOUT_MANY and not address.verb else ""),
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
        if verb != "watch":
            queries.check_timeout(call.query)
        _check_name(target.name)
        offered = subresources.verbs(target)
        if offered is None or (target.name and not target.subresource and offered == ("create",)):
            raise _no_such_subresource(target)
        is_method = verb not in _READS or call.request.method == "GET"
        if verb not in offered or not is_method or not _fits_place(target, verb):
            raise _not_offered(target, verb)
        if target.subresource not in _PARTS:
            return await subresources.answer(call)
        if target.resource.verbs == ("create",):
            return await subresources.review(call)
        return await _HANDLERS[verb](call)


def _is_master(request: BaseRequest, user: UserInfo) -> bool:
    """Whether whoever asks may do everything, and does not want to be somebody else. Raises BadRequest."""
    return user.is_master and impersonation.wanted_user(request.headers) is None


def _is_in_scope(resource: Resource, address: Address, verb: str) -> bool:
    """Whether objects of the kind are where the URL looks for them; custom ones without a namespace only in lists."""
    if address.namespace:
        return resource.namespaced
    return not (resource.is_custom and resource.namespaced) or verb in ("list", "watch")


def _check_name(name: str) -> None:
    """A name must be able to stand in a URL. Raises BadRequest."""
    if name and (problems := list(name_rules.path_segment(name))):
        raise BadRequest(f"Name parameter invalid: {go_quoted(name)}: {';'.join(problems)}")


def _fits_place(target: Target, verb: str) -> bool:
    """Whether the verb is one for an object or for a collection, as the URL names it."""
    if verb in ("list", "watch"):
        return True
    if verb == "deletecollection" or (verb == "create" and not target.subresource):
        in_place = bool(target.namespace) or not target.resource.namespaced
        return in_place and (not target.name or target.resource.is_custom)
    return bool(target.name)


def _not_offered(target: Target, verb: str) -> ApiError:
    resource = target.resource
    if not resource.is_custom:
        return refusals.method_not_allowed()
    if not target.name and not target.subresource and verb in ("update", "patch"):
        return BadRequest("name must be provided")
    return MethodNotAllowed(
        f'{verb} is not supported on resources of kind "{resource.qualified}"',
        Details(group=resource.group, kind=resource.plural),
    )


def _no_such_subresource(target: Target) -> ApiError:
    if target.resource.is_custom:
        return refusals.not_found(target.resource, target.name)
    return refusals.no_such_resource()


def _nothing_there(space: ServedSpace, address: Address) -> StreamResponse:
    """Built-in groups say so in a Status; for all others there is no such page."""
    if space.kinds.is_built_in_group(address.group):
        raise refusals.no_such_resource()
    return page_not_found()


def _layout(request: BaseRequest) -> answers.Layout:
    """How a refusal looks: YAML or indented where the client wants that."""
    try:
        representation = negotiation.negotiate(request.headers.get("Accept"), True)
    except NotAcceptable:
        representation = negotiation.Representation()
    query = queries.parse(request.raw_path.partition("?")[2])
    pretty = negotiation.wants_pretty(query.get("pretty"), request.headers.get("User-Agent"))
    is_yaml = representation.is_yaml and representation.form is negotiation.Form.FULL
    return answers.Layout(is_yaml, pretty or representation.pretty)


def _verb(method: str, address: Address, query: Query) -> str:
    if address.verb:
        return address.verb
    verb = _VERBS.get(method, "")
    if verb == "get" and not address.name:
        return "watch" if queries.is_true(query, "watch") else "list"
    if verb == "delete" and not address.name:
        return "deletecollection"
    return verb


async def _get(call: Call) -> StreamResponse:
    view = call.view()
    found = await reads.get(call.space, call.target, call.query.get("resourceVersion", ""))
    return await answers.one(found, view, call.space.bench, warnings=view.warnings)


async def _list(call: Call) -> StreamResponse:
    view, options = call.view(), queries.list_options(call.query)
    found = reads.parts(call.space, call.target.resource, call.target.namespace, options)
    return await answers.list_in_parts(call.request, found, view, call.space.bench)


async def _watch(call: Call) -> StreamResponse:
    view, options = call.view(), queries.watch_options(call.query)
    if view.representation.is_yaml:
        raise negotiation.not_streamed()
    if call.target.name:
        options = options.narrowed_to(call.target.name)
    watch = Watch(call.space, call.space.hub, call.target.resource, call.target.namespace, options)
    return await answers.stream(call.request, watch, view, call.space.bench)


async def _create(call: Call) -> StreamResponse:
    view, options = call.view(), call.write_options("CreateOptions")
    obj = await request_body.read_object(call, options)
    answer = await writes.create(call.space, call.target, obj, options)
    return await answers.one(answer, view, call.space.bench, warnings=options.warnings)


async def _update(call: Call) -> StreamResponse:
    view, options = call.view(), call.write_options("UpdateOptions")
    obj = await request_body.read_object(call, options)
    answer = await writes.update(call.space, call.target, obj, options)
    return await answers.one(answer, view, call.space.bench, warnings=options.warnings)


async def _patch(call: Call) -> StreamResponse:
    view, options = call.view(), call.write_options(request_body.patch_kind(call))
    change = await request_body.read_patch(call, options)
    answer = await patches.patch(call.space, call.target, call.media_type, change, options)
    return await answers.one(answer, view, call.space.bench, warnings=options.warnings)


async def _delete(call: Call) -> StreamResponse:
    view, options = call.view(), call.delete_options()
    body = await request_body.read_delete_options(call, options)
    wanted = queries.delete_options(call.query, body)
    if call.target.resource.storage_key == "batch/jobs" and not wanted.propagation:
        options.warn(_ORPHANED_PODS)
    answer = await deletion.delete(call.space, call.target, wanted, options)
    return await deleted(answer, call, view, options)


async def _delete_collection(call: Call) -> StreamResponse:
    view, options = call.view(), call.delete_options()
    body = await request_body.read_delete_options(call, options)
    wanted = queries.delete_options(call.query, body)
    resource = call.target.resource
    found = await reads.list_objects(call.space, resource, call.target.namespace, queries.list_options(call.query))
    await deletion.delete_all(call.space, resource, found.values, wanted, options)
    gone = reads.Listing(resource, found.values, call.space.store.committed)
    size = sum(map(len, gone.values))
    return await call.space.bench.do(size, answers.listing, gone, view)


_HANDLERS: dict[str, Callable[[Call], Awaitable[StreamResponse]]] = {
    "get": _get,
    "list": _list,
    "watch": _watch,
    "create": _create,
    "update": _update,
    "patch": _patch,
    "delete": _delete,
    "deletecollection": _delete_collection,
}


_ORPHANED_PODS = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or "
    "set propagationPolicy=Orphan to suppress this warning"
)


async def deleted(answer: Answer, call: Call, view: answers.View, options: WriteOptions) -> Response:
    """The object while something still waits for it, else the plain news."""
    target, resource = call.target, call.target.resource
    if not answer.deleted or resource.storage_key in _SHOWN_WHEN_GONE:
        return await answers.one(answer, view, call.space.bench, warnings=options.warnings)
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
    {
        "/namespaces",
        "/persistentvolumeclaims",
        "/persistentvolumes",
        "/pods",
        "/podtemplates",
        "/resourcequotas",
        "/serviceaccounts",
        "/services",
        "resource.k8s.io/deviceclasses",
        "resource.k8s.io/resourceclaims",
        "resource.k8s.io/resourceclaimtemplates",
        "resource.k8s.io/resourceslices",
        "storage.k8s.io/csidrivers",
        "storage.k8s.io/csinodes",
        "storage.k8s.io/storageclasses",
        "storage.k8s.io/volumeattachments",
        "storage.k8s.io/volumeattributesclasses",
    }
)
"""Kinds whose last state a deletion answers with, as in Kubernetes."""
