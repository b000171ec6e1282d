"""Who makes this request?"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kubekit.clock import Clock
from kubekit.errors import Unauthorized
from kubekit.server.objects.user import CREDENTIAL_ID, NOBODY, UserInfo, authenticated

from .authority import Authority
from .identities import ClientIdentity
from .tokens import API_AUDIENCE, TokenRefused, TokenVerifier, Verified

_WEBSOCKET_TOKEN = "base64url.bearer.authorization.k8s.io."  # noqa: S105 - a prefix, not a secret


class Headers(Protocol):
    """The headers of a request: names in any case, possibly several values each."""

    def get(self, name: str, /) -> str | None: ...

    def getall(self, key: str) -> Sequence[str]: ...

    def __contains__(self, name: object, /) -> bool: ...

    def __iter__(self) -> Iterator[str]: ...


def static_token_key(token: str) -> bytes:
    """Under which key `SpaceAccess.static_tokens` holds a token: comparing digests leaks no timing."""
    return hashlib.sha256(token.encode()).digest()


@dataclass(frozen=True, slots=True)
class SpaceAccess:
    """What opens one isolated API."""

    authority: Authority
    tokens: TokenVerifier
    static_tokens: Mapping[bytes, UserInfo] = field(default_factory=dict)

    def load(self) -> None:
        """Do now, in a thread after the start, what the first certificate or token would otherwise wait for."""
        self.authority.load()
        self.tokens.key.load()

    def user_of_token(self, token: str, audiences: Sequence[str] = (API_AUDIENCE,)) -> Verified:
        """Raises TokenRefused."""
        if self.static_tokens and API_AUDIENCE in audiences:
            known = self.static_tokens.get(static_token_key(token))
            if known is not None:
                return Verified(_named(known), (API_AUDIENCE,))
        return self.tokens.verify(token, audiences)


class Authenticator:
    """Recognises users of every space by their certificates and tokens."""

    def __init__(self, access: Callable[[str], SpaceAccess], clock: Clock, capacity: int = 4096) -> None:
        self._access, self._clock, self._capacity = access, clock, capacity
        self._holders: dict[tuple[str, bytes], tuple[Authority, ClientIdentity, UserInfo]] = {}

    def authenticate(self, headers: Headers, certificate: bytes | None, space: str) -> UserInfo:
        """The user of a request; who shows nothing is anonymous, who shows something wrong is Unauthorized.

        `certificate` is the DER form of what the TLS peer proved to hold.
        """
        if certificate is not None:
            user = self.user_of_certificate(certificate, space)
            if user is not None:
                return user
        token = bearer_token(headers)
        if token and not token.isascii():
            raise Unauthorized
        if token:
            try:
                return self._access(space).user_of_token(token).user
            except TokenRefused as error:
                raise Unauthorized from error
        if certificate is not None:
            raise Unauthorized
        return NOBODY

    def user_of_certificate(self, der: bytes, space: str) -> UserInfo | None:
        """The holder of a certificate; None when this space's authority did not issue it or it is not valid now."""
        authority = self._access(space).authority
        known = self._holders.get((space, der))
        if known is None or known[0] is not authority:
            try:
                identity = authority.identity_of(der)
            except ValueError:
                return None
            if identity is None or not identity.name:
                return None
            known = authority, identity, _holder(identity)
            if len(self._holders) >= self._capacity:
                del self._holders[next(iter(self._holders))]
            self._holders[space, der] = known
        _, identity, user = known
        return user if identity.not_before <= self._clock.now() <= identity.not_after else None


def bearer_token(headers: Headers) -> str:
    """The token a request carries, in its own header or, as browsers must, in a WebSocket protocol."""
    words = (headers.get("Authorization") or "").strip().split(" ", 2)
    if len(words) >= 2 and words[0].lower() == "bearer" and words[1]:
        return words[1]
    offered = headers.get("Sec-WebSocket-Protocol") or ""
    if _WEBSOCKET_TOKEN in offered:
        return _websocket_token(offered)
    return ""


def _websocket_token(offered: str) -> str:
    for protocol in (one.strip() for one in offered.split(",")):
        if protocol.startswith(_WEBSOCKET_TOKEN):
            encoded = protocol.removeprefix(_WEBSOCKET_TOKEN)
            try:
                return base64.urlsafe_b64decode(f"{encoded}==").decode()
            except ValueError:
                raise Unauthorized from None
    return ""


def _holder(identity: ClientIdentity) -> UserInfo:
    extra = {CREDENTIAL_ID: (f"X509SHA256={identity.fingerprint}",)}
    return UserInfo(identity.name, identity.uid, authenticated(identity.groups), extra)


def _named(user: UserInfo) -> UserInfo:
    return UserInfo(user.name, user.uid, authenticated(user.groups), user.extra)
