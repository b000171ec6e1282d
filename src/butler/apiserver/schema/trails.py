"""The part of a schema that leads to something, so that the rest of an object need not be visited."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from .model import Schema


@dataclass(slots=True, eq=False)
class Trail:
    """A node on the way to a node that was looked for, or such a node itself (`found`)."""

    schema: Schema
    found: bool
    members: list[tuple[str, Trail]] = field(default_factory=list)
    additional: Trail | None = None
    items: Trail | None = None


def trail(schema: Schema, wanted: Callable[[Schema], bool]) -> Trail | None:
    """The ways from a schema to all nodes that are wanted; None when there are none. Schemas may be recursive."""
    nodes = _reachable(schema)
    leading = {id(node) for node in nodes if wanted(node)}
    while True:
        more = {id(node) for node in nodes if any(id(below) in leading for below in _below(node))} - leading
        if not more:
            break
        leading |= more
    trails = {id(node): Trail(node, wanted(node)) for node in nodes if id(node) in leading}
    for one in trails.values():
        one.members = [(name, trails[id(sub)]) for name, sub in one.schema.properties.items() if id(sub) in trails]
        one.additional = trails.get(id(one.schema.additional))
        one.items = trails.get(id(one.schema.items))
    return trails.get(id(schema))


def _reachable(schema: Schema) -> list[Schema]:
    seen = {id(schema): schema}
    waiting = [schema]
    while waiting:
        for below in _below(waiting.pop()):
            if id(below) not in seen:
                seen[id(below)] = below
                waiting.append(below)
    return list(seen.values())


def _below(schema: Schema) -> Iterator[Schema]:
    yield from schema.properties.values()
    if schema.additional is not None:
        yield schema.additional
    if schema.items is not None:
        yield schema.items
