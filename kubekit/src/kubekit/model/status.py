"""What every status has: the conditions all Kubernetes tools read."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, field

from .resource import REQUIRED, Int64, Model, Time, keyed_by

_CONDITION_TYPE = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
)
_CONDITION_REASON = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"


class Condition(Model):
    """One observed aspect of an object, in the form all Kubernetes tools read."""

    type: Annotated[str, Meta(max_length=316, pattern=_CONDITION_TYPE)]
    """What is observed, in CamelCase."""
    status: Literal["True", "False", "Unknown"]
    """Whether it holds."""
    reason: Annotated[str, Meta(min_length=1, max_length=1024, pattern=_CONDITION_REASON)]
    """Why, in one CamelCase word."""
    # A factory, because an empty message must be written too.
    message: Annotated[str, Meta(max_length=32768), REQUIRED] = field(default_factory=str)
    """Why, in a sentence."""
    last_transition_time: Annotated[Time, REQUIRED] | None = None
    """When the status last changed."""
    observed_generation: Annotated[Int64, Meta(ge=0)] | None = None
    """The generation of the object this was said about."""


class Status(Model):
    """What every status has."""

    observed_generation: Int64 | None = None
    """The generation of the spec this status speaks of."""
    conditions: Annotated[tuple[Condition, ...], keyed_by("type")] = ()
    """What is known about the object, aspect by aspect."""

    def condition(self, type: str) -> Condition | None:  # noqa: A002 -- the field's own name
        return next((one for one in self.conditions if one.type == type), None)
