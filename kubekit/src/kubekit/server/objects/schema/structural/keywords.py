"""Keywords of a CRD schema, each looked at by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kubekit.errors import FieldError, FieldProblem, not_supported

from ..values import in_key_order

Source = Mapping[str, Any]

_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_UNSUPPORTED = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")
_META = ("metadata", "kind", "apiVersion")


def required(path: str, detail: str) -> FieldError:
    return FieldError(FieldProblem.REQUIRED, path, detail)


def invalid(path: str, value: Any, detail: str) -> FieldError:
    return FieldError(FieldProblem.INVALID, path, detail, in_key_order(value))


def forbidden(path: str, detail: str) -> FieldError:
    return FieldError(FieldProblem.FORBIDDEN, path, detail)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in a schema we are, as far as that changes what is allowed."""

    no_default: str = ""
    """Why a default must not be set here; empty when it may."""
    in_metadata: bool = False


def check_keywords(schema: Source, path: str) -> list[FieldError]:
    """What is wrong with single keywords anywhere in a schema."""
    return list(_node(schema, path, _Place(), root=True))


def unconvertible(schema: Source) -> str:
    """Why a schema cannot be structural at all, in words; empty when it can be looked at."""
    for node in _nodes(schema):
        if isinstance(node.get("items"), list) and node["items"]:
            return "OpenAPIV3Schema 'items' must be a schema, but is an array"
        for key in ("id", "$schema", "$ref", "patternProperties", "dependencies", "definitions"):
            if node.get(key):
                return f"OpenAPIV3Schema '{key.removeprefix('$') if key == '$schema' else key}' is not supported"
        if node.get("additionalItems") is not None:
            return "OpenAPIV3Schema 'additionalItems' is not supported"
        if node.get("x-kubernetes-preserve-unknown-fields") is False:
            return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
    return ""


def _nodes(source: Source) -> Iterator[Source]:
    yield source
    below = [*(source.get("properties") or {}).values(), source.get("items"), source.get("additionalProperties")]
    for key in ("anyOf", "allOf", "oneOf"):
        below += source.get(key) or []
    for one in [*below, source.get("not")]:
        if isinstance(one, Mapping):
            yield from _nodes(one)


def _node(source: Source, path: str, place: _Place, root: bool = False) -> Iterator[FieldError]:
    yield from _standard(source, path, place)
    if source.get("uniqueItems"):
        detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield forbidden(f"{path}.uniqueItems", detail)
    yield from _object(source, path, place, root)
    yield from _below(source, path, place)
    if source.get("x-kubernetes-preserve-unknown-fields") is False:
        yield invalid(f"{path}.x-kubernetes-preserve-unknown-fields", False, "must be true or undefined")
    yield from _map_type(source, path)
    yield from _list_type(source, path)
    if source.get("x-kubernetes-list-type") == "map":
        yield from _list_map(source, path)
    if source.get("x-kubernetes-list-type") in ("map", "set"):
        yield from _identity(source, path)


def _standard(source: Source, path: str, place: _Place) -> Iterator[FieldError]:
    kind = source.get("type")
    if kind and kind not in _TYPES:
        yield not_supported(f"{path}.type", kind, _TYPES)
    if source.get("default") is not None and place.no_default:
        yield forbidden(f"{path}.default", f"must not be set {place.no_default}")
    for key in _UNSUPPORTED:
        given = source.get(key)
        if given or (key in ("additionalItems", "dependencies") and given is not None):
            yield forbidden(f"{path}.{key}", f"{key} is not supported")
    if kind == "null":
        yield forbidden(f"{path}.type", "type cannot be set to null, use nullable as an alternative")
    if isinstance(source.get("items"), list) and source["items"]:
        yield forbidden(f"{path}.items", "items must be a schema object and not an array")
    if place.in_metadata and source.get("x-kubernetes-embedded-resource"):
        yield forbidden(f"{path}.x-kubernetes-embedded-resource", "must not be used inside of resource meta")


def _object(source: Source, path: str, place: _Place, root: bool) -> Iterator[FieldError]:
    additional, properties = source.get("additionalProperties"), source.get("properties") or {}
    if additional is not None and properties and additional is not True:
        detail = "additionalProperties and properties are mutual exclusive"
        yield forbidden(f"{path}.additionalProperties", detail)
    if isinstance(additional, Mapping):
        why = "inside additionalProperties applying to object metadata"
        inner = replace(place, no_default=why) if place.in_metadata else place
        yield from _node(additional, f"{path}.additionalProperties", inner)
    for name, below in properties.items():
        inner = place
        if name in _META and (root or source.get("x-kubernetes-embedded-resource")):
            inner = _Place(f"in top-level {name}" if root else place.no_default, in_metadata=True)
        yield from _node(below, f"{path}.properties[{name}]", inner)


