"""The part of a schema that leads to something, so that the rest of an object need not be visited."""

from __future__ import annotations

from collections.abc import Callable
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
    goes_on: bool = False
    """Whether something that was looked for stands below this node."""


def trail(schema: Schema | None, wanted: Callable[[Schema], bool]) -> Trail | None:
    """The ways from the schema of a custom resource to all nodes that are wanted; None when there are none.

    Built-in definitions in it, such as that of metadata, have rules of their own and are passed over."""
    if schema is None or schema.name:
        return None
    made = Trail(schema, wanted(schema))
    made.members = [(name, below) for name, sub in schema.properties.items() if (below := trail(sub, wanted))]
    made.additional = trail(schema.additional, wanted)
    made.items = trail(schema.items, wanted)
    made.goes_on = bool(made.members or made.additional or made.items)
    return made if made.found or made.goes_on else None
