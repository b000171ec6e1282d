"""The order in which addons come, and what is said of them on the way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from butler.controllers.cluster import kinds
from butler.controllers.cluster.addons.observed import observed
from butler.controllers.cluster.lookup import Snapshot
from butler.controllers.cluster.scope import Scope
from butler.controllers.cluster.step import Verdict
from butler.controllers.cluster.steps import STEPS
from butler.controllers.cluster.steps.addons import Addons
from butler.controllers.cluster.steps.node_addons import NodeAddons
from butler.controllers.cluster.steps.workers import Workers
from tests.controllers.clusters import INSIDE, cluster, scope_of, surroundings
from tests.controllers.test_cluster_steps import control_plane, exists

VERSION = "v1.32.2"


def reachable(status: str = "Ready") -> Snapshot:
    """A world in which the cluster's control plane answers, and its kubeconfig is there."""
    meta = {"name": "shop-admin-kubeconfig", "namespace": INSIDE}
    secret = msgspec.convert({"kind": "Secret", "metadata": meta}, kinds.SecretSeen)
    return surroundings(control_plane(VERSION, status), secret)


def with_workers(sight: Snapshot, ready: int) -> Snapshot:
    for manifest in Workers().manifests(scope_of(wanted(), sight)):
        exists(sight, manifest, replicas=2, upToDateReplicas=2, readyReplicas=ready)
    return sight


def wanted(**status: Any) -> Any:
    return cluster(kubernetesVersion=VERSION, workers={"replicas": 2}, status=status)


def begun(scope: Scope) -> list[str]:
    """What would be installed now, in this order."""
    return [one.name for step in STEPS for one in step.addons(scope)]


def knowing(scope: Scope, message: str = "", **states: Any) -> Scope:
    """The scope once somebody heard of these addons."""
    by_name = {one.name.replace("-", "_"): one for one in scope.addons.addons}
    return replace(
        scope, news={by_name[name].name: observed(by_name[name], state, message) for name, state in states.items()}
    )


@pytest.mark.parametrize(
    "sight",
    [surroundings(), surroundings(control_plane(VERSION)), reachable("Provisioning"), reachable("NotReady")],
    ids=["nothing", "no kubeconfig", "begins", "silent"],
)
def test_nothing_is_installed_into_a_cluster_that_cannot_be_reached(sight: Snapshot) -> None:
    scope = scope_of(wanted(), sight)
    assert begun(scope) == []
    for step in (NodeAddons(), Addons()):
        verdict = step.verdict(scope)
        assert (verdict.done, verdict.reason, verdict.changing) == (False, "WaitingForDependencies", True)


def test_the_network_comes_before_the_first_worker_and_the_rest_with_it() -> None:
    scope = scope_of(wanted(), with_workers(reachable(), ready=0))
    assert begun(scope) == ["cilium"]
    assert begun(knowing(scope, cilium="Healthy")) == []
    assert Addons().verdict(knowing(scope, cilium="Healthy")).message == "cert-manager, traefik: after the first worker"
    later = scope_of(wanted(), with_workers(reachable(), ready=1))
    assert begun(knowing(later, cilium="Healthy")) == ["cert-manager", "traefik"]


def test_a_cluster_without_workers_gets_all_its_addons() -> None:
    scope = scope_of(cluster(workers={"pools": [{"name": "gpu", "minReplicas": 0, "maxReplicas": 3}]}), reachable())
    assert begun(scope) == ["cilium", "cert-manager", "traefik"]


def test_the_steps_of_addons_stand_around_the_workers() -> None:
    conditions = [step.condition for step in STEPS]
    order = ["KubeconfigReady", "NodeAddonsReady", "WorkersReady", "AddonsReady"]
    assert [one for one in conditions if one in order] == order


def verdicts(**states: Any) -> tuple[Verdict, Verdict]:
    scope = knowing(scope_of(wanted(), with_workers(reachable(), ready=2)), "timed out", **states)
    return NodeAddons().verdict(scope), Addons().verdict(scope)


def test_a_network_that_failed_is_named_by_both() -> None:
    for verdict in verdicts(cilium="Failed", cert_manager="Healthy", traefik="Healthy"):
        assert (verdict.done, verdict.reason) == (False, "CNIInstallFailed")
        assert verdict.message == "could not be installed: cilium 1.17.0: timed out"


def test_another_that_failed_does_not_concern_the_nodes() -> None:
    nodes, every = verdicts(cilium="Healthy", cert_manager="Healthy", traefik="Failed")
    assert nodes.done
    assert (every.reason, every.message) == ("AddonInstallFailed", "could not be installed: traefik 34.3.0: timed out")


def test_what_is_under_way_is_named() -> None:
    nodes, every = verdicts(cilium="Healthy", cert_manager="Installing")
    assert nodes.done
    assert (every.reason, every.message) == ("AddonsInstalling", "being installed: cert-manager")


def test_what_failed_in_another_version_is_about_to_be_tried() -> None:
    scope = knowing(scope_of(wanted(), reachable()), cilium="Failed")
    other = cluster(kubernetesVersion=VERSION, addons={"cni": {"version": "1.18.0"}})
    changed = replace(scope_of(other, reachable()), news=scope.news)
    assert begun(changed) == ["cilium"]
    assert NodeAddons().verdict(changed).reason == "AddonsInstalling"


def test_what_was_under_way_when_its_controller_ended_is_begun_anew() -> None:
    (cilium, *_) = scope_of(wanted(), reachable()).addons.addons
    left = msgspec.to_builtins(observed(cilium, "Installing"))
    told = scope_of(wanted(observedState={"addons": [left]}), reachable())
    assert NodeAddons().verdict(told).message == "being installed: cilium"
    known = replace(told, news={})
    assert (begun(known), NodeAddons().verdict(known).message) == (["cilium"], "to be installed: cilium")


def test_nothing_is_installed_for_a_change_that_is_refused() -> None:
    there = {"name": "cilium", "version": "1.16.0", "status": "Healthy", "managedBy": "butler"}
    kept = replace(scope_of(wanted(observedState={"addons": [there]}), with_workers(reachable(), 2)), is_kept=True)
    assert begun(kept) == []
    assert NodeAddons().verdict(kept).done
    assert Addons().verdict(kept).message == "to be installed: cert-manager, traefik"
