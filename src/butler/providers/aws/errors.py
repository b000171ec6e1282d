"""Which of our errors an answer of AWS is."""

from __future__ import annotations

from butler.errors import (
    CapacityExhausted,
    CredentialsInvalid,
    MachineRejected,
    ProviderError,
    ProviderUnavailable,
    RateLimited,
)

_CREDENTIALS = frozenset({
    "AccessDenied", "AccessDeniedException", "AuthFailure", "Blocked", "ExpiredToken", "ExpiredTokenException",
    "IncompleteSignature", "InvalidClientTokenId", "MissingAuthenticationToken", "OptInRequired",
    "PendingVerification", "SignatureDoesNotMatch", "UnauthorizedOperation", "UnrecognizedClientException",
})  # fmt: skip
_THROTTLED = frozenset({
    "BandwidthLimitExceeded", "EC2ThrottledException", "LimitExceededException", "PriorRequestNotComplete",
    "RequestLimitExceeded", "RequestThrottled", "RequestThrottledException", "SlowDown", "ThrottledException",
    "Throttling", "ThrottlingException", "TooManyRequestsException", "TransactionInProgressException",
})  # fmt: skip
_NO_ROOM = frozenset({
    "ConcurrentSnapshotLimitExceeded", "InstanceLimitExceeded", "InsufficientAddressCapacity",
    "InsufficientCapacity", "InsufficientFreeAddressesInSubnet", "InsufficientHostCapacity",
    "InsufficientInstanceCapacity", "InsufficientReservedInstanceCapacity", "InsufficientVolumeCapacity",
    "MaxIOPSLimitExceeded", "MaxSpotInstanceCountExceeded", "NetworkInterfaceLimitExceeded",
    "PrivateIpAddressLimitExceeded", "ResourceCountExceeded", "SnapshotLimitExceeded", "TooManyListeners",
    "TooManyLoadBalancers", "TooManyTargetGroups", "TooManyTargets", "VcpuLimitExceeded", "VolumeLimitExceeded",
})  # fmt: skip
_LATER = frozenset({
    "DependencyViolation", "DuplicateListener", "DuplicateLoadBalancerName", "DuplicateTargetGroupName",
    "IdempotentInstanceTerminated", "IdempotentParameterMismatch", "IncorrectInstanceState", "IncorrectState",
    "InternalError", "InternalFailure", "InvalidAMIName.Duplicate", "InvalidInstanceID.NotFound",
    "OperationAborted", "OperationInProgress", "RequestExpired", "RequestTimeout", "ResourceInUse",
    "ServiceUnavailable", "Unavailable", "VolumeInUse",
})  # fmt: skip
"""What the next look at it may find otherwise: states that change, things that do not show everywhere yet, and what
someone else made at the same moment."""
UNSUPPORTED = "Unsupported"
"""A zone does not have what is asked for, and never will."""
NO_ROOM_HERE = frozenset({
    "InsufficientFreeAddressesInSubnet", "InsufficientInstanceCapacity", "InsufficientVolumeCapacity", UNSUPPORTED,
})  # fmt: skip
"""What may be different in the next subnet."""


def kind_of(code: str, status: int) -> type[ProviderError]:
    """By its code, else by the HTTP status."""
    for kind, codes in (
        (CredentialsInvalid, _CREDENTIALS),
        (RateLimited, _THROTTLED),
        (CapacityExhausted, _NO_ROOM),
        (ProviderUnavailable, _LATER),
    ):
        if code in codes:
            return kind
    if status == 429:
        return RateLimited
    if not 400 <= status < 500:
        return ProviderUnavailable
    return CredentialsInvalid if status in (401, 403, 407) else MachineRejected


def kind_of_end(reason: str) -> type[ProviderError]:
    """Why an instance ended before it ran, by the code of its StateReason such as Client.VolumeLimitExceeded."""
    side, _, code = reason.partition(".")
    if code in _NO_ROOM:
        return CapacityExhausted
    # Whoever ended it by hand, or an error of AWS itself: another attempt may well succeed.
    return MachineRejected if side == "Client" and not code.startswith("UserInitiated") else ProviderError
