"""Which addons a cluster is to have."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from butler.addons.builtin import definitions
from butler.addons.resolution import Wish
from butler.addons.selection import needs_cloud_controller, platform_wishes
from butler.api.config import ButlerConfig
from butler.api.team import ClusterDefaults
from tests.addons.clusters import SECTIONS, cluster, provider

USUAL = ["cilium", "cert-manager", "longhorn", "metallb", "traefik", "metrics-server"]
BY_NAME = {one.metadata.name: one for one in definitions()}


def wishes(
    name: str = "simulated",
    account: bool = False,
    team: dict[str, Any] | None = None,
    versions: dict[str, str] | None = None,
    **spec: Any,
) -> dict[str, Wish]:
    config = {"metadata": {"name": "butler"}, "spec": {"defaultAddonVersions": versions or {}}}
    found = platform_wishes(
        cluster(**spec),
        msgspec.convert(team or {}, ClusterDefaults),
        msgspec.convert(config, ButlerConfig),
        provider(name, account=account),
    )
    assert len({one.name for one in found}) == len(found)
    return {one.name: one for one in found}


def names(*arguments: Any, **options: Any) -> list[str]:
    return list(wishes(*arguments, **options))


def test_a_cluster_that_says_nothing_gets_all_it_must_have() -> None:
    assert names() == USUAL


@pytest.mark.parametrize(
    ("section", "addon"),
    [
        ("certManager", "cert-manager"),
        ("storage", "longhorn"),
        ("loadBalancer", "metallb"),
        ("ingress", "traefik"),
        ("metricsServer", "metrics-server"),
    ],
)
def test_each_but_the_network_can_be_left_out(section: str, addon: str) -> None:
    assert names(addons={section: {"enabled": False}}) == [one for one in USUAL if one != addon]


def test_others_can_be_chosen() -> None:
    found = names(addons={"storage": {"provider": "linstor"}, "ingress": {"provider": "nginx"}})
    assert found == ["cilium", "cert-manager", "linstor", "metallb", "nginx", "metrics-server"]


@pytest.mark.parametrize(
    ("name", "account", "expected"),
    [
        ("aws", False, {"aws-cloud-controller-manager", "aws-ebs-csi-driver"}),
        ("azure", False, {"cloud-provider-azure", "longhorn"}),
        ("azure", True, {"cloud-provider-azure", "azuredisk-csi-driver"}),
        ("gcp", False, {"gcp-cloud-controller-manager", "gcp-pd-csi-driver"}),
        ("nutanix", False, {"longhorn", "metallb"}),
        ("nutanix", True, {"nutanix-cloud-provider", "nutanix-csi-storage", "metallb"}),
        ("proxmox", False, {"longhorn", "metallb"}),
        ("proxmox", True, {"proxmox-cloud-controller-manager", "proxmox-csi-plugin", "metallb"}),
        ("harvester", False, {"longhorn", "metallb"}),
        ("harvester", True, {"harvester-csi-driver", "metallb"}),
    ],
)
def test_the_infrastructure_brings_what_it_has(name: str, account: bool, expected: set[str]) -> None:
    assert set(names(name, account)) == expected | {"cilium", "cert-manager", "traefik", "metrics-server"}


def test_the_cloud_controller_comes_right_after_the_network() -> None:
    assert names("aws")[:2] == ["cilium", "aws-cloud-controller-manager"]


@pytest.mark.parametrize("name", SECTIONS)
@pytest.mark.parametrize("account", [False, True])
def test_nodes_wait_for_a_cloud_controller_only_where_there_is_one(name: str, account: bool) -> None:
    account = account and name != "simulated"
    found = {one for one in names(name, account) if BY_NAME[one].spec.for_nodes} - {"cilium"}
    assert bool(found) is needs_cloud_controller(cluster(), provider(name, account=account))


@pytest.mark.parametrize("name", sorted(SECTIONS.keys() - {"harvester"}))
def test_a_cluster_without_an_external_cloud_provider_has_nothing_of_the_cloud(name: str) -> None:
    account = name != "simulated"
    spec: dict[str, Any] = {"controlPlane": {"externalCloudProvider": False}}
    assert not needs_cloud_controller(cluster(**spec), provider(name, account=account))
    assert not [one for one in names(name, account, **spec) if BY_NAME[one].spec.providers]


@pytest.mark.parametrize("name", SECTIONS)
@pytest.mark.parametrize("account", [False, True])
def test_no_two_of_them_conflict_and_each_has_what_it_depends_on(name: str, account: bool) -> None:
    found = set(names(name, account and name != "simulated"))
    for one in found:
        assert not found & set(BY_NAME[one].spec.conflicts)
        assert set(BY_NAME[one].spec.depends_on) <= found


def test_volumes_of_nutanix_need_to_know_where_from() -> None:
    for gap in ("prismElement", "storageContainer"):
        config = provider("nutanix", account=True, **{gap: None})
        found = [one.name for one in platform_wishes(cluster(), ClusterDefaults(), None, config)]
        assert "longhorn" in found
        assert "nutanix-cloud-provider" in found


def test_a_version_is_that_of_the_cluster_then_that_of_the_platform() -> None:
    versions = {"certManager": "v1.0.0", "metricsServer": "3.0.0", "traefik": "1.0.0"}
    found = wishes(versions=versions, addons={"traefik": {}, "ingress": {"version": "2.0.0"}})
    assert found["cert-manager"].version == "v1.0.0"
    assert found["metrics-server"].version == "3.0.0"
    assert found["traefik"].version == "2.0.0"
    assert found["cilium"].version == ""


def test_values_of_the_cluster_lie_over_those_of_the_team() -> None:
    team = {"addonValues": {"cilium": {"a": 1}, "traefik": {"b": 1}}}
    found = wishes(team=team, addons={"cni": {"values": {"a": 2}}})
    assert found["cilium"].values == ({"a": 1}, {"a": 2})
    assert found["traefik"].values == ({"b": 1},)
    assert found["metallb"].values == ()


def test_a_team_adds_addons_and_repeats_none() -> None:
    team = {"defaultAddons": ["velero", "cilium"], "addonValues": {"velero": {"deployNodeAgent": True}}}
    found = wishes(team=team, addons={"cni": {"version": "1.19.7"}})
    assert list(found) == [*USUAL, "velero"]
    assert found["cilium"].version == "1.19.7"
    assert found["velero"].values == ({"deployNodeAgent": True},)


def test_whoever_asks_for_a_load_balancer_on_a_cloud_is_told_by_the_conflict() -> None:
    assert "metallb" in names("aws", addons={"loadBalancer": {}})
    assert "metallb" in BY_NAME["aws-cloud-controller-manager"].spec.conflicts
