"""A built-in kind's behaviour, put together from functions."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from butler.errors import FieldError

from ..resources import Object

NameRule = Literal["subdomain", "label", "label1035", "path-segment"]
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


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """The Behaviour of one kind; what is not given does nothing.

    `validate` speaks for new objects, `validate_update` for changed ones: each reports everything by itself.
    Name and uid are set before `prepare_create` is called.
    """

    fill: Change = _nothing
    begin: Change = _nothing
    carry: Comparison = _nothing_more
    check: Check = _fine
    check_update: UpdateCheck | None = None
    status: Mapping[str, Any] | None = None
    """The status of a new object, which is also what a status always shows; None for kinds without one."""
    keeps_status: bool = False
    """Whoever creates the object may give its status, as kubelets do for nodes."""
    name_rule: NameRule = "subdomain"
    generation: tuple[str, ...] = ()
    """The members that count as a change of generation, such as `spec`; empty when the kind has no generation."""

    def default(self, obj: Object) -> None:
        self.fill(obj)
        if self.status is not None:
            self._show_status(obj)

    def prepare_create(self, obj: Object) -> None:
        if self.status is not None and not self.keeps_status:
            obj["status"] = {}
            self._show_status(obj)
        self.begin(obj)

    def prepare_update(self, obj: Object, old: Object) -> None:
        if self.status is not None:
            obj["status"] = old.get("status", {})
        self.carry(obj, old)

    def validate(self, obj: Object) -> list[FieldError]:
        return self.check(obj)

    def validate_update(self, obj: Object, old: Object) -> list[FieldError]:
        return self.check(obj) if self.check_update is None else self.check_update(obj, old)

    def _show_status(self, obj: Object) -> None:
        assert self.status is not None
        status = obj.get("status")
        if status is None:
            status = obj["status"] = {}
        for name, value in self.status.items():
            if name not in status:
                status[name] = copy.deepcopy(value) if isinstance(value, dict) else value


PLAIN = BuiltIn()
