"""A certificate authority that loads its cryptography when it is first asked for something."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from .identities import CertificateFacts, ClientIdentity, KeyPair
from .validity import validity_of

if TYPE_CHECKING:
    from .certificates import Issuer


def facts_of(certificate: bytes) -> CertificateFacts:
    """The facts about a PEM file, parsed the long way when someone else wrote it. Raises ValueError."""
    head = certificate.partition(b"-----BEGIN")[0].decode(errors="replace")
    written = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
    if "Names" in written or "Not-After" in written:
        return CertificateFacts(*validity_of(certificate), frozenset(written.get("Names", "").split()))
    from .certificates import parsed_facts  # noqa: PLC0415 - slow to load, rarely needed

    return parsed_facts(certificate)


class Authority:
    """Issues certificates and recognises its own."""

    def __init__(self, pair: KeyPair) -> None:
        self.pair = pair

    def issue_client_certificate(self, name: str, groups: Iterable[str], days: int, now: datetime) -> KeyPair:
        """A key and a certificate for the user `name`. Raises ValueError for names X.509 cannot hold (1 to 64)."""
        key = self._issuer.new_key()
        return KeyPair(self._issuer.client_certificate(key, name, groups, days, now), key)

    def renew_client_certificate(self, key: bytes, name: str, groups: Iterable[str], days: int, now: datetime) -> bytes:
        return self._issuer.client_certificate(key, name, groups, days, now)

    def issue_serving_certificate(self, key: bytes, names: Iterable[str], days: int, now: datetime) -> bytes:
        """A certificate for a server that is reached by these host names and addresses."""
        return self._issuer.serving_certificate(key, names, days, now)

    def identity_of(self, der: bytes) -> ClientIdentity | None:
        """Who holds this certificate; None when another authority issued it. Raises ValueError for other bytes."""
        return self._issuer.identity_of(der)

    def load(self) -> None:
        """Get ready for the first question."""
        _ = self._issuer

    @cached_property
    def _issuer(self) -> Issuer:
        from .certificates import Issuer  # noqa: PLC0415 - slow to load, and a start rarely needs it

        return Issuer(self.pair)
