"""What a cluster is, in the words of placeholders."""

from __future__ import annotations

from typing import Any

import pytest

from tests.addons.clusters import facts, provider

POOL = {"loadBalancerPool": {"start": "10.0.0.10", "end": "10.0.0.20"}}


def test_a_cluster_has_names_networks_and_a_size() -> None:
    found = facts(provider("simulated"), workers=5, networking={"podCIDR": "10.100.0.0/16"})
    assert (found.name, found.version, found.provider) == ("shop", "v1.34.1", "simulated")
    expected = {
        "cluster.name": "shop",
        "cluster.namespace": "team-web",
        "cluster.version": "v1.34.1",
        "cluster.provider": "simulated",
        "cluster.workers": 5,
        "cluster.smallReplicas": 2,
        "cluster.storageReplicas": 3,
        "cluster.podCidr": "10.100.0.0/16",
        "cluster.serviceCidr": "10.96.0.0/12",
        "cluster.endpoint.host": "10.0.0.5",
        "cluster.endpoint.port": "6443",
    }
    assert {name: found.named[name] for name in expected} == expected


@pytest.mark.parametrize(("workers", "small", "storage"), [(0, 1, 1), (1, 1, 1), (2, 2, 2), (9, 2, 3)])
def test_there_are_no_more_replicas_than_workers(workers: int, small: int, storage: int) -> None:
    named = facts(workers=workers).named
    assert (named["cluster.smallReplicas"], named["cluster.storageReplicas"]) == (small, storage)
    assert named["cluster.placementCount"] == str(small)


def test_an_endpoint_that_nobody_knows_has_no_name() -> None:
    assert not [name for name in facts(endpoint=None).named if name.startswith("cluster.endpoint")]


@pytest.mark.parametrize(
    ("spec", "addresses"),
    [
        ({}, None),
        ({"networking": POOL}, ["10.0.0.10-10.0.0.20"]),
        ({"addons": {"loadBalancer": {"addressPool": "10.0.0.1-10.0.0.2"}}}, ["10.0.0.1-10.0.0.2"]),
        ({"platform": {"metalLBPool": "10.0.0.1-10.0.0.2,10.0.1.1"}}, ["10.0.0.1-10.0.0.2", "10.0.1.1-10.0.1.1"]),
    ],
)
def test_addresses_for_services_are_ranges(spec: dict[str, Any], addresses: list[str] | None) -> None:
    assert facts(**spec).named["cluster.loadBalancer.addresses"] == addresses


@pytest.mark.parametrize(
    ("name", "account", "spec", "expected"),
    [
        ("simulated", False, {}, "NodePort"),
        ("simulated", False, {"networking": POOL}, "LoadBalancer"),
        ("aws", False, {}, "LoadBalancer"),
        ("aws", False, {"controlPlane": {"externalCloudProvider": False}, "networking": POOL}, "NodePort"),
        ("azure", False, {}, "NodePort"),
        ("azure", True, {}, "LoadBalancer"),
        ("nutanix", True, {}, "NodePort"),
    ],
)
def test_services_wait_for_addresses_only_where_somebody_gives_them(
    name: str, account: bool, spec: dict[str, Any], expected: str
) -> None:
    assert facts(provider(name, account=account), **spec).named["cluster.serviceType"] == expected


def test_infrastructures_have_names_of_their_own() -> None:
    assert facts(provider("aws")).named["provider.region"] == "eu-central-1"
    gcp = facts(provider("gcp", network="projects/host/global/networks/shared")).named
    assert (gcp["provider.network"], gcp["provider.networkProject"]) == ("shared", "host")
    assert facts(provider("gcp")).named["provider.networkProject"] == "shop"
    nutanix = facts(provider("nutanix", storageContainer=None)).named
    assert (nutanix["provider.host"], nutanix["provider.port"]) == ("prism.example.com", 9440)
    assert nutanix["provider.storageContainer"] is None
    assert facts(provider("proxmox", account=True)).named["provider.clusterCredentials"] is True
    assert facts(provider("proxmox")).named["provider.clusterCredentials"] is False
