"""Subresources with a meaning of their own, and reviews, which are answered and never stored."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from aiohttp.web import Response, StreamResponse

from butler.apiserver import deleting, patching, reading, refusals, scaling, storing, writing
from butler.apiserver.auth import reviews, token_requests
from butler.apiserver.requests import Target, WriteOptions
from butler.apiserver.resources import Object
from butler.apiserver.storage.changes import Change
from butler.errors import BadRequest, Cause, MethodNotAllowed, TooManyRequests
from butler.kube.selectors import from_label_selector

from . import answers, bodies, queries

if TYPE_CHECKING:
    from .face import Call


async def answer(call: Call) -> StreamResponse:
    """Serve a subresource; 404 for those nobody can serve here (logs, exec: there is no kubelet)."""
    handler = _HANDLERS.get((call.target.resource.storage_key, call.target.subresource))
    if call.target.subresource == "scale" and call.target.resource.scale is not None:
        handler = _scale
    if handler is None or (call.target.subresource not in call.target.resource.subresources and handler is not _scale):
        return Response(status=404, text="404 page not found\n")
    return await handler(call)


async def _scale(call: Call) -> StreamResponse:
    match call.verb:
        case "get":
            found = reading.get(call.space, call.target)
            return answers.document(scaling.scale_of(call.target.resource, found.decode()), view=call.view())
        case "update":
            options = call.write_options("UpdateOptions")
            scale = await scaling.update(call.space, call.target, await _body(call), options)
        case "patch":
            options = call.write_options("PatchOptions")
            change = await _patch_body(call, options)
            scale = await scaling.patch(call.space, call.target, call.media_type, change, options)
        case _:
            raise _not_allowed()
    return answers.document(scale, view=call.view(), warnings=options.warnings)


async def _token(call: Call) -> StreamResponse:
    if call.verb != "create":
        raise _not_allowed()
    request = await _body(call)
    space, target = call.space, call.target
    made = token_requests.answer(request, target.namespace, target.name, space.lookup, space.issuer, space.clock)
    return answers.document(made, 201, view=call.view())


async def _evict(call: Call) -> StreamResponse:
    """Delete a pod unless a disruption budget forbids it now."""
    if call.verb != "create":
        raise _not_allowed()
    request = await _body(call)
    space, target = call.space, call.target
    pod = reading.get(space, Target(target.resource, target.namespace, target.name)).decode()
    _check_budgets(call, pod)
    options = queries.delete_options(call.query, request.get("deleteOptions"))
    pods = Target(target.resource, target.namespace, target.name)
    await deleting.delete(space, pods, options, call.write_options("CreateOptions"))
    return answers.document({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}, 201)


def _check_budgets(call: Call, pod: Object) -> None:
    budgets = call.space.kinds.at("policy", "v1", "poddisruptionbudgets")
    assert budgets is not None
    for row in call.space.store.page(call.space.bucket(budgets), f"{call.target.namespace}/").rows:
        budget = row.decode()
        selector = (budget.get("spec") or {}).get("selector")
        if selector is None or not from_label_selector(selector).matches(pod["metadata"].get("labels")):
            continue
        if (budget.get("status") or {}).get("disruptionsAllowed", 0) <= 0:
            name = budget["metadata"]["name"]
            cause = Cause("DisruptionBudget", f"The disruption budget {name} does not allow evicting pods currently")
            raise TooManyRequests(
                "Cannot evict pod as it would violate the pod's disruption budget.",
                refusals.about(call.target, cause),
            )


async def _bind(call: Call) -> StreamResponse:
    """Put a pod on a node: what a scheduler does."""
    if call.verb != "create":
        raise _not_allowed()
    binding = await _body(call)
    node = ((binding.get("target") or {}).get("name")) or ""
    if not node:
        raise BadRequest("target.name: Required value")
    pod = Target(call.target.resource, call.target.namespace, call.target.name)
    now = call.space.timestamp()

    def build(live: Object) -> Object:
        if (live.get("spec") or {}).get("nodeName"):
            raise refusals.conflict(pod, f'pod {pod.name} is already assigned to node "{live["spec"]["nodeName"]}"')
        live["spec"]["nodeName"] = node
        conditions = live.setdefault("status", {}).setdefault("conditions", [])
        conditions[:] = [one for one in conditions if one["type"] != "PodScheduled"]
        conditions.append({"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": now})
        return live

    await _store_directly(call, pod, build)
    return answers.document({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}, 201)


async def _finalize(call: Call) -> StreamResponse:
    """Replace the finalizers in a namespace's spec; the last one gone, it goes."""
    if call.verb != "update":
        raise _not_allowed()
    wanted = await _body(call)
    target = Target(call.target.resource, "", call.target.name)

    def build(live: Object) -> Object:
        finalizers = (wanted.get("spec") or {}).get("finalizers") or []
        live["spec"] = {"finalizers": finalizers} if finalizers else {}
        return live

    obj = await _store_directly(call, target, build)
    return answers.document({"apiVersion": "v1", "kind": "Namespace", **obj}, view=call.view())


