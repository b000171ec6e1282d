"""What is filled in, dropped and kept, compared with what a real kube-apiserver stored."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from kubekit.server.kinds.builtin import behaviours
from kubekit.server.kinds.builtin.quantities import canonical
from kubekit.server.kinds.network.addresses import Addresses, allocate
from kubekit.server.kinds.pods.defaults import pull_policy
from kubekit.server.kinds.pods.pods import quality_of_service
from tests.server.builtin_golden import Kind, kind_of, label, recorded, untyped

_UPDATED = [entry for entry in recorded("updated") if "new" in entry]


@pytest.mark.parametrize("entry", recorded("stored"), ids=label)
def test_a_new_object_is_stored_as_kubernetes_stores_it(entry: Any) -> None:
    stored = entry["stored"]
    obj = kind_of(entry["given"]).created(entry["given"], stored["metadata"]["name"], stored["metadata"]["uid"])
    assert obj == untyped(stored)


@pytest.mark.parametrize("entry", recorded("stored"), ids=label)
def test_defaulting_twice_changes_nothing_more(entry: Any) -> None:
    kind = kind_of(entry["given"])
    once = kind.decoded(entry["given"])
    twice = copy.deepcopy(once)
    kind.behaviour.default(twice)
    assert twice == once


@pytest.mark.parametrize("entry", _UPDATED, ids=label)
def test_an_update_keeps_what_kubernetes_keeps(entry: Any) -> None:
    old, new = untyped(entry["old"]), untyped(entry["new"])
    kind = kind_of(entry["old"])
    obj = kind.updated(old, entry["patch"])
    if behaviours.changes_generation(kind.resource.group, kind.resource.kind, obj, old):
        obj["metadata"]["generation"] += 1
    assert obj == new


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("nginx:1.27", "IfNotPresent"),
        ("localhost:5000/nginx", "Always"),
        ("localhost:5000/nginx:1", "IfNotPresent"),
        ("nginx@sha256:abc", "IfNotPresent"),
        ("", "IfNotPresent"),
    ],
)
def test_only_the_latest_image_is_always_pulled(image: str, policy: str) -> None:
    assert pull_policy(image) == policy


@pytest.mark.parametrize(
    ("resources", "quality"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        ({"requests": {"cpu": "1000m", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        ({"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "2", "memory": "1Gi"}}, "Burstable"),
        ({"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}, "Burstable"),
        ({"requests": {"example.com/gpu": "1"}}, "BestEffort"),
    ],
)
def test_the_quality_of_service_follows_from_requests_and_limits(resources: Any, quality: str) -> None:
    assert quality_of_service({"containers": [{"resources": resources}]}) == quality


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("1024Mi", "1Gi"),
        ("1000m", "1"),
        ("0.5", "500m"),
        ("1500", "1500"),
        ("2000", "2k"),
        ("1e3", "1e3"),
        ("0Gi", "0"),
    ],
)
def test_a_quantity_has_one_spelling(given: str, stored: str) -> None:
    assert canonical(given) == stored


def test_a_service_account_is_not_asked_for_in_a_template() -> None:
    spec = {"containers": [{"name": "a", "image": "x"}]}
    given = {"metadata": {}, "spec": {"selector": {}, "template": {"spec": spec}}}
    deployment = Kind("apps/v1", "Deployment").decoded(given)
    assert "serviceAccountName" not in deployment["spec"]["template"]["spec"]


def test_the_priority_of_an_unknown_class_is_left_to_those_who_know_it() -> None:
    given = {"metadata": {}, "spec": {"priorityClassName": "mine", "containers": []}}
    assert "priority" not in Kind("v1", "Pod").decoded(given)["spec"]


@pytest.mark.parametrize(
    ("group", "kind", "rule"),
    [
        ("", "Service", "label"),
        ("", "Namespace", "label"),
        ("apps", "StatefulSet", "label"),
        ("rbac.authorization.k8s.io", "ClusterRole", "path-segment"),
        ("", "ConfigMap", "subdomain"),
        ("example.com", "Unknown", "subdomain"),
    ],
)
def test_each_kind_has_its_rule_for_names(group: str, kind: str, rule: str) -> None:
    assert behaviours.name_rule(group, kind) == rule


def test_a_changed_annotation_counts_for_deployments_only() -> None:
    old: dict[str, Any] = {"metadata": {"annotations": {}}, "spec": {}}
    new: dict[str, Any] = {"metadata": {"annotations": {"a": "b"}}, "spec": {}}
    assert behaviours.changes_generation("apps", "Deployment", new, old)
    assert not behaviours.changes_generation("apps", "StatefulSet", new, old)
    assert not behaviours.has_generation("", "ConfigMap")


def _service(uid: str = "u", **spec: Any) -> dict[str, Any]:
    ports = [{"port": 80, "name": "a"}, {"port": 81, "name": "b"}]
    return Kind("v1", "Service").created({"metadata": {}, "spec": {"ports": ports, **spec}}, uid=uid)


def test_a_service_gets_an_address_nobody_has() -> None:
    everything = {f"10.0.0.{number}" for number in range(256)}
    service = _service()
    assert allocate(service, Addresses("10.0.0.0/24", everything - {"10.0.0.77"})) == []
    assert (service["spec"]["clusterIP"], service["spec"]["clusterIPs"]) == ("10.0.0.77", ["10.0.0.77"])


def test_the_same_service_gets_the_same_address() -> None:
    first, second, other = _service("u"), _service("u"), _service("v")
    for service in (first, second, other):
        allocate(service, Addresses())
    assert first["spec"]["clusterIP"] == second["spec"]["clusterIP"] != other["spec"]["clusterIP"]


def test_every_port_of_a_service_gets_a_node_port_of_its_own() -> None:
    service = _service(type="NodePort")
    assert allocate(service, Addresses(taken_ports={30000, 30001})) == []
    ports = [port["nodePort"] for port in service["spec"]["ports"]]
    assert len({*ports, 30000, 30001}) == 4


def test_a_headless_service_gets_no_address() -> None:
    service = _service(clusterIP="None")
    allocate(service, Addresses())
    assert service["spec"]["clusterIP"] == "None"


def test_a_taken_address_is_refused() -> None:
    service = _service(clusterIP="10.96.0.7")
    (problem,) = allocate(service, Addresses(taken_ips={"10.96.0.7"}))
    assert problem.path == "spec.clusterIPs"
    assert problem.detail == "failed to allocate IP 10.96.0.7: provided IP is already allocated"


def test_a_node_port_out_of_range_is_refused() -> None:
    service = _service(type="NodePort", ports=[{"port": 80, "nodePort": 80}])
    (problem,) = allocate(service, Addresses())
    assert (problem.path, problem.value) == ("spec.ports[0].nodePort", 80)
    assert problem.detail == "provided port is not in the valid range. The range of valid ports is 30000-32767"


def test_a_full_network_says_so() -> None:
    service = _service()
    taken = {f"10.0.0.{number}" for number in range(256)}
    (problem,) = allocate(service, Addresses("10.0.0.0/24", taken))
    assert problem.path == "spec.clusterIPs"
