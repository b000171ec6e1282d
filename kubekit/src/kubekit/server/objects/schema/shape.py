"""Fields, types and nothing else: the JSON Schema that tells at once that an object has the shape of its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jsonschema_rs

from .model import ANYTHING, Schema

JsonSchema = dict[str, Any]
Check = Callable[[Any], bool]

META_FIELDS = ("apiVersion", "kind", "metadata")
_ANY_BUT_NULL = ["object", "array", "string", "number", "boolean"]
_SCALARS = ["string", "number", "boolean", "null"]
_INT64 = {"minimum": -(2**63), "maximum": 2**63 - 1}
_INT32 = {"minimum": -(2**31), "maximum": 2**31 - 1}
_MOST_NODES = 10_000
_REFERENCE = {"$ref": "#/definitions/anything"}


def _anything() -> JsonSchema:
    """Whatever it is, its numbers need no rounding. Some levels are spelt out, because to refer takes time."""
    drawn: JsonSchema = _REFERENCE
    for _ in range(3):
        kinds: list[JsonSchema] = [
            {"type": ["string", "boolean", "null"]},
            {"type": "object", "additionalProperties": drawn},
            {"type": "number", **_INT64},
            {"type": "array", "items": drawn},
        ]
        drawn = {"anyOf": kinds}
    return drawn


def custom_shape(schema: Schema, *, root: bool) -> Check:
    """Says yes when a custom resource has no field to prune, no null to drop and no number to round.

    A no may be wrong."""
    drawing = _Custom()
    drawn = drawing.node(schema, root=root)
    if drawing.count > _MOST_NODES:
        # To compile it would take long, and nobody else would have a turn.
        return lambda _: False
    return _compiled(drawn, {"anything": _anything()}, {})


def typed_shape(schema: Schema, formats: Mapping[str, Callable[[str], bool]]) -> Check:
    """Says yes when an object of a built-in kind decodes as it stands. A no may be wrong.

    `formats` has checks for the formats that are decoded: byte, date-time, micro-time, quantity."""
    drawing = _Typed(formats)
    return _compiled(drawing.node(schema), drawing.definitions, formats)


def _compiled(drawn: JsonSchema, definitions: JsonSchema, formats: Mapping[str, Callable[[str], bool]]) -> Check:
    named = {f"kubernetes-{name}": check for name, check in formats.items()}
    # Draft 4 is the one in which 1.0 is no integer, as in Go.
    validator = jsonschema_rs.Draft4Validator(
        {**drawn, "definitions": definitions}, formats=named, validate_formats=True
    )
    is_valid: Check = validator.is_valid

    def has_shape(value: Any) -> bool:
        try:
            return is_valid(value)
        except ValueError:
            # Nested too deeply, or not quite JSON: others decide.
            return False

    return has_shape


class _Custom:
    """Draws the schema of a custom resource, which never refers to itself."""

    def __init__(self) -> None:
        self.count = 0

    def node(self, schema: Schema, *, root: bool = False) -> JsonSchema:
        self.count += 1
        kinds = ["integer", "string"] if schema.int_or_string else [schema.type] if schema.type else _ANY_BUT_NULL
        drawn: JsonSchema = {"type": [*kinds, "null"] if schema.nullable else kinds if kinds[1:] else kinds[0]}
        if not schema.type or schema.type in ("integer", "number"):
            drawn |= _INT64
        drawn["items"] = _REFERENCE if schema.items is None else self.node(schema.items)
        if schema.properties:
            drawn["properties"] = {name: self.node(below) for name, below in schema.properties.items()}
        if schema.additional is ANYTHING:
            drawn["additionalProperties"] = {"type": _SCALARS, **_INT64}
        elif schema.additional is not None:
            drawn["additionalProperties"] = self.node(schema.additional)
        else:
            drawn["additionalProperties"] = _REFERENCE if schema.preserve_unknown else False
        if root or schema.embedded:
            drawn["properties"] = {**drawn.get("properties", {}), **{name: {} for name in META_FIELDS}}
        return drawn


class _Typed:
    """Draws the schema of a built-in kind; named nodes become definitions, because they may contain themselves."""

    def __init__(self, formats: Mapping[str, Callable[[str], bool]]) -> None:
        self.definitions: JsonSchema = {}
        self._formats = formats

    def node(self, schema: Schema) -> JsonSchema:
        if not schema.name or not schema.properties:
            return self._drawn(schema)
        if schema.name not in self.definitions:
            self.definitions[schema.name] = {}
            self.definitions[schema.name] = self._drawn(schema)
        return {"$ref": f"#/definitions/{schema.name}"}

    def _drawn(self, schema: Schema) -> JsonSchema:
        if schema.int_or_string:
            return {"type": ["integer", "string"], **_INT32}
        if is_quantity(schema):
            return {"type": "string", "format": "kubernetes-quantity"}
        if is_schema_union(schema):
            # No list, so that whatever is not quite plain is looked at closely.
            whole = {"$ref": f"#/definitions/{schema.name.partition('PropsOr')[0]}Props"}
            return {"anyOf": [whole, {"type": "boolean"}]} if schema.name.endswith("OrBool") else whole
        if is_opaque(schema):
            return {"type": _ANY_BUT_NULL}
        drawn: JsonSchema = {"type": schema.type or "object"}
        form = schema.source.get("format", "")
        if schema.type == "integer":
            drawn |= _INT32 if form == "int32" else _INT64
        elif form in self._formats:
            drawn["format"] = f"kubernetes-{'micro-time' if schema.name.endswith('.MicroTime') else form}"
        if schema.items is not None:
            drawn["items"] = self.node(schema.items)
        if schema.properties:
            drawn["properties"] = {name: self.node(below) for name, below in schema.properties.items()}
            drawn["additionalProperties"] = False
        elif schema.additional is not None:
            drawn["additionalProperties"] = self.node(schema.additional)
        return drawn


def is_quantity(schema: Schema) -> bool:
    return schema.name.endswith(".Quantity")


def is_schema_union(schema: Schema) -> bool:
    """A place in a CustomResourceDefinition that takes a schema or something else."""
    return ".JSONSchemaPropsOr" in schema.name


def is_opaque(schema: Schema) -> bool:
    """Whether a place of a built-in kind takes any JSON, as `RawExtension` does."""
    bare = not schema.properties and schema.additional is None and schema.items is None
    return schema.preserve_unknown or (bare and schema.type in ("", "object"))
