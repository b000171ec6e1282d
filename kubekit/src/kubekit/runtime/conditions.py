"""Conditions that change when something changes, and never merely because someone looked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Literal, overload

from msgspec import structs

from kubekit.model.resource import Object
from kubekit.model.status import Condition

RECONCILED = "Reconciled"
"""The condition the runtime itself sets when a controller cannot do what an object asks for."""

Truth = Literal["True", "False", "Unknown"]


def condition(type: str, status: Truth | bool, reason: str, message: str = "") -> Condition:  # noqa: A002 -- its name
    """A condition without a time: the runtime knows when its status last changed."""
    truth: Truth = status if isinstance(status, str) else ("True" if status else "False")
    return Condition(type=type, status=truth, reason=reason, message=message)


@overload
def merged(existing: Sequence[Condition], *wanted: Condition) -> tuple[Condition, ...]: ...
@overload
def merged(existing: Sequence[Object], *wanted: Condition) -> tuple[Object | Condition, ...]: ...
def merged(existing: Sequence[Any], *wanted: Condition) -> tuple[Any, ...]:
    """The existing conditions, typed or plain, with the wanted ones in their places, new ones behind.

    One whose status stays keeps the time of its last transition; one whose status changes gets its time when it is
    written."""
    new = {one.type: one for one in wanted}
    kept = [_renewed(one, new.pop(name)) if (name := _type(one)) in new else one for one in existing]
    return (*kept, *new.values())


def without(existing: Sequence[Any], *types: str) -> tuple[Any, ...]:
    return tuple(one for one in existing if _type(one) not in types)


def condition_of(obj: Any, type: str) -> Condition | None:  # noqa: A002 -- its name
    """A condition of an object, typed or plain."""
    found = next((one for one in _conditions(obj) if _type(one) == type), None)
    return _typed(found) if isinstance(found, dict) else found


def status_with(obj: Any, *conditions: Condition, **fields: Any) -> Any:
    """The status of an object, typed or plain, with these conditions and fields in it, and the rest as it was.

    Fields go by the names of the class, or as they are on the wire."""
    if conditions:
        fields["conditions"] = merged(_conditions(obj), *conditions)
    if isinstance(obj, dict):
        return {**(obj.get("status") or {}), **fields}
    return structs.replace(obj.status, **fields)


def _conditions(obj: Any) -> Sequence[Any]:
    if isinstance(obj, dict):
        return (obj.get("status") or {}).get("conditions") or ()
    found: Sequence[Any] = getattr(getattr(obj, "status", None), "conditions", ())
    return found


def _type(one: Any) -> str:
    return str(one["type"] if isinstance(one, dict) else one.type)


def _typed(one: Object) -> Condition:
    """Whatever others have written: nothing but the type and the status is sure to be there."""
    time = one.get("lastTransitionTime")
    return Condition(
        type=one["type"],
        status=one["status"],
        reason=one.get("reason", ""),
        message=one.get("message", ""),
        last_transition_time=datetime.fromisoformat(time) if time else None,
        observed_generation=one.get("observedGeneration"),
    )


def _renewed(old: Any, new: Condition) -> Condition:
    before = _typed(old) if isinstance(old, dict) else old
    kept = before.last_transition_time if before.status == new.status else None
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
