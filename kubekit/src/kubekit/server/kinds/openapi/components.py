"""The schemas a document refers to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kubekit.server.objects.resource import Resource

from ..builtin.definitions import Published
from ..crds.schemas import CustomSchema
from . import names

Schemas = dict[str, Mapping[str, Any]]

_CONVENTIONS = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"
_TYPE_META = {
    "apiVersion": {
        "description": "APIVersion defines the versioned schema of this representation of an object. Servers should "
        "convert recognized schemas to the latest internal value, and may reject unrecognized values. "
        f"More info: {_CONVENTIONS}#resources",
        "type": "string",
    },
    "kind": {
        "description": "Kind is a string value representing the REST resource this object represents. Servers may "
        "infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. "
        f"More info: {_CONVENTIONS}#types-kinds",
        "type": "string",
    },
}
_EMBEDDED_TYPE_META = {
    "apiVersion": {
        "description": "apiVersion defines the versioned schema of this representation of an object. "
        f"More info: {_CONVENTIONS}#resources",
        "type": "string",
    },
    "kind": {
        "description": "kind is a string value representing the type of this object. In CamelCase. "
        f"More info: {_CONVENTIONS}#types-kinds",
        "type": "string",
    },
}
"""`kubectl explain` shows these texts of every kind, and tools look for them."""
_OBJECT_META = {
    "description": f"Standard object's metadata. More info: {_CONVENTIONS}#metadata",
    "allOf": [{"$ref": f"#/components/schemas/{names.META}.ObjectMeta"}],
}
_LIST_META = {
    "description": f"Standard list metadata. More info: {_CONVENTIONS}#types-kinds",
    "allOf": [{"$ref": f"#/components/schemas/{names.META}.ListMeta"}],
}
_ALWAYS: Schemas = {f"{names.META}.Patch": {"type": "object"}}


def schemas_for(documents: Iterable[Any], resources: Iterable[Resource]) -> Schemas:
    """Every schema that `documents` refer to, directly or through others, those of the resources included."""
    # The built-in definitions are unfolded here and forgotten afterwards: bytes are all that is kept.
    definitions = Published()
    own = {name: schema for resource in resources if resource.is_custom for name, schema in custom_schemas(resource)}
    found: Schemas = {}
    pending = {*own, *(name for document in documents for name in references(document))}
    while pending:
        name = pending.pop()
        schema = own.get(name) or _ALWAYS.get(name) or definitions.get(name)
        if schema is None:
            schema = {}
        found[name] = schema
        pending.update(other for other in references(schema) if other not in found)
    return dict(sorted(found.items()))


def references(document: Any) -> Iterator[str]:
    """The names of all definitions that a piece of OpenAPI refers to."""
    if isinstance(document, Mapping):
        reference = document.get("$ref")
        if isinstance(reference, str):
            yield reference.rpartition("/")[2]
        for value in document.values():
            if isinstance(value, (Mapping, list)):
                yield from references(value)
    elif isinstance(document, list):
        for value in document:
            yield from references(value)


def custom_schemas(resource: Resource) -> Iterator[tuple[str, dict[str, Any]]]:
    """The definitions of a custom kind and of its list."""
    schema = resource.schema
    source = schema.unpack() if isinstance(schema, CustomSchema) else dict(schema.source)
    published = _published(source)
    published.setdefault("type", "object")
    published["properties"] = _with_object_fields(published.get("properties", {}), _TYPE_META)
    extra: dict[str, Any] = {}
    if resource.selectable_fields:
        extra["x-kubernetes-selectable-fields"] = [{"fieldPath": path} for path in resource.selectable_fields]
    name = names.definition_of(resource)
    yield name, {**published, "x-kubernetes-group-version-kind": _kinds(resource, resource.kind), **extra}
    listed = {
        "description": f"{resource.list_kind} is a list of {resource.kind}",
        "type": "object",
        "required": ["items"],
        "properties": {
            **_TYPE_META,
            "items": {
                "description": f"List of {resource.plural}. More info: {_CONVENTIONS}",
                "type": "array",
                "items": {"$ref": f"#/components/schemas/{name}"},
            },
            "metadata": _LIST_META,
        },
        "x-kubernetes-group-version-kind": _kinds(resource, resource.list_kind),
    }
    yield names.list_definition_of(resource), {**listed, **extra}


def _kinds(resource: Resource, kind: str) -> list[dict[str, str]]:
    return [{"group": resource.group, "kind": kind, "version": resource.version}]


def _with_object_fields(properties: dict[str, Any], type_meta: dict[str, Any]) -> dict[str, Any]:
    return dict(sorted({**properties, **type_meta, "metadata": _OBJECT_META}.items()))


def _published(source: dict[str, Any]) -> dict[str, Any]:
    """A schema of a definition in the form clients expect: embedded objects and int-or-string spelled out."""
    shown = dict(source)
    if "properties" in source:
        shown["properties"] = {name: _published(one) for name, one in source["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(source.get(key), dict):
            shown[key] = _published(source[key])
    if source.get("x-kubernetes-int-or-string") and "anyOf" not in source and "allOf" not in source:
        shown["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    if source.get("x-kubernetes-embedded-resource"):
        shown["properties"] = _with_object_fields(shown.get("properties", {}), _EMBEDDED_TYPE_META)
        shown["required"] = list(dict.fromkeys([*source.get("required", ()), "kind", "apiVersion"]))
    return shown
