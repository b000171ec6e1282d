"""Refusals of Harvester's API as errors about machines."""

from __future__ import annotations

from collections.abc import Iterable

from butler.errors import (
    CapacityExhausted,
    CredentialsInvalid,
    MachineRejected,
    ProviderError,
    ProviderUnavailable,
    RateLimited,
)
from kubekit.errors import (
    ApiError,
    BadRequest,
    Forbidden,
    Invalid,
    MethodNotAllowed,
    NotFound,
    TooLarge,
    TooManyRequests,
    Unauthorized,
    Unclassified,
    UnsupportedMediaType,
)

from ..rest import cleaned
from .section import NAME

_NO_ROOM = ("exceeded quota", "insufficient resource")
_DENIED = "denied the request"
"""What an API server says when a webhook of KubeVirt's or Harvester's refuses an object."""
_SENSELESS = (BadRequest, Invalid, MethodNotAllowed, NotFound, TooLarge, Unclassified, UnsupportedMediaType)


def translated(error: ApiError, about: str, doing: str, secrets: Iterable[str]) -> ProviderError:
    """What an answer means for the machine it is about; nothing in it is secret."""
    return _made(_kind(error), error, about, f"{doing}: {_said(error, secrets)}")


def in_the_way(error: ApiError, about: str, doing: str, secrets: Iterable[str]) -> ProviderError:
    """The same for a deletion: what is refused then is in use, and will not be for long."""
    kind = _kind(error)
    kind = ProviderUnavailable if kind is MachineRejected else kind
    return _made(kind, error, about, f"{doing}: {_said(error, secrets)}")


def _said(error: ApiError, secrets: Iterable[str]) -> str:
    if isinstance(error, Unauthorized):
        return "the token or certificate of the kubeconfig is not accepted; it may have expired"
    return cleaned(error.message, secrets)


def _made(kind: type[ProviderError], error: ApiError, about: str, message: str) -> ProviderError:
    if kind is RateLimited:
        return RateLimited(NAME, about, message, float(error.retry_after))
    return kind(NAME, about, message)


def _kind(error: ApiError) -> type[ProviderError]:
    said = error.message.lower()
    if isinstance(error, TooManyRequests) or (error.code == 503 and error.retry_after):
        return RateLimited
    if any(text in said for text in _NO_ROOM):
        return CapacityExhausted
    if _DENIED in said and (error.code < 500 or "not found" in said):
        return MachineRejected
    if isinstance(error, Unauthorized | Forbidden):
        return CredentialsInvalid
    return MachineRejected if isinstance(error, _SENSELESS) else ProviderUnavailable
