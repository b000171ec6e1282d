"""What one version of a CustomResourceDefinition may say about its objects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from kubekit.errors import FieldError
from kubekit.model.resource import Object
from kubekit.server.objects.cel import check_rules
from kubekit.server.objects.problems import bad, duplicate, forbidden, required, too_many
from kubekit.server.objects.schema.structural.rules import check_crd_schema

_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_MOST_SELECTABLE_FIELDS = 8
_ALLOWED_AT_ROOT = {
    "description": "Description",
    "type": "Type",
    "format": "Format",
    "title": "Title",
    "maximum": "Maximum",
    "exclusiveMaximum": "ExclusiveMaximum",
    "minimum": "Minimum",
    "exclusiveMinimum": "ExclusiveMinimum",
    "maxLength": "MaxLength",
    "minLength": "MinLength",
    "pattern": "Pattern",
    "maxItems": "MaxItems",
    "minItems": "MinItems",
    "uniqueItems": "UniqueItems",
    "multipleOf": "MultipleOf",
    "required": "Required",
    "items": "Items",
    "properties": "Properties",
    "externalDocs": "ExternalDocs",
    "example": "Example",
    "x-kubernetes-preserve-unknown-fields": "XPreserveUnknownFields",
    "x-kubernetes-validations": "XValidations",
}
"""What may stand at the root of a schema whose status is a subresource: JSON name → the name in the message."""


def check_deprecation(version: Object, path: str) -> Iterator[FieldError]:
    """A warning needs a deprecated version, and must fit a header."""
    warning = version.get("deprecationWarning")
    if warning is None:
        return
    if not version.get("deprecated"):
        yield bad(path, warning, "can only be set for deprecated versions")
        return
    if len(warning.encode()) > 256:
        yield bad(path, warning, "must be <= 256 characters long")
    if not warning:
        yield bad(path, warning, "must not be an empty string")
    for index, character in enumerate(warning):
        if not character.isprintable():
            place = len(warning[:index].encode())
            detail = f"must only contain printable UTF-8 characters; non-printable character found at index {place}"
            yield bad(path, warning, detail)
            return


def check_schema(validation: Object, has_status: bool, path: str) -> Iterator[FieldError]:
    """The schema as a whole; `has_status` restricts what may stand at its root."""
    schema = validation.get("openAPIV3Schema")
    if not schema:
        return
    path = f"{path}.openAPIV3Schema"
    if has_status:
        yield from _root(schema, path)
    if schema.get("nullable"):
        yield forbidden(f"{path}.nullable", "nullable cannot be true at the root")
    problems = check_crd_schema(schema, path)
    yield from problems
    if not problems:
        yield from check_rules(schema, path)


def _root(schema: Object, path: str) -> Iterator[FieldError]:
    if schema.get("type", "object") != "object":
        detail = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
        yield bad(f"{path}.type", schema["type"], detail)
        return
    if any(value and key not in _ALLOWED_AT_ROOT for key, value in schema.items()):
        allowed = " ".join(_ALLOWED_AT_ROOT.values())
        detail = f"only [{allowed}] fields are allowed at the root of the schema if the status subresource is enabled"
        yield bad(path, schema, detail)


def has_default(schema: Any) -> bool:
    """Whether a schema sets a default anywhere."""
    if isinstance(schema, list):
        return any(has_default(one) for one in schema)
    if not isinstance(schema, dict):
        return False
    return ("default" in schema and "type" in schema) or any(has_default(one) for one in schema.values())


def check_subresources(subresources: Object | None, path: str) -> Iterator[FieldError]:
    """Where the scale subresource finds its numbers."""
    scale = (subresources or {}).get("scale")
    if scale is None:
        return
    yield from _scale_path(scale.get("specReplicasPath"), f"{path}.scale.specReplicasPath", (".spec",))
    yield from _scale_path(scale.get("statusReplicasPath"), f"{path}.scale.statusReplicasPath", (".status",))
    if scale.get("labelSelectorPath"):
        yield from _scale_path(scale["labelSelectorPath"], f"{path}.scale.labelSelectorPath", (".spec", ".status"))


def _scale_path(written: str | None, path: str, roots: tuple[str, ...]) -> Iterator[FieldError]:
    if not written:
        yield required(path)
    elif not written.startswith("."):
        yield _not_simple(path, written)
    elif not any(written.startswith(f"{root}.") for root in roots):
        places = f"either {' or '.join(roots)}" if len(roots) > 1 else roots[0]
        yield bad(path, written, f"should be a json path under {places}")


def _not_simple(path: str, written: str) -> FieldError:
    return bad(path, written, "must be a simple json path starting with .")


def check_columns(columns: list[Object] | None, path: str) -> Iterator[FieldError]:
    """The printer columns."""
    for index, column in enumerate(columns or ()):
        yield from _column(column, f"{path}[{index}]")


def _column(column: Object, path: str) -> Iterator[FieldError]:
    if not column.get("name"):
        yield required(f"{path}.name")
    kind, shape, written = column.get("type", ""), column.get("format", ""), column.get("jsonPath", "")
    choices = f"must be one of {','.join(_COLUMN_TYPES)}"
    if not kind:
        yield required(f"{path}.type", choices)
    elif kind not in _COLUMN_TYPES:
        yield bad(f"{path}.type", kind, choices)
    if shape and shape not in _COLUMN_FORMATS:
        yield bad(f"{path}.format", shape, f"must be one of {','.join(_COLUMN_FORMATS)}")
    if not written:
        yield required(f"{path}.JSONPath")
    elif not written.startswith("."):
        yield _not_simple(f"{path}.JSONPath", written)


def check_selectable_fields(fields: list[Object] | None, schema: Object, path: str) -> Iterator[FieldError]:
    """The fields that field selectors may name: declared, scalar, and few."""
    seen: set[tuple[str, ...]] = set()
    for index, field in enumerate(fields or ()):
        place, written = f"{path}[{index}].jsonPath", field.get("jsonPath", "")
        if not written:
            yield required(place)
            continue
        try:
            names, found = _field_at(written, schema)
        except ValueError as error:
            yield bad(place, written, f"is an invalid path: {error}")
            continue
        if names[:1] == ("metadata",):
            yield bad(place, written, "must not point to fields in metadata")
        if found.get("type") not in ("string", "boolean", "integer"):
            kinds = "string, boolean or integer. Enum string fields and strings with formats are allowed."
            yield bad(place, written, f"must point to a field of type {kinds}")
        if names in seen:
            yield duplicate(place, written)
        seen.add(names)
    if len(seen) > _MOST_SELECTABLE_FIELDS:
        yield too_many(path, len(seen), _MOST_SELECTABLE_FIELDS)


def _field_at(written: str, schema: Object) -> tuple[tuple[str, ...], Object]:
    """The names a path consists of, and the schema they lead to. Raises ValueError when they lead nowhere."""
    names: list[str] = []
    parts = iter(re.findall(r"[.\[\]]|[^.\[\]]+", written))
    for part in parts:
        if part == "[":
            raise ValueError("array notation is not allowed")
        if part != ".":
            raise ValueError(f"expected [ or . but got: {part}")
        name = next(parts, None)
        if name is None:
            raise ValueError("unexpected end of JSON path")
        members = schema.get("properties")
        found = members.get(name) if members else schema.get("additionalProperties")
        if not isinstance(found, dict):
            raise ValueError("does not refer to a valid field")
        schema = found
        names.append(name)
    return tuple(names), schema
