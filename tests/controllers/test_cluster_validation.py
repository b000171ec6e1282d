"""What a cluster may not be, and how it is told."""

from __future__ import annotations

from typing import Any

import pytest

from butler.api.cluster import TenantCluster
from butler.api.normalise import normalise
from butler.controllers.cluster.validation import problems
from tests.controllers.clusters import cluster


def told(wanted: TenantCluster) -> list[str]:
    return [str(problem) for problem in problems(normalise(wanted))]


def test_a_plain_cluster_is_fine() -> None:
    assert told(cluster(workers={"replicas": 3}, kubernetesVersion="v1.32.2")) == []


@pytest.mark.parametrize("name", ["Shop", "1shop", "shop_1", "-shop", "shop-"])
def test_a_name_that_is_no_label_is_refused(name: str) -> None:
    (found,) = told(cluster(name))
    assert found.startswith(f'metadata.name: Invalid value: "{name}": must be lower case letters, digits')


def test_a_name_too_long_for_its_namespace_is_refused() -> None:
    assert "at most 54 letters" in told(cluster("a" * 55))[0]
    assert told(cluster("a" * 54)) == []


@pytest.mark.parametrize("version", ["v1.99.0", "v1.27.9", "v2.30.0"])
def test_a_version_that_cannot_be_had_is_refused(version: str) -> None:
    assert told(cluster(kubernetesVersion=version)) == [
        f'spec.kubernetesVersion: Invalid value: "{version}": must be between v1.28 and v1.36'
    ]


def test_a_range_that_is_none_is_refused_with_an_example() -> None:
    assert told(cluster(networking={"podCIDR": "10.244.0.0/33"})) == [
        'spec.networking.podCIDR: Invalid value: "10.244.0.0/33": must be a range such as 10.244.0.0/16'
    ]


def test_bits_beyond_the_mask_are_answered_with_what_was_meant() -> None:
    assert told(cluster(networking={"podCIDR": "10.244.1.0/16"})) == [
        'spec.networking.podCIDR: Invalid value: "10.244.1.0/16": has bits beyond its mask: did you mean 10.244.0.0/16?'
    ]


def test_overlapping_ranges_are_refused() -> None:
    (found,) = told(cluster(networking={"podCIDR": "10.96.0.0/16", "serviceCIDR": "10.96.0.0/12"}))
    assert found.startswith('spec.networking.serviceCIDR: Invalid value: "10.96.0.0/12": overlaps ')
    assert found.endswith("spec.networking.podCIDR (10.96.0.0/16): the two must have no address in common")


def test_a_range_without_room_for_nodes_is_refused() -> None:
    assert "is too small" in told(cluster(networking={"podCIDR": "10.244.0.0/28"}))[0]


@pytest.mark.parametrize(
    ("pool", "message"),
    [
        ({"start": "10.0.0.9", "end": "10.0.0.1"}, "must not be before start (10.0.0.9)"),
        ({"start": "10.0.0.x", "end": "10.0.0.1"}, "must be an address such as 10.0.0.10"),
        ({"start": "10.244.3.1", "end": "10.244.3.9"}, "overlaps spec.networking.podCIDR (10.244.0.0/16)"),
    ],
)
def test_load_balancer_addresses_that_cannot_be_are_refused(pool: dict[str, Any], message: str) -> None:
    assert message in told(cluster(networking={"loadBalancerPool": pool}))[0]


