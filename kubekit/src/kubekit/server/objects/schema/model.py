"""A schema as the server uses it: one node per place in an object, the same for built-in kinds and CRDs.

Validation, defaulting, pruning, server-side apply, strategic merge and OpenAPI all read this tree. It is built
once per kind and never changed afterwards. Recursive definitions make the tree a graph, so walk it along a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

ListType = Literal["atomic", "set", "map"]
MapType = Literal["granular", "atomic"]

MISSING: Any = object()
"""Stands for "no default", because null can be one."""


@dataclass(slots=True, eq=False, repr=False)
class Schema:
    """What may stand at one place of an object."""

    type: str = ""
    """object, array, string, integer, number, boolean; empty when anything may stand here."""
    properties: dict[str, Schema] = field(default_factory=dict)
    additional: Schema | None = None
    """The schema of the values of a map with free keys (`additionalProperties`)."""
    items: Schema | None = None
    required: tuple[str, ...] = ()
    nullable: bool = False
    default: Any = MISSING
    list_type: ListType = "atomic"
    list_keys: tuple[str, ...] = ()
    map_type: MapType = "granular"
    int_or_string: bool = False
    preserve_unknown: bool = False
    embedded: bool = False
    """The value is itself a Kubernetes object with apiVersion, kind and metadata."""
    patch_strategies: tuple[str, ...] = ()
    """Strategic merge: any of merge, replace, retainKeys."""
    patch_key: str = ""
    """Strategic merge: the field that identifies an item of a merged list."""
    implied: Mapping[str, Any] = field(default_factory=dict)
    """Members that are there even when they are not written, with what they then are: a Go struct cannot omit them."""
    source: Mapping[str, Any] = field(default_factory=dict)
    """The OpenAPI v3 schema this node was made from: constraints, formats, CEL rules, descriptions."""
    name: str = ""
    """The definition this node was made from, such as `io.k8s.api.core.v1.ServicePort`; empty for a nameless one."""

    def child(self, name: str) -> Schema | None:
        """The schema of a member, None when it is not declared."""
        found = self.properties.get(name)
        return self.additional if found is None else found

    @property
    def is_free(self) -> bool:
        """Any value may stand here and nothing below it is known."""
        return not self.type and not self.properties and self.additional is None and self.items is None


IMPLIED = "x-kubekit-implied"
"""Where definitions of built-in kinds keep `Schema.implied`."""
GO_FIELDS = "x-kubekit-go"
"""Where definitions of built-in kinds keep what Go calls a field: the embedded structs that lead to it, each with a dot
behind it, and its type, both empty when they are plain. It stays in `Schema.source`."""

ANYTHING = Schema(preserve_unknown=True)


def from_openapi(source: Mapping[str, Any]) -> Schema:
    """The tree of one self-contained OpenAPI v3 schema."""
    return Definitions({}).build(source)


class Definitions:
    """Named schemas that refer to each other, each built at most once and only when asked for."""

    def __init__(self, sources: Mapping[str, Mapping[str, Any]]) -> None:
        self._sources = sources
        self._built: dict[str, Schema] = {}
        self._copies: list[tuple[Schema, Schema, Mapping[str, Any]]] = []

    def named(self, name: str) -> Schema:
        """The schema called `name`. Raises KeyError when there is none."""
        node = self._shared(name)
        while self._copies:
            # A copy is taken only now, when what it copies is complete even if it refers to itself.
            copy, original, settings = self._copies.pop()
            for attribute in fields(Schema):
                setattr(copy, attribute.name, getattr(original, attribute.name))
            _take_settings(copy, settings)
        return node

    def build(self, source: Mapping[str, Any]) -> Schema:
        """The tree of a schema that may refer to these definitions."""
        name = _reference(source)
        if not name:
            return self._fill(Schema(), source)
        shared = self._shared(name)
        if not any(key in source for key in _SETTINGS):
            return shared
        copy = Schema()
        self._copies.append((copy, shared, source))
        return copy

    def _shared(self, name: str) -> Schema:
        if name not in self._built:
            self._built[name] = Schema(name=name)
            self._fill(self._built[name], self._sources[name])
        return self._built[name]

    def _fill(self, node: Schema, source: Mapping[str, Any]) -> Schema:
        node.source = source
        node.type = source.get("type", "")
        node.properties = {name: self.build(sub) for name, sub in source.get("properties", {}).items()}
        additional = source.get("additionalProperties")
        if isinstance(additional, Mapping):
            node.additional = self.build(additional)
        elif additional is True:
            node.additional = ANYTHING
        if isinstance(source.get("items"), Mapping):
            node.items = self.build(source["items"])
        node.required = tuple(source.get("required", ()))
        node.nullable = bool(source.get("nullable", False))
        node.int_or_string = bool(source.get("x-kubernetes-int-or-string")) or source.get("format") == "int-or-string"
        node.preserve_unknown = bool(source.get("x-kubernetes-preserve-unknown-fields", False))
        node.embedded = bool(source.get("x-kubernetes-embedded-resource", False))
        node.implied = source.get(IMPLIED, {})
        _take_settings(node, source)
        return node


def _reference(source: Mapping[str, Any]) -> str:
    """The definition a schema refers to: directly, or as the one member of `allOf` beside a default."""
    reference = source.get("$ref", "")
    parts = source.get("allOf", ())
    if len(parts) == 1 and "type" not in source:
        reference = reference or parts[0].get("$ref", "")
    return str(reference).rpartition("/")[2]


_SETTINGS = (
    "default",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
    "x-kubernetes-patch-strategy",
    "x-kubernetes-patch-merge-key",
)


def _take_settings(node: Schema, source: Mapping[str, Any]) -> None:
    """Settings that may stand beside a reference as well as in a schema."""
    node.default = source.get("default", node.default)
    node.list_type = source.get("x-kubernetes-list-type", node.list_type)
    node.list_keys = tuple(source.get("x-kubernetes-list-map-keys", node.list_keys))
    node.map_type = source.get("x-kubernetes-map-type", node.map_type)
    strategy = source.get("x-kubernetes-patch-strategy", "")
    node.patch_strategies = tuple(strategy.split(",")) if strategy else node.patch_strategies
    node.patch_key = source.get("x-kubernetes-patch-merge-key", node.patch_key)
