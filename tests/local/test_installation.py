"""What a platform installs, and what it leaves to its users."""

from __future__ import annotations

from typing import Any

from butler.addons.builtin.entry import SOURCE
from butler.api import KINDS
from butler.api.addon import AddonDefinition
from butler.api.config import ButlerConfig
from butler.api.provider import ProviderConfig
from butler.local import system
from butler.local.installation import NAMESPACE, apply_gently, install_definitions
from kubekit.model.crd import DEFINITION
from kubekit.model.resource import Address
from kubekit.server.client import DirectClient
from kubekit.server.serve.server import Server

CONFIG_MAP = Address("", "v1", "ConfigMap", "configmaps", namespaced=True)


def config_map(data: dict[str, str], **labels: str) -> dict[str, Any]:
    metadata = {"name": "settings", "namespace": "default", "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


async def installed(server: Server) -> DirectClient:
    client = DirectClient(server.root)
    await install_definitions(client, KINDS)
    await system.install(client, simulated=True)
    return client


async def versions(client: DirectClient) -> dict[str, str]:
    addresses = (DEFINITION, NAMESPACE, *(kind.address for kind in KINDS))
    found = [item for address in addresses for item in (await client.list(address)).items]
    return {item["metadata"]["uid"]: item["metadata"]["resourceVersion"] for item in found}


async def test_every_kind_is_offered_as_soon_as_it_is_installed(server: Server) -> None:
    client = DirectClient(server.root)
    await install_definitions(client, KINDS)
    for kind in KINDS:
        assert (await client.list(kind)).items == ()


async def test_a_platform_has_settings_a_provider_and_a_catalogue(server: Server) -> None:
    client = await installed(server)
    provider = (await client.get(ButlerConfig, "butler")).spec.default_provider_config_ref
    assert provider is not None
    assert (await client.get(ProviderConfig, provider.name, "butler-system")).spec.simulated is not None
    names = {one.metadata.name for one in (await client.list(AddonDefinition)).items}
    assert {"cilium", "metallb", "cert-manager", "longhorn", "traefik", "metrics-server", "argocd"} <= names


async def test_installing_again_writes_nothing(server: Server) -> None:
    client = await installed(server)
    before = await versions(client)
    await installed(server)
    assert await versions(client) == before


async def test_what_users_changed_stays_as_they_want_it(server: Server) -> None:
    client = await installed(server)
    change = {"spec": {"defaultProviderConfigRef": {"name": "harvester"}}}
    await client.patch(ButlerConfig, "butler", change, manager="kubectl-edit")
    version = {"spec": {"chart": {"defaultVersion": "9.9.9"}}, "metadata": {"labels": {SOURCE: "ours"}}}
    await client.patch(AddonDefinition, "traefik", version, manager="kubectl-edit")
    await system.install(client, simulated=True)
    config = await client.get(ButlerConfig, "butler")
    assert config.spec.default_provider_config_ref is not None
    assert config.spec.default_provider_config_ref.name == "harvester"
    traefik = await client.get(AddonDefinition, "traefik")
    assert traefik.spec.chart.default_version == "9.9.9"
    assert traefik.metadata.labels[SOURCE] == "ours"
    assert traefik.spec.display_name == "Traefik"


async def test_fields_nobody_took_follow_a_new_version(server: Server) -> None:
    client = DirectClient(server.root)
    await apply_gently(client, config_map({"a": "1", "b": "1", "a.b": "1"}), CONFIG_MAP)
    await client.patch(CONFIG_MAP, "settings", {"data": {"a.b": "mine"}}, "default", manager="kubectl-edit")
    await apply_gently(client, config_map({"a": "2", "a.b": "2", "c": "2"}), CONFIG_MAP)
    stored = await client.get(CONFIG_MAP, "settings", "default")
    assert stored["data"] == {"a": "2", "a.b": "mine", "c": "2"}
