"""How AWS is reached: certificates, proxies, and what is imported when."""

from __future__ import annotations

import ssl
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from aiohttp import ClientSession, web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from butler.errors import ProviderUnavailable
from butler.providers import registry
from butler.providers.contract import Provider, Surroundings
from butler.providers.testing.web import serving
from tests.providers.aws.configs import CREDENTIALS, config
from tests.providers.aws.fake import FakeAws
from tests.providers.aws.harness import AwsHarness

NOBODY = ("nobody", "33333333-3333-4333-8333-333333333333")


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """One for 127.0.0.1, signed by itself, with its key beside it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "aws.test")])
    start = datetime.now(UTC) - timedelta(hours=1)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (tmp_path / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    (tmp_path / "ca.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    return tmp_path


@asynccontextmanager
async def behind_tls(aws: FakeAws, place: Path) -> AsyncIterator[str]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(place / "ca.pem", place / "key.pem")
    runner = web.AppRunner(aws.app(), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    try:
        yield f"https://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def account(url: str, credentials: dict[str, str], **section: object) -> Provider:
    return registry.connect(config(url, **section), credentials, Surroundings(patience=5.0))


async def test_a_certificate_nobody_signed_is_not_trusted(harness: AwsHarness, certificate: Path) -> None:
    async with behind_tls(harness.aws, certificate) as url:
        provider = account(url, CREDENTIALS)
        with pytest.raises(ProviderUnavailable):
            await provider.find(*NOBODY)
        await provider.close()


async def test_a_certificate_of_the_secret_is_trusted(harness: AwsHarness, certificate: Path) -> None:
    async with behind_tls(harness.aws, certificate) as url:
        provider = account(url, {**CREDENTIALS, "ca.pem": (certificate / "ca.pem").read_text()})
        assert await provider.find(*NOBODY) is None
        await provider.close()


async def test_any_certificate_is_taken_if_that_is_wanted(harness: AwsHarness, certificate: Path) -> None:
    async with behind_tls(harness.aws, certificate) as url:
        provider = account(url, CREDENTIALS, insecure=True)
        assert await provider.find(*NOBODY) is None
        await provider.close()


async def test_a_proxy_is_used(harness: AwsHarness) -> None:
    seen: list[str] = []

    async def pass_on(request: web.Request) -> web.Response:
        seen.append(str(request.url))
        async with (
            ClientSession() as session,
            session.post(harness.url, data=await request.read(), headers=request.headers) as answer,
        ):
            return web.Response(body=await answer.read(), status=answer.status, content_type="text/xml")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", pass_on)
    async with serving(app) as proxy:
        provider = account("http://ec2.invalid", CREDENTIALS, proxy=proxy)
        assert await provider.find(*NOBODY) is None
        await provider.close()
    assert seen == ["http://ec2.invalid/"]


async def test_the_environment_of_the_process_does_not_matter(
    harness: AwsHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_EC2"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIASOMEONEELSE")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    provider = harness.connected()
    assert await provider.find(*NOBODY) is None
    await provider.close()


async def test_nobody_listening_is_an_outage() -> None:
    provider = account("http://127.0.0.1:1", CREDENTIALS)
    with pytest.raises(ProviderUnavailable, match=r"EndpointConnectionError for ec2\.describe_instances"):
        await provider.find(*NOBODY)
    await provider.close()


def test_no_sdk_is_imported_before_an_account_is_connected() -> None:
    script = (
        "import sys, butler.providers.registry as r, butler.cli.adm; r.names(); r.templates('aws');"
        "print([m for m in sys.modules if m.startswith(('botocore', 'aiobotocore', 'boto3'))])"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
