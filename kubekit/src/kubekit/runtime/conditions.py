"""Conditions that change when something changes, and never merely because someone looked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Literal

from msgspec import structs

from kubekit.model.status import Condition

RECONCILED = "Reconciled"
"""The condition the runtime itself sets when a controller cannot do what an object asks for."""

Truth = Literal["True", "False", "Unknown"]


def condition(type: str, status: Truth | bool, reason: str, message: str = "") -> Condition:  # noqa: A002 -- its name
    """A condition without a time: the runtime knows when its status last changed."""
    truth: Truth = status if isinstance(status, str) else ("True" if status else "False")
    return Condition(type=type, status=truth, reason=reason, message=message)


def merged(existing: Sequence[Condition], *wanted: Condition) -> tuple[Condition, ...]:
    """The existing conditions with the wanted ones in their places, new ones behind.

    One whose status stays keeps the time of its last transition; one whose status changes gets its time when it is
    written."""
    new = {one.type: one for one in wanted}
    kept = tuple(_renewed(one, new.pop(one.type)) if one.type in new else one for one in existing)
    return (*kept, *new.values())


def without(existing: Sequence[Condition], *types: str) -> tuple[Condition, ...]:
    return tuple(one for one in existing if one.type not in types)


def _renewed(old: Condition, new: Condition) -> Condition:
    kept = old.last_transition_time if old.status == new.status else None
    return structs.replace(new, last_transition_time=kept) if new.last_transition_time is None else new


def settled(old: Iterable[Any], new: Iterable[Any], now: datetime) -> list[Any]:
    """The new conditions as they are to be written, in wire form: in the old order, and with the times that follow
    from what they were before."""
    before = {one["type"]: one for one in old}
    wanted = {one["type"]: one for one in new}
    order = [*filter(wanted.__contains__, before), *(name for name in wanted if name not in before)]
    stamp = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    return [_timed(wanted[name], before.get(name), stamp) for name in order]


def _timed(new: dict[str, Any], old: dict[str, Any] | None, stamp: str) -> dict[str, Any]:
    if old is not None and old["status"] == new["status"]:
        return {**new, "lastTransitionTime": old.get("lastTransitionTime", stamp)}
    return {**new, "lastTransitionTime": stamp}
