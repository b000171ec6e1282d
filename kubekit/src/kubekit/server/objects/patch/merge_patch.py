"""JSON Merge Patch (RFC 7386): members replace members, null removes them."""

from __future__ import annotations

from typing import Any

from kubekit.errors import BadRequest
from kubekit.model.resource import Object

from ..schema.decoding import go_kind


def apply_merge_patch(obj: Object, patch: Any) -> Object:
    """The object after the change. Raises BadRequest when the patch is not an object."""
    if patch is None:
        raise BadRequest("Invalid JSON Patch")
    if not isinstance(patch, dict):
        what = f"{go_kind(patch)} into Go value of type map[string]interface {{}}"
        raise BadRequest(f"error decoding patch: json: cannot unmarshal {what}")
    return _merged(obj, patch)


def _merged(old: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    merged = dict(old)
    for name, change in patch.items():
        if change is None:
            merged.pop(name, None)
            continue
        current = merged.get(name)
        if isinstance(current, dict) and isinstance(change, dict):
            merged[name] = _merged(current, change)
        else:
            # Nulls in a list that replaces an object or nothing go too, as they would in a new object.
            merged[name] = _without_nulls(change) if not isinstance(current, dict) else change
    return merged


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value
