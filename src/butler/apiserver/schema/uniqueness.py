"""Lists that are sets or maps: no item, or no key, may occur twice."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

from butler.errors import FieldError, FieldProblem

from .model import Schema
from .values import go_json


@dataclass(slots=True, eq=False)
class Plan:
    """The part of a schema that leads to sets and maps."""

    schema: Schema
    members: list[tuple[str, Plan]] = field(default_factory=list)
    additional: Plan | None = None
    items: Plan | None = None

    @property
    def is_keyed(self) -> bool:
        return self.schema.type == "array" and self.schema.list_type != "atomic"


def plan(schema: Schema | None) -> Plan | None:
    """What has to be visited below a schema; None when there is nothing to check."""
    if schema is None:
        return None
    made = Plan(schema)
    made.members = [(name, below) for name, sub in schema.properties.items() if (below := plan(sub))]
    made.additional = plan(schema.additional)
    made.items = plan(schema.items)
    return made if made.is_keyed or made.members or made.additional or made.items else None


def duplicates(value: Any, below: Plan, path: str) -> Iterator[FieldError]:
    """Every second occurrence of an item or key."""
    if isinstance(value, dict):
        if below.additional:
            for name, member in value.items():
                if name not in below.schema.properties:
                    yield from duplicates(member, below.additional, f"{path}[{name}]")
        for name, inner in below.members:
            if name in value:
                yield from duplicates(value[name], inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        if len(value) > 1 and below.is_keyed or below.schema.list_type == "map":
            yield from _repeated(value, below.schema, path)
        if below.items:
            for index, item in enumerate(value):
                yield from duplicates(item, below.items, f"{path}[{index}]")


def _repeated(value: list[Any], schema: Schema, path: str) -> Iterator[FieldError]:
    if schema.list_type == "map":
        for index, item in enumerate(value):
            if item is not None and not isinstance(item, dict):
                detail = "must be an object for an array of list-type map"
                yield FieldError(FieldProblem.INVALID, f"{path}[{index}]", detail, item)
                return
    seen: dict[Hashable, int] = {}
    for index, item in enumerate(value):
        shown = item if schema.list_type == "set" else _key(item, schema.list_keys)
        mark = _mark(shown)
        seen[mark] = seen.get(mark, 0) + 1
        if seen[mark] == 2:
            yield FieldError(FieldProblem.DUPLICATE, f"{path}[{index}]", "", shown)


def _key(item: Any, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: item[name] for name in names if name in item} if item else {}


def _mark(value: Any) -> Hashable:
    """Equal for equal JSON values only."""
    return go_json(value) if isinstance(value, (dict, list)) else (type(value), value)
