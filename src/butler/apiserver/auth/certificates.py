"""X.509 certificates and their keys, as PEM.

`cryptography` is imported where it is used: a server that finds its files in order starts without it.
"""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey, EllipticCurvePublicKey

CLOCK_SKEW = timedelta(minutes=5)
"""How far a client's clock may be behind ours and still accept a fresh certificate."""

_USER_UID = "1.3.6.1.4.1.57683.2"
"""The subject attribute in which Kubernetes looks for a user's UID."""


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate and its private key, both PEM."""

    certificate: bytes
    key: bytes


@dataclass(frozen=True, slots=True)
class CertificateFacts:
    """What the server must know of its own certificates without parsing them: written as text above the PEM block."""

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


def facts_of(certificate: bytes) -> CertificateFacts:
    """Read the text above the PEM block; parse the certificate when someone else wrote the file. Raises ValueError."""
    head = certificate.partition(b"-----BEGIN")[0].decode(errors="replace")
    written = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
    if "Not-After" in written:
        return CertificateFacts(
            datetime.fromisoformat(written["Not-After"]), frozenset(written.get("Names", "").split())
        )
    return _parsed_facts(certificate)


def new_key() -> bytes:
    """A fresh ECDSA P-256 private key."""
    from cryptography.hazmat.primitives.asymmetric import ec

    return _private_pem(ec.generate_private_key(ec.SECP256R1()))


def new_authority(name: str, now: datetime, days: int) -> KeyPair:
    """A self-signed certificate authority."""
    from cryptography import x509

    key = _load_key(pem := new_key())
    subject = _name(name, ())
    certificate = (
        _builder(subject, subject, key.public_key(), now, now + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    return KeyPair(_signed(certificate, key), pem)


class Authority:
    """A certificate authority: it issues certificates and recognises its own."""

    def __init__(self, pair: KeyPair) -> None:
        self.pair = pair

    def issue_client_certificate(self, name: str, groups: Iterable[str], days: int, now: datetime) -> KeyPair:
        """A certificate for the user `name`; raises ValueError when X.509 cannot hold a name (1 to 64 characters)."""
        key = new_key()
        return KeyPair(self.renew_client_certificate(key, name, groups, days, now), key)

    def renew_client_certificate(
        self, key: bytes, name: str, groups: Iterable[str], days: int, now: datetime
    ) -> bytes:
        from cryptography.x509 import ExtendedKeyUsageOID

        return self._issue(key, _name(name, groups), ExtendedKeyUsageOID.CLIENT_AUTH, days, now, ())

    def issue_serving_certificate(self, key: bytes, names: Iterable[str], days: int, now: datetime) -> bytes:
        """A certificate for a server that is reached by these host names and addresses."""
        from cryptography.x509 import ExtendedKeyUsageOID

        return self._issue(key, _name("kube-apiserver", ()), ExtendedKeyUsageOID.SERVER_AUTH, days, now, names)

    def identity_of(self, der: bytes) -> ClientIdentity | None:
        """Who holds this certificate; None when another authority issued it. Raises ValueError when it is no certificate."""
        from cryptography import x509
        from cryptography.exceptions import InvalidSignature

        certificate = x509.load_der_x509_certificate(der)
        try:
            certificate.verify_directly_issued_by(self._certificate)
        except (InvalidSignature, ValueError, TypeError):
            return None
        return _identity(certificate, der)

    def _issue(
        self,
        key_pem: bytes,
        subject: x509.Name,
        purpose: x509.ObjectIdentifier,
        days: int,
        now: datetime,
        names: Iterable[str],
    ) -> bytes:
        from cryptography import x509

        issuer, public = self._certificate, _load_key(key_pem).public_key()
        ends = min(now + timedelta(days=days), issuer.not_valid_after_utc)
        identifier = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
        certificate = (
            _builder(subject, issuer.subject, public, now, ends)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False)
        )
        listed = sorted(set(names))
        if listed:
            alternatives = x509.SubjectAlternativeName([_general_name(one) for one in listed])
            certificate = certificate.add_extension(alternatives, critical=False)
        return CertificateFacts(ends, frozenset(listed)).text() + _signed(certificate, self._key)

    @cached_property
    def _certificate(self) -> x509.Certificate:
        from cryptography import x509

        return x509.load_pem_x509_certificate(self.pair.certificate)

    @cached_property
    def _key(self) -> EllipticCurvePrivateKey:
        return _load_key(self.pair.key)


def _identity(certificate: x509.Certificate, der: bytes) -> ClientIdentity:
    from cryptography import x509
    from cryptography.x509 import NameOID

    def values(oid: x509.ObjectIdentifier) -> tuple[str, ...]:
        return tuple(str(one.value) for one in certificate.subject.get_attributes_for_oid(oid))

    return ClientIdentity(
        name=(values(NameOID.COMMON_NAME) or ("",))[-1],
        uid=_only(values(x509.ObjectIdentifier(_USER_UID))),
        groups=values(NameOID.ORGANIZATION_NAME),
        not_before=certificate.not_valid_before_utc,
        not_after=certificate.not_valid_after_utc,
        fingerprint=hashlib.sha256(der).hexdigest(),
    )


def _only(uids: tuple[str, ...]) -> str:
    if len(uids) > 1 or uids == ("",):
        raise ValueError(f"expected one user UID, found {list(uids)}")
    return uids[0] if uids else ""


def _parsed_facts(certificate: bytes) -> CertificateFacts:
    from cryptography import x509

    parsed = x509.load_pem_x509_certificate(certificate)
    try:
        found = parsed.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return CertificateFacts(parsed.not_valid_after_utc)
    names = [*found.get_values_for_type(x509.DNSName), *map(str, found.get_values_for_type(x509.IPAddress))]
    return CertificateFacts(parsed.not_valid_after_utc, frozenset(names))


def _builder(
    subject: x509.Name, issuer: x509.Name, public: EllipticCurvePublicKey, now: datetime, ends: datetime
) -> x509.CertificateBuilder:
    from cryptography import x509

    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before((now - CLOCK_SKEW).astimezone(UTC))
        .not_valid_after(ends.astimezone(UTC))
    )


def _signed(certificate: x509.CertificateBuilder, key: EllipticCurvePrivateKey) -> bytes:
    from cryptography.hazmat.primitives import hashes, serialization

    return certificate.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _name(common: str, organizations: Iterable[str]) -> x509.Name:
    from cryptography import x509
    from cryptography.x509 import NameOID

    groups = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, one) for one in organizations]
    return x509.Name([*groups, x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(name: str) -> x509.GeneralName:
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _load_key(pem: bytes) -> EllipticCurvePrivateKey:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = serialization.load_pem_private_key(pem, password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise ValueError("not an elliptic-curve key")
    return key


def _private_pem(key: EllipticCurvePrivateKey) -> bytes:
    from cryptography.hazmat.primitives import serialization

    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