async def _approve(call: Call) -> StreamResponse:
    """Set the approval conditions of a CertificateSigningRequest."""
    if call.verb == "get":
        return answers.one(reading.get(call.space, call.target), call.view())
    if call.verb != "update":
        raise _not_allowed()
    wanted = await _body(call)
    target = Target(call.target.resource, "", call.target.name)

    def build(live: Object) -> Object:
        live.setdefault("status", {})["conditions"] = (wanted.get("status") or {}).get("conditions") or []
        return live

    obj = await _store_directly(call, target, build)
    resource = target.resource
    return answers.document({"apiVersion": resource.api_version, "kind": resource.kind, **obj}, view=call.view())


async def _store_directly(call: Call, target: Target, build: Callable[[Object], Object]) -> Object:
    """For changes that by their nature touch what an ordinary update must not."""
    row = call.space.existing(target)
    old, obj = row.decode(), build(row.decode())
    options = call.write_options("UpdateOptions")
    whole = Target(target.resource, target.namespace, target.name, call.target.subresource)
    writing.record(call.space, whole, obj, old, options.manager)
    if obj != old and not options.dry_run:
        change = Change.DELETED if deleting.is_finished(target.resource, obj) else Change.MODIFIED
        await storing.stage(call.space, target, change, obj, row)
    return obj


_HANDLERS: dict[tuple[str, str], Callable[[Call], Awaitable[StreamResponse]]] = {
    ("/serviceaccounts", "token"): _token,
    ("/pods", "eviction"): _evict,
    ("/pods", "binding"): _bind,
    ("/namespaces", "finalize"): _finalize,
    ("certificates.k8s.io/certificatesigningrequests", "approval"): _approve,
}


async def review(call: Call) -> StreamResponse:
    """Answer a question about rights or identity."""
    request = await _body(call)
    space, user = call.space, call.user
    match call.target.resource.kind:
        case "SelfSubjectReview":
            answered = reviews.self_subject_review(user, space.now())
        case "TokenReview":
            answered = reviews.token_review(request, space.access.user_of_token)
        case "SubjectAccessReview":
            answered = reviews.subject_access_review(request, space.rbac)
        case "SelfSubjectAccessReview":
            answered = reviews.self_subject_access_review(request, user, space.rbac)
        case "LocalSubjectAccessReview":
            answered = reviews.local_subject_access_review(request, call.target.namespace, space.rbac)
        case "SelfSubjectRulesReview":
            answered = reviews.self_subject_rules_review(request, user, space.rbac)
        case kind:
            raise BadRequest(f"{kind} cannot be created")
    resource = call.target.resource
    return answers.document(
        {"kind": resource.kind, "apiVersion": resource.api_version, **answered}, 201, view=call.view()
    )


async def _body(call: Call) -> Object:
    content = await bodies.read(call.request)
    value: Any = bodies.decode(content, call.media_type) if content else {}
    if not isinstance(value, dict):
        raise BadRequest("the body of the request is not an object")
    return value


async def _patch_body(call: Call, options: WriteOptions) -> Any:
    accepted = patching.accepted_types(call.target)
    if call.media_type not in accepted:
        raise bodies.unsupported(call.media_type, ", ".join(accepted))
    content = await bodies.read(call.request)
    if call.media_type == patching.APPLY_PATCH:
        options.force = queries.is_true(call.query, "force")
        return bodies.decode_yaml(content)
    return bodies.decode_json(content)


def _not_allowed() -> MethodNotAllowed:
    return MethodNotAllowed("the server does not allow this method on the requested resource")
