"""Service-account tokens: signed by one space's key, worthless in every other.

All spaces use the same issuer and audience, because clients expect the ones of Kubernetes; what binds a token to its
space is the key (its `kid`). Signing is ES256: the real server accepts and offers it too, a key is made in a
millisecond, and a fresh tenant does not wait for prime numbers.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

from kubekit.clock import Chance, Clock
from kubekit.errors import DataDamaged
from kubekit.model.resource import Object
from kubekit.server.objects.user import (
    CREDENTIAL_ID,
    NODE_NAME,
    NODE_UID,
    POD_NAME,
    POD_UID,
    UserInfo,
    authenticated,
    service_account_groups,
    service_account_name,
    split_service_account,
)

from .identities import SIGNING_ALGORITHM

if TYPE_CHECKING:
    from .signer import Signer

ISSUER = "https://kubernetes.default.svc"
API_AUDIENCE = "https://kubernetes.default.svc"
LEGACY_ISSUER = "kubernetes/serviceaccount"

_LEGACY = "kubernetes.io/serviceaccount/"
_HEADER_MEMBERS = {"alg", "kid", "typ"}
_LEEWAY = 60
"""Seconds two clocks may disagree, as in the real server."""


class TokenRefused(Exception):
    """A token that proves nothing. The text, empty when there is nothing to say, is what a TokenReview shows."""


class Lookup(Protocol):
    """Reads one object of the token's space without waiting; None when there is none."""

    def __call__(self, plural: str, namespace: str, name: str) -> Object | None: ...


@dataclass(frozen=True, slots=True)
class Verified:
    """Whose token it is, and for which of the asked audiences it was made."""

    user: UserInfo
    audiences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """What a token is bound to: it ends when this object does."""

    kind: str
    name: str
    uid: str

    def claim(self) -> dict[str, str]:
        return {"name": self.name, "uid": self.uid} if self.uid else {"name": self.name}


class SigningKey:
    """One space's key for tokens, loaded when it is first used."""

    def __init__(self, pem: bytes) -> None:
        self._pem = pem

    @cached_property
    def signer(self) -> Signer:
        """Raises DataDamaged."""
        from .signer import Signer  # noqa: PLC0415 - slow to load, and a start needs none

        try:
            return Signer(self._pem)
        except ValueError as error:
            raise DataDamaged(f"sa.key: {error}; restore it from a backup") from error

    def load(self) -> None:
        """Get ready for the first token. Raises DataDamaged."""
        _ = self.signer

    def key_set(self) -> dict[str, Any]:
        """What `/openid/v1/jwks` serves."""
        return self.signer.key_set()


def openid_configuration(server: str) -> dict[str, Any]:
    """What `/.well-known/openid-configuration` serves, for an API reached at `server`."""
    return {
        "issuer": ISSUER,
        "jwks_uri": f"{server}/openid/v1/jwks",
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [SIGNING_ALGORITHM],
    }


class TokenIssuer:
    """Makes tokens for the service accounts of one space."""

    def __init__(self, key: SigningKey, clock: Clock, chance: Chance) -> None:
        self._key, self._clock, self._chance = key, clock, chance

    def issue(self, account: Object, audiences: Sequence[str], seconds: int, bound: Sequence[Bound] = ()) -> str:
        """A token for a service account that ends after `seconds`, and earlier when a bound object goes."""
        metadata = account["metadata"]
        namespace, name = metadata["namespace"], metadata["name"]
        now = int(self._clock.now().timestamp())
        about: dict[str, Any] = {"namespace": namespace, "serviceaccount": {"name": name, "uid": metadata["uid"]}}
        about |= {one.kind: one.claim() for one in bound}
        return self._key.signer.sign(
            {
                "aud": list(audiences),
                "exp": now + seconds,
                "iat": now,
                "iss": ISSUER,
                "jti": str(UUID(bytes=self._chance.bytes(16), version=4)),
                "kubernetes.io": about,
                "nbf": now,
                "sub": service_account_name(namespace, name),
            }
        )

    def legacy_token(self, account: Object, secret: Object) -> str:
        """The token a Secret of type `kubernetes.io/service-account-token` holds: it never ends by itself."""
        metadata = account["metadata"]
        namespace, name = metadata["namespace"], metadata["name"]
        return self._key.signer.sign(
            {
                "iss": LEGACY_ISSUER,
                f"{_LEGACY}namespace": namespace,
                f"{_LEGACY}secret.name": secret["metadata"]["name"],
                f"{_LEGACY}service-account.name": name,
                f"{_LEGACY}service-account.uid": metadata["uid"],
                "sub": service_account_name(namespace, name),
            }
        )


