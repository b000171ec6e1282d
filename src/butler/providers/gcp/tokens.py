"""Access tokens: a service account signs who it is, and gets one that is good for an hour."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from google.auth import crypt, jwt

from butler.errors import CredentialsInvalid, ProviderError, ProviderUnavailable
from kubekit.clock import Clock

from ..rest import Question, Reply, Rest, Trust
from .section import NAME, Key

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_HOUR = 3600
_EARLY = 120.0
"""Seconds before its end in which a token is no longer used."""


@dataclass(frozen=True, slots=True)
class Token:
    """What every call carries."""

    text: str = field(repr=False)
    until: float
    """Monotonic."""


class Tokens:
    """The token of one account, fetched when it is needed and kept while it is good.

    Raises CredentialsInvalid when the key is none."""

    def __init__(self, key: Key, trust: Trust, clock: Clock, patience: float) -> None:
        self._key, self._signer, self._clock = key, _signer(key), clock
        issuer = urlsplit(key.token_uri)
        self._path = issuer.path
        self._rest = Rest(
            NAME,
            f"{issuer.scheme}://{issuer.netloc}",
            trust=trust,
            patience=patience,
            secrets=(key.private,),
            explain=_explained,
            judge=_judged,
        )
        self._token: Token | None = None
        self._has_served = False
        self._fetching = asyncio.Lock()

    async def current(self, about: str) -> str:
        """Raises CredentialsInvalid, and as any call does; `about` is the machine for whose sake it is wanted."""
        async with self._fetching:
            if self._token is None or self._clock.monotonic() >= self._token.until:
                self._token = await self._fetched(about)
                self._has_served = False
            return self._token.text

    def served(self) -> None:
        """The other side took it."""
        self._has_served = True

    def refused(self) -> type[ProviderError]:
        """The other side did not take it. One that it took before was withdrawn, and the next call gets another."""
        self._token, was_good = None, self._has_served
        return ProviderUnavailable if was_good else CredentialsInvalid

    async def close(self) -> None:
        await self._rest.close()

    async def _fetched(self, about: str) -> Token:
        assertion = self._assertion()
        form = urlencode({"grant_type": _GRANT, "assertion": assertion}).encode()
        asked = self._clock.monotonic()
        reply = await self._rest.ask(
            Question(
                "POST",
                self._path,
                about,
                form,
                headers={"Content-Type": "application/x-www-form-urlencoded"},
                hidden=(assertion,),
            )
        )
        return _read(reply.body, asked, about)

    def _assertion(self) -> str:
        now = int(self._clock.now().timestamp())
        claims = {
            "iss": self._key.email,
            "scope": _SCOPE,
            "aud": self._key.token_uri,
            "iat": now,
            "exp": now + _HOUR,
        }
        signed: bytes = jwt.encode(self._signer, claims)  # type: ignore[no-untyped-call]
        return signed.decode()


def _signer(key: Key) -> crypt.RSASigner:
    try:
        signer: crypt.RSASigner = crypt.RSASigner.from_string(key.private, key.id)  # type: ignore[no-untyped-call]
    except ValueError:
        raise CredentialsInvalid(NAME, "", f"{key.where}: private_key is not a key in PEM form") from None
    return signer


def _read(body: Any, asked: float, about: str) -> Token:
    text = body.get("access_token") if isinstance(body, dict) else None
    lasts = body.get("expires_in") if isinstance(body, dict) else None
    if not isinstance(text, str) or not isinstance(lasts, int):
        raise ProviderUnavailable(NAME, about, "the answer to the service account's signature is no token")
    return Token(text, asked + lasts - min(_EARLY, lasts / 2))


def _explained(reply: Reply) -> str:
    body = reply.body if isinstance(reply.body, dict) else {}
    return ": ".join(str(body[name]) for name in ("error", "error_description") if isinstance(body.get(name), str))


def _judged(reply: Reply) -> type[ProviderError] | None:
    return CredentialsInvalid if reply.status in (400, 401, 403) else None
