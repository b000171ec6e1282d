"""What a status becomes, and what of it has to be written."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from kubekit.errors import KubeError
from kubekit.model import status as model

from .conditions import RECONCILED, settled
from .objects import generation_of, status_of, wire

Status = dict[str, Any]
_MESSAGE_LIMIT = 32768


def after_success(obj: Any, status: Any, now: datetime) -> Status:
    """The status a controller answered with, complete: times of conditions and the generation it speaks of."""
    new = _observed(obj, status)
    if "conditions" in new:
        new["conditions"] = [_recovered(one) for one in new["conditions"]]
    if isinstance(status, model.Status) and new.get("conditions"):
        generation = generation_of(obj)
        # What stays from before says itself of which generation it was said.
        new["conditions"] = [{"observedGeneration": generation, **one} for one in new["conditions"]]
    return _settled(obj, new, now)


def after_failure(obj: Any, error: KubeError, now: datetime) -> Status | None:
    """The status as it was, with a condition that says what is wrong; None when it has no place for one."""
    current = obj.get("status", {}) if isinstance(obj, dict) else getattr(obj, "status", None)
    if not isinstance(current, dict) and "conditions" not in getattr(current, "__struct_fields__", ()):
        return None
    new = _observed(obj, current)
    failed: dict[str, Any] = {
        "type": RECONCILED,
        "status": "False",
        "reason": error.reason,
        "message": str(error)[:_MESSAGE_LIMIT],
    }
    if isinstance(current, model.Status):
        failed["observedGeneration"] = generation_of(obj)
    new["conditions"] = [one for one in new.get("conditions", ()) if one["type"] != RECONCILED] + [failed]
    return _settled(obj, new, now)


def difference(old: Status, new: Status) -> Status:
    """The merge patch that makes `new` out of `old`: nothing but what changed."""
    patch: Status = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            if inner := difference(before, value):
                patch[key] = inner
        elif value != before or key not in old:
            patch[key] = value
    return patch


def has_last_words(obj: Any, status: Any) -> bool:
    """Whether a controller's last words about an object that goes are worth a write of their own."""
    return status is not None and wire(status) != status_of(obj)


def flipped(old: Status, new: Status) -> list[dict[str, Any]]:
    """The conditions of `new` whose status is another than before, or that are new and hold."""
    before = {one["type"]: one["status"] for one in old.get("conditions", ())}
    conditions = new.get("conditions", ())
    return [one for one in conditions if _is_news(one["status"], before.get(one["type"]))]


def _is_news(status: str, before: str | None) -> bool:
    return status == "True" if before is None else status != before


def _observed(obj: Any, status: Any) -> Status:
    new: Status = wire(status)
    if "observed_generation" in getattr(status, "__struct_fields__", ()) or "observedGeneration" in new:
        new["observedGeneration"] = generation_of(obj)
    return new


def _settled(obj: Any, new: Status, now: datetime) -> Status:
    if new.get("conditions"):
        new["conditions"] = settled(status_of(obj).get("conditions", ()), new["conditions"], now)
    return new


def _recovered(one: dict[str, Any]) -> dict[str, Any]:
    """What the runtime said of an earlier failure does not outlive a success."""
    if one["type"] != RECONCILED or one["status"] == "True":
        return one
    said = {name: value for name, value in one.items() if name != "observedGeneration"}
    return {**said, "status": "True", "reason": "Succeeded", "message": ""}
