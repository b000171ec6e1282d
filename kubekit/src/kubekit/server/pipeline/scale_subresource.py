"""The scale subresource: one number of an object, read and written without knowing its kind."""

from __future__ import annotations

from typing import Any

from kubekit.errors import Cause, Details, FieldError, FieldProblem, InternalError, Invalid, go_quoted, invalid
from kubekit.model.resource import Object
from kubekit.model.selectors import text_at
from kubekit.server.kinds.builtin import catalogue
from kubekit.server.objects import refusals
from kubekit.server.objects.request import Answer, Target, WriteOptions
from kubekit.server.objects.resource import Resource
from kubekit.server.objects.resource import Scale as ScalePaths

from . import body_decoding, patches, writes
from .space import Space

SCALE = Resource("autoscaling", "v1", "Scale", "scales", catalogue.schema_of("autoscaling", "v1", "Scale"))


def scale_of(resource: Resource, obj: Object) -> Object:
    """The Scale that an object shows."""
    paths = _paths(resource)
    if resource.is_custom and not text_at(obj, paths.spec_replicas.strip(".")):
        why = f"the spec replicas field {go_quoted(paths.spec_replicas)} does not exist"
        raise InternalError(f"Internal error occurred: {why}", Details(causes=(Cause("", why),)))
    meta = obj["metadata"]
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    status: Object = {"replicas": _number(obj, paths.status_replicas)}
    if paths.label_selector:
        selector = _selector(obj, paths.label_selector)
        if selector:
            status["selector"] = selector
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {key: meta[key] for key in kept if key in meta},
        "spec": {"replicas": _number(obj, paths.spec_replicas)},
        "status": status,
    }


async def update(space: Space, target: Target, scale: Object, options: WriteOptions) -> Object:
    """Set the wanted number as a PUT of a Scale says."""
    body_decoding.check_name(target, scale["metadata"])

    def build(live: Object) -> Object:
        return _scaled(target, live, scale)

    return await _store(space, target, build, options)


async def patch(space: Space, target: Target, media_type: str, change: Any, options: WriteOptions) -> Object:
    """Set the wanted number as a patch of the Scale says."""
    scales = Target(SCALE, target.namespace, target.name)

    def build(live: Object) -> Object:
        if media_type == patches.APPLY_PATCH:
            config = body_decoding.check_applied_type(SCALE, change)
            return _scaled(target, live, body_decoding.understood(space, SCALE, config, options))
        made = patches.patched(scales, media_type, scale_of(target.resource, live), change)
        scale = body_decoding.accept_patched(space, scales, made, patches.shown(media_type, made, change), options)
        return _scaled(target, live, scale)

    return await _store(space, target, build, options)


async def _store(space: Space, target: Target, build: writes.Build, options: WriteOptions) -> Object:
    whole = Target(target.resource, target.namespace, target.name)
    answer: Answer = await writes.rebuild(space, whole, build, options, subresource="scale")
    return scale_of(target.resource, answer.decode())


def _scaled(target: Target, live: Object, scale: Object) -> Object:
    meta = scale["metadata"]
    wanted = scale.get("spec", {}).get("replicas", 0)
    # What is wrong with the number of a custom object is told when the whole object is looked at.
    if wanted < 0 and not target.resource.is_custom:
        raise _negative(target, wanted)
    writes.check_uid(target, meta, live)
    if meta.get("resourceVersion"):
        live["metadata"]["resourceVersion"] = meta["resourceVersion"]
    *parents, last = _paths(target.resource).spec_replicas.strip(".").split(".")
    holder = live
    for parent in parents:
        holder = holder.setdefault(parent, {})
    holder[last] = wanted
    return live


def _negative(target: Target, value: int) -> Invalid:
    detail = "must be greater than or equal to 0"
    problem = FieldError(FieldProblem.INVALID, "spec.replicas", detail, value)
    return invalid("Scale", "autoscaling", target.name, [problem])


def _paths(resource: Resource) -> ScalePaths:
    if resource.scale is None:
        raise refusals.not_found(resource, "scale")
    return resource.scale


def _number(obj: Object, path: str) -> int:
    text = text_at(obj, path.strip("."))
    return int(text) if text.lstrip("-").isdigit() else 0


def _selector(obj: Object, path: str) -> str:
    """As text; built-in kinds hold it as an object, custom ones as text already."""
    found: Any = obj
    for part in path.strip(".").split("."):
        found = found.get(part) if isinstance(found, dict) else None
    if not isinstance(found, dict):
        return str(found or "")
    labels = found.get("matchLabels", found if "matchExpressions" not in found else {})
    equal = [f"{key}={value}" for key, value in sorted((labels or {}).items())]
    return ",".join(equal + [_expression(one) for one in found.get("matchExpressions") or ()])


def _expression(one: Object) -> str:
    key, values = one["key"], ",".join(sorted(one.get("values") or ()))
    match one["operator"]:
        case "In":
            return f"{key} in ({values})"
        case "NotIn":
            return f"{key} notin ({values})"
        case "Exists":
            return str(key)
    return f"!{key}"