@dataclass(slots=True)
class _Known:
    """A token whose signature was right: what it says and when its objects were last seen to exist."""

    claims: dict[str, Any]
    user: UserInfo
    audiences: tuple[str, ...]
    checked: float


@dataclass(slots=True)
class TokenVerifier:
    """Recognises the tokens of one space. Signatures are checked once, existence every ten seconds."""

    key: SigningKey
    clock: Clock
    lookup: Lookup
    capacity: int = 4096
    recheck_after: float = 10.0
    _known: dict[bytes, _Known] = field(default_factory=dict)

    def verify(self, token: str, audiences: Sequence[str] = (API_AUDIENCE,)) -> Verified:
        """Raises TokenRefused."""
        digest = hashlib.sha256(token.encode()).digest()
        known = self._known.get(digest)
        now = self.clock.monotonic()
        if known is None:
            claims = self._signed_claims(token)
            given = _audiences(claims)
            _intersection(given, audiences)
            self._check_times(claims)
            known = _Known(claims, self._user(token, claims), given, now)
            self._remember(digest, known)
        else:
            self._check_times(known.claims)
            if now - known.checked >= self.recheck_after:
                known.user, known.checked = self._recheck(digest, token, known), now
        return Verified(known.user, _intersection(known.audiences, audiences))

    def _remember(self, digest: bytes, known: _Known) -> None:
        if len(self._known) >= self.capacity:
            del self._known[next(iter(self._known))]
        self._known[digest] = known

    def _recheck(self, digest: bytes, token: str, known: _Known) -> UserInfo:
        try:
            return self._user(token, known.claims)
        except TokenRefused:
            del self._known[digest]
            raise

    def _signed_claims(self, token: str) -> dict[str, Any]:
        header, payload = _unverified(token)
        if payload.get("iss") not in (ISSUER, LEGACY_ISSUER):
            raise TokenRefused
        if header.get("alg") != SIGNING_ALGORITHM or not header.keys() <= _HEADER_MEMBERS:
            # Nothing else was ever signed here, so there is nothing to find out.
            raise TokenRefused("invalid signature")
        signer = self.key.signer
        if header.get("kid", signer.id) != signer.id:
            raise TokenRefused("invalid signature, no keys found")
        claims = signer.claims_of(token)
        if claims is None:
            raise TokenRefused("invalid signature")
        return claims

    def _check_times(self, claims: Mapping[str, Any]) -> None:
        now = self.clock.now().timestamp()
        if "exp" in claims and now - _LEEWAY > claims["exp"]:
            raise TokenRefused("service account token has expired")
        if "nbf" in claims and now + _LEEWAY < claims["nbf"]:
            raise TokenRefused("service account token is not valid yet")
        if "iat" in claims and now + _LEEWAY < claims["iat"]:
            raise TokenRefused("service account token is issued in the future")

    def _user(self, token: str, claims: Mapping[str, Any]) -> UserInfo:
        if claims["iss"] == LEGACY_ISSUER:
            return self._legacy_user(token, claims)
        about = claims.get("kubernetes.io") or {}
        namespace, account = about.get("namespace", ""), about.get("serviceaccount") or {}
        name, uid = account.get("name", ""), account.get("uid", "")
        self._require_account(namespace, name, uid)
        for kind, plural in (("secret", "secrets"), ("pod", "pods")):
            if kind in about:
                self._require_bound(kind, plural, namespace, about[kind])
        if "node" in about and "pod" not in about:
            self._require_bound("node", "nodes", "", about["node"])
        return _account_user(namespace, name, uid, _extra(claims, about))

    def _require_account(self, namespace: str, name: str, uid: str) -> None:
        found = self.lookup("serviceaccounts", namespace, name)
        if found is None:
            raise TokenRefused(f'serviceaccounts "{name}" not found')
        metadata = found["metadata"]
        if metadata["uid"] != uid:
            raise TokenRefused(f"service account UID ({metadata['uid']}) does not match claim ({uid})")
        if self._is_gone(metadata):
            raise TokenRefused(f"service account {namespace}/{name} has been deleted")

    def _require_bound(self, kind: str, plural: str, namespace: str, claim: Mapping[str, str]) -> None:
        found = self.lookup(plural, namespace, claim["name"])
        if found is None or self._is_gone(found["metadata"]):
            raise TokenRefused("service account token has been invalidated")
        uid, claimed = found["metadata"]["uid"], claim.get("uid", "")
        if uid != claimed:
            raise TokenRefused(f"{kind} UID ({uid}) does not match service account {kind} ref claim ({claimed})")

    def _is_gone(self, metadata: Mapping[str, Any]) -> bool:
        """A pod that is being stopped still needs its token."""
        deleted = metadata.get("deletionTimestamp")
        if deleted is None:
            return False
        return self.clock.now() - timedelta(seconds=_LEEWAY) > datetime.fromisoformat(deleted)

    def _legacy_user(self, token: str, claims: Mapping[str, Any]) -> UserInfo:
        namespace, name = claims.get(f"{_LEGACY}namespace", ""), claims.get(f"{_LEGACY}service-account.name", "")
        uid = claims.get(f"{_LEGACY}service-account.uid", "")
        if split_service_account(claims.get("sub", "")) != (namespace, name):
            raise TokenRefused("sub claim is invalid")
        secret = self.lookup("secrets", namespace, claims.get(f"{_LEGACY}secret.name", ""))
        if secret is None or "deletionTimestamp" in secret["metadata"]:
            raise TokenRefused("Token has been invalidated")
        if (secret.get("data") or {}).get("token") != base64.b64encode(token.encode()).decode():
            raise TokenRefused("Token does not match server's copy")
        self._require_account(namespace, name, uid)
        return _account_user(namespace, name, uid, {})


