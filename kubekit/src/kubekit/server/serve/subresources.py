"""Subresources with a meaning of their own, and reviews, which are answered and never stored."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp.web import Response, StreamResponse

from kubekit.errors import BadRequest, ServiceUnavailable
from kubekit.model.resource import Object
from kubekit.server.access import reviews, token_requests
from kubekit.server.kinds.builtin import catalogue
from kubekit.server.kinds.builtin.go_shape import shape_of_kind
from kubekit.server.kinds.pods.parts import PARTS
from kubekit.server.objects.apply import Writer, record_create
from kubekit.server.objects.long_work import LARGE
from kubekit.server.objects.request import Target, WriteOptions
from kubekit.server.objects.resource import ALL_VERBS, Resource
from kubekit.server.pipeline import (
    binding,
    body_decoding,
    eviction,
    reads,
    scale_subresource,
)

from . import answers, pod_endpoints, queries, request_body
from .call import Call

_UNKNOWN_SCALE = 'no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"'
_CHANGES = ("get", "update", "patch")


def verbs(target: Target) -> tuple[str, ...] | None:
    """What may be done at a place; None when there is no such place."""
    resource, name = target.resource, target.subresource
    if not name:
        # While a definition ends, its objects can still be changed, though discovery says less.
        return ALL_VERBS if resource.is_custom else resource.verbs
    if not resource.is_custom:
        offered = catalogue.subresources(resource.group, resource.version, resource.plural)
        return next((one.verbs for one in offered if one.name == name), None)
    if (name == "status" and resource.status) or (name == "scale" and resource.scale is not None):
        return _CHANGES
    return None


async def answer(call: Call) -> StreamResponse:
    """Serve a subresource other than status."""
    resource, name = call.target.resource, call.target.subresource
    if name == "scale":
        return await _scale(call)
    handler = _HANDLERS.get((resource.storage_key, name))
    if handler is not None:
        return await handler(call)
    found = await reads.get(call.space, Target(resource, call.target.namespace, call.target.name))
    if resource.storage_key == "/pods" and not (found.decode().get("status") or {}).get("podIP"):
        raise BadRequest("address not allowed")
    raise ServiceUnavailable(f"{resource.plural}/{name} needs a kubelet, and there is none behind this API")


async def _scale(call: Call) -> StreamResponse:
    match call.verb:
        case "get":
            found = await reads.get(call.space, call.target)
            return answers.made(
                scale_subresource.SCALE, scale_subresource.scale_of(call.target.resource, found.decode()), call.view()
            )
        case "update":
            options = call.write_options("UpdateOptions")
            wanted = await _read_scale(call, options)
            scale = await scale_subresource.update(call.space, call.target, wanted, options)
        case "patch":
            options = call.write_options(request_body.patch_kind(call))
            change = await request_body.read_patch(call, options)
            scale = await scale_subresource.patch(call.space, call.target, call.media_type, change, options)
        case verb:
            raise AssertionError(verb)
    return answers.made(scale_subresource.SCALE, scale, call.view(), warnings=options.warnings)


async def _read_scale(call: Call, options: WriteOptions) -> Object:
    try:
        return await request_body.read_kind(call, options, "autoscaling/v1", "Scale")
    except BadRequest:
        if call.target.resource.is_custom:
            # Kubernetes cannot say more: the scheme of custom resources does not know this kind.
            raise BadRequest(_UNKNOWN_SCALE) from None
        raise


async def _token(call: Call) -> StreamResponse:
    options = call.write_options("CreateOptions")
    request = await request_body.read_kind(call, options, "authentication.k8s.io/v1", "TokenRequest")
    space, target = call.space, call.target
    token_requests.default(request)
    schema = request_body.kind_of("authentication.k8s.io/v1", "TokenRequest").schema
    record_create(request, schema, Writer(options.manager, "authentication.k8s.io/v1", space.timestamp(), "token"))
    made = token_requests.answer(request, target.namespace, target.name, space.lookup, space.issuer, space.clock)
    return answers.document(made, 201, view=call.view(), warnings=options.warnings)


async def _evict(call: Call) -> StreamResponse:
    """Delete a pod unless a disruption budget forbids it now."""
    write = call.write_options("CreateOptions")
    request = await request_body.read_kind(call, write, "policy/v1", "Eviction")
    pod = Target(call.target.resource, call.target.namespace, call.target.name)
    options = queries.delete_options(call.query, request.get("deleteOptions"))
    await eviction.evict(call.space, pod, request, options, write)
    return _success(call)


async def _bind(call: Call) -> StreamResponse:
    """Put a pod on a node: what a scheduler does. The older endpoint for it names the pod in the body."""
    options = call.write_options("CreateOptions")
    request = await request_body.read_kind(call, options, "v1", "Binding")
    await binding.bind(call.space, call.target.namespace, request, options, pod=call.target.name)
    return _success(call)


_HANDLERS: dict[tuple[str, str], Callable[[Call], Awaitable[StreamResponse]]] = {
    ("/serviceaccounts", "token"): _token,
    ("/pods", "eviction"): _evict,
    ("/pods", "binding"): _bind,
    **{("/pods", name): pod_endpoints.change_part for name in PARTS},
    **{("/pods", name): pod_endpoints.stream for name in pod_endpoints.STREAMS},
}


async def review(call: Call) -> StreamResponse:
    """Answer a question about rights or identity, or whatever else is created without being stored."""
    if call.target.resource.kind == "Binding":
        return await _bind(call)
    resource, options = call.target.resource, call.write_options("CreateOptions")
    view, body = call.view(), await request_body.read_object(call, options)
    space = call.space
    request = await space.bench.do(options.size, _question, call, body, options)
    if resource.group == reviews.AUTHENTICATION:
        answered = _identified(call, request)
        return answers.document(_typed(resource, answered), 201, view=view, warnings=options.warnings)
    await space.rbac.load()

    def answer() -> Response:
        answered = _judged(resource.kind, request, call)
        return answers.document(_typed(resource, answered), 201, view=view, warnings=options.warnings)

    made = await space.bench.do(LARGE + 1 if space.rbac.is_long else options.size, answer)
    return await answers.in_pieces(call.request, made)


def _typed(resource: Resource, answered: Object) -> Object:
    return {"kind": resource.kind, "apiVersion": resource.api_version, **answered}


def _identified(call: Call, request: Object) -> Object:
    """Who somebody is."""
    if call.target.resource.kind == "TokenReview":
        return reviews.token_review(request, call.space.access.user_of_token)
    return reviews.self_subject_review(call.user, call.space.now())


def _judged(kind: str, request: Object, call: Call) -> Object:
    """What somebody may do."""
    user, rbac = call.user, call.space.rbac
    match kind:
        case "SubjectAccessReview":
            return reviews.subject_access_review(request, rbac)
        case "SelfSubjectAccessReview":
            return reviews.self_subject_access_review(request, user, rbac)
        case "LocalSubjectAccessReview":
            return reviews.local_subject_access_review(request, call.target.namespace, rbac)
        case "SelfSubjectRulesReview":
            return reviews.self_subject_rules_review(request, user, rbac)
    raise BadRequest(f"{kind} cannot be created")


def _question(call: Call, body: Any, options: WriteOptions) -> Object:
    """What is asked, and who said so."""
    resource = call.target.resource
    request = body_decoding.understood(call.space, resource, body, options)
    _tidy_spec(resource, request)
    record_create(request, resource.schema, Writer(options.manager, resource.api_version, call.space.timestamp()))
    return request


def _tidy_spec(resource: Resource, request: Object) -> None:
    """What is asked looks in the answer as it does after a round through Go."""
    shape = shape_of_kind(resource.api_version, resource.kind)
    spec = shape.below("spec") if shape is not None else None
    if spec is not None and "spec" in request:
        spec.apply(request["spec"])


def _success(call: Call) -> StreamResponse:
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
    return answers.document(status, 201, view=call.view())
