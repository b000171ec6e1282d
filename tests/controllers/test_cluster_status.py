"""What is told of a cluster as it changes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from butler.api.cluster import TenantClusterStatus
from butler.controllers.cluster.status import notes_for, refused_status
from butler.controllers.cluster.step import Verdict
from butler.controllers.cluster.steps import GATES

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def status(phase: str, *conditions: tuple[str, str, str], **more: Any) -> TenantClusterStatus:
    said = [{"type": type_, "status": holds, "reason": reason} for type_, holds, reason in conditions]
    return msgspec.convert({"phase": phase, "conditions": said, **more}, TenantClusterStatus)


def told(old: TenantClusterStatus, new: TenantClusterStatus) -> list[str]:
    return [f"{note.type} {note.reason}" for note in notes_for(old, new)]


def test_a_step_that_is_done_is_told_and_one_with_nothing_to_do_is_not() -> None:
    waiting = ("ControlPlaneReady", "False", "ControlPlaneProvisioning")
    old = status("Provisioning", waiting)
    new = status("Provisioning", ("NetworkReady", "True", "NotNeeded"), ("ControlPlaneReady", "True", "Answers"))
    assert told(TenantClusterStatus(), old) == ["Normal ClusterProvisioning"]
    assert told(old, new) == ["Normal Answers"]
    assert told(new, new) == []


def test_the_end_of_a_change_is_told_once() -> None:
    old = status(
        "Updating", ("WorkersReady", "False", "WorkersProvisioning"), ("Ready", "False", "WorkersProvisioning")
    )
    new = status("Running", ("WorkersReady", "True", "WorkersReady"), ("Ready", "True", "ReconcileSucceeded"))
    assert told(old, new) == ["Normal WorkersReady", "Normal ClusterUpdated"]


def test_what_keeps_a_cluster_from_going_on_is_a_warning() -> None:
    accepted, refused = ("Accepted", "True", "Accepted"), ("Accepted", "False", "VersionNotAllowed")
    assert told(status("Running", accepted), status("Running", refused)) == ["Warning VersionNotAllowed"]


def test_an_addon_that_cannot_be_installed_is_told_once_and_so_is_its_end() -> None:
    begun = status("Installing", ("AddonsReady", "False", "AddonsInstalling"))
    failed = status("Installing", ("AddonsReady", "False", "AddonInstallFailed"))
    done = status("Installing", ("AddonsReady", "True", "AddonsInstalled"))
    assert told(begun, failed) == ["Warning AddonInstallFailed"]
    assert told(failed, failed) == []
    assert told(failed, done) == ["Normal AddonRetrySucceeded"]
    assert told(begun, done) == ["Normal AddonsInstalled"]


def test_a_provider_that_is_not_for_the_team_is_a_condition_of_its_own() -> None:
    denied = Verdict(False, "ProviderAccessDenied", "only for team data")
    refused = refused_status(TenantClusterStatus(), [(GATES[0], denied)], NOW)
    said = refused.condition("ProviderAccessGranted")
    assert said is not None
    assert (said.status, said.reason) == ("False", "ProviderAccessDenied")
    other = Verdict(False, "VersionNotAllowed", "no")
    assert refused_status(TenantClusterStatus(), [(GATES[0], other)], NOW).condition("ProviderAccessGranted") is None
