"""How large what a schema describes may be, as Kubernetes reckons: for estimates of what rules may cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..schema.model import ANYTHING, MISSING, Schema
from .declared_types import with_object_meta
from .language.names import escape

LARGEST_REQUEST = 3 * 2**20
"""Bytes."""


@dataclass(slots=True)
class Extent:
    """The size of a part of an object; scalars and objects count as nothing."""

    least_bytes: int
    """Of its text in a request."""
    most: int = 0
    """Characters of a string, items of a list, entries of a map."""
    fields: dict[str, Extent] = field(default_factory=dict)
    element: Extent | None = None
    key: Extent | None = None

    @property
    def most_copies(self) -> int:
        """How often it fits into one request."""
        return LARGEST_REQUEST // (self.least_bytes + 1)

    def most_at(self, path: tuple[str, ...]) -> int | None:
        """How large the part at a path is at most, with `@items`, `@values` and `@keys`; None if there is none."""
        found = self._at(path)
        return None if found is None else found.most

    def _at(self, path: tuple[str, ...]) -> Extent | None:
        here: Extent | None = self
        for name in path:
            if here is None:
                return None
            match name:
                case "@items" | "@values":
                    here = here.element
                case "@keys":
                    here = here.key
                case _:
                    here = here.fields.get(name)
        return here


_TEXT, _NUMBER, _BOOLEAN, _CONTAINER = 2, 1, 4, 2
_LONGEST_TEXT = LARGEST_REQUEST - 2
_BYTES_PER_LETTER = 4
_TIMES = {"duration": (3, 32), "date": (12, 12), "date-time": (21, 32)}
"""The fewest bytes and the most letters of strings that stand for times, with their quotation marks."""


def extent_of(schema: Schema, *, is_resource: bool) -> Extent | None:
    """None when rules cannot see what the schema describes."""
    if schema.int_or_string:
        return Extent(_NUMBER, _letters(schema.source, _LONGEST_TEXT))
    match schema.type:
        case "array":
            return _array(schema)
        case "object":
            return _object(schema, is_resource)
        case "string":
            return _string(schema.source)
        case "boolean":
            return Extent(_BOOLEAN)
        case "number" | "integer":
            return Extent(_NUMBER)
        case _:
            return None


def _letters(source: Mapping[str, Any], unless_said: int) -> int:
    longest = source.get("maxLength")
    return unless_said if longest is None else max(longest, 0) * _BYTES_PER_LETTER


def _string(source: Mapping[str, Any]) -> Extent:
    kind = source.get("format", "")
    if kind in _TIMES:
        return Extent(*_TIMES[kind])
    if kind == "byte":
        longest = source.get("maxLength")
        return Extent(_TEXT, _LONGEST_TEXT if longest is None else max(longest, 0))
    choices = source.get("enum") or ()
    longest_choice = max((len(one.encode()) for one in choices if isinstance(one, str)), default=0)
    return Extent(_TEXT, _letters(source, longest_choice if choices else _LONGEST_TEXT))


def _array(schema: Schema) -> Extent | None:
    item = None if schema.items is None else extent_of(schema.items, is_resource=schema.items.embedded)
    if item is None:
        return None
    most = schema.source.get("maxItems")
    return Extent(_CONTAINER, _LONGEST_TEXT // (item.least_bytes + 1) if most is None else max(most, 0), element=item)


def _object(schema: Schema, is_resource: bool) -> Extent | None:
    if schema.additional is not None and schema.additional is not ANYTHING:
        value = extent_of(schema.additional, is_resource=schema.additional.embedded)
        if value is None:
            return None
        most = schema.source.get("maxProperties")
        fitting = _LONGEST_TEXT // (value.least_bytes + 6)
        return Extent(_CONTAINER, fitting if most is None else max(most, 0), element=value, key=Extent(_TEXT))
    properties = with_object_meta(schema) if is_resource else schema.properties
    found = Extent(_CONTAINER)
    for name, inner in properties.items():
        extent = extent_of(inner, is_resource=inner.embedded)
        if extent is None:
            continue
        if identifier := escape(name):
            found.fields[identifier] = extent
        if name in schema.required and inner.default is MISSING:
            found.least_bytes += len(name.encode()) + extent.least_bytes + 4
    return found
