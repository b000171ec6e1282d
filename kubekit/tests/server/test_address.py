"""Where a server is found."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography import x509

from kubekit.server.serve.server import Server


@pytest.mark.parametrize("host", ["0.0.0.0", "127.0.0.2"])
async def test_a_server_is_known_by_an_address_that_its_certificate_is_for(tmp_path: Path, host: str) -> None:
    async with Server(tmp_path / "data", host=host) as server:
        known = server.url.removeprefix("https://").rpartition(":")[0]
        certificate = x509.load_pem_x509_certificate((tmp_path / "data/pki/apiserver.crt").read_bytes())
        assert server.url in server.kubeconfig.read_text()
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert known in map(str, names.get_values_for_type(x509.IPAddress))
    assert known != "0.0.0.0"
    assert host in ("0.0.0.0", known)
