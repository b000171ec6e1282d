"""Making and reading X.509 certificates with ECDSA P-256 keys."""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cached_property

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from .identities import CertificateFacts, ClientIdentity, KeyPair

CLOCK_SKEW = timedelta(minutes=5)
"""How far a client's clock may be behind ours and still accept a fresh certificate."""

_LONGEST_NAME = 64
"""What X.509 allows for a common name."""
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
"""Since when an authority counts, which can never be replaced: also if the clock is ahead when it is made."""

_USER_UID = x509.ObjectIdentifier("1.3.6.1.4.1.57683.2")
"""The subject attribute in which Kubernetes looks for a user's UID."""


def new_key() -> bytes:
    """A fresh private key, PEM."""
    return ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )


def new_authority(name: str, now: datetime, days: int, *, is_marked: bool = False) -> KeyPair:
    """A self-signed certificate authority; with the mark of its key, nobody can guess what it is called."""
    key = _load_key(pem := new_key())
    mark = x509.SubjectKeyIdentifier.from_public_key(key.public_key()).digest.hex()[:16]
    subject = _name(f"kubernetes:{mark}:{name}"[:_LONGEST_NAME] if is_marked else name, ())
    certificate = (
        _builder(subject, subject, key.public_key(), min(now, LONG_AGO), now + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    return KeyPair(_signed(certificate, key), pem)


def parsed_facts(certificate: bytes) -> CertificateFacts:
    """What a PEM certificate says about itself. Raises ValueError."""
    parsed = x509.load_pem_x509_certificate(certificate)
    try:
        found = parsed.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return CertificateFacts(parsed.not_valid_before_utc, parsed.not_valid_after_utc)
    names = [*found.get_values_for_type(x509.DNSName), *map(str, found.get_values_for_type(x509.IPAddress))]
    return CertificateFacts(parsed.not_valid_before_utc, parsed.not_valid_after_utc, frozenset(names))


class Issuer:
    """A certificate authority at work."""

    def __init__(self, pair: KeyPair) -> None:
        self._certificate = x509.load_pem_x509_certificate(pair.certificate)
        self._pair = pair

    @cached_property
    def _key(self) -> ec.EllipticCurvePrivateKey:
        # Who only recognises certificates needs none.
        return _load_key(self._pair.key)

    def new_key(self) -> bytes:
        return new_key()

    def client_certificate(self, key: bytes, name: str, groups: Iterable[str], days: int, now: datetime) -> bytes:
        leaf = self._leaf(key, _name(name, groups), ExtendedKeyUsageOID.CLIENT_AUTH, now, self._end(now, days))
        return CertificateFacts(now, self._end(now, days)).text() + _signed(leaf, self._key)

    def serving_certificate(self, key: bytes, names: Iterable[str], days: int, now: datetime) -> bytes:
        listed, ends = sorted(set(names)), self._end(now, days)
        leaf = self._leaf(key, _name("kube-apiserver", ()), ExtendedKeyUsageOID.SERVER_AUTH, now, ends)
        alternatives = x509.SubjectAlternativeName([_general_name(one) for one in listed])
        signed = _signed(leaf.add_extension(alternatives, critical=False), self._key)
        return CertificateFacts(now, ends, frozenset(listed)).text() + signed

    def identity_of(self, der: bytes) -> ClientIdentity | None:
        certificate = x509.load_der_x509_certificate(der)
        try:
            certificate.verify_directly_issued_by(self._certificate)
        except (InvalidSignature, ValueError, TypeError):
            return None
        return _identity(certificate, der) if _is_for_clients(certificate) else None

    def _end(self, now: datetime, days: int) -> datetime:
        """Nothing outlives its authority."""
        return min(now + timedelta(days=days), self._certificate.not_valid_after_utc)

    def _leaf(
        self, key: bytes, subject: x509.Name, purpose: x509.ObjectIdentifier, now: datetime, ends: datetime
    ) -> x509.CertificateBuilder:
        issuer, public = self._certificate, _load_key(key).public_key()
        identifier = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
        return (
            _builder(subject, issuer.subject, public, now, ends)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False)
        )


def _is_for_clients(certificate: x509.Certificate) -> bool:
    """A certificate that does not say what it is for is for everything. Raises ValueError."""
    try:
        uses = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return True
    return ExtendedKeyUsageOID.CLIENT_AUTH in uses or ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE in uses


def _identity(certificate: x509.Certificate, der: bytes) -> ClientIdentity:
    def values(attribute: x509.ObjectIdentifier) -> tuple[str, ...]:
        return tuple(str(one.value) for one in certificate.subject.get_attributes_for_oid(attribute))

    uids = values(_USER_UID)
    if len(uids) > 1 or uids == ("",):
        raise ValueError(f"expected one user UID, found {list(uids)}")
    return ClientIdentity(
        name=(values(NameOID.COMMON_NAME) or ("",))[-1],
        uid=uids[0] if uids else "",
        groups=values(NameOID.ORGANIZATION_NAME),
        not_before=certificate.not_valid_before_utc,
        not_after=certificate.not_valid_after_utc,
        fingerprint=hashlib.sha256(der).hexdigest(),
    )


def _builder(
    subject: x509.Name, issuer: x509.Name, public: ec.EllipticCurvePublicKey, now: datetime, ends: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before((now - CLOCK_SKEW).astimezone(UTC))
        .not_valid_after(ends.astimezone(UTC))
    )


def _signed(certificate: x509.CertificateBuilder, key: ec.EllipticCurvePrivateKey) -> bytes:
    return certificate.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _name(common: str, organizations: Iterable[str]) -> x509.Name:
    groups = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, one) for one in organizations]
    return x509.Name([*groups, x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
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
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _load_key(pem: bytes) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(pem, password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise ValueError("not an elliptic-curve key")
    return key
