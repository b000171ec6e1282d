"""Tenants' APIs on the embedded server, and reaching them without HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from butler.simulation.tenant_apis import LocalConnect, TenantApis
from kubekit.client.config import Config
from kubekit.client.http import HttpClient
from kubekit.client.kubeconfig import parse
from kubekit.clock import SystemClock
from kubekit.errors import Forbidden, NotFound, ServiceUnavailable
from kubekit.model.resource import Address
from kubekit.server.access import kubeconfig
from kubekit.server.access.identities import KeyPair
from kubekit.server.client import DirectClient
from kubekit.server.serve.server import Server

CONFIG_MAP = Address("", "v1", "ConfigMap", "configmaps", True)


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    async with Server(tmp_path / "data") as server:
        yield server


def issued(server: Server, name: str, groups: list[str], *, space: str) -> KeyPair:
    return server.spaces[space].access.authority.issue_client_certificate(name, groups, 1, SystemClock().now())


def config_map(name: str) -> dict[str, object]:
    return {"metadata": {"name": name, "namespace": "default"}}


async def test_a_tenant_api_keeps_what_is_written_to_it(server: Server) -> None:
    api = await TenantApis(server).open("shop")
    await api.client.create(config_map("mine"), CONFIG_MAP)
    assert (await api.client.get(CONFIG_MAP, "mine", "default"))["metadata"]["name"] == "mine"


async def test_opening_again_answers_the_same_api(server: Server) -> None:
    tenants = TenantApis(server)
    assert await tenants.open("shop") is await tenants.open("shop")


async def test_an_api_that_was_not_opened_is_not_there(server: Server) -> None:
    assert TenantApis(server).get("shop") is None


async def test_closing_twice_is_closing_once(server: Server) -> None:
    tenants = TenantApis(server)
    await tenants.open("shop")
    await tenants.close("shop")
    await tenants.close("shop")
    assert tenants.get("shop") is None


async def test_a_client_of_a_closed_api_reads_and_writes_nothing_any_more(server: Server) -> None:
    tenants = TenantApis(server)
    api = await tenants.open("shop")
    await tenants.close("shop")
    with pytest.raises(ServiceUnavailable):
        await api.client.create(config_map("late"), CONFIG_MAP)
    with pytest.raises(ServiceUnavailable):
        async with aclosing(api.client.watch(CONFIG_MAP)) as events:
            await anext(events)
    await tenants.open("shop")
    with pytest.raises(ServiceUnavailable):
        await api.client.get(CONFIG_MAP, "late", "default")


async def test_the_administrators_kubeconfig_works_over_https(server: Server) -> None:
    api = await TenantApis(server).open("shop")
    await api.client.create(config_map("mine"), CONFIG_MAP)
    async with HttpClient(_config(api.kubeconfig())) as client:
        assert (await client.get(CONFIG_MAP, "mine", "default"))["metadata"]["name"] == "mine"


def _config(content: bytes) -> Config:
    return parse(content, Path("kubeconfig")).config()


async def test_the_administrators_kubeconfig_leads_straight_to_the_api(server: Server) -> None:
    api = await TenantApis(server).open("shop")
    client = LocalConnect(server)(_config(api.kubeconfig()))
    assert isinstance(client, DirectClient)
    await client.create(config_map("mine"), CONFIG_MAP)
    assert (await api.client.get(CONFIG_MAP, "mine", "default"))["metadata"]["name"] == "mine"


async def test_a_kubeconfig_gives_the_rights_of_its_user_and_no_more(server: Server) -> None:
    api = await TenantApis(server).open("shop")
    pair = issued(server, "nobody-special", [], space="shop")
    given = kubeconfig.render(kubeconfig.Access(api.url, api.authority, "someone", pair, "shop"))
    client = LocalConnect(server)(_config(given))
    assert isinstance(client, DirectClient)
    with pytest.raises(Forbidden):
        await client.get(CONFIG_MAP, "mine", "default")


async def test_a_certificate_of_another_tenant_does_not_open_the_api(server: Server) -> None:
    tenants = TenantApis(server)
    api = await tenants.open("shop")
    await tenants.open("other")
    pair = issued(server, "admin", ["system:masters"], space="other")
    given = kubeconfig.render(kubeconfig.Access(api.url, api.authority, "someone", pair, "shop"))
    client = LocalConnect(server)(_config(given))
    assert isinstance(client, HttpClient)
    await client.close()


async def test_a_certificate_without_its_key_does_not_open_the_api(server: Server) -> None:
    api = await TenantApis(server).open("shop")
    master = issued(server, "admin", ["system:masters"], space="shop")
    other = issued(server, "nobody-special", [], space="shop")
    mixed = type(master)(master.certificate, other.key)
    given = kubeconfig.render(kubeconfig.Access(api.url, api.authority, "someone", mixed, "shop"))
    client = LocalConnect(server)(_config(given))
    assert isinstance(client, HttpClient)
    await client.close()


@pytest.mark.parametrize("server_url", ["https://127.0.0.1:1/clusters/shop", "{url}", "{url}/clusters/other"])
async def test_whatever_is_elsewhere_is_reached_over_https(server: Server, server_url: str) -> None:
    api = await TenantApis(server).open("shop")
    there = server_url.format(url=server.url)
    client = LocalConnect(server)(_config(api.kubeconfig().replace(api.url.encode(), there.encode())))
    assert isinstance(client, HttpClient)
    assert client.config.cluster.server == there
    await client.close()


async def test_a_tenant_api_says_the_version_it_is_told_to_say(server: Server) -> None:
    api = await TenantApis(server).open("shop")
    await api.pass_for("v1.31.4")
    async with HttpClient(_config(api.kubeconfig())) as client:
        told = await client.version()
    assert (told.git_version, told.major, told.minor) == ("v1.31.4", "1", "31")


async def test_the_version_is_remembered_over_a_restart(tmp_path: Path) -> None:
    async with Server(tmp_path / "data") as server:
        await (await TenantApis(server).open("shop")).pass_for("v1.31.4")
    async with Server(tmp_path / "data") as server:
        assert (await TenantApis(server).open("shop")).version == "v1.31.4"


async def test_a_tenant_that_is_gone_has_nothing_left_when_it_comes_again(server: Server) -> None:
    tenants = TenantApis(server)
    await (await tenants.open("shop")).client.create(config_map("mine"), CONFIG_MAP)
    await tenants.close("shop")
    with pytest.raises(NotFound):
        await (await tenants.open("shop")).client.get(CONFIG_MAP, "mine", "default")
