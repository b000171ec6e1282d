"""Identities that are forged, borrowed or bent: nobody becomes who they are not."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from kubekit.server.access.authority import Authority
from kubekit.server.access.identities import KeyPair
from kubekit.server.serve.server import Server
from tests.http_api import Api
from tests.server.attacks.odd_values import encoded

REVIEW = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
CLIENT, SERVER = ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH
NOW = datetime.now(UTC)


def subject(*names: str, groups: Sequence[str] = ()) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*parts, *(x509.NameAttribute(NameOID.COMMON_NAME, name) for name in names)])


def issued(
    by: KeyPair, named: x509.Name, *uses: x509.ObjectIdentifier, begins: datetime = NOW, days: int = 1
) -> KeyPair:
    """A certificate as only the holder of an authority's key can make it."""
    key = ec.generate_private_key(ec.SECP256R1())
    signer = serialization.load_pem_private_key(by.key, None)
    assert isinstance(signer, ec.EllipticCurvePrivateKey)
    builder = (
        x509.CertificateBuilder(x509.load_pem_x509_certificate(by.certificate).subject, named, key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins - timedelta(minutes=1))
        .not_valid_after(begins + timedelta(days=days))
    )
    if uses:
        builder = builder.add_extension(x509.ExtendedKeyUsage(uses), critical=False)
    made = builder.sign(signer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    plain, nothing = serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    return KeyPair(made, key.private_bytes(serialization.Encoding.PEM, plain, nothing))


async def seen_as(server: Server, pair: KeyPair | None, folder: Path, space: str = "", **headers: str) -> Any:
    """What the server says of somebody: a user, or the status of its refusal, 0 if it comes with the handshake."""
    config = yaml.safe_load(server.admin_kubeconfig())
    authority = base64.b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"]).decode()
    context = ssl.create_default_context(cadata=authority)
    if pair is not None:
        (folder / "crt").write_bytes(pair.certificate)
        (folder / "key").write_bytes(pair.key)
        context.load_cert_chain(folder / "crt", folder / "key")
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context)) as session:
        try:
            answer = await Api(session, server.url)("POST", f"{space}{REVIEW}", {}, **headers)
        except aiohttp.ClientError:
            return 0
    return answer.body["status"]["userInfo"] if answer.status == 201 else answer.status


def root(server: Server) -> KeyPair:
    return server.pki.keys.authority.pair


async def test_who_holds_a_certificate(server: Server, tmp_path: Path) -> None:
    made = issued(root(server), subject("x", "last", groups=("a", "b", "a")), CLIENT)
    user = await seen_as(server, made, tmp_path)
    assert (user["username"], user["groups"]) == ("last", ["a", "b", "a", "system:authenticated"])


@pytest.mark.parametrize(
    ("named", "uses", "begins"),
    [
        (subject(groups=("system:masters",)), (CLIENT,), NOW),
        (subject(), (CLIENT,), NOW),
        (subject("x"), (SERVER,), NOW),
        (subject("x"), (ExtendedKeyUsageOID.CODE_SIGNING,), NOW),
        (subject("x"), (CLIENT,), NOW - timedelta(days=9)),
        (subject("x"), (CLIENT,), NOW + timedelta(days=9)),
    ],
    ids=["no name", "nothing", "for servers", "for something else", "too old", "too new"],
)
async def test_certificates_that_prove_nothing(
    server: Server, tmp_path: Path, named: x509.Name, uses: tuple[x509.ObjectIdentifier, ...], begins: datetime
) -> None:
    made = issued(root(server), named, *uses, begins=begins)
    assert await seen_as(server, made, tmp_path) in (0, 401)


