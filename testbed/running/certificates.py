"""Keys and certificates for programs on loopback."""

from __future__ import annotations

import base64
import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, as PEM."""

    certificate: bytes
    key: bytes

    def write(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.crt").write_bytes(self.certificate)
        (folder / f"{name}.key").write_bytes(self.key)


class Authority:
    """Signs for this machine. Its keys are RSA in the older encoding, the only one that Kamaji reads."""

    def __init__(self) -> None:
        self._key = rsa.generate_private_key(65537, 2048)
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "testbed")])
        made = self._builder(self._name, self._key).add_extension(x509.BasicConstraints(True, None), True)
        self.pair = _pair(made.sign(self._key, hashes.SHA256()), self._key)

    @property
    def bundle(self) -> str:
        """As a `caBundle` wants it."""
        return base64.b64encode(self.pair.certificate).decode()

    def issue(self, common_name: str) -> Pair:
        """For a server on loopback that is also a client."""
        key = rsa.generate_private_key(65537, 2048)
        names = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("localhost")]
        uses = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
        made = (
            self._builder(subject, key)
            .add_extension(x509.SubjectAlternativeName(names), False)
            .add_extension(x509.ExtendedKeyUsage(uses), False)
        )
        return _pair(made.sign(self._key, hashes.SHA256()), key)

    def _builder(self, subject: x509.Name, key: rsa.RSAPrivateKey) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return x509.CertificateBuilder(
            self._name, subject, key.public_key(), x509.random_serial_number(),
            now - timedelta(hours=1), now + timedelta(days=2),
        )  # fmt: skip


def _pair(certificate: x509.Certificate, key: rsa.RSAPrivateKey) -> Pair:
    encoding = serialization.Encoding.PEM
    plain = key.private_bytes(encoding, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())
    return Pair(certificate.public_bytes(encoding), plain)
