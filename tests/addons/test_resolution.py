"""What an addon comes to in one cluster."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from butler.addons.builtin import definitions
from butler.addons.bundled import FOLDER
from butler.addons.errors import AddonUnsuitable, InvalidValues, VersionUnknown
from butler.addons.facts import Facts
from butler.addons.resolution import Wish, resolve
from butler.api.addon import AddonDefinition
from tests.addons.clusters import facts, provider

BY_NAME = {one.metadata.name: one for one in definitions()}


def definition(values: dict[str, Any] | None = None, *resources: Any, version: str = "1.0.0") -> AddonDefinition:
    spec = {
        "displayName": "Web",
        "description": "It serves.",
        "category": "other",
        "chart": {"repository": "https://example.com", "name": "web", "defaultVersion": version},
        "defaults": {"values": values},
        "resources": resources,
    }
    return msgspec.convert({"metadata": {"name": "web"}, "spec": spec}, AddonDefinition)


def test_layers_lie_over_each_other_and_nulls_stay() -> None:
    base = {"a": {"x": 1, "y": 1}, "selector": {"control-plane": None}, "list": [1, 2]}
    wish = Wish("web", values=({"a": {"x": 2}}, {"a": {"z": 3}, "list": [3]}))
    found = resolve(wish, definition(base), facts()).release.values
    assert found == {"a": {"x": 2, "y": 1, "z": 3}, "selector": {"control-plane": None}, "list": [3]}


def test_a_placeholder_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(InvalidValues, match=r"\$\(cluster.nmae\), which nobody knows"):
        resolve(Wish("web"), definition({"a": "$(cluster.nmae)"}), facts())
    with pytest.raises(InvalidValues, match=r"\$\(cluster.nmae\)"):
        resolve(Wish("web"), definition({}, {"kind": "Pool", "spec": "$(cluster.nmae)"}), facts())


def test_users_write_no_placeholders() -> None:
    found = resolve(Wish("web", values=({"a": "$(cluster.name)"},)), definition({"b": "$(cluster.name)"}), facts())
    assert found.release.values == {"a": "$(cluster.name)", "b": "shop"}


def test_an_object_about_what_a_cluster_has_none_of_is_left_out() -> None:
    pool = {"kind": "Pool", "spec": {"addresses": "$(cluster.loadBalancer.addresses)"}}
    made = definition({}, pool, {"kind": "Other"})
    assert resolve(Wish("web"), made, facts()).resources == ({"kind": "Other"},)
    having = facts(networking={"loadBalancerPool": {"start": "10.0.0.1", "end": "10.0.0.2"}})
    assert resolve(Wish("web"), made, having).resources[0]["spec"] == {"addresses": ["10.0.0.1-10.0.0.2"]}
    with pytest.raises(InvalidValues):
        resolve(Wish("web"), definition({"a": "$(cluster.loadBalancer.addresses)"}), facts())


def test_an_addon_without_a_version_is_an_error() -> None:
    with pytest.raises(VersionUnknown):
        resolve(Wish("web"), definition(version=""), facts())
    assert resolve(Wish("web", "2.0.0"), definition(version=""), facts()).version == "2.0.0"


def test_the_network_waits_for_an_endpoint() -> None:
    with pytest.raises(InvalidValues, match=r"cluster.endpoint.host"):
        resolve(Wish("cilium"), BY_NAME["cilium"], facts(endpoint=None))
    values: Any = resolve(Wish("cilium"), BY_NAME["cilium"], facts(workers=1)).release.values
    assert (values["k8sServiceHost"], values["k8sServicePort"]) == ("10.0.0.5", "6443")
    assert values["operator"]["replicas"] == 1


@pytest.mark.parametrize(
    ("addon", "values"),
    [
        ("cilium", {"operator": {"replicas": "two"}}),
        ("cilium", {"kubeProxyReplacement": "strict"}),
        ("longhorn", {"persistence": {"reclaimPolicy": "Keep"}}),
        ("metrics-server", {"args": "--kubelet-insecure-tls"}),
        ("traefik", {"service": {"type": "External"}}),
    ],
)
def test_values_that_cannot_be_meant_are_refused_without_being_shown(addon: str, values: dict[str, Any]) -> None:
    with pytest.raises(InvalidValues, match="do not fit") as refused:
        resolve(Wish(addon, values=(values,)), BY_NAME[addon], facts())
    assert not [word for word in ("two", "strict", "Keep", "insecure-tls", "External") if word in str(refused.value)]


def test_an_addon_of_another_infrastructure_is_refused() -> None:
    with pytest.raises(AddonUnsuitable):
        resolve(Wish("aws-ebs-csi-driver"), BY_NAME["aws-ebs-csi-driver"], facts(provider("gcp")))


def test_an_addon_for_other_versions_of_kubernetes_is_refused() -> None:
    azure = facts(provider("azure"))
    newer = Facts(azure.name, "v1.37.0", azure.provider, azure.named)
    with pytest.raises(AddonUnsuitable):
        resolve(Wish("cloud-provider-azure"), BY_NAME["cloud-provider-azure"], newer)


def test_charts_that_come_along_are_where_butler_is() -> None:
    addon = resolve(Wish("gcp-pd-csi-driver"), BY_NAME["gcp-pd-csi-driver"], facts(provider("gcp")))
    assert addon.release.chart.local() == FOLDER / "gcp-pd-csi-driver"


def test_azure_has_a_controller_only_with_an_account() -> None:
    for account in (False, True):
        config = provider("azure", account=account)
        values: Any = resolve(
            Wish("cloud-provider-azure"), BY_NAME["cloud-provider-azure"], facts(config)
        ).release.values
        assert values["cloudControllerManager"]["enabled"] is account
