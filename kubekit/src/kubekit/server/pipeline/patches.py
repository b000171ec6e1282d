"""patch: the four ways to describe a change, each turned into the object that is wanted."""

from __future__ import annotations

from typing import Any

import msgspec

from kubekit.errors import BadRequest
from kubekit.model.resource import Object
from kubekit.server.objects.patch import go_values
from kubekit.server.objects.patch.json_patch import apply_json_patch
from kubekit.server.objects.patch.merge_patch import apply_merge_patch
from kubekit.server.objects.patch.strategic import apply_strategic_patch
from kubekit.server.objects.request import Answer, Target, WriteOptions, with_type
from kubekit.server.objects.schema.values import go_json_of_much
from kubekit.server.store import json_values

from . import apply, body_decoding, writes
from .space import Space

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


def accepted_types(target: Target) -> tuple[str, ...]:
    """The patch types a resource takes; a custom one has no strategy to merge by."""
    if target.resource.is_custom:
        return (JSON_PATCH, MERGE_PATCH, APPLY_PATCH)
    return (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH)


async def patch(space: Space, target: Target, media_type: str, change: Any, options: WriteOptions) -> Answer:
    """Change an object as the patch says. Raises NotFound, Conflict, Invalid, BadRequest."""
    if media_type == APPLY_PATCH:
        return await apply.apply_patch(space, target, change, options)

    def build(live: Object) -> Object:
        made = patched(target, media_type, with_type(target.resource, live), change)
        told = shown(media_type, made, change, is_kept=options.field_validation == "Strict")
        return body_decoding.accept_patched(space, target, made, told, options)

    return await writes.rebuild(space, target, build, options)


def shown(media_type: str, made: Object, change: Any, *, is_kept: bool = False) -> body_decoding.Shown:
    """How a refusal shows what a patch has made: the patch itself where it was merged in.

    `is_kept`: as it is now, before what is unknown leaves the object."""
    is_merged = media_type == STRATEGIC_PATCH
    source = change if is_merged else made
    written = msgspec.json.encode(source) if is_kept else b""

    def value() -> str:
        told = json_values.decode(written) if is_kept else source
        return go_values.go_text(go_values.left_over(told)) if is_merged else go_json_of_much(told)

    return body_decoding.Shown(value, go_values.restoring if is_merged else str)


def patched(target: Target, media_type: str, obj: Object, change: Any) -> Object:
    """The object after the change; `obj` stays as it is."""
    match media_type:
        case "application/json-patch+json":
            return apply_json_patch(obj, change)
        case "application/merge-patch+json":
            return apply_merge_patch(obj, change)
        case "application/strategic-merge-patch+json":
            return apply_strategic_patch(obj, change, target.resource.schema)
    raise BadRequest(f"unknown patch type {media_type}")
