"""The Cluster API objects of Azure."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest

from butler.providers import registry
from butler.providers.azure.section import NOBODYS_KEY
from butler.providers.contract import Blueprint, Object, Pool
from kubekit.errors import InvalidConfiguration
from tests.providers.azure.fake_things import SUBNET, SUBSCRIPTION
from tests.providers.azure.harness import config

POOL = Pool("", 4, "8Gi", "50Gi")
TEMPLATES = registry.templates("azure")


def blueprint(**section: Any) -> Blueprint:
    given = {"tenant_id": "tenant", "client_id": "client", "image_urn": None, **section}
    return Blueprint("demo", "demo-1234abcd", config("https://127.0.0.1:1", **given), "v1.33.4", (POOL,))


def machine(pool: Pool = POOL, **section: Any) -> Object:
    return TEMPLATES.machine(blueprint(**section), pool)


def test_the_cluster_has_no_control_plane_of_its_own() -> None:
    assert TEMPLATES.cluster(blueprint()) == {
        "location": "westeurope",
        "subscriptionID": SUBSCRIPTION,
        "resourceGroup": "Butler-RG",
        "azureEnvironment": "AzurePublicCloud",
        "controlPlaneEnabled": False,
        "identityRef": {
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1",
            "kind": "AzureClusterIdentity",
            "name": "demo",
            "namespace": "demo-1234abcd",
        },
        "networkSpec": {
            "vnet": {"name": "machines", "resourceGroup": "Butler-RG"},
            "subnets": [{"name": "nodes", "role": "node"}],
        },
    }
    assert TEMPLATES.endpoint_is_handed_over


def test_a_network_may_be_named_by_its_id() -> None:
    elsewhere = SUBNET.replace("Butler-RG", "hub")
    found = TEMPLATES.cluster(blueprint(vnet_name=None, subnet_name=elsewhere))["networkSpec"]
    assert found["vnet"] == {"name": "machines", "resourceGroup": "hub"}


def test_a_machine_is_what_the_pool_says() -> None:
    assert machine() == {
        "vmSize": "Standard_F4s_v2",
        "osDisk": {"osType": "Linux", "diskSizeGB": 50, "managedDisk": {"storageAccountType": "Premium_LRS"}},
        "sshPublicKey": base64.b64encode(NOBODYS_KEY.encode()).decode(),
    }


@pytest.mark.parametrize(
    ("cpu", "memory", "size"),
    [
        (2, "4Gi", "Standard_F2s_v2"),
        (2, "5Gi", "Standard_D2s_v5"),
        (2, "12Gi", "Standard_E2s_v5"),
        (5, "1Gi", "Standard_F8s_v2"),
    ],
)
def test_the_size_is_the_smallest_that_fits(cpu: int, memory: str, size: str) -> None:
    assert machine(replace(POOL, cpu=cpu, memory=memory))["vmSize"] == size


def test_a_size_that_is_named_is_taken() -> None:
    assert machine(vm_size="Standard_D96s_v5")["vmSize"] == "Standard_D96s_v5"


def test_what_no_size_has_is_said() -> None:
    with pytest.raises(InvalidConfiguration, match=r"spec\.azure\.vmSize: is missing, and no usual size has 500 cores"):
        machine(replace(POOL, cpu=500))


@pytest.mark.parametrize(
    ("text", "image"),
    [
        ("p:o:s:1.2.3", {"marketplace": {"publisher": "p", "offer": "o", "sku": "s", "version": "1.2.3"}}),
        ("/subscriptions/s/images/i", {"id": "/subscriptions/s/images/i"}),
        (
            "/CommunityGalleries/g/Images/i/Versions/1.2.3",
            {"computeGallery": {"gallery": "g", "name": "i", "version": "1.2.3"}},
        ),
        ("/CommunityGalleries/g/Images/i", {"computeGallery": {"gallery": "g", "name": "i", "version": "latest"}}),
    ],
)
def test_an_image_may_be_of_any_kind_and_that_of_the_pool_wins(text: str, image: Object) -> None:
    assert machine(image_urn=text)["image"] == image
    assert machine(replace(POOL, image=text), image_urn="a:b:c:d")["image"] == image


def test_nodes_wait_for_the_cloud_controller() -> None:
    assert TEMPLATES.joining(blueprint(), POOL) == {
        "joinConfiguration": {
            "nodeRegistration": {
                "name": "{{ ds.meta_data.local_hostname }}",
                "kubeletExtraArgs": [{"name": "cloud-provider", "value": "external"}],
            }
        }
    }


def test_the_identity_reads_the_secret_where_it_is() -> None:
    ((kind, identity),) = TEMPLATES.extras(blueprint())
    assert kind.kind == "AzureClusterIdentity"
    assert identity == {
        "metadata": {"name": "demo"},
        "spec": {
            "type": "ServicePrincipal",
            "tenantID": "tenant",
            "clientID": "client",
            "clientSecret": {"name": "azure-credentials", "namespace": "butler-system"},
            "allowedNamespaces": {"list": ["demo-1234abcd"]},
        },
    }


@pytest.mark.parametrize(("field", "name"), [("tenant_id", "tenantID"), ("client_id", "clientID")])
def test_ids_that_only_the_secret_has_are_asked_for(field: str, name: str) -> None:
    with pytest.raises(InvalidConfiguration, match=rf"spec\.azure\.{name}: is missing; workers of tenant clusters"):
        TEMPLATES.extras(blueprint(**{field: None}))