def _account_user(namespace: str, name: str, uid: str, extra: Mapping[str, tuple[str, ...]]) -> UserInfo:
    groups = authenticated(service_account_groups(namespace))
    return UserInfo(service_account_name(namespace, name), uid, groups, extra)


def _extra(claims: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    pod, node = about.get("pod") or {}, about.get("node") or {}
    found = {
        CREDENTIAL_ID: f"JTI={claims['jti']}" if claims.get("jti") else "",
        NODE_NAME: node.get("name", ""),
        NODE_UID: node.get("uid", ""),
        POD_NAME: pod.get("name", ""),
        POD_UID: pod.get("uid", ""),
    }
    return {key: (value,) for key, value in found.items() if value}


def _audiences(claims: Mapping[str, Any]) -> tuple[str, ...]:
    """Legacy tokens name none: they are for the API itself."""
    given = claims.get("aud") or [API_AUDIENCE]
    return (given,) if isinstance(given, str) else tuple(given)


def _intersection(given: tuple[str, ...], wanted: Sequence[str]) -> tuple[str, ...]:
    common = tuple(one for one in given if one in wanted)
    if not common:
        raise TokenRefused(f"token audiences {_listed(given)} is invalid for the target audiences {_listed(wanted)}")
    return common


def _listed(words: Sequence[str]) -> str:
    return f"[{' '.join(json.dumps(word, ensure_ascii=False) for word in words)}]"


def _unverified(token: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and payload of something that looks like a token. Raises TokenRefused."""
    parts = token.split(".")
    if len(parts) != 3:
        raise TokenRefused
    try:
        header, payload = (json.loads(base64.urlsafe_b64decode(f"{part}==")) for part in parts[:2])
    except (ValueError, RecursionError) as error:
        raise TokenRefused from error
    if not isinstance(header, dict) or not isinstance(payload, dict):
        raise TokenRefused
    return header, payload
