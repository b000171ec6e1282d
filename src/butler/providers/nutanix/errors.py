"""What Prism Central says when it refuses, in either version of its API."""

from __future__ import annotations

from collections.abc import Iterator
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

_NO_ROOM = (
    "nohostresources", "notenough", "insufficientresource", "insufficientmemory", "insufficientstorage",
    "insufficientspace", "insufficientcapacity", "outofspace", "nospaceleft", "quotaexceeded",
)  # fmt: skip
_DENIED = ("accessdenied", "permissiondenied", "notauthorized", "notpermitted")
_REFUSED = ("invalidargument", "invalidrequest", "invalidvalue", "notsupported", "imagenotfound", "subnetnotfound")
"""Words of AHV itself, with everything but letters taken out."""
_GROUPS: dict[str, type[ProviderError]] = {
    "AUTHENTICATION_REQUIRED": CredentialsInvalid,
    "ACCESS_DENIED": CredentialsInvalid,
    "RATE_LIMIT_EXCEEDED": RateLimited,
    "CONCURRENT_REQUESTS_NOT_ALLOWED": ProviderUnavailable,
}
_PLAIN = (401, 403, 404, 429)
"""Status codes that leave nothing to guess."""
_STALE = (412, 428)
"""The version that was named is not the latest one, or none was named."""


def explain(reply: Reply) -> str:
    """What the answer says, on one line."""
    return "; ".join(" ".join(part for part in (one.code, one.text) if part) for one in _messages(reply.body))


def judge(reply: Reply) -> type[ProviderError] | None:
    """What the status code alone does not say."""
    if reply.status in _STALE:
        return ProviderUnavailable
    groups = [_GROUPS[one.group] for one in _messages(reply.body) if one.group in _GROUPS]
    if groups:
        return groups[0]
    is_about_room = reply.status not in _PLAIN and _has(explain(reply), _NO_ROOM)
    return CapacityExhausted if is_about_room else None


def kind_of(failure: str) -> type[ProviderError]:
    """Which error it is that a task ended with."""
    if _has(failure, _NO_ROOM):
        return CapacityExhausted
    if _has(failure, _DENIED):
        return CredentialsInvalid
    return MachineRejected if _has(failure, _REFUSED) else ProviderError


def _has(text: str, words: tuple[str, ...]) -> bool:
    letters = "".join(letter for letter in text.lower() if letter.isalpha())
    return any(word in letters for word in words)


class _Message:
    """One entry of the list in which both versions explain themselves."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.code = str(found.get("code") or found.get("attributePath") or "")
        self.text = str(found.get("message") or "")
        self.group = str(found.get("errorGroup") or found.get("reason") or "")
        if details := found.get("details"):
            self.text += f" ({details})"


def _messages(body: Any) -> Iterator[_Message]:
    if not isinstance(body, dict):
        return
    data = body.get("data")
    error = data.get("error") if isinstance(data, dict) else body.get("message_list")
    if isinstance(error, dict):
        error = error.get("validationErrorMessages") or [{"message": error.get("error")}]
    yield from (_Message(one) for one in error or () if isinstance(one, dict))
