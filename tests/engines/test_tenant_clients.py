"""The pool of clients for tenants' APIs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from butler.engines.core import Secret
from butler.engines.tenants import Tenants, over_https
from kubekit.client.http import HttpClient
from kubekit.client.protocol import Client
from kubekit.errors import InvalidConfiguration, NotFound
from kubekit.model.resource import ObjectMeta
from kubekit.runtime.client_wrapper import WrappedClient
from kubekit.runtime.objects import Kind

KUBECONFIG = b"""
apiVersion: v1
kind: Config
current-context: shop
contexts: [{name: shop, context: {cluster: shop, user: admin}}]
clusters: [{name: shop, cluster: {server: "https://127.0.0.1:6443"}}]
users: [{name: admin, user: {token: secret}}]
"""


class Line(WrappedClient):
    """Knows what it was made from and whether it is closed."""

    def __init__(self, content: bytes) -> None:
        self.content, self.closed = content, False

    async def close(self) -> None:
        self.closed = True


class Management(WrappedClient):
    """An API with at most one Secret."""

    def __init__(self) -> None:
        self.secret: Secret | None = None

    async def get(self, kind: Kind, name: str, namespace: str = "", *, subresource: str = "") -> Any:
        if self.secret is None or (namespace, name) != ("ns", "shop-kubeconfig"):
            raise NotFound(f"{namespace}/{name}")
        return self.secret


class World:
    def __init__(self) -> None:
        self.made: list[Line] = []
        self.management = Management()
        self.tenants = Tenants(self.management, self._connect)

    def _connect(self, content: bytes) -> Client:
        self.made.append(Line(content))
        return self.made[-1]

    def show(self, version: str, content: bytes, key: str = "value") -> None:
        meta = ObjectMeta(name="shop-kubeconfig", namespace="ns", resource_version=version)
        self.management.secret = Secret(metadata=meta, data={key: content})


async def test_there_is_no_client_before_there_is_a_kubeconfig() -> None:
    assert await World().tenants.reach("ns", "shop") is None


async def test_the_client_stays_the_same_while_the_secret_does() -> None:
    world = World()
    world.show("1", b"a")
    assert await world.tenants.reach("ns", "shop") is await world.tenants.reach("ns", "shop")
    assert len(world.made) == 1


async def test_a_new_kubeconfig_makes_a_new_client_and_closes_the_old() -> None:
    world = World()
    world.show("1", b"a")
    old = await world.tenants.reach("ns", "shop")
    world.show("2", b"b")
    assert await world.tenants.reach("ns", "shop") is not old
    assert [(line.content, line.closed) for line in world.made] == [(b"a", True), (b"b", False)]


async def test_a_secret_that_was_only_labelled_keeps_its_client() -> None:
    world = World()
    world.show("1", b"a")
    old = await world.tenants.reach("ns", "shop")
    world.show("2", b"a")
    assert await world.tenants.reach("ns", "shop") is old
    assert not world.made[0].closed


async def test_a_client_of_a_tenant_that_is_gone_is_closed() -> None:
    world = World()
    world.show("1", b"a")
    await world.tenants.reach("ns", "shop")
    world.management.secret = None
    assert await world.tenants.reach("ns", "shop") is None
    assert world.made[0].closed


async def test_forgetting_closes_what_came_from_either_secret() -> None:
    world = World()
    for name, key in (("shop-kubeconfig", "value"), ("shop-admin-kubeconfig", "admin.conf")):
        await world.tenants.client_for(Secret(metadata=ObjectMeta(name=name, namespace="ns"), data={key: b"a"}))
    await world.tenants.forget("ns", "shop")
    assert [line.closed for line in world.made] == [True, True]


async def test_closing_the_pool_closes_every_client() -> None:
    world = World()
    world.show("1", b"a")
    await world.tenants.reach("ns", "shop")
    await world.tenants.close()
    assert world.made[0].closed


async def test_a_secret_without_a_kubeconfig_says_which_it_is() -> None:
    secret = Secret(metadata=ObjectMeta(name="shop-kubeconfig", namespace="ns"), data={"other": b"a"})
    with pytest.raises(InvalidConfiguration, match="ns/shop-kubeconfig"):
        await World().tenants.client_for(secret)


async def test_a_kubeconfig_leads_to_a_client_over_https() -> None:
    client = over_https(KUBECONFIG)
    assert isinstance(client, HttpClient)
    assert client.config.cluster.server == "https://127.0.0.1:6443"
    await client.close()


PLUGIN = "{apiVersion: client.authentication.k8s.io/v1, command: touch, args: [FILE], interactiveMode: Never}"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("exec", PLUGIN),
        ("tokenFile", "FILE"),
        ("auth-provider", "{name: gcp, config: {cmd-path: touch, cmd-args: FILE}}"),
        ("client-certificate", "FILE, client-key: FILE"),
    ],
)
def test_a_kubeconfig_of_a_tenant_makes_nobody_run_or_read_anything(tmp_path: Path, name: str, value: str) -> None:
    user = f"{{{name}: {value}}}".replace("FILE", str(tmp_path / "made"))
    with pytest.raises(InvalidConfiguration, match=name):
        over_https(KUBECONFIG.replace(b"{token: secret}", user.encode()))
    assert not (tmp_path / "made").exists()
