"""A built-in kind's behaviour, put together from functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from kubekit.errors import FieldError
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules

from .go_shape import Shape

NameRule = Literal["subdomain", "label", "label1035", "path-segment", "ip"]
"""What an object of a kind may be called."""

Change = Callable[[Object], None]
Comparison = Callable[[Object, Object], None]
Check = Callable[[Object], list[FieldError]]
UpdateCheck = Callable[[Object, Object], list[FieldError]]


def _nothing(_: Object) -> None:
    """Most kinds need nothing here."""


def _nothing_more(_obj: Object, _old: Object) -> None:
    """Most kinds need nothing here."""


def _fine(_: Object) -> list[FieldError]:
    return []


def _no_remarks(_: Object) -> list[str]:
    return []


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """The Behaviour of one kind; what is not given does nothing.

    `validate` speaks for new objects, `validate_update` for changed ones: each reports everything by itself.
    Objects come decoded and with metadata; name and uid are set before `prepare_create` is called.
    """

    fill: Change = _nothing
    """Sets defaults; by then every struct that Go always writes is there, and nothing is null."""
    begin: Change = _nothing
    carry: Comparison = _nothing_more
    check: Check = _fine
    check_update: UpdateCheck | None = None
    check_part: Mapping[str, UpdateCheck] = field(default_factory=dict)
    """What is checked instead of an update by a subresource."""
    remarks: Callable[[Object], list[str]] = _no_remarks
    """What a client should know about what it writes; it is told of a new object, and of a change that counts."""
    first_remarks: Callable[[Object], list[str]] = _no_remarks
    """Those of which it is told of a new object only."""
    remarked_changes: tuple[str, ...] = ()
    """The members whose change counts for that; without any the generation tells, or every change counts."""
    named_after: str = ""
    """What is called like an object and should be a DNS label; a client is told if it is none."""
    status: bool = False
    """Objects have a status, which only its own endpoint writes."""
    keeps_status: bool = False
    """Whoever creates the object may give its status, as kubelets do for nodes."""
    name_rule: NameRule = "subdomain"
    generation: tuple[str, ...] = ()
    """The members that count as a change of generation, such as `spec`; empty when the kind has no generation."""
    counts_from_zero: bool = False
    """A new object has no generation yet."""
    shape: Shape | None = None

    def default(self, obj: Object) -> None:
        if self.shape is not None:
            self.shape.apply(obj)
        self.fill(obj)

    def prepare_create(self, obj: Object) -> None:
        if self.status and not self.keeps_status:
            status = obj["status"] = {}
            shape = self.shape.below("status") if self.shape is not None else None
            if shape is not None:
                shape.apply(status)
        self.begin(obj)

    def settle(self, obj: Object) -> bool:
        return self.shape is not None and self.shape.settle(obj)

    def warnings(self, obj: Object, old: Object | None) -> list[str]:
        if old is not None and not self._is_news(obj, old):
            return []
        first = [*self._remark_on_name(obj), *self.first_remarks(obj)] if old is None else []
        return [*first, *self.remarks(obj)]

    def _is_news(self, obj: Object, old: Object) -> bool:
        if self.remarked_changes:
            return any(part_of(obj, path) != part_of(old, path) for path in self.remarked_changes)
        if self.generation:
            return bool(obj["metadata"].get("generation") != old["metadata"].get("generation"))
        return True

    def _remark_on_name(self, obj: Object) -> list[str]:
        broken = name_rules.label(obj["metadata"]["name"]) if self.named_after else []
        surprise = "which can result in surprising behavior; a DNS label is recommended"
        return (
            [f"metadata.name: this is used in {self.named_after}, {surprise}: [{' '.join(broken)}]"] if broken else []
        )

    def prepare_update(self, obj: Object, old: Object) -> None:
        if self.status:
            obj["status"] = old.get("status", {})
        self.carry(obj, old)

    def validate(self, obj: Object) -> list[FieldError]:
        return self.check(obj)

    def validate_update(self, obj: Object, old: Object, part: str = "") -> list[FieldError]:
        check = self.check_part.get(part, self.check_update)
        return self.check(obj) if check is None else check(obj, old)


def part_of(obj: Object, path: str) -> Any:
    """A member of an object, such as `spec`, or of one of its members, such as `metadata.labels`."""
    outer, dot, inner = path.partition(".")
    value = obj.get(outer)
    return (value or {}).get(inner) if dot else value


PLAIN = BuiltIn()
