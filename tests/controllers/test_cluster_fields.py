"""Fields of clusters and teams that were passed over once."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from butler.api.cluster import TenantCluster
from butler.controllers.cluster.acceptance import Refused, accept
from butler.controllers.cluster.addons.progress import missing_addons
from butler.controllers.cluster.scope import Scope
from butler.controllers.cluster.steps.image import Image
from butler.controllers.cluster.steps.quota import Quota
from butler.controllers.cluster.steps.workers import Workers
from tests.controllers.clusters import LEAN, cluster, config, provider, scope_of, surroundings, team
from tests.controllers.test_cluster_steps import control_plane

VERSION = "v1.32.2"
OPTIONAL = config(multiTenancy={"mode": "Optional"})


def having(scope: Scope, *, ready: bool = True, **spec: Any) -> Scope:
    """The cluster once everything it wanted is installed, and then written like this."""
    addons = [
        {
            "name": one.name, "version": one.version, "status": "Healthy", "managedBy": "butler",
            "valuesDigest": one.digest,
        }
        for one in scope.addons.addons
    ]  # fmt: skip
    said = {"type": "AddonsReady", "status": "True" if ready else "False", "reason": "AddonsInstalled"}
    status = {"conditions": [said], "observedState": {"kubernetesVersion": VERSION, "addons": addons}}
    return scope_of(cluster(status=status, **spec), surroundings(control_plane(VERSION)))


def names(scope: Scope) -> list[str]:
    return [one.name for one in missing_addons(scope)]


def cilium(**values: Any) -> dict[str, Any]:
    return {"cni": {"values": values}} if values else {}


def test_an_addon_is_installed_again_when_its_values_change() -> None:
    before = scope_of(cluster(addons=cilium(replicas=1)))
    assert names(having(before, addons=cilium(replicas=1))) == []
    assert names(having(before, addons=cilium(replicas=2))) == ["cilium"]
    assert names(having(before, addons=cilium())) == ["cilium"]


def test_the_addons_of_a_cluster_that_is_observed_are_left_alone_once_it_has_them() -> None:
    before, observe = scope_of(cluster()), {"mode": "Observe"}
    assert names(having(before, addons=cilium(replicas=2), managementPolicy=observe)) == []
    assert names(having(before, ready=False, addons=cilium(replicas=2), managementPolicy=observe)) == ["cilium"]


def test_a_control_plane_that_is_made_anew_gets_its_addons_even_if_observed() -> None:
    scope = having(scope_of(cluster()), managementPolicy={"mode": "Observe"})
    again = scope_of(scope.cluster, surroundings())
    assert len(names(again)) == len(scope.settings.addons)


def test_without_an_external_cloud_provider_nodes_keep_their_other_arguments() -> None:
    section = {"projectID": "p", "region": "europe-west3", "image": "ubuntu"}
    google = provider("lab", provider="gcp", credentialsRef={"name": "login"}, gcp=section)
    pools = {"pools": [{"name": "gpu", "replicas": 1, "labels": {"tier": "gold"}}]}

    def arguments(wanted: TenantCluster) -> list[str]:
        template, *_ = Workers().manifests(scope_of(wanted, surroundings(google)))
        joining = template.body["spec"]["template"]["spec"]["joinConfiguration"]
        return [one["name"] for one in joining["nodeRegistration"]["kubeletExtraArgs"]]

    lab: dict[str, Any] = {"providerConfigRef": {"name": "lab"}, "workers": pools}
    assert arguments(cluster(**lab)) == ["node-labels", "cloud-provider"]
    assert arguments(cluster(**lab, controlPlane={"externalCloudProvider": False})) == ["node-labels"]


def test_a_schematic_of_a_pool_is_waited_for_too() -> None:
    template = {"os": {"schematicID": "376567988ad370138a"}}
    pool = {"name": "gpu", "replicas": 1, "machineTemplate": template}
    assert Image().verdict(scope_of(cluster(workers={"pools": [pool]}))).reason == "ImageSyncPending"


def of_team(**spec: Any) -> TenantCluster:
    return cluster(teamRef={"name": "web"}, namespace="team-web", **spec)


@pytest.mark.parametrize(
    ("limits", "reason", "message"),
    [
        ({"allowedKubernetesVersions": ["v1.30.0"]}, "VersionNotAllowed", f"may not have {VERSION}, only v1.30.0"),
        ({"allowedProviders": ["fast"]}, "ProviderAccessDenied", "may not have simulated, only fast"),
        ({"allowedAddons": ["cilium", "cert-manager"]}, "AddonNotAllowed", "may not have traefik, only cilium, cert-"),
        ({"deniedAddons": ["traefik"]}, "AddonNotAllowed", "traefik is denied"),
    ],
    ids=lambda one: "" if isinstance(one, str) else next(iter(one)),
)
def test_a_team_may_not_choose_everything(limits: dict[str, Any], reason: str, message: str) -> None:
    world = surroundings(OPTIONAL, team(resourceLimits=limits))
    chosen = {**LEAN, "ingress": {"enabled": True}}
    with pytest.raises(Refused) as error:
        accept(of_team(kubernetesVersion=VERSION, addons=chosen), world)
    assert error.value.condition_reason == reason
    assert message in str(error.value)
    running = {
        "providerConfigRef": {"name": "simulated", "namespace": "butler-system"},
        "observedState": {
            "kubernetesVersion": VERSION,
            "addons": [
                {"name": name, "version": "1", "status": "Healthy", "managedBy": "butler"}
                for name in ("cilium", "cert-manager", "traefik")
            ],
        },
    }
    accept(of_team(kubernetesVersion=VERSION, addons=chosen, status=running), world)


@pytest.mark.parametrize("limits", [{"allowedAddons": ["cert-manager"]}, {"deniedAddons": ["traefik"]}], ids=str)
def test_what_a_team_may_not_have_is_left_out_where_nobody_asked_for_it(limits: dict[str, Any]) -> None:
    world = surroundings(OPTIONAL, team(resourceLimits=limits))
    names = [one.name for one in scope_of(of_team(addons=LEAN), world).settings.addons]
    assert names == ["cilium", "cert-manager"]
    there = {"name": "traefik", "version": "1", "status": "Healthy", "managedBy": "butler"}
    status = {"observedState": {"addons": [there]}}
    names = [one.name for one in scope_of(of_team(addons=LEAN, status=status), world).settings.addons]
    assert names == ["cilium", "cert-manager", "traefik"]


def test_a_team_without_limits_has_those_of_the_platform() -> None:
    platform = config(multiTenancy={"mode": "Optional"}, defaultTeamLimits={"maxWorkersPerCluster": 1})
    wanted = of_team(workers={"replicas": 2})
    refused = Quota().verdict(scope_of(wanted, surroundings(platform, team())))
    assert refused.message == "2 workers in one cluster, and 1 is allowed"
    own = team(resourceLimits={"maxNodesPerCluster": 5})
    assert Quota().verdict(scope_of(wanted, surroundings(platform, own))).done


def test_the_sizes_of_all_workers_count() -> None:
    world = surroundings(OPTIONAL, team(resourceLimits={"maxMemory": "12Gi"}))
    assert Quota().verdict(scope_of(of_team(workers={"replicas": 1}), world)).done
    verdict = Quota().verdict(scope_of(of_team(workers={"replicas": 2}), world))
    assert (verdict.reason, verdict.message) == (
        "QuotaExceeded",
        "16Gi of memory in the workers of the team, and 12Gi are allowed",
    )


def test_the_limits_of_a_team_may_say_what_a_worker_is_like() -> None:
    limits = {"defaultCPUPerNode": "6", "defaultMemoryPerNode": "12Gi"}
    plain = surroundings(OPTIONAL, team(resourceLimits=limits))
    (pool,) = scope_of(of_team(), plain).settings.pools
    assert (pool.cpu, pool.memory) == (6, "12Gi")
    both = surroundings(OPTIONAL, team(resourceLimits=limits, clusterDefaults={"workerCPU": 3}))
    (pool,) = scope_of(of_team(), both).settings.pools
    assert pool.cpu == 3


def test_values_are_told_apart_without_being_shown() -> None:
    (found, *_) = scope_of(cluster(addons=cilium(password="hunter2"))).addons.addons
    assert found.digest is not None
    assert "hunter2" not in msgspec.json.encode(found.digest).decode()
