"""What a ProviderConfig and its Secret may say about Azure."""

from __future__ import annotations

from typing import Any

import pytest

from butler.api.credentials import canonical_keys
from butler.api.shared import ProviderType
from butler.errors import CredentialsInvalid
from butler.providers import registry
from butler.providers.azure.section import settings
from butler.providers.contract import Surroundings
from kubekit.errors import InvalidConfiguration
from tests.providers.azure.fake import SECRET
from tests.providers.azure.harness import CREDENTIALS, config

URL = "https://127.0.0.1:1"


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"location": None}, "spec.azure.location: is missing"),
        ({"subnet_name": None}, "spec.azure.subnetName: is missing"),
        ({"vnet_name": None}, "spec.azure.vnetName: is missing"),
        ({"subnet_name": "/subnets/x"}, "spec.azure.subnetName: '/subnets/x' is neither the name nor the id"),
        ({"image_urn": "talos"}, "spec.azure.imageURN: 'talos' is neither publisher:offer:sku:version nor the id"),
        ({"ca_bundle": "nonsense"}, "spec.azure.caBundle: is not a certificate in PEM form"),
    ],
)
def test_what_is_wrong_is_said_by_field(section: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidConfiguration) as raised:
        registry.connect(config(URL, **section), CREDENTIALS, Surroundings())
    assert str(raised.value).startswith(f"ProviderConfig butler-system/azure: {said}")


@pytest.mark.parametrize("key", CREDENTIALS)
def test_a_key_that_the_secret_lacks_is_named(key: str) -> None:
    with pytest.raises(CredentialsInvalid, match=f"Secret azure-credentials needs the key {key}"):
        registry.connect(config(URL), {**CREDENTIALS, key: " \n"}, Surroundings())


def test_a_tenant_that_is_none_is_named() -> None:
    with pytest.raises(CredentialsInvalid, match="tenantID 'no tenant' is neither the id nor the domain of a tenant"):
        registry.connect(config(URL), {**CREDENTIALS, "tenantID": "no tenant"}, Surroundings())


@pytest.mark.parametrize("letter", ["D", "d"])
def test_the_keys_of_the_secret_may_be_spelled_both_ways(letter: str) -> None:
    given = {f"tenantI{letter}": "t", f"clientI{letter}": "c", "clientSecret": "s"}
    found = settings(config(URL), canonical_keys(ProviderType.AZURE, given))
    assert (found.tenant, found.client, found.secret) == ("t", "c", "s")


def test_the_ids_of_the_service_principal_may_be_in_the_section() -> None:
    found = settings(config(URL, tenant_id="t", client_id="c"), {"clientSecret": "s"})
    assert (found.tenant, found.client) == ("t", "c")


@pytest.mark.parametrize(
    ("environment", "endpoint", "authority"),
    [
        ("AzurePublicCloud", "https://management.azure.com", "https://login.microsoftonline.com"),
        ("AzureUSGovernmentCloud", "https://management.usgovcloudapi.net", "https://login.microsoftonline.us"),
        ("AzureChinaCloud", "https://management.chinacloudapi.cn", "https://login.chinacloudapi.cn"),
    ],
)
def test_each_of_microsofts_clouds_has_its_addresses(environment: str, endpoint: str, authority: str) -> None:
    found = settings(config(URL, environment=environment, endpoint=None, authority=None), CREDENTIALS)
    assert (found.endpoint, found.authority, found.scope) == (endpoint, authority, f"{endpoint}/.default")


def test_a_region_may_be_written_as_the_portal_does() -> None:
    assert settings(config(URL, location="West Europe"), CREDENTIALS).location == "westeurope"


def test_a_virtual_network_may_be_in_another_resource_group() -> None:
    vnet = "/subscriptions/s/resourceGroups/hub/providers/Microsoft.Network/virtualNetworks/shared"
    assert settings(config(URL, vnet_name=vnet), CREDENTIALS).subnet == f"{vnet}/subnets/nodes"


def test_no_secret_is_shown() -> None:
    assert SECRET not in repr(settings(config(URL), CREDENTIALS))
