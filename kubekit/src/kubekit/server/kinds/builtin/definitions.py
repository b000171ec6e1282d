"""The definitions of the data file in OpenAPI v3 form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from kubekit.server.objects.schema.model import GO_FIELDS, IMPLIED

from . import data

Document = Mapping[str, Any]

_SCALARS: Mapping[str, Document] = {
    "string": {"type": "string"},
    "bool": {"type": "boolean"},
    "bytes": {"type": "string", "format": "byte"},
    "double": {"type": "number", "format": "double"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
}
_SETTINGS = {
    "list": "x-kubernetes-list-type",
    "keys": "x-kubernetes-list-map-keys",
    "map": "x-kubernetes-map-type",
    "patch": "x-kubernetes-patch-strategy",
    "by": "x-kubernetes-patch-merge-key",
}
_GO_TYPE = "go"
"""The setting that says what Go calls the type of a field, where that is not plain; it is not published."""
_ANY_MEMBERS = {
    "apiextensions.v1.JSON",
    "apiextensions.v1.JSONSchemaPropsOrArray",
    "apiextensions.v1.JSONSchemaPropsOrBool",
    "apiextensions.v1.JSONSchemaPropsOrStringArray",
    "meta.v1.FieldsV1",
    "pkg.runtime.RawExtension",
}
"""Forms that may hold what no schema describes, so nothing in them is an unknown field."""
_ZERO_FORMS: Mapping[str, Any] = {"api.resource.Quantity": "0", "util.intstr.IntOrString": 0}
"""What forms show when nothing is set; all others show null."""
_ZERO_SCALARS: Mapping[str, Any] = {"string": "", "bool": False, "double": 0, "int32": 0, "int64": 0}
_EVERYWHERE = {"DeleteOptions", "WatchEvent"}
"""Kinds that exist in every group and version."""


def full_name(name: str) -> str:
    """`core.v1.Pod` → `io.k8s.api.core.v1.Pod`."""
    package, _, title = name.rpartition(".")
    return f"{data.contents()['packages'][package]}.{title}"


class Published(Mapping[str, Document]):
    """Every definition by its full name, unfolded when first read."""

    def __init__(self) -> None:
        self._unfolded: dict[str, Document] = {}

    @cached_property
    def _names(self) -> Mapping[str, str]:
        """full name → short name"""
        raw = data.contents()["definitions"]
        shown = [name for name, one in raw.items() if "inner" not in one]
        lists = [f"{name}List" for name in _listed()]
        return {full_name(name): name for name in sorted(shown + lists)}

    @cached_property
    def _kinds(self) -> Mapping[str, list[Document]]:
        """short name → the kinds it stands for"""
        found: dict[str, list[Document]] = {}
        for api_version, kinds in data.kinds().items():
            group, _, version = api_version.rpartition("/")
            for kind, name in kinds.items():
                for suffix in ("", "List"):
                    known = {"group": group, "kind": kind + suffix, "version": version}
                    found.setdefault(name + suffix, []).append(known)
            for kind in _EVERYWHERE:
                known = {"group": group, "kind": kind, "version": version}
                if api_version != "v1":
                    found.setdefault(f"meta.v1.{kind}", []).append(known)
        return found

    def short_name(self, name: str) -> str:
        return self._names[name]

    def __getitem__(self, name: str) -> Document:
        if name not in self._unfolded:
            short = self._names[name]
            kinds = self._kinds.get(short)
            known = {"x-kubernetes-group-version-kind": kinds} if kinds else {}
            self._unfolded[name] = {**_unfold(short), **known}
        return self._unfolded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Described(Mapping[str, Document]):
    """The published definitions together with what Go shows of them even when it is not set, and what it calls them."""

    def __init__(self, published: Published) -> None:
        self._published = published

    def __getitem__(self, name: str) -> Document:
        found, short = self._published[name], self._published.short_name(name)
        marks = {IMPLIED: _zeros(short), GO_FIELDS: dict(_go_fields(data.definition(short)))}
        return {**found, **{key: value for key, value in marks.items() if value}}

    def __iter__(self) -> Iterator[str]:
        return iter(self._published)

    def __len__(self) -> int:
        return len(self._published)


def _zeros(name: str) -> dict[str, Any]:
    """The fields that Go writes in any case, with their zero values."""
    return {field.name: _zero(field) for field in _flat(data.definition(name)) if not _omitted(field)}


def _go_fields(definition: data.Definition, embedded: str = "") -> Iterator[tuple[str, tuple[str, str]]]:
    """Fields that Go does not call as JSON does: through which structs they are embedded, and their type."""
    if definition.typed:
        yield from ((name, ("TypeMeta.", "")) for name in ("apiVersion", "kind"))
    for field in definition.fields:
        if field.inline:
            yield from _go_fields(data.definition(field.type), f"{embedded}{field.type.rpartition('.')[2]}.")
        elif embedded or _GO_TYPE in field.settings:
            yield field.name, (embedded, field.settings.get(_GO_TYPE, ""))


def _is_struct(field: data.Field) -> bool:
    return "." in field.type and not field.type.startswith(("[]", "{}", "()"))


def _omitted(field: data.Field) -> bool:
    # Go's omitempty has no effect on a struct that is not behind a pointer.
    return field.omit_zero or (field.omit_empty and (field.pointer or not _is_struct(field)))


def _zero(field: data.Field) -> Any:
    if field.pointer:
        return None
    if _is_struct(field) and data.definition(field.type).form is None:
        return {}
    return _ZERO_SCALARS.get(field.type, _ZERO_FORMS.get(field.type))


def _listed() -> Iterator[str]:
    """The definitions that come in lists."""
    for resource in data.contents()["resources"]:
        if "list" in resource.get("verbs", ("list",)):
            yield data.kinds()[resource["apiVersion"]][resource["kind"]]


def _unfold(name: str) -> Document:
    found = data.definition(name)
    if found.form is not None:
        marks = {"x-kubernetes-preserve-unknown-fields": True} if name in _ANY_MEMBERS else {}
        return {**found.form, **marks}
    fields = list(_flat(found))
    properties = {field.name: _property(field) for field in fields}
    if found.typed:
        properties |= {"apiVersion": _SCALARS["string"], "kind": _SCALARS["string"]}
    document: dict[str, Any] = {"type": "object", **found.extensions}
    if described := data.contents()["descriptions"].get(name):
        document["description"] = described[""]
        properties = {key: _with({"description": described[key]}, one) for key, one in properties.items()}
    if properties:
        document["properties"] = dict(sorted(properties.items()))
    if required := [field.name for field in fields if field.required]:
        document["required"] = required
    return document


def _flat(definition: data.Definition) -> Iterator[data.Field]:
    """All fields as JSON shows them."""
    for field in definition.fields:
        if field.inline:
            yield from _flat(data.definition(field.type))
        else:
            yield field


def _property(field: data.Field) -> Document:
    document = _type(field.type)
    marks = {_SETTINGS.get(key, key): value for key, value in field.settings.items() if key != _GO_TYPE}
    return _with(marks, document)


def _with(marks: Document, document: Document) -> Document:
    """The same, saying more about it."""
    if not marks:
        return document
    # Beside a bare reference OpenAPI ignores everything else.
    return {**({"allOf": [document]} if "$ref" in document else document), **marks}


def _type(spelled: str) -> Document:
    if spelled.startswith(("[]", "()")):
        return {"type": "array", "items": _type(spelled[2:])}
    if spelled.startswith("{}"):
        return {"type": "object", "additionalProperties": _type(spelled[2:])}
    if spelled in _SCALARS:
        return _SCALARS[spelled]
    return {"$ref": f"#/components/schemas/{full_name(spelled)}"}
