"""Where service accounts get their tokens."""

from __future__ import annotations

import base64
import json
import math
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from kubekit.clock import Clock

EMAIL = "butler@butler-test.iam.gserviceaccount.com"
TOKEN = "ya29.canary-token-5d17"
"""What every token begins with."""
KEY_ID = "canary-key-id-0c93"
_LASTS = 3599
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"


@cache
def private_key() -> rsa.RSAPrivateKey:
    """A short one: it is read again for every connection."""
    return rsa.generate_private_key(65537, 1024)


@cache
def pem() -> str:
    kind = serialization.PrivateFormat.PKCS8
    return private_key().private_bytes(serialization.Encoding.PEM, kind, serialization.NoEncryption()).decode()


def key_file(url: str, **changes: Any) -> str:
    """The JSON of the account's key, whose tokens come from there."""
    return json.dumps(
        {
            "type": "service_account",
            "project_id": "butler-test",
            "private_key_id": KEY_ID,
            "private_key": pem(),
            "client_email": EMAIL,
            "client_id": "104",
            "auth_uri": f"{url}/auth",
            "token_uri": f"{url}/token",
            **changes,
        }
    )


@dataclass
class Issuer:
    """Checks what is signed, and remembers what it gave out."""

    tokens: dict[str, float] = field(default_factory=dict)
    """Until when each is good."""
    is_disabled: bool = False

    def issued(self, form: dict[str, Any], url: str, clock: Clock) -> tuple[dict[str, Any], int]:
        if form.keys() != {"grant_type", "assertion"}:
            return {"error": "invalid_request", "error_description": "Bad Request"}, 400
        if form["grant_type"] != "urn:ietf:params:oauth:grant-type:jwt-bearer":
            return {"error": "unsupported_grant_type", "error_description": "Invalid grant_type"}, 400
        claims, is_signed = _read(form["assertion"])
        if not is_signed or self.is_disabled:
            return {"error": "invalid_grant", "error_description": "Invalid JWT Signature."}, 400
        now = clock.now().timestamp()
        if claims["iss"] != EMAIL or urlsplit(claims["aud"]).path != urlsplit(url).path or claims["scope"] != _SCOPE:
            return {"error": "invalid_grant", "error_description": "Invalid JWT: wrong account, audience or scope"}, 400
        if not claims["iat"] - 300 <= now <= claims["exp"] or claims["exp"] - claims["iat"] > 3600:
            return {
                "error": "invalid_grant",
                "error_description": "Invalid JWT: Token must be a short-lived token",
            }, 400
        token = f"{TOKEN}-{len(self.tokens)}"
        self.tokens[token] = clock.monotonic() + _LASTS
        return {"access_token": token, "expires_in": _LASTS, "token_type": "Bearer"}, 200

    def is_good(self, authorization: str, clock: Clock) -> bool:
        kind, _, token = authorization.partition(" ")
        return kind == "Bearer" and clock.monotonic() < self.tokens.get(token, -math.inf)


def _read(assertion: str) -> tuple[dict[str, Any], bool]:
    """The claims of a JWT, and whether the account signed it."""
    head, claims, signature = assertion.split(".")
    try:
        private_key().public_key().verify(
            _decoded(signature), f"{head}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256()
        )
    except InvalidSignature:
        return {}, False
    found: dict[str, Any] = json.loads(_decoded(claims))
    return found, json.loads(_decoded(head))["alg"] == "RS256"


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
