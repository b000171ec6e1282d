"""A custom resource with every way of dividing a value, a ConfigMap, and short words to write them."""

from __future__ import annotations

import json
from typing import Any

from kubekit.server.kinds.builtin import catalogue
from kubekit.server.objects.apply import Writer, apply, record_create, record_update
from kubekit.server.objects.schema.model import Schema, from_openapi

Object = dict[str, Any]

TEXT: Object = {"type": "string"}
NUMBER: Object = {"type": "integer"}
TEXTS: Object = {"type": "object", "additionalProperties": TEXT}
PORT: Object = {
    "type": "object",
    "properties": {"port": NUMBER, "protocol": {"type": "string", "default": "TCP"}, "name": TEXT},
}
SPEC: Object = {
    "title": TEXT,
    "size": NUMBER,
    "on": {"type": "boolean"},
    "either": {"x-kubernetes-int-or-string": True},
    "labels": TEXTS,
    "box": {"type": "object", "properties": {"a": TEXT, "deep": {"type": "object", "properties": {"x": TEXT}}}},
    "boxes": {"type": "object", "additionalProperties": {"type": "object", "properties": {"p": TEXT, "q": TEXT}}},
    "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": TEXT},
    "list": {"type": "array", "items": TEXT},
    "set": {"type": "array", "x-kubernetes-list-type": "set", "items": TEXT},
    "numbers": {"type": "array", "x-kubernetes-list-type": "set", "items": NUMBER},
    "items": {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "items": {"type": "object", "properties": {"name": TEXT, "v": TEXT, "tags": TEXTS}},
    },
    "ports": {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["port", "protocol"],
        "items": PORT,
    },
    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    "embedded": {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
    },
}
WIDE = from_openapi(
    {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": SPEC},
            "status": {"type": "object", "properties": {"phase": TEXT}},
        },
    }
)
CONFIG_MAP = catalogue.schema_of("", "v1", "ConfigMap")
DEPLOYMENT = catalogue.schema_of("apps", "v1", "Deployment")


def time(second: int) -> str:
    return f"2026-01-01T00:00:{second:02}Z"


def writer(manager: str, second: int = 0, subresource: str = "", version: str = "v1") -> Writer:
    return Writer(manager, version, time(second), subresource)


def wide(metadata: Object | None = None, **spec: Any) -> Object:
    shown = {"name": "w", **(metadata or {})}
    return {"apiVersion": "v1", "kind": "Wide", "metadata": shown, **({"spec": spec} if spec else {})}


def copied(obj: Object) -> Object:
    result: Object = json.loads(json.dumps(obj))
    return result


def stored(obj: Object) -> Object:
    """The object with what a server gives it."""
    obj = copied(obj)
    obj["metadata"] = {"uid": "u-1", "resourceVersion": "1", **obj["metadata"]}
    return obj


def created(manager: str, obj: Object, schema: Schema = WIDE, second: int = 0) -> Object:
    obj = stored(obj)
    record_create(obj, schema, writer(manager, second))
    return obj


def updated(old: Object, manager: str, new: Object, schema: Schema = WIDE, second: int = 1, **options: Any) -> Object:
    """`old` replaced by `new`, which says nothing about owners unless it says so itself."""
    obj = stored(new)
    subresource = options.pop("subresource", "")
    record_update(obj, old, schema, writer(manager, second, subresource), **options)
    return obj


def applied(
    live: Object | None, manager: str, config: Object, schema: Schema = WIDE, second: int = 2, **options: Any
) -> Object:
    subresource = options.pop("subresource", "")
    options.setdefault("force", False)
    obj = apply(live, config, schema, writer(manager, second, subresource), **options)
    obj["metadata"].setdefault("uid", "u-1")
    return obj


def entry(obj: Object, manager: str, operation: str | None = None) -> Object:
    """The one entry of a manager."""
    entries = obj["metadata"].get("managedFields", [])
    [found] = [one for one in entries if one["manager"] == manager and operation in (None, one["operation"])]
    result: Object = found
    return result


def owned(obj: Object, manager: str, operation: str | None = None) -> Object:
    """What a manager owns below spec, for objects that are all about it."""
    fields = entry(obj, manager, operation)["fieldsV1"]
    result: Object = fields.get("f:spec", fields)
    return result


def owners(obj: Object) -> list[tuple[str, str]]:
    return [(one["manager"], one["operation"]) for one in obj["metadata"].get("managedFields", [])]