@pytest.mark.parametrize("uses", [(SERVER,), (ExtendedKeyUsageOID.TIME_STAMPING,)])
def test_an_authority_knows_by_itself_what_a_certificate_is_for(
    server_keys: KeyPair, uses: tuple[x509.ObjectIdentifier, ...]
) -> None:
    """Not everybody comes by TLS."""
    der = ssl.PEM_cert_to_DER_cert(issued(server_keys, subject("x"), *uses).certificate.decode())
    assert Authority(server_keys).identity_of(der) is None
    fine = ssl.PEM_cert_to_DER_cert(issued(server_keys, subject("x"), *uses, CLIENT).certificate.decode())
    assert Authority(server_keys).identity_of(fine) is not None


@pytest.fixture
def server_keys() -> KeyPair:
    from kubekit.server.access.pki import new_space_keys  # noqa: PLC0415 - slow to load

    return new_space_keys("x", NOW).authority.pair


async def test_the_authority_of_a_tenant_makes_nobody_elsewhere(server: Server, tmp_path: Path) -> None:
    authorities = [(await server.add_space(name)).keys.authority.pair for name in ("a", "b")]
    master = issued(authorities[0], subject("kubernetes-admin", groups=("system:masters",)), CLIENT)
    own = await seen_as(server, master, tmp_path, "/clusters/a")
    assert own["username"] == "kubernetes-admin"
    assert await seen_as(server, master, tmp_path) == 401
    assert await seen_as(server, master, tmp_path, "/clusters/b") == 401


async def test_a_certificate_signs_no_other(server: Server, tmp_path: Path) -> None:
    middle = issued(root(server), subject("x"), CLIENT)
    leaf = issued(middle, subject("kubernetes-admin", groups=("system:masters",)), CLIENT)
    chain = KeyPair(leaf.certificate + middle.certificate, leaf.key)
    assert await seen_as(server, leaf, tmp_path) in (0, 401)
    assert await seen_as(server, chain, tmp_path) in (0, 401)


async def test_an_authority_of_the_same_name_is_another(server: Server, tmp_path: Path) -> None:
    name = x509.load_pem_x509_certificate(root(server).certificate).subject
    key = ec.generate_private_key(ec.SECP256R1())
    plain, nothing = serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    fake = KeyPair(root(server).certificate, key.private_bytes(serialization.Encoding.PEM, plain, nothing))
    made = issued(fake, subject("kubernetes-admin", groups=("system:masters",)), CLIENT)
    assert name == x509.load_pem_x509_certificate(made.certificate).issuer
    assert await seen_as(server, made, tmp_path) in (0, 401)


@pytest.mark.parametrize(
    "headers",
    [
        {"X_Remote_User": "admin", "X_Remote_Group": "system:masters"},
        {"X_Remote_User": "admin", "X_Remote_Extra_A": "b", "X_Remote_Uid": "1"},
        {"X_Forwarded_User": "admin", "X_Forwarded_Client_Cert": "x"},
        {"X_Ssl_Client_Cert": "x", "Ssl_Client_Verify": "SUCCESS"},
        {"Authorization": "Basic a3ViZXJuZXRlcy1hZG1pbjp4"},
        {"Authorization": "Negotiate x"},
        {"Cookie": "token=x; Authorization=Bearer x"},
    ],
)
async def test_headers_of_proxies_are_not_believed(server: Server, tmp_path: Path, headers: dict[str, str]) -> None:
    assert await seen_as(server, None, tmp_path, **headers) == 403
    somebody = issued(root(server), subject("x"), CLIENT)
    assert (await seen_as(server, somebody, tmp_path, **headers))["username"] == "x"


@pytest.mark.parametrize("header", ["Impersonate_User", "Impersonate_Group", "Impersonate_Uid", "Impersonate_Extra_a"])
async def test_who_may_not_be_somebody_else_is_nobody_else(server: Server, tmp_path: Path, header: str) -> None:
    somebody = issued(root(server), subject("x"), CLIENT)
    headers = {"Impersonate_User": "x", header: "system:masters"}
    assert await seen_as(server, somebody, tmp_path, **headers) == 403
    assert await seen_as(server, None, tmp_path, **headers) == 403


