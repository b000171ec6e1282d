"""What is told of a cluster as it changes."""

from __future__ import annotations

from typing import Any

import msgspec

from butler.api.cluster import TenantClusterStatus
from butler.controllers.cluster.status import notes_for


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
