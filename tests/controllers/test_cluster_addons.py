"""The order in which addons come, and what is said of them on the way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from butler.controllers.cluster import kinds
from butler.controllers.cluster.addons import progress
from butler.controllers.cluster.addons.observed import observed
from butler.controllers.cluster.lookup import Snapshot
from butler.controllers.cluster.scope import Scope
from butler.controllers.cluster.step import Verdict, Whose
from butler.controllers.cluster.steps import STEPS
from butler.controllers.cluster.steps.addons import Addons
from butler.controllers.cluster.steps.node_addons import NodeAddons
from butler.controllers.cluster.steps.workers import Workers
from tests.controllers.clusters import INSIDE, LEAN, cluster, config, definition, scope_of, surroundings
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
    return cluster(kubernetesVersion=VERSION, workers={"replicas": 2}, addons=LEAN, status=status)


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
    workers = {"pools": [{"name": "gpu", "minReplicas": 0, "maxReplicas": 3}]}
    scope = scope_of(cluster(workers=workers, addons=LEAN), reachable())
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
    other = cluster(kubernetesVersion=VERSION, addons={**LEAN, "cni": {"version": "1.18.0"}})
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


def told(scope: Scope, **changed: Any) -> dict[str, Any]:
    """A status of that cluster once all its addons are there, with some entries changed."""
    entries = {one.name: msgspec.to_builtins(observed(one, "Healthy")) for one in scope.addons.addons}
    for name, change in changed.items():
        entries[name.replace("_", "-")] |= change
    return {"observedState": {"kubernetesVersion": VERSION, "addons": list(entries.values())}}


def running(status: dict[str, Any], *objects: Any, **spec: Any) -> Scope:
    """The cluster with that status, written like this, where these objects are others than usual."""
    sight = with_workers(reachable(), ready=2)
    for one in objects:
        sight.put(type(one), [one])
    addons = LEAN | spec.pop("addons", {})
    asked = cluster(kubernetesVersion=VERSION, workers={"replicas": 2}, addons=addons, status=status, **spec)
    return replace(scope_of(asked, sight), news={})


def complete(**spec: Any) -> dict[str, Any]:
    return told(running({}, **spec))


def versions(scope: Scope) -> dict[str, str]:
    return {one.name: one.version for one in scope.addons.addons}


def test_a_catalogue_that_offers_more_does_not_upgrade_what_is_there() -> None:
    fresh = running({}, definition("traefik", "99.0.0"))
    assert versions(fresh)["traefik"] == "99.0.0"
    assert versions(running(complete(), definition("traefik", "99.0.0")))["traefik"] == "34.3.0"


def test_what_is_there_stays_while_something_else_fails() -> None:
    failed = {"version": "35.0.0", "status": "Failed", "installedVersion": "34.3.0"}
    status = told(running({}), traefik=failed)
    assert versions(running(status, definition("traefik", "99.0.0")))["traefik"] == "34.3.0"


def test_what_never_was_there_follows_the_catalogue() -> None:
    status = told(running({}), traefik={"status": "Failed"})
    assert versions(running(status, definition("traefik", "99.0.0")))["traefik"] == "99.0.0"


def test_who_names_a_version_gets_it_and_the_platform_decides_for_the_others() -> None:
    platform = config(defaultAddonVersions={"certManager": "v1.17.0", "traefik": "35.0.0"})
    scope = running(complete(), platform, addons={"ingress": {"version": "36.0.0"}})
    assert versions(scope) == {"cilium": "1.17.0", "cert-manager": "v1.17.0", "traefik": "36.0.0"}


UNKNOWN = ("AddonNotFound", "linstor: there is no AddonDefinition of that name")
STORAGE = {"storage": {"provider": "linstor"}}


def test_an_addon_that_nobody_knows_is_told_of_and_keeps_no_other_out() -> None:
    scope = running({}, addons=STORAGE)
    assert begun(scope) == ["cilium", "cert-manager", "traefik"]
    verdict = Addons().verdict(running(complete(), addons=STORAGE))
    assert (verdict.done, verdict.reason, verdict.message) == (False, UNKNOWN[0], f"cannot be installed: {UNKNOWN[1]}")
    (entry,) = [one for one in progress.shown(scope) if one.name == "linstor"]
    assert (entry.status, entry.version, entry.message) == ("Failed", "", UNKNOWN[1])
    assert NodeAddons().verdict(running(complete(), addons=STORAGE)).done


def test_an_addon_without_a_version_is_never_healthy() -> None:
    scope = running(complete(), definition("linstor", ""), addons=STORAGE)
    assert Addons().verdict(scope).reason == "VersionUnknown"


def test_values_that_do_not_fit_are_the_owners_matter_and_what_is_there_stays() -> None:
    schema = {"type": "object", "properties": {"replicas": {"type": "integer"}}}
    wrong = {"ingress": {"values": {"replicas": "s3cret"}}}
    scope = running(complete(), definition("traefik", valuesSchema=schema), addons=wrong)
    verdict = Addons().verdict(scope)
    assert (verdict.reason, verdict.whose) == ("InvalidValues", Whose.OWNER)
    assert "values.replicas" in verdict.message
    assert "s3cret" not in verdict.message
    (entry,) = [one for one in progress.shown(scope) if one.name == "traefik"]
    assert (entry.status, entry.version, entry.installed_version) == ("Failed", "34.3.0", "34.3.0")
    mended = running({"observedState": {"addons": msgspec.to_builtins(progress.shown(scope))}})
    assert versions(mended)["traefik"] == "34.3.0"
    assert begun(mended) == ["traefik"]


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ({"kubernetesVersions": ">=1.40"}, "AddonUnsuitable"),
        ({"providers": ["aws"]}, "AddonUnsuitable"),
        ({"conflicts": ["cert-manager"]}, "AddonConflict"),
    ],
)
def test_what_is_not_for_this_cluster_is_told_of(rules: dict[str, Any], reason: str) -> None:
    assert Addons().verdict(running(complete(), definition("traefik", **rules))).reason == reason


def test_a_network_that_nobody_knows_is_missed_by_the_nodes() -> None:
    scope = running({}, definition("cilium", providers=["aws"], forNodes=True))
    assert NodeAddons().verdict(scope).reason == "AddonUnsuitable"


def test_what_works_badly_is_there_and_not_ready() -> None:
    status = told(running({}), traefik={"status": "Degraded", "message": "Deployment traefik: 0 of 1"})
    scope = running(status)
    assert begun(scope) == []
    verdict = Addons().verdict(scope)
    assert (verdict.done, verdict.reason, verdict.changing) == (False, "AddonsDegraded", False)
    assert verdict.message == "not all of it works: traefik 34.3.0: Deployment traefik: 0 of 1"


def test_what_others_keep_is_left_to_them() -> None:
    theirs = {"managedBy": "flux", "version": "99.9.9", "valuesDigest": None}
    scope = running(told(running({}), traefik=theirs))
    assert begun(scope) == []
    assert Addons().verdict(scope).done
    gone = running(told(running({}), traefik=theirs), addons={"ingress": {"enabled": False}})
    assert Addons().unwanted(gone) == ()


def test_what_depends_on_something_comes_once_that_is_there() -> None:
    parts = definition("traefik", dependsOn=["cert-manager", "something-else"])
    assert begun(running({}, parts)) == ["cilium", "cert-manager", "traefik"], "together, in order"
    broken = told(running({}, parts), traefik={"valuesDigest": "other"})
    refused = definition("cert-manager", providers=["aws"])
    assert begun(running(broken, parts, refused)) == ["traefik"], "what is there suffices, whatever is said of it"
    without = [one for one in broken["observedState"]["addons"] if one["name"] != "cert-manager"]
    alone = {"observedState": {"kubernetesVersion": VERSION, "addons": without}}
    assert begun(running(alone, parts, refused)) == []


FEWER: dict[str, Any] = {"addons": {"ingress": {"enabled": False}}}


def unwanted(scope: Scope) -> list[str]:
    return [one.name for step in STEPS for one in step.unwanted(scope)]


def test_what_nobody_asks_for_any_more_is_to_go() -> None:
    scope = running(complete(), **FEWER)
    assert unwanted(scope) == ["traefik"]
    verdict = Addons().verdict(scope)
    assert (verdict.done, verdict.reason, verdict.changing) == (False, "AddonsRemoving", True)
    assert verdict.message == "being removed: traefik"


def test_nothing_goes_from_a_cluster_that_is_observed_or_whose_change_is_refused_or_that_does_not_answer() -> None:
    assert unwanted(running(complete(), managementPolicy={"mode": "Observe"}, **FEWER)) == []
    assert unwanted(replace(running(complete(), **FEWER), is_kept=True)) == []
    assert unwanted(scope_of(cluster(status=complete(), **FEWER), reachable("NotReady"))) == []


def test_what_nodes_need_stays_and_that_is_told() -> None:
    scope = running(complete(), definition("traefik", forNodes=True), **FEWER)
    assert unwanted(scope) == []
    verdict = Addons().verdict(scope)
    assert (verdict.done, verdict.message) == (
        True, "cert-manager, cilium; traefik is no longer asked for, and kept: nodes need it",
    )  # fmt: skip


def test_what_could_not_go_stays_and_that_is_told() -> None:
    kept = {"message": "no longer asked for, and kept: volume one is still there"}
    scope = running(told(running({}), traefik=kept), **FEWER)
    assert unwanted(scope) == ["traefik"], "to be tried again"
    verdict = Addons().verdict(scope)
    assert (verdict.done, verdict.reason) == (True, "AddonsInstalled")
    assert verdict.message.endswith("; traefik is no longer asked for, and kept: volume one is still there")
