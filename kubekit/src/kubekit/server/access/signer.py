"""Signing and checking tokens with one elliptic-curve key."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from cryptography.hazmat.primitives import serialization
from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey

from .identities import SIGNING_ALGORITHM


class Signer:
    """One key. Raises ValueError when it is none."""

    def __init__(self, pem: bytes) -> None:
        try:
            self._key = ECKey.import_key(pem)
        except (JoseError, TypeError) as error:
            raise ValueError("not an elliptic-curve private key") from error
        der = self._key.public_key.public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        self.id = base64.urlsafe_b64encode(hashlib.sha256(der).digest()).rstrip(b"=").decode()
        """As Kubernetes derives it from the public key."""

    def sign(self, claims: Mapping[str, Any]) -> str:
        return jws.serialize_compact({"alg": SIGNING_ALGORITHM, "kid": self.id}, json.dumps(claims), self._key)

    def claims_of(self, token: str) -> dict[str, Any] | None:
        """What the token says; None when this key did not sign it."""
        try:
            return dict(jwt.decode(token, self._key, algorithms=[SIGNING_ALGORITHM]).claims)
        except (JoseError, ValueError):
            return None

    def key_set(self) -> dict[str, Any]:
        """The public key, for those who check tokens themselves."""
        public = self._key.as_dict(private=False)
        shown = {"use": "sig", "kty": "EC", "kid": self.id, "crv": "P-256", "alg": SIGNING_ALGORITHM}
        return {"keys": [{**shown, "x": public["x"], "y": public["y"]}]}
