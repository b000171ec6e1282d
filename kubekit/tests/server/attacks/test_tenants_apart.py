"""Nobody can tell which tenants there are, but those who belong to one."""

from __future__ import annotations

import asyncio
import base64
import socket
import ssl
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
import yaml
from cryptography import x509

from kubekit.server.access import default_roles
from kubekit.server.serve.server import Server
from kubekit.server.store.changes import Change
from kubekit.server.store.store import Store
from tests.http_api import Answered, Api, admin_context
from tests.server.attacks.test_damaged_settings import damaged

RBAC = "/apis/rbac.authorization.k8s.io/v1"
PATHS = (
    "",
    *("/", "/version", "/healthz", "/livez", "/readyz", "/readyz?verbose", "/readyz/ping", "/livez/none", "/metrics"),
    *("/api", "/apis", "/api/v1", "/api/v1/namespaces", "/api/v1/namespaces/default", "/apis/apps", "/apis/apps/v1"),
    *("/apis/example.org/v1/things", "/openapi/v2", "/openapi/v3", "/openapi/v3/api/v1", "/none", "/openid/v1/jwks"),
    *("/.well-known/openid-configuration", "/api/v1/namespaces/kube-public/configmaps/cluster-info"),
    *("/api/v1/watch/namespaces", "/api/v1/namespaces?watch=1", "/apis/certificates.k8s.io/v1/signers"),
)
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
THERE, NOT_THERE = "team-a", "team-b"


async def _opened(server: Server, credentials: dict[str, object] | None) -> AsyncIterator[Api]:
    config = yaml.safe_load(server.admin_kubeconfig())
    authority = base64.b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"]).decode()
    context = ssl.create_default_context(cadata=authority) if credentials is None else admin_context(credentials)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context)) as session:
        yield Api(session, server.url)


@pytest.fixture
async def stranger(server: Server) -> AsyncIterator[Api]:
    async for api in _opened(server, None):
        yield api


@pytest.fixture
async def neighbour(server: Server) -> AsyncIterator[Api]:
    """The administrator of another tenant."""
    await server.add_space("neighbour")
    async for api in _opened(server, yaml.safe_load(server.admin_kubeconfig("neighbour"))):
        yield api


def comparable(answer: Answered, name: str) -> tuple[int, str, dict[str, str]]:
    body = answer.body.decode() if isinstance(answer.body, bytes) else str(answer.body)
    headers = {key: value for key, value in answer.headers.items() if key != "Date"}
    return answer.status, body.replace(name, "NAME"), headers


async def assert_alike(api: Api, **headers: str) -> None:
    for method in METHODS:
        for path in PATHS:
            there, not_there = [
                comparable(await api(method, f"/clusters/{name}{path}", **headers), name) for name in (THERE, NOT_THERE)
            ]
            assert there == not_there, (method, path)


async def test_strangers_cannot_tell(server: Server, stranger: Api) -> None:
    await server.add_space(THERE)
    await (await server.add_space(THERE)).pass_for("v1.31.4")
    await assert_alike(stranger)


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer nonsense"},
        {"Authorization": "Bearer a.b.c"},
        {"Authorization": "Basic eDp5"},
        {"Impersonate_User": "x"},
        {"Impersonate_Group": "system:masters"},
        {"X_Remote_User": "admin", "X_Remote_Group": "system:masters"},
    ],
)
async def test_nor_with_credentials_that_are_none(server: Server, stranger: Api, headers: dict[str, str]) -> None:
    await server.add_space(THERE)
    await assert_alike(stranger, **headers)


async def test_neighbours_cannot_tell(server: Server, neighbour: Api) -> None:
    await server.add_space(THERE)
    assert (await neighbour("GET", "/clusters/neighbour/api/v1/namespaces")).status == 200
    await assert_alike(neighbour)


async def test_nor_can_the_owner_of_the_platform_without_their_keys(server: Server, api: Api) -> None:
    await server.add_space(THERE)
    await assert_alike(api)


