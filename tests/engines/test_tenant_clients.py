"""The pool of clients for tenants' APIs."""

from __future__ import annotations

from pathlib import Path

import pytest

from butler.engines.core import Secret
from butler.engines.tenants import Endpoint, Tenants, over_https, tenant_config
from kubekit.client.config import Config
from kubekit.client.http import HttpClient
from kubekit.client.protocol import Client
from kubekit.errors import InvalidConfiguration
from kubekit.model.resource import ObjectMeta
from kubekit.runtime.client_wrapper import WrappedClient

KUBECONFIG = b"""
apiVersion: v1
kind: Config
current-context: shop
contexts: [{name: shop, context: {cluster: shop, user: admin}}]
clusters: [{name: shop, cluster: {server: "https://127.0.0.1:6443"}}]
users: [{name: admin, user: {token: secret}}]
"""


ENDPOINT = ("127.0.0.1", 6443)
OTHER = KUBECONFIG.replace(b"secret", b"another")


class Line(WrappedClient):
    """Knows what it was made from and whether it is closed."""

    def __init__(self, config: Config) -> None:
        self.config, self.closed = config, False

    async def close(self) -> None:
        self.closed = True


class World:
    def __init__(self) -> None:
        self.made: list[Line] = []
        self.tenants = Tenants(self._connect)

    def _connect(self, config: Config) -> Client:
        self.made.append(Line(config))
        return self.made[-1]

    async def reach(
        self, version: str, content: bytes, key: str = "value", name: str = "shop-kubeconfig", at: Endpoint = ENDPOINT
    ) -> Client:
        """The client for a Secret with this kubeconfig."""
        meta = ObjectMeta(name=name, namespace="ns", resource_version=version)
        return await self.tenants.client_for(Secret(metadata=meta, data={key: content}), at)


async def test_the_client_stays_the_same_while_the_secret_does() -> None:
    world = World()
    assert await world.reach("1", KUBECONFIG) is await world.reach("1", KUBECONFIG)
    assert len(world.made) == 1


async def test_a_new_kubeconfig_makes_a_new_client_and_closes_the_old() -> None:
    world = World()
    old = await world.reach("1", KUBECONFIG)
    assert await world.reach("2", OTHER) is not old
    assert [(line.config.user.token, line.closed) for line in world.made] == [("secret", True), ("another", False)]


async def test_a_secret_that_was_only_labelled_keeps_its_client() -> None:
    world = World()
    assert await world.reach("1", KUBECONFIG) is await world.reach("2", KUBECONFIG)
    assert not world.made[0].closed


async def test_forgetting_closes_what_came_from_either_secret() -> None:
    world = World()
    await world.reach("1", KUBECONFIG)
    await world.reach("1", KUBECONFIG, "admin.conf", "shop-admin-kubeconfig")
    await world.tenants.forget("ns", "shop")
    assert [line.closed for line in world.made] == [True, True]


async def test_closing_the_pool_closes_every_client() -> None:
    world = World()
    await world.reach("1", KUBECONFIG)
    await world.tenants.close()
    assert world.made[0].closed


async def test_a_secret_without_a_kubeconfig_says_which_it_is() -> None:
    with pytest.raises(InvalidConfiguration, match="ns/shop-kubeconfig"):
        await World().reach("1", KUBECONFIG, "other")


async def test_a_kubeconfig_leads_to_a_client_over_https() -> None:
    client = over_https(tenant_config(KUBECONFIG, "kubeconfig", ENDPOINT))
    assert isinstance(client, HttpClient)
    assert client.config.cluster.server == "https://127.0.0.1:6443"
    await client.close()


@pytest.mark.parametrize(
    "server",
    [
        "https://127.0.0.1:6444",
        "https://169.254.169.254:6443",
        "https://127.0.0.1",
        "https://127.0.0.1:6443@evil.example.com:6443",
        "https://evil.example.com:6443/127.0.0.1:6443",
        "https://127.0.0.1.example.com:6443",
        "https://127.0.0.1:x",
        "https://[::1]:6443",
    ],
)
async def test_a_kubeconfig_leads_to_the_tenants_own_api_and_nowhere_else(server: str) -> None:
    world = World()
    with pytest.raises(InvalidConfiguration, match=r"ns/shop-kubeconfig.*server"):
        await world.reach("1", KUBECONFIG.replace(b"https://127.0.0.1:6443", server.encode()))
    assert world.made == []


@pytest.mark.parametrize(
    ("server", "endpoint"),
    [
        ("https://127.0.0.1:6443/clusters/shop", ENDPOINT),
        ("HTTPS://Shop.Example.com", ("shop.example.com", 443)),
        ("https://[fd00::1]:6443", ("fd00::1", 6443)),
        ("https://[fd00::1]:6443", ("[fd00::1]", 6443)),
    ],
)
async def test_the_same_place_may_be_written_differently(server: str, endpoint: Endpoint) -> None:
    world = World()
    await world.reach("1", KUBECONFIG.replace(b"https://127.0.0.1:6443", server.encode()), at=endpoint)
    assert len(world.made) == 1


async def test_a_cluster_whose_endpoint_moved_is_looked_at_again() -> None:
    world = World()
    await world.reach("1", KUBECONFIG)
    with pytest.raises(InvalidConfiguration, match=r"10\.0\.0\.9:6443"):
        await world.reach("1", KUBECONFIG, at=("10.0.0.9", 6443))


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
        tenant_config(KUBECONFIG.replace(b"{token: secret}", user.encode()), "kubeconfig", ENDPOINT)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("server", "https://127", "http://127"),
        ("proxy-url", '6443"', '6443", proxy-url: "http://evil.example.com"'),
        ("insecure-skip-tls-verify", '6443"', '6443", insecure-skip-tls-verify: true'),
        ("tls-server-name", '6443"', '6443", tls-server-name: evil.example.com'),
        ("certificate-authority", '6443"', '6443", certificate-authority: /etc/passwd'),
        ("username", "token: secret", "username: root, password: root"),
        ("as", "token: secret", "token: secret, as: root"),
        ("as", "token: secret", 'token: secret, as: root, as-groups: ["system:masters"]'),
    ],
)
def test_a_kubeconfig_of_a_tenant_says_where_and_as_whom_and_no_more(name: str, before: str, after: str) -> None:
    changed = KUBECONFIG.replace(before.encode(), after.encode())
    assert changed != KUBECONFIG
    with pytest.raises(InvalidConfiguration, match=rf'context "shop": {name}:'):
        tenant_config(changed, "kubeconfig", ENDPOINT)


async def test_what_was_reached_is_known_by_the_version_of_its_secret() -> None:
    world = World()
    meta = ObjectMeta(name="shop-kubeconfig", namespace="ns", resource_version="1")
    assert world.tenants.known(meta, ENDPOINT) is None
    client = await world.reach("1", KUBECONFIG)
    known = world.tenants.known(meta, ENDPOINT)
    assert known is not None
    assert known.client is client
    assert known.config.cluster.server == "https://127.0.0.1:6443"
    other = ObjectMeta(name="shop-kubeconfig", namespace="ns", resource_version="2")
    assert world.tenants.known(other, ENDPOINT) is None
    assert world.tenants.known(meta, ("127.0.0.2", 6443)) is None
