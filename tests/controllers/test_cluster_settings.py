"""What a cluster gets that it does not say."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from butler.controllers.cluster.settings import settings_of
from butler.controllers.cluster.steps.workers import Workers
from tests.controllers.clusters import LEAN, cluster, config, provider, scope_of, surroundings, team


def test_a_cluster_that_says_nothing_has_one_worker_of_the_usual_size() -> None:
    (pool,) = settings_of(cluster(), None, None).pools
    assert (pool.desired, pool.cpu, pool.memory, pool.disk) == (1, 4, "8Gi", "40Gi")


def test_the_environment_wins_over_the_team_and_the_cluster_over_both() -> None:
    owner = team(
        clusterDefaults={"workerCount": 2, "workerCPU": 6, "kubernetesVersion": "v1.31.0"},
        environments=[{"name": "prod", "clusterDefaults": {"workerCount": 5, "workerMemoryGi": 32}}],
    )
    wanted = cluster(
        labels={"butler.butlerlabs.dev/environment": "prod"}, workers={"machineTemplate": {"memory": "64Gi"}}
    )
    settings = settings_of(wanted, owner, None)
    (pool,) = settings.pools
    assert (settings.version, pool.desired, pool.cpu, pool.memory) == ("v1.31.0", 5, 6, "64Gi")


def test_named_pools_stand_beside_the_one_without_a_name() -> None:
    wanted = cluster(workers={"replicas": 2, "pools": [{"name": "gpu", "minReplicas": 1, "maxReplicas": 4}]})
    plain, scaled = settings_of(wanted, None, None).pools
    assert (plain.name, plain.replicas, scaled.name, scaled.replicas, scaled.desired) == ("", 2, "gpu", None, 1)


def test_with_named_pools_only_there_is_no_other() -> None:
    wanted = cluster(workers={"pools": [{"name": "gpu", "replicas": 0}]})
    assert [pool.name for pool in settings_of(wanted, None, None).pools] == ["gpu"]


def test_the_network_comes_first_and_what_is_switched_off_not_at_all() -> None:
    off = {"enabled": False}
    wanted = cluster(addons={**LEAN, "certManager": off, "ingress": off, "loadBalancer": {}})
    assert [one.name for one in settings_of(wanted, None, None).addons] == ["cilium", "metallb"]


def test_addon_versions_come_from_the_cluster_then_the_platform() -> None:
    wanted = cluster(addons={**LEAN, "cni": {"version": "1.18.1"}, "ingress": {"enabled": False}})
    settings = settings_of(wanted, None, config(defaultAddonVersions={"cilium": "1.16.0", "certManager": "v1.17.0"}))
    assert {one.name: one.version for one in settings.addons} == {"cilium": "1.18.1", "cert-manager": "v1.17.0"}


def test_control_plane_resources_are_replaced_component_by_component() -> None:
    platform = config(
        defaultControlPlaneResources={
            "apiServer": {"requests": {"cpu": "1"}},
            "scheduler": {"requests": {"cpu": "100m"}},
        }
    )
    wanted = cluster(controlPlane={"resources": {"apiServer": {"requests": {"cpu": "2"}}}})
    found = msgspec.to_builtins(settings_of(wanted, None, platform).control_plane_resources)
    assert found == {"apiServer": {"requests": {"cpu": "2"}}, "scheduler": {"requests": {"cpu": "100m"}}}


def test_a_cluster_that_names_no_version_keeps_the_one_it_got() -> None:
    running = cluster(status={"observedState": {"kubernetesVersion": "v1.30.9"}})
    assert settings_of(running, team(clusterDefaults={"kubernetesVersion": "v1.31.0"}), None).version == "v1.30.9"


@pytest.mark.parametrize(
    ("spec", "network", "platform", "servers"),
    [
        ({"timeServers": ["own"]}, {"timeServers": ["near"]}, {"defaultTimeServers": ["far"]}, ["own"]),
        ({}, {"timeServers": ["near"]}, {"defaultTimeServers": ["far"]}, ["near"]),
        ({}, {}, {"defaultTimeServers": ["far"]}, ["far"]),
        ({}, {}, {}, ["pool.ntp.org"]),
    ],
    ids=("cluster", "provider", "platform", "default"),
)
def test_machines_ask_for_the_time_where_the_nearest_says(
    spec: dict[str, Any], network: dict[str, Any], platform: dict[str, Any], servers: list[str]
) -> None:
    scope = scope_of(cluster(**spec), surroundings(provider(network=network), config(**platform)))
    joining = Workers().manifests(scope)[0].body["spec"]["template"]["spec"]
    assert joining["ntp"] == {"enabled": True, "servers": servers}
