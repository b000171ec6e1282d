"""The Cluster API objects of a small cluster on Nutanix, to the letter."""

from __future__ import annotations

from typing import Any

import pytest

from butler.api.sections.nutanix import Entity
from butler.providers import registry
from butler.providers.contract import Blueprint, Pool
from kubekit.errors import InvalidConfiguration
from tests.providers.nutanix.fake import CLUSTER, IMAGE, SUBNET
from tests.providers.nutanix.harness import PLACES, config

POOL = Pool("", 4, "8Gi", "40Gi")
OTHER = "0005b0f1-0000-4000-8000-000000000777"
TEMPLATES = registry.templates("nutanix")


def blueprint(override: dict[str, Any] | None = None, **section: Any) -> Blueprint:
    provider = config("https://prism.example.com", **{**PLACES, **section})
    return Blueprint("demo", "tc-demo", provider, "v1.33.4", (POOL,), override or {})


def test_a_worker_is_a_machine_of_its_size_in_its_places() -> None:
    assert TEMPLATES.machine(blueprint(), POOL) == {
        "vcpuSockets": 4,
        "vcpusPerSocket": 1,
        "memorySize": "8Gi",
        "systemDiskSize": "40Gi",
        "bootType": "legacy",
        "image": {"type": "uuid", "uuid": IMAGE},
        "cluster": {"type": "uuid", "uuid": CLUSTER},
        "subnet": [{"type": "uuid", "uuid": SUBNET}],
    }


def test_places_may_be_named() -> None:
    names: dict[str, Any] = {
        "cluster_uuid": None,
        "cluster": Entity(name="cluster-01"),
        "image_uuid": None,
        "image": Entity(name="ubuntu-kube"),
    }
    machine = TEMPLATES.machine(blueprint(**names), POOL)
    assert machine["cluster"] == {"type": "name", "name": "cluster-01"}
    assert machine["image"] == {"type": "name", "name": "ubuntu-kube"}


def test_what_the_cluster_says_wins_over_the_provider_config() -> None:
    machine = TEMPLATES.machine(blueprint({"subnetUUID": OTHER, "imageUUID": "rocky-9"}), POOL)
    assert machine["subnet"] == [{"type": "uuid", "uuid": OTHER}]
    assert machine["image"] == {"type": "name", "name": "rocky-9"}


def test_the_image_of_the_pool_wins_over_all() -> None:
    pool = Pool("gpu", 4, "8Gi", "40Gi", image="rocky-9")
    assert TEMPLATES.machine(blueprint({"imageUUID": OTHER}), pool)["image"] == {"type": "name", "name": "rocky-9"}


def test_without_an_image_there_are_no_workers() -> None:
    with pytest.raises(InvalidConfiguration) as raised:
        TEMPLATES.machine(blueprint(image_uuid=None), POOL)
    assert raised.value.path == "spec.nutanix.image"


def test_a_cluster_has_no_credentials_of_its_own() -> None:
    assert TEMPLATES.cluster(blueprint()) == {}
    assert TEMPLATES.extras(blueprint()) == ()


def test_a_cluster_may_name_the_secret_of_its_tenant() -> None:
    assert TEMPLATES.cluster(blueprint(tenant_credentials_name="nutanix", port=9441, insecure=True)) == {
        "prismCentral": {
            "address": "prism.example.com",
            "port": 9441,
            "insecure": True,
            "credentialRef": {"kind": "Secret", "name": "nutanix"},
        }
    }


def test_a_worker_joins_under_the_name_of_its_machine() -> None:
    assert TEMPLATES.joining(blueprint(), POOL) == {
        "joinConfiguration": {
            "nodeRegistration": {"kubeletExtraArgs": [{"name": "cloud-provider", "value": "external"}]}
        },
        "preKubeadmCommands": ['hostnamectl set-hostname "{{ ds.meta_data.hostname }}"'],
    }


def test_kamajis_provider_hands_the_endpoint_over() -> None:
    assert TEMPLATES.endpoint_is_handed_over
    assert TEMPLATES.machine_kind.kind == "NutanixMachine"
