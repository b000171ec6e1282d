"""What every API holds from its first moment."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubekit.clock import SystemChance, SystemClock
from kubekit.errors import Invalid, ServiceUnavailable
from kubekit.model.resource import Address
from kubekit.server.access.pki import Pki
from kubekit.server.client import DirectClient
from kubekit.server.pipeline.watches import Hub
from kubekit.server.serve.server import Server
from kubekit.server.spaces import kubernetes_service
from kubekit.server.spaces.beginnings import NOTHING_ELSE, Contents
from kubekit.server.spaces.kubernetes_service import Location
from kubekit.server.spaces.spaces import Spaces
from kubekit.server.store.changes import Change
from kubekit.server.store.store import Store

SERVICES = Address("", "v1", "Service", "services", True)
ENDPOINTS = Address("", "v1", "Endpoints", "endpoints", True)
SLICES = Address("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", True)
CLUSTER_ROLES = Address("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", False)


def stored(store: Store, space: str) -> dict[tuple[str, str], bytes]:
    """Every object of a space by resource and key, without what is never the same twice."""
    found: dict[tuple[str, str], bytes] = {}
    for resource in store.resources(space):
        if "/" in resource:
            found |= {(resource, row.key): alike(row.value) for row in store.rows(space, resource)}
    return found


def alike(value: bytes) -> bytes:
    obj = msgspec.json.decode(value)
    meta = obj["metadata"]
    meta |= {"uid": "", "resourceVersion": "", "creationTimestamp": ""}
    for entry in meta.get("managedFields", ()):
        entry["time"] = ""
    if "client-ca-file" in obj.get("data", ()):
        obj["data"]["client-ca-file"] = ""
    return msgspec.json.encode(obj)


async def test_the_objects_are_byte_for_byte_what_the_ordinary_way_makes_of_them(tmp_path: Path) -> None:
    async with Server(tmp_path) as server:
        # A space of which there is nothing but a trace gets everything one by one.
        trace = b'{"metadata":{"managedFields":[]}}'
        await server.store.write(server.store.bucket("bare", "/secrets"), "default/x", Change.ADDED, trace)
        await server.add_space("quick")
    async with Server(tmp_path, port=server.port) as again:
        await again.spaces["bare"].settled()
        one_by_one, at_once = stored(again.store, "bare"), stored(again.store, "quick")
        del one_by_one["/secrets", "default/x"]
        assert one_by_one == at_once
        assert len(at_once) > 35


_ROLE = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "reader"}}
MORE = Contents("somebody", (_ROLE | {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]},))


async def test_a_space_can_begin_with_more(tmp_path: Path) -> None:
    async with Server(tmp_path) as server:
        one = DirectClient(await server.add_space("one", contents=MORE))
        other = DirectClient(await server.add_space("other"))
        made = await one.get(CLUSTER_ROLES, "reader")
        assert made["rules"] == MORE.objects[0]["rules"]
        assert made["metadata"]["managedFields"][0]["manager"] == "somebody"
        await other.create(dict(MORE.objects[0]), CLUSTER_ROLES, manager="somebody")
        written = await other.get(CLUSTER_ROLES, "reader")
        assert alike(msgspec.json.encode(made)) == alike(msgspec.json.encode(written))
        assert [server.spaces[name].began_with(MORE) for name in ("one", "other")] == [True, False]
    async with Server(tmp_path) as again:
        assert await DirectClient(again.spaces["one"]).get(CLUSTER_ROLES, "reader") == made
        assert again.spaces["one"].began_with(Contents(MORE.manager, MORE.objects))


async def test_to_begin_with_more_costs_no_further_writes(server: Server) -> None:
    async def writes(name: str, contents: Contents) -> int:
        before = server.store.committed
        await server.add_space(name, contents=contents)
        return server.store.committed - before

    await writes("first", NOTHING_ELSE)
    base = await writes("second", NOTHING_ELSE)
    assert [await writes("third", MORE), await writes("fourth", MORE)] == [base + 1, base]


async def test_a_space_that_would_begin_with_what_is_not_valid_is_not_made(server: Server) -> None:
    wrong = Contents("somebody", ({**_ROLE, "rules": [{"verbs": []}]},))
    with pytest.raises(Invalid, match="verbs"):
        await server.add_space("demo", contents=wrong)
    assert "demo" not in server.spaces


@pytest.fixture
async def spaces(tmp_path: Path) -> AsyncIterator[Spaces]:
    """Spaces in memory, of a server that others can reach."""
    pki = Pki(tmp_path, SystemClock())
    pki.open()
    store = Store(None)
    made = Spaces(store, Hub(store), pki, Location("192.0.2.7", 6443), SystemClock(), SystemChance())
    yield made
    await made.stop()


async def test_the_service_of_the_api_is_what_the_ordinary_way_makes_of_it(spaces: Spaces) -> None:
    client = DirectClient(await spaces.add("demo"))
    for obj in kubernetes_service.objects("10.96.0.9", Location("192.0.2.7", 6443)):
        group, _, version = obj["apiVersion"].rpartition("/")
        kind = next(one for one in (SERVICES, ENDPOINTS, SLICES) if one.kind == obj["kind"])
        assert (group, version) == (kind.group, kind.version)
        obj["metadata"]["name"] = "other"
        await client.create(obj, kind, manager="kube-apiserver")
        own, other = [await client.get(kind, name, "default") for name in ("kubernetes", "other")]
        text = (
            alike(msgspec.json.encode(other)).replace(b'"other"', b'"kubernetes"').replace(b"10.96.0.9", b"10.96.0.1")
        )
        assert alike(msgspec.json.encode(own)) == text


async def test_the_api_has_a_service_with_the_first_address_that_leads_to_the_server(server: Server) -> None:
    client = DirectClient(await server.add_space("demo", service_network="10.200.0.0/16"))
    service, endpoints, slices = [
        await client.get(kind, "kubernetes", "default") for kind in (SERVICES, ENDPOINTS, SLICES)
    ]
    assert service["spec"]["clusterIP"] == "10.200.0.1"
    assert service["metadata"]["labels"] == {"component": "apiserver", "provider": "kubernetes"}
    assert service["spec"]["ports"][0]["port"] == 443
    assert endpoints["subsets"] == [
        {"addresses": [{"ip": "127.0.0.1"}], "ports": [{"name": "https", "port": server.port, "protocol": "TCP"}]}
    ]
    assert slices["endpoints"][0]["addresses"] == ["127.0.0.1"]
    assert slices["metadata"]["labels"] == {"kubernetes.io/service-name": "kubernetes"}


async def test_the_root_has_one_too(server: Server) -> None:
    service = await DirectClient(server.root).get(SERVICES, "kubernetes", "default")
    assert service["spec"]["clusterIPs"] == ["10.96.0.1"]


async def test_services_keep_to_the_network_of_their_api_over_a_restart(tmp_path: Path) -> None:
    service: dict[str, Any] = {"metadata": {"name": "web", "namespace": "default"}, "spec": {"ports": [{"port": 80}]}}
    async with Server(tmp_path) as server:
        await server.add_space("demo", service_network="fd00:7::/112")
    async with Server(tmp_path) as again:
        made = await DirectClient(again.spaces["demo"]).create(service, SERVICES)
        assert made["spec"]["clusterIP"].startswith("fd00:7::")
        assert made["spec"]["ipFamilies"] == ["IPv6"]


@pytest.mark.parametrize("network", ["nonsense", "10.0.0.1/8", "10.0.0.0/31"])
async def test_what_is_no_network_for_services_is_refused(server: Server, network: str) -> None:
    with pytest.raises(ValueError, match=r"10\.|nonsense"):
        await server.add_space("demo", service_network=network)
    assert "demo" not in server.spaces


async def test_a_service_that_somebody_deletes_comes_back(server: Server) -> None:
    space = await server.add_space("demo")
    client = DirectClient(space)
    before = await client.get(SERVICES, "kubernetes", "default")
    await client.delete(SERVICES, "kubernetes", "default")
    await space.settled()
    after = await client.get(SERVICES, "kubernetes", "default")
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    assert after["spec"] == before["spec"]


async def test_a_server_that_moves_takes_the_endpoints_and_the_kubeconfig_along(tmp_path: Path) -> None:
    async with Server(tmp_path) as server:
        await server.add_space("demo")
        old = server.port
    async with Server(tmp_path) as again:
        assert again.port != old
        for name in ("demo", "root"):
            space = again.spaces[name]
            await space.settled()
            client = DirectClient(space)
            endpoints = await client.get(ENDPOINTS, "kubernetes", "default")
            assert endpoints["subsets"][0]["ports"][0]["port"] == again.port
            service = await client.get(SERVICES, "kubernetes", "default")
            assert service["spec"]["ports"][0]["targetPort"] == again.port
            assert service["metadata"]["managedFields"][0]["manager"] == "kube-apiserver"
        assert f":{again.port}" in again.kubeconfig.read_text()


async def test_a_server_that_stays_writes_nothing_at_its_start(tmp_path: Path) -> None:
    async with Server(tmp_path) as server:
        await server.add_space("demo")
    before = server.store.committed
    async with Server(tmp_path, port=server.port) as again:
        await again.spaces["demo"].settled()
        assert again.store.committed == before


async def test_a_default_role_that_is_missing_in_the_root_is_made_anew_at_the_start(tmp_path: Path) -> None:
    async with Server(tmp_path) as server:
        await DirectClient(server.root).delete(CLUSTER_ROLES, "view")
    async with Server(tmp_path) as again:
        assert (await DirectClient(again.root).get(CLUSTER_ROLES, "view"))["rules"]


@pytest.mark.parametrize("name", ["root", "demo"])
async def test_an_api_an_older_version_furnished_is_brought_up_to_date(tmp_path: Path, name: str) -> None:
    async with Server(tmp_path) as server:
        space = await server.add_space(name)
        await DirectClient(space).delete(CLUSTER_ROLES, "view")
        await space._keep(msgspec.structs.replace(space.record, furnished="older"))
    async with Server(tmp_path) as again:
        space = again.spaces[name]
        await space.settled()
        assert (await DirectClient(space).get(CLUSTER_ROLES, "view"))["rules"]
        assert space.record.furnished not in ("", "older")


async def test_nothing_can_be_added_to_a_server_that_has_stopped(tmp_path: Path) -> None:
    async with Server(tmp_path) as server:
        pass
    with pytest.raises(ServiceUnavailable):
        await server.add_space("late")
    assert "late" not in server.spaces


async def test_each_api_says_by_which_authority_its_clients_are_recognised(tmp_path: Path) -> None:
    """kube-scheduler, kube-controller-manager and every aggregated server look there."""
    maps = Address("", "v1", "ConfigMap", "configmaps", True)

    async def said(server: Server, space: str) -> str:
        found = await DirectClient(server.spaces[space]).get(maps, "extension-apiserver-authentication", "kube-system")
        return str(found["data"]["client-ca-file"])

    async with Server(tmp_path) as server:
        await server.add_space("other")
        root, other = await said(server, "root"), await said(server, "other")
        assert root == server.spaces["root"].keys.authority.pair.certificate.decode()
        assert other == server.spaces["other"].keys.authority.pair.certificate.decode()
        assert root != other
