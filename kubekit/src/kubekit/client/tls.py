"""TLS settings made of certificates that are in memory."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kubekit.errors import InvalidConnection

from .config import Cluster


def context(cluster: Cluster, certificate: bytes = b"", key: bytes = b"") -> ssl.SSLContext:
    """Settings for one server and, if given, with a client certificate. Raises InvalidConnection."""
    made = _trusting_anyone() if cluster.insecure else _trusting(cluster)
    if certificate:
        _load_pair(made, certificate, key)
    return made


def _trusting_anyone() -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    return made


def _trusting(cluster: Cluster) -> ssl.SSLContext:
    """Trust the authority that is given and no other, or those of the system."""
    if not cluster.authority:
        return ssl.create_default_context()
    try:
        made = ssl.create_default_context(cadata=cluster.authority.read().decode("ascii", "replace"))
    except (ssl.SSLError, ValueError) as error:
        raise cluster.authority.refused("this is not a PEM certificate") from error
    # Python is stricter than the Go clients from 3.13 on; authorities they take shall do here, too.
    made.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return made


def _load_pair(made: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    with _as_file(certificate) as certificate_file, _as_file(key) as key_file:
        try:
            made.load_cert_chain(certificate_file, key_file, password=_no_password)
        except (ssl.SSLError, ValueError) as error:
            message = "the client certificate and its key cannot be used: they are not PEM, or do not belong together"
            raise InvalidConnection("credentials", "client-certificate", message) from error


def _no_password() -> str:
    """Instead of asking at the terminal for an encrypted key's password."""
    raise ValueError("the key is encrypted")


@contextmanager
def _as_file(content: bytes) -> Iterator[str]:
    """A file for those who read nothing else; in memory where the system can do that, and gone afterwards."""
    if hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir():
        handle = os.memfd_create("pem")
        try:
            with open(handle, "wb", closefd=False) as file:
                file.write(content)
            yield f"/proc/self/fd/{handle}"
        finally:
            os.close(handle)
        return
    import tempfile  # noqa: PLC0415 - slow to import, and rarely needed

    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "pem")
        path.touch(mode=0o600)
        path.write_bytes(content)
        yield str(path)
