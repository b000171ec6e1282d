"""A certificate for servers on loopback whose clients insist on TLS."""

from __future__ import annotations

import ipaddress
import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


@cache
def context() -> ssl.SSLContext:
    """For a server on loopback."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch, "both.pem")
        file.write_text("".join(_identity()))
        made.load_cert_chain(file)
    return made


def authority() -> str:
    """What a client has to trust, in PEM form."""
    return _identity()[0]


def fingerprint() -> bytes:
    """By which a client knows this one certificate."""
    return x509.load_pem_x509_certificate(authority().encode()).fingerprint(hashes.SHA256())


@cache
def _identity() -> tuple[str, str]:
    """A certificate that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "loopback")])
    now = datetime.now(UTC)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=12))
        .add_extension(address, critical=False)
        .sign(key, hashes.SHA256())
    )
    pem, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    return (
        certificate.public_bytes(pem).decode(),
        key.private_bytes(pem, form, serialization.NoEncryption()).decode(),
    )