async def token_of(api: Api, space: str = "", **spec: Any) -> str:
    path = f"{space}/api/v1/namespaces/default/serviceaccounts/default/token"
    return str((await api("POST", path, {"spec": spec})).body["status"]["token"])


async def test_tokens_are_taken_from_headers_only(server: Server, api: Api, tmp_path: Path) -> None:
    token = await token_of(api)
    assert (await seen_as(server, None, tmp_path, Authorization=f"Bearer {token}"))["username"].endswith(":default")
    plain = ssl.create_default_context(cadata=server.pki.server_authority.decode())
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=plain)) as session:
        for query in (f"access_token={token}", f"token={token}", f"authorization=Bearer%20{token}"):
            assert (await Api(session, server.url)("POST", f"{REVIEW}?{query}", {})).status == 403


async def test_forged_tokens(server: Server, api: Api, tmp_path: Path) -> None:
    token = await token_of(api)
    header, payload, signature = token.split(".")
    claims = json.loads(base64.urlsafe_b64decode(f"{payload}=="))
    kid = json.loads(base64.urlsafe_b64decode(f"{header}=="))["kid"]
    other = encoded({**claims, "sub": "system:serviceaccount:kube-system:default"})
    key_set = json.dumps(server.root.access.tokens.key.key_set()).encode()
    secrets = (key_set, root(server).certificate, server.pki.server_authority, b"", kid.encode())
    forged = [
        f"{encoded({'alg': 'none'})}.{payload}.",
        f"{encoded({'alg': 'none', 'kid': kid})}.{payload}.{signature}",
        f"{header}.{payload}.",
        f"{header}.{other}.{signature}",
        f"{header}.{payload}.{signature[:-4]}AAAA",
        f"{encoded({'alg': 'ES256', 'kid': kid, 'jwk': {}})}.{payload}.{signature}",
    ]
    for secret in secrets:
        start = f"{encoded({'alg': 'HS256', 'kid': kid})}.{payload}"
        signed = hmac.new(secret, start.encode(), hashlib.sha256).digest()
        forged.append(f"{start}.{base64.urlsafe_b64encode(signed).decode().rstrip('=')}")
    for one in forged:
        assert await seen_as(server, None, tmp_path, Authorization=f"Bearer {one}") == 401, one


async def test_tokens_of_one_space_with_the_key_name_of_another(server: Server, tmp_path: Path) -> None:
    first, second = [await server.add_space(name) for name in ("a", "b")]
    await first.settled()
    account = first.lookup("serviceaccounts", "default", "default")
    assert account is not None
    token = first.issuer.issue(account, ["https://kubernetes.default.svc"], 600)
    _, payload, signature = token.split(".")
    bent = encoded({"alg": "ES256", "kid": second.access.tokens.key.signer.id})
    assert await seen_as(server, None, tmp_path, "/clusters/b", Authorization=f"Bearer {token}") == 401
    assert (
        await seen_as(server, None, tmp_path, "/clusters/b", Authorization=f"Bearer {bent}.{payload}.{signature}")
        == 401
    )
    assert (await seen_as(server, None, tmp_path, "/clusters/a", Authorization=f"Bearer {token}"))["uid"]


async def test_tokens_end_with_what_they_are_bound_to(server: Server, api: Api, tmp_path: Path) -> None:
    core = "/api/v1/namespaces/default"
    await api("POST", f"{core}/secrets", {"metadata": {"name": "s"}})
    await api("POST", f"{core}/serviceaccounts", {"metadata": {"name": "gone"}})
    bound = await token_of(api, boundObjectRef={"kind": "Secret", "apiVersion": "v1", "name": "s"})
    others = await token_of(api, audiences=["somebody else"])
    lost = (await api("POST", f"{core}/serviceaccounts/gone/token", {"spec": {}})).body["status"]["token"]
    await api("DELETE", f"{core}/secrets/s")
    await api("DELETE", f"{core}/serviceaccounts/gone")
    for token in (bound, others, lost):
        assert await seen_as(server, None, tmp_path, Authorization=f"Bearer {token}") == 401