async def test_nor_with_the_token_of_a_neighbour(server: Server, stranger: Api, neighbour: Api) -> None:
    await server.add_space(THERE)
    account = "/clusters/neighbour/api/v1/namespaces/default/serviceaccounts/default/token"
    made = await neighbour("POST", account, {"spec": {}})
    token = f"Bearer {made.body['status']['token']}"
    own = await stranger("GET", "/clusters/neighbour/apis", Authorization=token)
    assert own.status == 200
    await assert_alike(stranger, Authorization=token)


async def test_strangers_wake_nobody(tmp_path: Path) -> None:
    async with Server(tmp_path / "data") as first:
        await first.add_space(THERE)
        await first.add_space("neighbour")
        credentials = yaml.safe_load(first.admin_kubeconfig("neighbour"))
    async with Server(tmp_path / "data") as server:
        looks: list[str] = []
        server.looked_at = looks.append
        async for api in _opened(server, None):
            await assert_alike(api)
            await assert_alike(api, Authorization="Bearer a.b.c")
        async for api in _opened(server, credentials):
            await assert_alike(api)
        assert THERE not in server.spaces.awake
        assert looks == []
        async for api in _opened(server, yaml.safe_load(server.admin_kubeconfig(THERE))):
            assert (await api("GET", f"/clusters/{THERE}/version")).status == 200
        assert looks == [THERE]


async def test_what_a_tenant_grants_to_strangers_they_get_also_after_a_restart(tmp_path: Path) -> None:
    granted = "/api/v1/namespaces/kube-public/configmaps/cluster-info"
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "system:anonymous"}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}
    rules = [{"verbs": ["get"], "apiGroups": [""], "resources": ["configmaps"]}]
    async with Server(tmp_path / "data") as server:
        await server.add_space(THERE)
        async for api in _opened(server, yaml.safe_load(server.admin_kubeconfig(THERE))):
            place = f"/clusters/{THERE}{RBAC}/namespaces/kube-public"
            await api("POST", f"{place}/roles", {"metadata": {"name": "r"}, "rules": rules})
            bound = {"metadata": {"name": "b"}, "roleRef": reference, "subjects": [subject]}
            await api("POST", f"{place}/rolebindings", bound)
        async for api in _opened(server, None):
            assert (await api("GET", f"/clusters/{THERE}{granted}")).status == 404
    async with Server(tmp_path / "data") as server:
        async for api in _opened(server, None):
            assert (await api("GET", f"/clusters/{THERE}{granted}")).status == 404


@pytest.mark.parametrize("kind", ["clusterroles", "clusterrolebindings"])
async def test_what_a_tenant_denies_to_strangers_is_denied_also_after_a_restart(tmp_path: Path, kind: str) -> None:
    async with Server(tmp_path / "data") as server:
        await server.add_space(THERE)
        async for api in _opened(server, yaml.safe_load(server.admin_kubeconfig(THERE))):
            path = f"/clusters/{THERE}{RBAC}/{kind}/system:public-info-viewer"
            change = {
                "rules": [],
                "metadata": {"annotations": {"rbac.authorization.kubernetes.io/autoupdate": "false"}},
            }
            change |= {"subjects": []} if kind == "clusterrolebindings" else {}
            assert (await api("PATCH", path, change, "application/merge-patch+json")).status == 200
    async with Server(tmp_path / "data") as server:
        async for api in _opened(server, None):
            assert (await api("GET", f"/clusters/{THERE}/version")).status == 403


