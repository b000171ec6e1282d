"""Keys and certificates on disk."""

from __future__ import annotations

import asyncio
import gc
import os
import ssl
from pathlib import Path

import pytest
import yaml
from cryptography import x509

from kubekit.clock import SystemClock
from kubekit.errors import DataDamaged
from kubekit.server.access import kubeconfig
from kubekit.server.access.authority import facts_of
from kubekit.server.access.identities import KeyPair
from kubekit.server.access.pki import Pki, Renewal, is_due, new_space_keys
from kubekit.server.access.validity import validity_of
from tests.server.auth.world import TurnedClock

TENANT = "team-a/web"


@pytest.fixture
def clock() -> TurnedClock:
    return TurnedClock()


@pytest.fixture
def pki(tmp_path: Path, clock: TurnedClock) -> Pki:
    made = Pki(tmp_path / "pki", clock, ["api.example.com", "192.0.2.7"])
    made.open()
    return made


def reopened(pki: Pki, *names: str) -> Pki:
    return Pki(pki.directory, pki.clock, names or ["api.example.com", "192.0.2.7"])


def parsed(pki: Pki, name: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate((pki.directory / f"{name}.crt").read_bytes())


def test_only_the_owner_may_read_what_is_written(pki: Pki) -> None:
    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in pki.directory.rglob("*") if path.is_file()}
    assert set(modes.values()) == {"0o600"}
    assert oct(pki.directory.stat().st_mode & 0o777) == "0o700"


def test_nothing_half_written_stays_behind(pki: Pki, tmp_path: Path) -> None:
    assert pki.directory.exists()
    assert list(tmp_path.rglob(".*")) == []


def test_the_serving_certificate_holds_every_name_the_server_is_reached_by(pki: Pki) -> None:
    names = parsed(pki, "apiserver").extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    hosts = set(names.get_values_for_type(x509.DNSName))
    addresses = {str(one) for one in names.get_values_for_type(x509.IPAddress)}
    assert {"localhost", "kubernetes.default.svc.cluster.local", "api.example.com"} <= hosts
    assert {"127.0.0.1", "::1", "10.96.0.1", "192.0.2.7"} == addresses


def test_a_second_start_changes_nothing(pki: Pki) -> None:
    before = {path: path.read_bytes() for path in pki.directory.iterdir()}
    assert reopened(pki).open() == Renewal()
    assert {path: path.read_bytes() for path in pki.directory.iterdir()} == before


def test_certificates_are_renewed_thirty_days_before_they_end(pki: Pki, clock: TurnedClock) -> None:
    key = (pki.directory / "apiserver.key").read_bytes()
    clock.turn(days=334)
    assert pki.renew() == Renewal()
    clock.turn(days=1)
    assert pki.renew() == Renewal(serving=True, admin=True)
    assert (pki.directory / "apiserver.key").read_bytes() == key
    assert parsed(pki, "apiserver").not_valid_after_utc > clock.now()
    assert pki.renew() == Renewal()


def test_new_names_renew_only_the_serving_certificate(pki: Pki) -> None:
    assert reopened(pki, "other.example.com").open() == Renewal(serving=True)


def test_no_certificate_outlives_its_authority(pki: Pki, clock: TurnedClock) -> None:
    clock.turn(days=3600)
    made = x509.load_pem_x509_certificate(pki.issue_client_certificate("alice", [], 365).certificate)
    assert made.not_valid_after_utc == parsed(pki, "ca").not_valid_after_utc


def test_a_certificate_someone_else_wrote_is_read_too(pki: Pki) -> None:
    path = pki.directory / "apiserver.crt"
    content = path.read_bytes()
    path.write_bytes(content[content.index(b"-----BEGIN") :])
    assert facts_of(path.read_bytes()).names == pki.names
    assert reopened(pki).open() == Renewal()


@pytest.mark.parametrize("name", ["ca.crt", "ca.key", "sa.key", "apiserver.crt", "apiserver.key", "admin.key"])
def test_a_missing_file_is_reported_and_not_made_anew(pki: Pki, name: str) -> None:
    (pki.directory / name).unlink()
    with pytest.raises(DataDamaged, match=name):
        reopened(pki).open()
    assert not (pki.directory / name).exists()


@pytest.mark.parametrize("name", ["ca.crt", "ca.key", "sa.key", "apiserver.crt", "apiserver.key", "admin.crt"])
def test_a_damaged_file_is_reported(pki: Pki, name: str) -> None:
    path = pki.directory / name
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(DataDamaged, match=name):
        reopened(pki).open()


def test_a_key_of_another_certificate_is_reported(pki: Pki) -> None:
    (pki.directory / "ca.key").write_bytes((pki.directory / "admin.key").read_bytes())
    with pytest.raises(DataDamaged, match=r"ca\.key: is damaged or does not belong to ca\.crt"):
        reopened(pki).open()


def test_a_space_that_is_made_anew_gets_other_keys(clock: TurnedClock) -> None:
    before, after = new_space_keys(TENANT, clock.now()), new_space_keys(TENANT, clock.now())
    assert before.authority.pair != after.authority.pair
    assert before.signing_key != after.signing_key
    assert before.admin != after.admin


def test_the_keys_of_a_space_come_with_its_administrator(clock: TurnedClock) -> None:
    keys = new_space_keys(TENANT, clock.now())
    identity = keys.authority.identity_of(ssl.PEM_cert_to_DER_cert(pem_of(keys.admin)))
    assert identity is not None
    assert (identity.name, identity.groups) == ("kubernetes-admin", ("system:masters",))


