"""The schema of a custom kind: what its definition says, with what every Kubernetes object has."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import msgspec

from kubekit.server.objects.schema.formats import NUMBERS, string_check
from kubekit.server.objects.schema.model import Schema, from_openapi

from ..builtin import catalogue

_OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


class CustomSchema(Schema):
    """A schema kept as packed bytes until one of its attributes is read; most kinds of a big site never are."""

    __slots__ = ("_packed",)

    def __init__(self, source: Mapping[str, Any]) -> None:
        self._packed = zlib.compress(msgspec.json.encode(source), 1)

    def unpack(self) -> dict[str, Any]:
        """The OpenAPI v3 schema as the definition gives it, a new copy on each call."""
        source: dict[str, Any] = msgspec.json.decode(zlib.decompress(self._packed))
        return source

    @property
    def fingerprint(self) -> str:
        """Tells two schemas apart without unpacking them."""
        return hashlib.sha256(self._packed).hexdigest()

    def __getattr__(self, name: str) -> Any:
        if name not in Schema.__slots__:
            raise AttributeError(name)
        built = with_object_fields(from_openapi(self.unpack()))
        for field in fields(Schema):
            setattr(self, field.name, getattr(built, field.name))
        return getattr(self, name)


def odd_formats(spec: Mapping[str, Any]) -> list[str]:
    """The formats in the schemas of a definition that nobody checks, each once and in order."""
    found: set[str] = set()
    for version in spec.get("versions") or ():
        _collect_formats((version.get("schema") or {}).get("openAPIV3Schema"), found)
    return sorted(found)


def _collect_formats(source: Any, found: set[str]) -> None:
    if isinstance(source, list):
        for one in source:
            _collect_formats(one, found)
    if not isinstance(source, Mapping):
        return
    name = source.get("format")
    if isinstance(name, str) and name and name not in NUMBERS and string_check(name) is None:
        found.add(name)
    for one in (source.get("properties") or {}).values():
        _collect_formats(one, found)
    for keyword in ("items", "additionalProperties", "allOf", "anyOf", "oneOf", "not"):
        _collect_formats(source.get(keyword), found)


def with_object_fields(root: Schema) -> Schema:
    """The same tree, with apiVersion, kind and metadata known at the root and in every embedded object."""
    _complete(root)
    _complete_embedded(root)
    return root


def _complete_embedded(node: Schema) -> None:
    children = [*node.properties.values(), node.additional, node.items]
    for child in children:
        if child is None or child.name:
            # A named node belongs to a built-in definition and is complete.
            continue
        _complete_embedded(child)
        if child.embedded:
            _complete(child)


def _complete(node: Schema) -> None:
    text = Schema(type="string", source={"type": "string"})
    own = node.properties
    known = {"apiVersion": own.get("apiVersion", text), "kind": own.get("kind", text)}
    node.properties = {**known, "metadata": _metadata(own.get("metadata")), **_others(own)}


def _others(own: dict[str, Schema]) -> dict[str, Schema]:
    return {name: child for name, child in own.items() if name not in ("apiVersion", "kind", "metadata")}


def _metadata(declared: Schema | None) -> Schema:
    """ObjectMeta, narrowed where the definition restricts it."""
    general = catalogue.definition(_OBJECT_META)
    if declared is None or not declared.properties:
        return general
    narrowed = Schema(**{field.name: getattr(general, field.name) for field in fields(Schema)})
    narrowed.properties = {**general.properties, **declared.properties}
    narrowed.source = declared.source
    return narrowed
