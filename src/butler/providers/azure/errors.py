"""What the Resource Manager means by an error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from butler.errors import (
    CapacityExhausted,
    CredentialsInvalid,
    MachineRejected,
    ProviderError,
    ProviderUnavailable,
    RateLimited,
)

from ..rest import Reply, said

GONE = ("ResourceNotFound", "NotFound", "ResourceGroupNotFound", "ParentResourceNotFound")
"""Of all that is answered with 404, this says that something does not exist: with a resource group goes all that was
in it, but a subscription that is not found is one we may not see."""

_CAPACITY = {
    "AllocationFailed",
    "ZonalAllocationFailed",
    "OverconstrainedAllocationRequest",
    "OverconstrainedZonalAllocationRequest",
    "SkuNotAvailable",
    "QuotaExceeded",
    "ResourceQuotaExceeded",
    "PublicIPCountLimitReached",
    "SubnetIsFull",
    "SubnetDoesNotHaveEnoughCapacity",
}
_PASSING = {
    "AnotherOperationInProgress",
    "CanceledAndSupersededDueToAnotherOperation",
    "ExpiredAuthenticationToken",
    "InUseSubresourceCannotBeDeleted",
    "InternalExecutionError",
    "NicInUse",
    # For three minutes after a machine that did not come about.
    "NicReservedForAnotherVm",
    "OperationPreempted",
    "PublicIPAddressCannotBeDeleted",
    "ReferencedResourceNotProvisioned",
    "ResourceGroupBeingDeleted",
    "RetryableError",
    "RetryableErrorDueToAnotherOperation",
}
_REFUSED = {
    "BadRequest",
    "GalleryImageNotFound",
    "ImageNotFound",
    "InvalidParameter",
    "InvalidResourceReference",
    "MarketplacePurchaseEligibilityFailed",
    "MissingSubscriptionRegistration",
    "PlatformImageNotFound",
    "PropertyChangeNotAllowed",
    "RequestDisallowedByPolicy",
    "ScopeLocked",
    "VMMarketplaceInvalidInput",
}
_IDENTITY = {"ReadOnlyDisabledSubscription", "SubscriptionNotFound", "InvalidSubscriptionId", "DisallowedOperation"}
_LIMITS = "x-ms-ratelimit-remaining-"


def code_of(body: Any) -> str:
    """The code of an error answer; empty for what is none."""
    return next((str(one.get("code") or "") for one in _errors(body)), "")


def explain(reply: Reply) -> str:
    """What an error answer says, in one line; for too many calls, also which limit was reached."""
    code, used_up = code_of(reply.body), [
        name.lower().removeprefix(_LIMITS)
        for name, left in reply.headers.items()
        if reply.status == 429 and name.lower().startswith(_LIMITS) and left.strip() == "0"
    ]  # fmt: skip
    told = f"{code}: {said(reply)}" if code else said(reply)
    return f"{told} (used up: {', '.join(used_up)})" if used_up else told


def judge(reply: Reply) -> type[ProviderError] | None:
    """What the status code alone does not say."""
    return RateLimited if reply.status == 429 else kind_of(reply.body)


def kind_of(body: Any) -> type[ProviderError] | None:
    """Which error it is by its codes, the outermost that says something; None when none does."""
    return next((kind for one in _errors(body) if (kind := _kind(one)) is not None), None)


def _kind(error: Mapping[str, Any]) -> type[ProviderError] | None:
    code, message = str(error.get("code") or ""), str(error.get("message") or "")
    if code in _CAPACITY or (code == "OperationNotAllowed" and "quota" in message.lower()):
        return CapacityExhausted
    if code in _PASSING:
        return ProviderUnavailable
    if code in _REFUSED:
        return MachineRejected
    return CredentialsInvalid if code in _IDENTITY else None


def _errors(body: Any) -> Iterator[Mapping[str, Any]]:
    """An error and those inside it; Azure writes them with and without an envelope."""
    if not isinstance(body, Mapping):
        return
    error = body.get("error", body)
    if not isinstance(error, Mapping):
        return
    yield error
    for inner in error.get("details") or ():
        yield from _errors(inner)