BINDING = {
    "metadata": {"name": "b", "uid": "u", "resourceVersion": "1", "creationTimestamp": "2030-01-01T00:00:00Z"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
    "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "system:anonymous"}],
}

ODD: tuple[Any, ...] = ([], "system:anonymous", ["system:anonymous"], {"system:anonymous": 1}, 5, None)


async def store_beside(data: Path, values: Iterable[Any]) -> None:
    """Put bindings into a tenant's API that no request could have brought there."""
    store = Store(data / "state.db")
    bucket = store.bucket(THERE, "rbac.authorization.k8s.io/clusterrolebindings")
    for number, value in enumerate(values):
        name = f"b{number}"
        encoded = msgspec.json.encode(value).replace(b'"name":"b"', b'"name":"%s"' % name.encode())
        await store.write(bucket, name, Change.ADDED, encoded)
    await store.close()


async def answer_to_strangers(data: Path) -> tuple[int, int]:
    """What strangers are told who may see the version only, and what whoever is known there is told."""
    async with Server(data) as server:
        async for api in _opened(server, None):
            told = (await api("GET", f"/clusters/{THERE}/version")).status
            refused = (await api("GET", f"/clusters/{THERE}/api/v1/nodes")).status
    assert refused in (401, 403, 404)
    async with Server(data) as server:
        async for api in _opened(server, yaml.safe_load(server.admin_kubeconfig(THERE))):
            known = (await api("GET", f"/clusters/{THERE}/api/v1/namespaces")).status
    return told, known


async def test_damaged_bindings_keep_nobody_from_being_answered(tmp_path: Path) -> None:
    async with Server(tmp_path / "data") as server:
        await server.add_space(THERE)
    before = await answer_to_strangers(tmp_path / "data")
    await store_beside(tmp_path / "data", [*ODD, *damaged(BINDING)])
    assert await answer_to_strangers(tmp_path / "data") == before == (200, 200)


def test_nor_does_any_of_them_alone() -> None:
    usual = [one for one in default_roles.bootstrap_objects() if one["metadata"]["name"] == "system:public-info-viewer"]
    assert not default_roles.grant_to_strangers(usual)
    for value in (*ODD, *damaged(BINDING)):
        assert default_roles.grant_to_strangers([*usual, value]) in (True, False), value


async def test_a_tenants_metrics_are_its_own(server: Server, neighbour: Api) -> None:
    space = await server.add_space(THERE)
    await space.settled()
    before = (await neighbour("GET", "/clusters/neighbour/metrics")).body
    async for api in _opened(server, yaml.safe_load(server.admin_kubeconfig(THERE))):
        maps = f"/clusters/{THERE}/api/v1/namespaces/default/configmaps"
        for number in range(3):
            assert (await api("POST", maps, {"metadata": {"name": f"m-{number}"}})).status == 201
        await api.watch(f"{maps}?watch=1", 1)
        own = (await api("GET", f"/clusters/{THERE}/metrics")).body.decode()
    assert (await neighbour("GET", "/clusters/neighbour/metrics")).body == before
    assert THERE not in before.decode()
    figures = dict(line.split() for line in own.splitlines() if not line.startswith("#"))
    stored = sum(len(server.store.keys_in(THERE, one)) for one in server.store.resources(THERE) if "/" in one)
    assert int(figures["kubekit_server_objects"]) == stored


def _server_flight(server: Server) -> bytes:
    """What the server says in a handshake that is not encrypted yet, and in which it asks for a certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(incoming, outgoing)
    seen = b""
    with socket.create_connection(("127.0.0.1", server.port)) as line:
        line.settimeout(5)
        while True:
            try:
                client.do_handshake()
                break
            except ssl.SSLWantReadError:
                line.sendall(outgoing.read())
                received = line.recv(2**16)
                seen += received
                incoming.write(received)
    return seen


async def test_the_handshake_names_no_tenant(server: Server) -> None:
    await server.add_space(THERE)
    flight = await asyncio.to_thread(_server_flight, server)
    assert b"kube-apiserver" in flight
    assert THERE.encode() not in flight


async def test_certificates_in_the_name_of_an_authority_are_refused_alike(server: Server) -> None:
    """Were its name known, TLS would say that the signature is wrong rather than that nobody knows the authority."""
    first, second = [(await server.add_space(name)).keys.authority.pair.certificate for name in (THERE, NOT_THERE)]
    names = [x509.load_pem_x509_certificate(one).subject.rfc4514_string() for one in (first, second)]
    assert names[0].replace(THERE, "") != names[1].replace(NOT_THERE, "")
