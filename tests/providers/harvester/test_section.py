"""How a ProviderConfig and its kubeconfig are read."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from butler.errors import CredentialsInvalid, ProviderUnavailable
from butler.providers import registry
from butler.providers.contract import Provider, Surroundings
from butler.providers.harvester.section import settings
from kubekit.errors import InvalidConfiguration
from tests.providers.harvester.harness import HarvesterHarness, config

CANARY = "canary-of-the-kubeconfig-52b1"
PLUGIN = {"command": CANARY, "apiVersion": "client.authentication.k8s.io/v1beta1"}


def kubeconfig(cluster: dict[str, Any] | None = None, user: dict[str, Any] | None = None) -> str:
    return yaml.safe_dump(
        {
            "clusters": [{"name": "c", "cluster": {"server": "https://harvester.example.com:6443", **(cluster or {})}}],
            "users": [{"name": "u", "user": {"token": CANARY} if user is None else user}],
            "contexts": [
                {"name": "one", "context": {"cluster": "c", "user": "u", "namespace": "elsewhere"}},
                {"name": "two", "context": {"cluster": "c"}},
            ],
            "current-context": "one",
        }
    )


@asynccontextmanager
async def reaching(text: str, **section: Any) -> AsyncIterator[Provider]:
    provider = registry.connect(config(**section), {"kubeconfig": text}, Surroundings(patience=2.0))
    try:
        yield provider
    finally:
        await provider.close()


def changed(harness: HarvesterHarness, **cluster: Any) -> str:
    content = yaml.safe_load(harness.fake.kubeconfig())
    content["clusters"][0]["cluster"] |= cluster
    content["clusters"][0]["cluster"] = {
        key: value for key, value in content["clusters"][0]["cluster"].items() if value
    }
    return yaml.safe_dump(content)


def test_a_section_is_read_with_its_defaults() -> None:
    read = settings(config(image_name="talos"), {"kubeconfig": kubeconfig()})
    assert (read.namespace, str(read.network), str(read.image)) == ("default", "default/workloads", "default/talos")
    assert (read.account.cluster.server, read.storage_class) == ("https://harvester.example.com:6443", "")


def test_an_endpoint_wins_over_that_of_the_kubeconfig() -> None:
    read = settings(config(endpoint="https://vip.example.com/k8s/clusters/local/"), {"kubeconfig": kubeconfig()})
    assert read.account.cluster.server == "https://vip.example.com/k8s/clusters/local"


def test_a_context_may_be_named() -> None:
    assert settings(config(), {"kubeconfig": kubeconfig()}).account.user.token == CANARY
    assert settings(config(context="two"), {"kubeconfig": kubeconfig()}).account.user.token == ""


def test_nothing_secret_is_shown() -> None:
    assert CANARY not in repr(settings(config(), {"kubeconfig": kubeconfig()}))


def test_an_image_that_is_no_name_is_refused() -> None:
    with pytest.raises(InvalidConfiguration, match=r"spec\.harvester\.imageName: 'a/b/c' is not namespace/name"):
        settings(config(image_name="a/b/c"), {"kubeconfig": kubeconfig()})


def test_a_secret_without_a_kubeconfig_is_named() -> None:
    with pytest.raises(CredentialsInvalid, match="Secret harvester-kubeconfig needs the key kubeconfig"):
        settings(config(), {})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{{{CANARY}", "line 2: this is not YAML"),
        (f"clusters: {CANARY}", "clusters: Expected `array | null`, got `str`"),
        ("contexts: []", "current-context: is not set; there are no contexts"),
        (
            kubeconfig(user={"exec": {"command": CANARY, "apiVersion": "client.authentication.k8s.io/v1beta1"}}),
            "exec: names",
        ),
        (
            kubeconfig(user={"tokenFile": "/var/run/secrets/token"}),
            "tokenFile: names something outside",
        ),
        (kubeconfig({"certificate-authority": "/etc/ca.pem"}), "certificate-authority: names something outside"),
        (
            kubeconfig(user={"client-certificate": "/etc/passwd", "client-key": "/etc/shadow"}),
            "client-certificate: names something outside of the kubeconfig; write the content itself",
        ),
        (
            kubeconfig({"certificate-authority-data": base64.b64encode(CANARY.encode()).decode()}),
            "certificate-authority-data: this is not a PEM certificate",
        ),
    ],
)
def test_what_is_wrong_with_a_kubeconfig_is_told_without_its_content(text: str, said: str) -> None:
    with pytest.raises(CredentialsInvalid) as raised:
        settings(config(), {"kubeconfig": text})
    assert "Secret harvester-kubeconfig: kubeconfig" in str(raised.value)
    assert said in str(raised.value)
    assert CANARY not in str(raised.value)
    assert raised.value.__suppress_context__


async def test_a_client_certificate_is_enough(harness: HarvesterHarness, tmp_path: Path) -> None:
    async with reaching((tmp_path / "server" / "kubeconfig").read_text()) as provider:
        assert await provider.find("nobody", "33333333-3333-4333-8333-333333333333") is None


async def test_a_server_that_is_not_trusted_is_not_asked(harness: HarvesterHarness) -> None:
    text = changed(harness, **{"certificate-authority-data": None})
    async with reaching(text) as provider:
        with pytest.raises(ProviderUnavailable, match="certificate is refused"):
            await provider.inventory()
    assert harness.faults.calls == []


async def test_whom_to_trust_may_be_left_open(harness: HarvesterHarness) -> None:
    text = changed(harness, **{"certificate-authority-data": None})
    async with reaching(text, insecure=True) as provider:
        assert await provider.inventory() == ()


async def test_a_proxy_is_gone_through(harness: HarvesterHarness) -> None:
    async with reaching(changed(harness), proxy="http://127.0.0.1:1") as provider:
        with pytest.raises(ProviderUnavailable, match=r"proxy 127\.0\.0\.1:1: Connection refused"):
            await provider.inventory()