def test_it_is_time_to_renew_thirty_days_before_the_end(clock: TurnedClock) -> None:
    admin = new_space_keys(TENANT, clock.now()).admin
    clock.turn(days=334)
    assert not is_due(admin.certificate, clock.now())
    clock.turn(days=1)
    assert is_due(admin.certificate, clock.now())


def test_a_clock_that_was_ahead_when_everything_was_made_heals(tmp_path: Path) -> None:
    """Also for those who have the authority already: it never changes."""
    clock = TurnedClock()
    clock.turn(days=500)
    pki, tenant = Pki(tmp_path / "pki", clock), new_space_keys(TENANT, clock.now())
    pki.open()
    authority = pki.server_authority
    clock.turn(days=-500)
    assert Pki(tmp_path / "pki", clock).open() == Renewal(serving=True, admin=True)
    for name in ("ca", "apiserver", "admin"):
        assert parsed(pki, name).not_valid_before_utc < clock.now() < parsed(pki, name).not_valid_after_utc, name
    assert pki.server_authority == authority
    assert is_due(tenant.admin.certificate, clock.now())
    begins, ends = validity_of(tenant.authority.pair.certificate)
    assert begins < clock.now() < ends


@pytest.mark.parametrize("days", [0, 40_000])
def test_when_a_certificate_is_valid_is_read_as_others_read_it(days: int) -> None:
    """Also beyond 2049, from where on times are written otherwise."""
    clock = TurnedClock()
    clock.turn(days=days)
    made = new_space_keys(TENANT, clock.now())
    for certificate in (made.authority.pair.certificate, made.admin.certificate):
        read = x509.load_pem_x509_certificate(certificate)
        assert validity_of(certificate) == (read.not_valid_before_utc, read.not_valid_after_utc)


@pytest.mark.parametrize("text", [b"", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", b"MIIB"])
def test_what_is_no_certificate_is_valid_never(text: bytes) -> None:
    with pytest.raises(ValueError, match="not a certificate"):
        validity_of(text)


def pem_of(pair: KeyPair) -> str:
    return pair.certificate[pair.certificate.index(b"-----BEGIN") :].decode()


def test_a_kubeconfig_carries_everything_it_needs(pki: Pki) -> None:
    access = kubeconfig.Access("https://127.0.0.1:6443", pki.server_authority, "admin", pki.admin, "local", "apps")
    config = yaml.safe_load(kubeconfig.render(access))
    assert config["contexts"] == [
        {"name": "local", "context": {"cluster": "local", "user": "admin", "namespace": "apps"}}
    ]
    assert set(config["users"][0]["user"]) == {"client-certificate-data", "client-key-data"}


async def test_the_listener_lets_every_space_through_and_no_stranger(tmp_path: Path) -> None:
    pki = Pki(tmp_path / "pki", SystemClock())
    pki.open()
    stranger = Pki(tmp_path / "stranger", SystemClock())
    stranger.open()
    listener = pki.tls
    keys = new_space_keys(TENANT, SystemClock().now())
    pki.trust({TENANT: keys.authority.pair.certificate})
    tenant = keys.authority.issue_client_certificate("eve", ["system:masters"], 1, SystemClock().now())
    assert await _subject_seen(listener, pki, pki.admin, tmp_path) == b"kubernetes-admin"
    assert await _subject_seen(listener, pki, tenant, tmp_path) == b"eve"
    assert await _subject_seen(listener, pki, None, tmp_path) == b"nobody"
    assert await _subject_seen(listener, pki, stranger.admin, tmp_path) == b""


async def test_authorities_of_spaces_that_are_gone_leave_nothing_behind(tmp_path: Path) -> None:
    pki = Pki(tmp_path / "pki", SystemClock())
    pki.open()
    listener, now = pki.tls, SystemClock().now()
    kept = new_space_keys(TENANT, now)
    before = _authorities_in_memory()
    pki.trust({TENANT: kept.authority.pair.certificate})
    others = [new_space_keys(f"other-{number}", now).authority.pair.certificate for number in range(100)]
    for _ in range(3):
        for number, certificate in enumerate(others):
            pki.trust({str(number): certificate})
        for number in range(100):
            pki.forget(str(number))
    assert _authorities_in_memory() - before < 100
    tenant = kept.authority.issue_client_certificate("eve", [], 1, now)
    assert await _subject_seen(listener, pki, tenant, tmp_path) == b"eve"
    assert await _subject_seen(listener, pki, pki.admin, tmp_path) == b"kubernetes-admin"


def _authorities_in_memory() -> int:
    gc.collect()
    contexts = [one for one in gc.get_objects() if isinstance(one, ssl.SSLContext)]
    return sum(one.cert_store_stats()["x509"] for one in contexts)


async def _subject_seen(listener: ssl.SSLContext, pki: Pki, pair: KeyPair | None, scratch: Path) -> bytes:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = writer.get_extra_info("ssl_object").getpeercert()
        subject = dict(one[0] for one in peer["subject"]) if peer else {}
        writer.write(subject.get("commonName", "nobody").encode())
        writer.close()
        await writer.wait_closed()

    client = ssl.create_default_context(cadata=pki.server_authority.decode())
    if pair is not None:
        path = scratch / "client.pem"
        path.write_bytes(pair.certificate + pair.key)
        client.load_cert_chain(path)
        os.unlink(path)
    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=listener) as server:
        host, port = server.sockets[0].getsockname()
        reader, writer = await asyncio.open_connection(host, port, ssl=client)
        try:
            return await reader.read()
        except (ssl.SSLError, ConnectionError):
            return b""
        finally:
            writer.transport.abort()
