"""The steps of a cluster's life: what each makes, and what it says about what it finds."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from butler.api.cluster import TenantCluster
from butler.controllers.cluster import kinds
from butler.controllers.cluster.lookup import Snapshot
from butler.controllers.cluster.manifests import Manifest, differences, is_as_wanted
from butler.controllers.cluster.scope import Scope
from butler.controllers.cluster.steps import STEPS
from butler.controllers.cluster.steps.control_plane import ControlPlane
from butler.controllers.cluster.steps.infrastructure import Infrastructure
from butler.controllers.cluster.steps.quota import Quota
from butler.controllers.cluster.steps.workers import Workers, outdated, stray
from butler.engines.kamaji.kinds import TenantControlPlane
from tests.controllers.clusters import INSIDE, cluster, config, provider, scope_of, surroundings, team


def control_plane(version: str, status: str = "Ready", endpoint: str | None = "10.0.0.5:6443") -> TenantControlPlane:
    return msgspec.convert(
        {
            "kind": "TenantControlPlane",
            "metadata": {"name": "shop", "namespace": INSIDE},
            "spec": {
                "controlPlane": {"service": {"serviceType": "LoadBalancer"}},
                "kubernetes": {"version": version, "kubelet": {}},
            },
            "status": {
                "controlPlaneEndpoint": endpoint,
                "kubernetesResources": {"version": {"version": version, "status": status}},
            },
        },
        TenantControlPlane,
    )


def made(scope: Scope) -> dict[tuple[str, str], Manifest]:
    return {(one.kind.kind, one.name): one for step in STEPS for one in step.manifests(scope)}


def exists(sight: Snapshot, manifest: Manifest, **status: Any) -> None:
    """The object as it is after Butler wrote it and its controller answered."""
    generation = {**manifest.body["metadata"], "generation": 1, "uid": "u"}
    sight.put(manifest.kind, [{**manifest.body, "metadata": generation, "status": {"observedGeneration": 1, **status}}])


def test_a_new_cluster_is_made_of_these_objects_in_this_order() -> None:
    assert list(made(scope_of(cluster(workers={"replicas": 2})))) == [
        ("Namespace", INSIDE),
        ("KamajiControlPlane", "shop"),
        ("SimulatedCluster", "shop"),
        ("Cluster", "shop"),
        ("KubeadmConfigTemplate", "shop-worker"),
        ("SimulatedMachineTemplate", "shop-worker"),
        ("MachineDeployment", "shop-workers"),
    ]


def test_an_infrastructure_cluster_says_who_else_manages_it() -> None:
    places = {"networkName": "default/workloads", "imageName": "default/talos"}
    harvester = provider("lab", provider="harvester", credentialsRef={"name": "lab"}, harvester=places)
    scope = scope_of(cluster(providerConfigRef={"name": "lab"}, workers={"replicas": 1}), surroundings(harvester))
    body = made(scope)[("KubevirtCluster", "shop")].body
    assert body["metadata"]["annotations"]["cluster.x-k8s.io/managed-by"] == "kamaji"


def test_every_object_says_whose_it_is() -> None:
    wanted = cluster(
        teamRef={"name": "web"}, namespace="team-web", labels={"butler.butlerlabs.dev/environment": "prod"}
    )
    world = surroundings(team(environments=[{"name": "prod"}]), config(multiTenancy={"mode": "Optional"}))
    for manifest in made(scope_of(wanted, world)).values():
        labels = manifest.body["metadata"]["labels"]
        assert labels["app.kubernetes.io/managed-by"] == "butler"
        assert labels["butler.butlerlabs.dev/source-namespace"] == "team-web"
        assert labels["butler.butlerlabs.dev/source-name"] == "shop"
        assert labels["butler.butlerlabs.dev/team"] == "web"
        assert labels["butler.butlerlabs.dev/environment"] == "prod"


def test_the_endpoint_is_handed_over_as_soon_as_kamaji_knows_it() -> None:
    sight = surroundings(control_plane("v1.32.2"))
    found = made(scope_of(cluster(), sight))
    for kind in ("Cluster", "SimulatedCluster"):
        assert found[kind, "shop"].body["spec"]["controlPlaneEndpoint"] == {"host": "10.0.0.5", "port": 6443}


def test_workers_keep_their_version_until_the_control_plane_has_the_new_one() -> None:
    wanted = cluster(kubernetesVersion="v1.33.0")
    before = made(scope_of(wanted, surroundings(control_plane("v1.32.2", "Upgrading"))))
    after = made(scope_of(wanted, surroundings(control_plane("v1.33.0"))))
    assert before["KamajiControlPlane", "shop"].body["spec"]["version"] == "v1.33.0"
    assert before["MachineDeployment", "shop-workers"].body["spec"]["template"]["spec"]["version"] == "v1.32.2"
    assert after["MachineDeployment", "shop-workers"].body["spec"]["template"]["spec"]["version"] == "v1.33.0"


def test_a_machine_that_is_to_look_different_gets_a_new_template() -> None:
    sight = surroundings()
    for manifest in Workers().manifests(scope_of(cluster(), sight)):
        exists(sight, manifest)
    changed = cluster(workers={"machineTemplate": {"memory": "16Gi"}})
    bootstrap, machine, deployment = Workers().manifests(scope_of(changed, sight))
    assert bootstrap.name == "shop-worker"
    assert machine.name.startswith("shop-worker-")
    assert deployment.body["spec"]["template"]["spec"]["infrastructureRef"]["name"] == machine.name


def test_a_cluster_as_it_was_before_uses_its_first_template_again() -> None:
    sight = surroundings()
    for manifest in Workers().manifests(scope_of(cluster(), sight)):
        exists(sight, manifest)
    assert [one.name for one in Workers().manifests(scope_of(cluster(), sight))][:2] == ["shop-worker", "shop-worker"]


def test_old_templates_go_when_no_machine_is_left_to_replace() -> None:
    sight, changed = surroundings(), cluster(workers={"machineTemplate": {"memory": "16Gi"}})
    for manifest in Workers().manifests(scope_of(cluster(), sight)):
        exists(sight, manifest)
    renewed = Workers().manifests(scope_of(changed, sight))
    for manifest in renewed:
        exists(sight, manifest, replicas=2, upToDateReplicas=1, readyReplicas=2)
    assert outdated(scope_of(changed, sight)) == []
    exists(sight, renewed[-1], replicas=1, upToDateReplicas=1, readyReplicas=1)
    assert [(kind.kind, name) for kind, name in outdated(scope_of(changed, sight))] == [
        ("SimulatedMachineTemplate", "shop-worker")
    ]


def test_a_pool_that_is_no_longer_wanted_is_found() -> None:
    sight = surroundings()
    for manifest in Workers().manifests(scope_of(cluster(workers={"pools": [{"name": "gpu", "replicas": 1}]}), sight)):
        exists(sight, manifest)
    assert stray(scope_of(cluster(), sight)) == ["shop-gpu"]


def test_a_pool_that_something_else_scales_is_left_its_replicas() -> None:
    wanted = cluster(workers={"pools": [{"name": "gpu", "minReplicas": 1, "maxReplicas": 9}]})
    deployment = Workers().manifests(scope_of(wanted))[-1].body
    assert "replicas" not in deployment["spec"]
    prefix = "cluster.x-k8s.io/cluster-api-autoscaler-node-group"
    assert deployment["metadata"]["annotations"][f"{prefix}-min-size"] == "1"
    assert deployment["metadata"]["annotations"][f"{prefix}-max-size"] == "9"


def test_what_an_infrastructure_adds_to_joining_takes_nothing_away() -> None:
    azure = provider(
        "cloud",
        provider="azure",
        credentialsRef={"name": "cloud"},
        azure={"subscriptionID": "s", "resourceGroup": "r", "location": "westeurope"},
    )
    pool = {"name": "gpu", "replicas": 1, "labels": {"tier": "gpu"}}
    wanted = cluster(workers={"pools": [pool]}, providerConfigRef={"name": "cloud"})
    bootstrap = Workers().manifests(scope_of(wanted, surroundings(azure)))[0].body
    registration = bootstrap["spec"]["template"]["spec"]["joinConfiguration"]["nodeRegistration"]
    assert registration["kubeletExtraArgs"] == [
        {"name": "node-labels", "value": "tier=gpu"},
        {"name": "cloud-provider", "value": "external"},
    ]


def test_labels_and_taints_of_a_pool_reach_its_nodes() -> None:
    pool = {
        "name": "gpu",
        "replicas": 1,
        "labels": {"tier": "gpu"},
        "taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}],
    }
    bootstrap = Workers().manifests(scope_of(cluster(workers={"pools": [pool]})))[0].body
    assert bootstrap["spec"]["template"]["spec"]["joinConfiguration"]["nodeRegistration"] == {
        "kubeletExtraArgs": [{"name": "node-labels", "value": "tier=gpu"}],
        "taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}],
    }


@pytest.mark.parametrize(
    ("counts", "reason", "message", "changing"),
    [
        ({}, "WorkersProvisioning", "0 of 3 workers are ready", True),
        ({"replicas": 3, "upToDateReplicas": 1}, "WorkersProvisioning", "0 of 3 workers are ready", True),
        (
            {"replicas": 4, "upToDateReplicas": 2, "readyReplicas": 3},
            "WorkersProvisioning",
            "3 of 3 workers are ready",
            True,
        ),
        (
            {"replicas": 3, "upToDateReplicas": 3, "readyReplicas": 2},
            "WorkersNotReady",
            "2 of 3 workers are ready",
            False,
        ),
        ({"replicas": 3, "upToDateReplicas": 3, "readyReplicas": 3}, "WorkersReady", "3 of 3 workers are ready", False),
    ],
)
def test_workers_are_told_by_their_numbers(counts: dict[str, int], reason: str, message: str, changing: bool) -> None:
    wanted, sight = cluster(workers={"replicas": 3}), surroundings()
    for manifest in Workers().manifests(scope_of(wanted, sight)):
        exists(sight, manifest, **counts)
    verdict = Workers().verdict(scope_of(wanted, sight))
    assert (verdict.reason, verdict.message, verdict.changing) == (reason, message, changing)


def test_an_autoscaled_pool_is_measured_by_what_scales_it() -> None:
    wanted = cluster(workers={"pools": [{"name": "gpu", "minReplicas": 1, "maxReplicas": 9}]})
    sight = surroundings()
    *_, deployment = Workers().manifests(scope_of(wanted, sight))
    deployment.body["spec"]["replicas"] = 5
    exists(sight, deployment, replicas=5, upToDateReplicas=5, readyReplicas=5)
    assert Workers().verdict(scope_of(wanted, sight)).done


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (None, "ControlPlaneProvisioning"),
        (control_plane("v1.32.2", "Provisioning"), "ControlPlaneProvisioning"),
        (control_plane("v1.31.0"), "ControlPlaneUpgrading"),
        (control_plane("v1.32.2", "NotReady"), "ControlPlaneNotReady"),
        (control_plane("1.32.2"), "ControlPlaneReady"),
    ],
)
def test_the_control_plane_is_told_by_what_kamaji_says(found: TenantControlPlane | None, reason: str) -> None:
    sight = surroundings(found) if found else surroundings()
    assert ControlPlane().verdict(scope_of(cluster(), sight)).reason == reason


def test_infrastructure_waits_for_cluster_api() -> None:
    sight = surroundings(control_plane("v1.32.2"))
    *_, owner = Infrastructure().manifests(scope_of(cluster(), sight))
    assert not Infrastructure().verdict(scope_of(cluster(), sight)).done
    exists(sight, owner, initialization={"infrastructureProvisioned": True, "controlPlaneInitialized": True})
    assert Infrastructure().verdict(scope_of(cluster(), sight)).done


def older(name: str, **spec: Any) -> TenantCluster:
    return cluster(name, uid=name, created="2025-01-01T00:00:00Z", **spec)


def test_the_youngest_cluster_is_the_one_too_many() -> None:
    world = surroundings(provider(limits={"maxClustersPerTeam": 1}), older("first"))
    verdict = Quota().verdict(scope_of(cluster(), world))
    assert (verdict.reason, verdict.message) == ("QuotaExceeded", "2 clusters on this provider, and 1 is allowed")
    assert Quota().verdict(scope_of(older("first"), world)).done


def test_what_was_granted_stays_granted_until_something_else_is_asked_for() -> None:
    status = {"acceptedSpec": {"workers": {"replicas": 2}}}
    world = surroundings(provider(limits={"maxClustersPerTeam": 1}), older("first", status=status))
    assert Quota().verdict(scope_of(cluster(status=status, workers={"replicas": 2}), world)).done
    assert not Quota().verdict(scope_of(cluster(status=status, workers={"replicas": 1}), world)).done


def test_workers_are_counted_over_all_clusters() -> None:
    world = surroundings(provider(limits={"maxNodesPerTeam": 4}), older("first", workers={"replicas": 3}))
    assert Quota().verdict(scope_of(cluster(workers={"replicas": 1}), world)).done
    assert not Quota().verdict(scope_of(cluster(workers={"replicas": 2}), world)).done


def test_what_younger_clusters_were_granted_counts_too() -> None:
    granted = {"acceptedSpec": {"workers": {"replicas": 2}}}
    younger = cluster("second", uid="second", status=granted, workers={"replicas": 9})
    world = surroundings(provider(limits={"maxNodesPerTeam": 5}), younger)
    assert Quota().verdict(scope_of(older("first", status=granted, workers={"replicas": 3}), world)).done
    refused = Quota().verdict(scope_of(older("first", status=granted, workers={"replicas": 4}), world))
    assert refused.message == "6 workers on this provider, and 5 are allowed"


def test_who_waits_takes_nothing_from_who_was_granted_something() -> None:
    """Two of the same second have no order of their own but that of who was there first."""
    waits = cluster("waits", uid="a", workers={"replicas": 2})
    world = surroundings(provider(limits={"maxClustersPerTeam": 1}), waits)
    granted = cluster(status={"acceptedSpec": {"workers": {"replicas": 1}}}, uid="b", workers={"replicas": 2})
    assert Quota().verdict(scope_of(granted, world)).done


def test_a_limit_of_a_provider_counts_what_is_on_it() -> None:
    elsewhere = older("first", workers={"replicas": 3}, providerConfigRef={"name": "other"})
    limited = provider(limits={"maxClustersPerTeam": 1, "maxNodesPerTeam": 3})
    wanted = cluster(workers={"replicas": 3})
    assert Quota().verdict(scope_of(wanted, surroundings(limited, provider("other"), elsewhere))).done
    meant = older("second", providerConfigRef={"name": "simulated"})
    assert not Quota().verdict(scope_of(wanted, surroundings(limited, provider("other"), elsewhere, meant))).done


def test_what_a_cluster_was_made_with_counts_whatever_the_default_is_now() -> None:
    made_with = {"providerConfigRef": {"name": "other", "namespace": "butler-system"}}
    limited = provider(limits={"maxClustersPerTeam": 1})
    world = surroundings(limited, provider("other"), older("first", status=made_with))
    assert Quota().verdict(scope_of(cluster(), world)).done


def test_a_limit_counts_the_clusters_of_the_team_alone() -> None:
    """All teams are in one namespace where a platform keeps them in none."""
    limited = provider(limits={"maxClustersPerTeam": 1})
    teams = (team("web", resourceLimits={"maxClusters": 1, "maxTotalNodes": 1}), team("data"))
    world = surroundings(limited, *teams, older("first", teamRef={"name": "data"}), older("second"))
    assert Quota().verdict(scope_of(cluster(teamRef={"name": "web"}), world)).done
    world = surroundings(limited, *teams, older("first", teamRef={"name": "web"}))
    assert not Quota().verdict(scope_of(cluster(teamRef={"name": "web"}), world)).done


def test_what_nobody_asked_for_is_no_difference() -> None:
    wanted = {"spec": {"a": 1, "b": [1, 2]}}
    assert differences({"spec": {"a": 1, "b": [1, 2], "c": 3}, "status": {}}, wanted) == []
    assert differences({"spec": {"a": 2, "b": [1]}}, wanted) == ["spec.a", "spec.b"]
    assert differences({}, wanted) == ["spec"]


def test_a_field_that_is_no_longer_wanted_is_noticed() -> None:
    before = Workers().manifests(scope_of(cluster(workers={"replicas": 1})))[-1]
    pool = {"pools": [{"name": "workers2", "replicas": 1}]}
    after = Workers().manifests(scope_of(cluster(workers=pool)))[-1]
    assert before.body["metadata"]["annotations"] != after.body["metadata"]["annotations"]
    assert not is_as_wanted(before.body, after)


def test_only_the_kinds_of_the_steps_are_written() -> None:
    assert {kind for kind, _ in made(scope_of(cluster()))} <= {
        "Namespace",
        kinds.CLUSTER.kind,
        kinds.MACHINE_DEPLOYMENT.kind,
        kinds.KAMAJI_CONTROL_PLANE.kind,
        kinds.KUBEADM_CONFIG_TEMPLATE.kind,
        "SimulatedCluster",
        "SimulatedMachineTemplate",
    }


def test_one_more_than_wanted_is_not_counted_as_ready() -> None:
    wanted, sight = cluster(workers={"replicas": 2}), surroundings()
    *_, deployment = Workers().manifests(scope_of(wanted, sight))
    exists(sight, deployment, replicas=3, upToDateReplicas=1, readyReplicas=3)
    assert Workers().verdict(scope_of(wanted, sight)).message == "2 of 2 workers are ready"


def machine_set(name: str, deployment: Manifest, replicas: int, version: str | None = None) -> kinds.MachineSetSeen:
    """A set of machines of a deployment, as it is to be now, or of another version."""
    look = {**deployment.body["spec"]["template"]["spec"]}
    labels = deployment.body["spec"]["template"]["metadata"]["labels"]
    return msgspec.convert(
        {
            "metadata": {"name": name, "namespace": INSIDE, "labels": labels},
            "spec": {"replicas": replicas, "template": {"spec": look | ({"version": version} if version else {})}},
            "status": {"replicas": replicas},
        },
        kinds.MachineSetSeen,
    )


def test_machines_of_another_look_are_to_be_replaced_and_new_ones_are_not() -> None:
    """New machines are not counted as up to date at once, and would look as if they had to go."""
    wanted, sight = cluster(workers={"replicas": 2}), surroundings()
    *_, deployment = Workers().manifests(scope_of(wanted, sight))
    exists(sight, deployment, replicas=2, upToDateReplicas=1, readyReplicas=1)
    sight.put(kinds.MachineSetSeen, [machine_set("new", deployment, 2)])
    assert Workers().verdict(scope_of(wanted, sight)).message == "1 of 2 workers are ready"
    exists(sight, deployment, replicas=3, upToDateReplicas=1, readyReplicas=2)
    sight.put(kinds.MachineSetSeen, [machine_set("new", deployment, 2), machine_set("old", deployment, 1, "v1.31.0")])
    verdict = Workers().verdict(scope_of(wanted, sight))
    assert (verdict.message, verdict.changing) == ("2 of 2 workers are ready, 1 to be replaced", True)
