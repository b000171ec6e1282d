"""The fields of a kind as its definition shows them, and what comes of writing one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from kubekit.model import crd
from kubekit.model.resource import Resource

from .model import DOES_NOT_ACT, REFUSED_UNLESS_DEFAULT

Schema = dict[str, Any]


class Effect(Enum):
    """What comes of writing a field."""

    ACTS = "acts"
    REFUSED = "refused"
    NOT_YET = "not yet"


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a kind, such as `spec.workers.pools[].name`: `[]` stands behind a list, `{}` behind a map."""

    path: str
    schema: Schema
    required: bool = False

    @property
    def inside(self) -> Schema:
        """The schema of what is in it: that of the items of a list or map, or its own."""
        found: Schema = self.schema.get("items") or self.schema.get("additionalProperties") or self.schema
        return found

    @property
    def prefix(self) -> str:
        """The path of what is in it."""
        suffix = "[]" if "items" in self.schema else "{}" if "additionalProperties" in self.schema else ""
        return self.path + suffix

    @property
    def is_leaf(self) -> bool:
        return not self.inside.get("properties")

    @property
    def effect(self) -> Effect:
        """As its description says, which is what people go by."""
        text = self.schema.get("description", "")
        if text.endswith(DOES_NOT_ACT):
            return Effect.NOT_YET
        return Effect.REFUSED if text.endswith(REFUSED_UNLESS_DEFAULT) else Effect.ACTS


def fields_of(kind: type[Resource], part: str = "spec") -> Iterator[Field]:
    """Every field in a part of a kind, in order, each before what is in it."""
    if schema := crd.schema_of(kind)["properties"].get(part):
        yield from fields_in(Field(part, schema))


def fields_in(parent: Field) -> Iterator[Field]:
    required = parent.inside.get("required", ())
    for name, schema in parent.inside.get("properties", {}).items():
        field = Field(f"{parent.prefix}.{name}", schema, name in required)
        yield field
        yield from fields_in(field)


def leaves_of(kind: type[Resource]) -> Iterator[Field]:
    """The fields of a spec that hold values rather than other fields."""
    return (field for field in fields_of(kind) if field.is_leaf)


def acts_at_all(kind: type[Resource]) -> bool:
    """Whether any field of a kind does."""
    return any(leaf.effect is not Effect.NOT_YET for leaf in leaves_of(kind))


def idle_fields(kind: type[Resource]) -> Iterator[Field]:
    """What does not act yet, without repeating it for what is in such a field."""
    covered = ""
    for field in fields_of(kind):
        if field.effect is Effect.NOT_YET and not (covered and field.path.startswith(covered)):
            covered = f"{field.prefix}."
            yield field
