"""Isolated APIs in one server: nothing of one is seen, trusted or left behind in another."""

from __future__ import annotations

import ssl
from pathlib import Path

import aiohttp
import yaml

from kubekit.server.serve.server import Server
from tests.http_api import Api, admin_context
from tests.server.custom import USERS

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"


def configmap(name: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


async def tenant_api(server: Server, name: str) -> Api:
    """The API of a tenant as its own administrator; the caller closes its session."""
    await server.add_space(name)
    config = yaml.safe_load(server.admin_kubeconfig(name))
    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=admin_context(config)))
    return Api(session, config["clusters"][0]["cluster"]["server"])


async def test_a_tenant_has_objects_of_its_own(server: Server, api: Api) -> None:
    tenant = await tenant_api(server, "demo")
    assert (await tenant("POST", CONFIGMAPS, configmap("mine"))).status == 201
    assert (await api("GET", f"{CONFIGMAPS}/mine")).status == 404
    assert (await tenant("GET", f"{CONFIGMAPS}/mine")).status == 200
    await tenant.session.close()


async def test_a_tenant_has_kinds_of_its_own(server: Server, api: Api) -> None:
    tenant = await tenant_api(server, "demo")
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert (await tenant("POST", crds, USERS)).status == 201
    await server.spaces["demo"].settled()
    users = "/apis/example.com/v1/users"
    assert (await tenant("GET", users)).status == 200
    assert (await api("GET", users)).status == 404
    await tenant.session.close()


async def test_the_administrator_of_a_tenant_is_nobody_elsewhere(server: Server, api: Api) -> None:
    tenant = await tenant_api(server, "demo")
    await server.add_space("other")
    for prefix in ("", "/clusters/other"):
        answer = await Api(tenant.session, f"{server.url}{prefix}")("GET", "/api/v1/namespaces")
        assert answer.status == 401
    await tenant.session.close()


async def test_a_token_opens_only_the_api_that_issued_it(server: Server, api: Api) -> None:
    tenant = await tenant_api(server, "demo")
    path = "/api/v1/namespaces/default/serviceaccounts/default/token"
    await server.spaces["demo"].settled()
    issued = await tenant("POST", path, {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1"})
    token = {"Authorization": f"Bearer {issued.body['status']['token']}"}
    review = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    body = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}
    context = ssl.create_default_context(cadata=server.pki.server_authority.decode())
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context)) as session:
        own = await Api(session, f"{server.url}/clusters/demo", token)("POST", review, body)
        assert own.body["status"]["userInfo"]["username"] == "system:serviceaccount:default:default"
        assert (await Api(session, server.url, token)("POST", review, body)).status == 401
    await tenant.session.close()


async def test_nobody_is_known_to_an_unknown_space(api: Api) -> None:
    assert (await api("GET", "/clusters/nowhere/api/v1/namespaces")).status == 401


async def test_a_removed_space_is_gone_with_everything_in_it(server: Server) -> None:
    tenant = await tenant_api(server, "demo")
    await tenant("POST", CONFIGMAPS, configmap("mine"))
    before = server.store.count()
    await server.remove_space("demo")
    assert (await tenant("GET", CONFIGMAPS)).status in (401, 404)
    assert server.store.count() < before
    assert not any(space == "demo" for space in server.store.spaces())
    await tenant.session.close()
    again = await tenant_api(server, "demo")
    assert (await again("GET", f"{CONFIGMAPS}/mine")).status == 404
    await again.session.close()


async def test_spaces_are_there_again_after_a_restart(tmp_path: Path) -> None:
    async with Server(tmp_path / "data") as server:
        tenant = await tenant_api(server, "demo")
        await tenant("POST", CONFIGMAPS, configmap("mine"))
        await tenant.session.close()
    async with Server(tmp_path / "data") as server:
        tenant = await tenant_api(server, "demo")
        assert (await tenant("GET", f"{CONFIGMAPS}/mine")).status == 200
        await tenant.session.close()


async def test_revisions_of_all_spaces_grow_together(server: Server) -> None:
    seen = []
    for index in range(5):
        tenant = await tenant_api(server, f"t{index}")
        answer = await tenant("POST", CONFIGMAPS, configmap("x"))
        seen.append(int(answer.body["metadata"]["resourceVersion"]))
        await tenant.session.close()
    assert seen == sorted(set(seen))
