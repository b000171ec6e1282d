"""Keys, certificates and what they say, without any cryptography."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

SIGNING_ALGORITHM = "ES256"
"""How tokens are signed."""


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate and its private key, both PEM."""

    certificate: bytes
    key: bytes


@dataclass(frozen=True, slots=True)
class CertificateFacts:
    """What a start must know of the server's own certificates. The names are written as text above the PEM block, so
    that reading them needs no cryptography."""

    not_before: datetime
    not_after: datetime
    names: frozenset[str] = frozenset()

    def text(self) -> bytes:
        return f"Not-After: {self.not_after.isoformat()}\nNames: {' '.join(sorted(self.names))}\n".encode()


@dataclass(frozen=True, slots=True)
class ClientIdentity:
    """What a client certificate says about its holder."""

    name: str
    uid: str
    groups: tuple[str, ...]
    not_before: datetime
    not_after: datetime
    fingerprint: str
