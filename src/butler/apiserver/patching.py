"""patch: the four ways to describe a change, each turned into the object that is wanted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from butler.errors import BadRequest

from . import accepting, applying, writing
from .patch import wording
from .patch.json_patch import apply_json_patch
from .patch.merge_patch import apply_merge_patch
from .patch.strategic import apply_strategic_patch
from .requests import Answer, Target, WriteOptions, with_type
from .resources import Object
from .schema.values import go_json
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
        return await applying.apply_patch(space, target, change, options)

    def build(live: Object) -> Object:
        made = patched(target, media_type, with_type(target.resource, live), change)
        told = shown(media_type, made, change)
        if options.field_validation == "Strict":
            # Before what is unknown leaves the object.
            text = told.value()
            told = replace(told, value=lambda: text)
        return accepting.accept_patched(space, target, made, told, options)

    return await writing.rebuild(space, target, build, options)


def shown(media_type: str, made: Object, change: Any) -> accepting.Shown:
    """How a refusal shows what a patch has made: the patch itself where it was merged in."""
    if media_type == STRATEGIC_PATCH:
        return accepting.Shown(lambda: wording.go_text(wording.left_over(change)), wording.restoring)
    return accepting.Shown(lambda: go_json(made))


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