@pytest.mark.parametrize(
    ("workers", "message"),
    [
        ({"replicas": 1001}, "spec.workers.replicas: Invalid value: 1001: must be at most 1000"),
        (
            {"pools": [{"name": "gpu", "replicas": 2000}]},
            "spec.workers.pools[0].replicas: Invalid value: 2000: must be at most 1000",
        ),
        (
            {"machineTemplate": {"cpu": 200}},
            "spec.workers.machineTemplate.cpu: Invalid value: 200: must be between 1 and 128",
        ),
        (
            {"machineTemplate": {"memory": "512Mi"}},
            'spec.workers.machineTemplate.memory: Invalid value: "512Mi": must be at least 1Gi',
        ),
        (
            {"machineTemplate": {"disk": "5Gi"}},
            'spec.workers.machineTemplate.diskSize: Invalid value: "5Gi": must be at least 10Gi',
        ),
    ],
)
def test_workers_that_cannot_be_are_refused(workers: dict[str, Any], message: str) -> None:
    assert told(cluster(workers=workers)) == [message]


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        (
            {"requests": {"cpu": "5x"}},
            "requests.cpu: Invalid value: \"5x\": '5x' is not a quantity such as 8Gi, 500m or 4",
        ),
        ({"limits": {"memory": "-1Gi"}}, 'limits.memory: Invalid value: "-1Gi": must be more than 0'),
        (
            {"requests": {"cpu": 1}, "limits": {"cpu": "500m", "memory": "1Gi"}},
            'limits.cpu: Invalid value: "500m": must not be less than what is requested',
        ),
    ],
)
def test_resources_of_a_control_plane_that_cannot_be_are_refused(resources: dict[str, Any], message: str) -> None:
    wanted = cluster(controlPlane={"resources": {"apiServer": resources}})
    assert told(wanted) == [f"spec.controlPlane.resources.apiServer.{message}"]


def test_a_pool_may_not_take_the_name_of_the_workers_without_one() -> None:
    assert told(cluster(workers={"replicas": 1, "pools": [{"name": "workers", "replicas": 1}]})) == [
        'spec.workers.pools[0].name: Invalid value: "workers": is taken by the workers without a pool'
    ]


def test_every_problem_is_told_at_once() -> None:
    found = told(cluster("Shop", kubernetesVersion="v1.10.0", networking={"podCIDR": "x"}, workers={"replicas": 5000}))
    assert [text.partition(":")[0] for text in found] == [
        "metadata.name",
        "spec.kubernetesVersion",
        "spec.networking.podCIDR",
        "spec.workers.replicas",
    ]


def pool(**content: Any) -> TenantCluster:
    return cluster(workers={"pools": [{"name": "gpu", "replicas": 1, **content}]})


@pytest.mark.parametrize("labels", [{"tier": "gold"}, {"example.com/tier": ""}, {"node.kubernetes.io/pool": "gpu"}])
def test_labels_that_a_node_can_have_are_fine(labels: dict[str, str]) -> None:
    assert told(pool(labels=labels)) == []


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("tier", "gold,other=yes", "must be empty or at most 63 letters"),
        ("tier", "a b", "must be empty or at most 63 letters"),
        ("tier", "a" * 64, "must be empty or at most 63 letters"),
        ("a b", "gold", "must be a name of at most 63 letters"),
        ("", "gold", "must be a name of at most 63 letters"),
        ("Example.com/tier", "gold", "must have a domain such as example.com"),
        ("node-role.kubernetes.io/worker", "", "belongs to Kubernetes, and a kubelet with it does not start"),
        ("k8s.io/tier", "gold", "belongs to Kubernetes, and a kubelet with it does not start"),
    ],
)
def test_labels_with_which_no_kubelet_starts_are_refused(key: str, value: str, said: str) -> None:
    (found,) = told(pool(labels={key: value}))
    assert found.startswith(f"spec.workers.pools[0].labels[{key}]: Invalid value: ")
    assert said in found


def test_taints_with_which_no_kubelet_starts_are_refused() -> None:
    fine, wrong = {"key": "gpu", "value": "yes"}, {"key": "gpu", "value": "yes,other:NoExecute"}
    (found,) = told(pool(taints=[{**one, "effect": "NoSchedule"} for one in (fine, wrong)]))
    assert found.startswith("spec.workers.pools[0].taints[1]: Invalid value: ")


@pytest.mark.parametrize("memory", ["0", "-4Gi", "512Mi", "33Ti", "1e300", "4Zi", "four"])
def test_an_amount_that_no_machine_has_is_refused(memory: str) -> None:
    (found,) = told(pool(machineTemplate={"memory": memory}))
    assert found.startswith(f'spec.workers.pools[0].machineTemplate.memory: Invalid value: "{memory}": ')
