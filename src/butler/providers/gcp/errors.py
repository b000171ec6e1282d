"""Which error an answer of Compute Engine is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from butler.errors import (
    CapacityExhausted,
    CredentialsInvalid,
    MachineRejected,
    ProviderError,
    ProviderUnavailable,
    RateLimited,
)

from ..rest import Reply


class Busy(ProviderUnavailable):
    """Something else is being done to the resource, or something else still uses it."""


_STOCK_OUT = frozenset(["zoneresourcepoolexhausted", "zoneresourcepoolexhaustedwithdetails"])
_KINDS: Mapping[type[ProviderError], frozenset[str]] = {
    RateLimited: frozenset(
        ["ratelimitexceeded", "userratelimitexceeded", "resourceoperationrateexceeded", "concurrentlimitexceeded"]
    ),
    CapacityExhausted: _STOCK_OUT
    | {"quotaexceeded", "limitexceeded", "ipspaceexhausted", "ipspaceexhaustedwithdetails", "resourcepoolexhausted"},
    Busy: frozenset(["resourcenotready", "resourceinusebyanotherresource", "resourceinuse", "conditionnotmet"]),
    CredentialsInvalid: frozenset(
        ["permissionserror", "permissiondenied", "forbidden", "insufficientpermissions", "accessnotconfigured"]
    ),
    MachineRejected: frozenset(["resourcenotfound", "resourcealreadyexists", "unsupportedoperation", "invalidusage"]),
}


def is_stock_out(code: str) -> bool:
    """Whether the zone has no room, so that another one may have."""
    return _spelled(code) in _STOCK_OUT


def kind_of(code: str) -> type[ProviderError] | None:
    """By the reason in an answer (`quotaExceeded`), or the code in an operation (`QUOTA_EXCEEDED`)."""
    return next((kind for kind, codes in _KINDS.items() if _spelled(code) in codes), None)


def judged(reply: Reply) -> type[ProviderError] | None:
    """403 means that one may not, may not so often, or may not have so much; only the reason says which."""
    reasons = [str(one.get("reason", "")) for one in _errors(reply.body)]
    return next((kind for reason in reasons if (kind := kind_of(reason)) is not None), None)


def kind_of_operation(code: str, status: int) -> type[ProviderError]:
    """What an operation that failed with this code and this HTTP status is. It is over, so it is not unavailable and
    not limited, however it failed: whoever is told that goes on to wait for it."""
    kind = kind_of(code)
    if kind is None and (code.startswith("INVALID_") or status in (400, 404, 409)):
        kind = MachineRejected
    if kind is None and status in (401, 403):
        kind = CredentialsInvalid
    return kind if kind in (CapacityExhausted, CredentialsInvalid, MachineRejected) else ProviderError


def _errors(body: Any) -> list[Any]:
    error = body.get("error") if isinstance(body, dict) else None
    errors = error.get("errors") if isinstance(error, dict) else None
    return [one for one in errors or () if isinstance(one, dict)]


def _spelled(code: str) -> str:
    return code.replace("_", "").lower()