def _below(source: Source, path: str, place: _Place) -> Iterator[FieldError]:
    if isinstance(source.get("not"), Mapping):
        yield from _node(source["not"], f"{path}.not", place)
    for key in ("allOf", "oneOf", "anyOf"):
        for index, one in enumerate(source.get(key) or []):
            yield from _node(one, f"{path}.{key}[{index}]", place)
    items = source.get("items")
    if isinstance(items, Mapping):
        yield from _node(items, f"{path}.items", place)
    elif isinstance(items, list):
        for index, one in enumerate(items):
            yield from _node(one, f"{path}.items[{index}]", place)


def _map_type(source: Source, path: str) -> Iterator[FieldError]:
    map_type, kind = source.get("x-kubernetes-map-type"), source.get("type", "")
    if map_type is None:
        return
    if kind != "object":
        detail = "must be object if x-kubernetes-map-type is specified"
        yield invalid(f"{path}.type", kind, detail) if kind else required(f"{path}.type", detail)
    if map_type not in ("atomic", "granular"):
        yield not_supported(f"{path}.x-kubernetes-map-type", map_type, ("atomic", "granular"))


def _list_type(source: Source, path: str) -> Iterator[FieldError]:
    list_type, kind, items = source.get("x-kubernetes-list-type"), source.get("type", ""), source.get("items")
    if list_type is not None and kind != "array":
        detail = "must be array if x-kubernetes-list-type is specified"
        yield invalid(f"{path}.type", kind, detail) if kind else required(f"{path}.type", detail)
    elif list_type == "set" and isinstance(items, Mapping):
        yield from _set_items(items, f"{path}.items")
    if list_type not in (None, "atomic", "set", "map"):
        yield not_supported(f"{path}.x-kubernetes-list-type", list_type, ("atomic", "set", "map"))
    if source.get("x-kubernetes-list-map-keys") and list_type != "map":
        detail, where = "must be map if x-kubernetes-list-map-keys is non-empty", f"{path}.x-kubernetes-list-type"
        yield required(where, detail) if list_type is None else invalid(where, list_type, detail)


def _set_items(items: Source, path: str) -> Iterator[FieldError]:
    detail = "must be atomic as item of a list with x-kubernetes-list-type=set"
    inner = items.get("x-kubernetes-list-type")
    if items.get("type") == "array" and inner not in (None, "atomic"):
        yield invalid(f"{path}.x-kubernetes-list-type", inner, detail)
    if items.get("type") == "object" and items.get("x-kubernetes-map-type") != "atomic":
        # Kubernetes shows the list type here, which an object does not have.
        yield invalid(f"{path}.x-kubernetes-map-type", inner, detail)


def _list_map(source: Source, path: str) -> Iterator[FieldError]:
    keys, items = source.get("x-kubernetes-list-map-keys") or [], source.get("items")
    keys_path = f"{path}.x-kubernetes-list-map-keys"
    if not keys:
        yield required(keys_path, "must not be empty if x-kubernetes-list-type is map")
    if items is None:
        yield required(f"{path}.items", "must have a schema if x-kubernetes-list-type is map")
    if not isinstance(items, Mapping):
        return
    if items.get("type") != "object":
        detail = "must be object if parent array's x-kubernetes-list-type is map"
        yield invalid(f"{path}.items.type", items.get("type", ""), detail)
        return
    for index, key in enumerate(keys):
        below = (items.get("properties") or {}).get(key)
        if below is None:
            yield invalid(keys_path, keys, "entries must all be names of item properties")
        elif below.get("type") in ("array", "object"):
            detail = "must be a scalar type if parent array's x-kubernetes-list-type is map"
            yield invalid(f"{path}.items.properties[{key}].type", items["type"], detail)
        if key in keys[:index]:
            yield invalid(keys_path, keys, "must not contain duplicate entries")


def _identity(source: Source, path: str) -> Iterator[FieldError]:
    """What identifies an item of a set or map must always be there."""
    items, list_type = source.get("items"), source["x-kubernetes-list-type"]
    if not isinstance(items, Mapping):
        return
    if items.get("nullable"):
        yield forbidden(f"{path}.items.nullable", f"cannot be nullable when x-kubernetes-list-type is {list_type}")
    for key in source.get("x-kubernetes-list-map-keys") or [] if list_type == "map" else []:
        below, where = (items.get("properties") or {}).get(key), f"{path}.items.properties[{key}]"
        if below is None:
            continue
        reason = "this property is in x-kubernetes-list-map-keys, so it"
        if key not in (items.get("required") or []) and below.get("default") is None:
            yield required(f"{where}.default", f"{reason} must have a default or be a required property")
        if below.get("nullable"):
            yield forbidden(f"{where}.nullable", f"{reason} cannot be nullable")
