"""What ownership needs to know of a schema: per place, which values may stand there and how they are divided."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import Any

from ..schema.model import MISSING, Schema, from_openapi


class Division(Enum):
    """How the members of a container are owned."""

    NONE = "none"
    """No such container may stand here."""
    WHOLE = "whole"
    """All together, as one field."""
    EACH = "each"
    """Each on its own."""


_UNTYPED = frozenset({str, int, float, bool})
_NUMERIC = frozenset({int, float})
_SCALARS = {
    "": _UNTYPED,
    "integer": _NUMERIC,
    "number": _NUMERIC,
    "boolean": frozenset({bool}),
    "string": frozenset({str}),
}


class Node:
    """One place of an object."""

    __slots__ = (
        "division", "element", "fields", "free", "implied", "item", "keys", "loose", "scalars", "sequence", "spread",
    )  # fmt: skip

    def __init__(self) -> None:
        self.scalars: frozenset[type] = frozenset()
        self.division = Division.NONE
        """Of a map."""
        self.spread = False
        """`division is EACH`, which the hot paths ask for most."""
        self.fields: dict[str, Node] = {}
        self.element: Node | None = None
        """Members of a map beyond its declared fields; None when there may be none."""
        self.free = False
        """Nothing is said about the members of a map, so that they are `DEDUCED`."""
        self.sequence = Division.NONE
        """Of a list."""
        self.keys: tuple[tuple[str, Any], ...] = ()
        """The fields that identify an item of a list, with their defaults; without any, its items are a set."""
        self.item: Node | None = None
        self.implied: dict[str, Any] = {}
        """Fields that are there even when they are not written, because a Go struct always has them."""
        self.loose = False
        """Somewhere below, a value may change its type without changing the schema."""


def _untyped(division: Division) -> Node:
    node = Node()
    node.scalars, node.loose = _UNTYPED, True
    node.division, node.spread = division, division is Division.EACH
    node.sequence = Division.WHOLE
    node.element = node
    return node


ATOMIC = _untyped(Division.WHOLE)
"""Anything, owned as one field."""
ATOMIC.item = ATOMIC

DEDUCED = _untyped(Division.EACH)
"""Anything, its maps divided, its lists not."""
DEDUCED.item, DEDUCED.free = ATOMIC, True

_TEXT: dict[str, Any] = {"type": "string"}
_TEXT_MAP: dict[str, Any] = {"type": "object", "additionalProperties": _TEXT}
_OWNER_FIELDS = ("apiVersion", "kind", "name", "uid")
_META_TEXTS = (
    "creationTimestamp",
    "deletionTimestamp",
    "generateName",
    "name",
    "namespace",
    "resourceVersion",
    "selfLink",
    "uid",
)
_OBJECT_META = from_openapi(
    {
        "type": "object",
        "properties": {
            **dict.fromkeys(_META_TEXTS, _TEXT),
            "annotations": _TEXT_MAP,
            "labels": _TEXT_MAP,
            "deletionGracePeriodSeconds": {"type": "integer"},
            "generation": {"type": "integer"},
            "finalizers": {"type": "array", "items": _TEXT, "x-kubernetes-list-type": "set"},
            "managedFields": {"type": "array", "items": {"type": "object"}},
            "ownerReferences": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["uid"],
                "items": {
                    "type": "object",
                    "x-kubernetes-map-type": "atomic",
                    "properties": {
                        **dict.fromkeys(_OWNER_FIELDS, _TEXT),
                        "blockOwnerDeletion": {"type": "boolean"},
                        "controller": {"type": "boolean"},
                    },
                },
            },
        },
    }
)
_TEXT_SCHEMA = from_openapi(_TEXT)


@lru_cache(maxsize=1024)
def of_schema(schema: Schema) -> Node:
    """The places of one kind. Fast when asked again for the same schema."""
    return _Compiler(schema).root


class _Compiler:
    def __init__(self, schema: Schema) -> None:
        self._nodes: dict[tuple[int, bool], Node] = {}
        self.root = self._node(schema, False, as_object=not schema.implied)
        self._spread_looseness()

    def _node(self, schema: Schema, preserving: bool, *, as_object: bool = False) -> Node:
        preserving = preserving or schema.preserve_unknown
        address = (id(schema), preserving)
        if address in self._nodes:
            return self._nodes[address]
        node = self._nodes[address] = Node()
        kind = schema.type
        node.scalars = _UNTYPED if _any_scalar(schema) else _SCALARS.get(kind, frozenset())
        node.loose = kind == "" and not schema.int_or_string and "oneOf" not in schema.source
        if kind in ("", "object"):
            self._take_map(node, schema, preserving, as_object or schema.embedded)
        if kind in ("", "array"):
            self._take_list(node, schema, preserving)
        return node

    def _take_map(self, node: Node, schema: Schema, preserving: bool, as_object: bool) -> None:
        members = dict(schema.properties)
        if as_object:
            members |= {"apiVersion": _TEXT_SCHEMA, "kind": _TEXT_SCHEMA, "metadata": _OBJECT_META}
        # What a schema says of metadata (limits on the name) does not change who owns what in it.
        node.fields = {name: self._node(member, preserving) for name, member in members.items()}
        if schema.additional is not None:
            node.element = self._node(schema.additional, preserving)
        elif preserving or not members:
            node.element, node.free = DEDUCED, not members
        is_whole = schema.map_type == "atomic" or schema.name.endswith(".RawExtension")
        node.division = Division.WHOLE if is_whole else Division.EACH
        node.spread = node.division is Division.EACH
        node.implied = dict(schema.implied)

    def _take_list(self, node: Node, schema: Schema, preserving: bool) -> None:
        node.item = ATOMIC if schema.items is None else self._node(schema.items, preserving)
        node.sequence = Division.WHOLE
        keys = _associative_keys(schema)
        if keys is None:
            return
        node.sequence = Division.EACH
        node.keys = tuple((name, _key_default(schema.items, name)) for name in keys)

    def _spread_looseness(self) -> None:
        nodes = list(self._nodes.values())
        while any(_becomes_loose(node) for node in nodes):
            pass


def _any_scalar(schema: Schema) -> bool:
    return schema.int_or_string or (schema.type == "string" and bool(schema.source.get("format", "byte") != "byte"))


def _becomes_loose(node: Node) -> bool:
    if node.loose:
        return False
    near = (*node.fields.values(), node.element, node.item)
    node.loose = any(other is not None and other.loose for other in near)
    return node.loose


def _associative_keys(schema: Schema) -> tuple[str, ...] | None:
    """The keys of a list whose items are owned one by one: none for a set; None when it is owned as a whole."""
    if schema.list_type == "map":
        return schema.list_keys
    if schema.list_type == "set":
        return ()
    if "x-kubernetes-list-type" not in schema.source and "merge" in schema.patch_strategies:
        return (schema.patch_key,) if schema.patch_key else ()
    return None


def _key_default(items: Schema | None, name: str) -> Any:
    described = items.properties.get(name) if items is not None else None
    if items is None or described is None:
        return MISSING
    default = items.implied.get(name) if described.default is MISSING else described.default
    return MISSING if default is None else default
