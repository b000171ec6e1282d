"""What a Deployment says of itself: counts, Available and Progressing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import structs

from kubekit.runtime.reconciler import Outcome

from ..context import condition, find_condition, moment, seconds, some, stamp, with_conditions
from ..kinds import Condition, Deployment, DeploymentStatus, ReplicaSet
from .rollouts import Limits, available, total

_AVAILABLE = ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
_UNAVAILABLE = ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
_LATE = "ProgressDeadlineExceeded"
_DONE = "NewReplicaSetAvailable"
_NO_DEADLINE = 2**31 - 1


def outcome(deployment: Deployment, new: ReplicaSet | None, sets: Sequence[ReplicaSet], now: datetime) -> Outcome:
    """The status, and when to look again in case nothing happens until the deadline."""
    status = _counted(new, sets)
    enough = (status.available_replicas or 0) >= deployment.spec.replicas - Limits.of(deployment).unavailable
    wanted = [_timed(deployment, condition("Available", *(_AVAILABLE if enough else _UNAVAILABLE)), now)]
    progressing = _progressing(deployment, status, new, now)
    if progressing is not None:
        wanted.append(progressing)
    status = structs.replace(status, conditions=with_conditions(deployment.status.conditions, *wanted))
    return Outcome(status, again=_deadline(deployment, progressing, now))


def is_complete(deployment: Deployment, status: DeploymentStatus) -> bool:
    """Whether every pod is of the newest template, and there."""
    wanted = deployment.spec.replicas
    counts = (status.updated_replicas or 0, status.replicas or 0, status.available_replicas or 0)
    return counts == (wanted, wanted, wanted)


def _counted(new: ReplicaSet | None, sets: Sequence[ReplicaSet]) -> DeploymentStatus:
    there = sum(available(each) for each in sets)
    return DeploymentStatus(
        replicas=some(sum(each.status.replicas for each in sets)),
        updated_replicas=some(new.status.replicas) if new is not None else None,
        ready_replicas=some(sum(each.status.ready_replicas or 0 for each in sets)),
        available_replicas=some(there),
        unavailable_replicas=some(max(0, total(sets) - there)),
        terminating_replicas=sum(each.status.terminating_replicas or 0 for each in sets),
    )


def _progressing(
    deployment: Deployment, status: DeploymentStatus, new: ReplicaSet | None, now: datetime
) -> Condition | None:
    before = find_condition(deployment.status.conditions, "Progressing")
    if deployment.spec.paused:
        paused = condition("Progressing", "Unknown", "DeploymentPaused", "Deployment is paused")
        return _timed(deployment, paused, now)
    if new is None:
        return before
    name = f'"{new.metadata.name}"'
    if is_complete(deployment, status):
        made = condition("Progressing", "True", _DONE, f"ReplicaSet {name} has successfully progressed.")
    elif before is None or name not in before.get("message", ""):
        # It speaks of an earlier rollout, or of none.
        made = condition("Progressing", "True", "NewReplicaSetCreated", f"Created new replica set {name}")
    elif _has_moved(deployment.status, status) and before["reason"] != _DONE:
        made = condition("Progressing", "True", "ReplicaSetUpdated", f"ReplicaSet {name} is progressing.")
        return {**_timed(deployment, made, now), "lastUpdateTime": stamp(now)}
    elif _is_late(deployment, before, now):
        made = condition("Progressing", "False", _LATE, f"ReplicaSet {name} has timed out progressing.")
    else:
        return before
    return _timed(deployment, made, now)


def _timed(deployment: Deployment, made: Condition, now: datetime) -> Condition:
    """With the time of its last change; the one of its last transition is the runtime's."""
    before = find_condition(deployment.status.conditions, made["type"]) or {}
    same = all(before.get(name) == made.get(name) for name in ("status", "reason", "message"))
    return {**made, "lastUpdateTime": before["lastUpdateTime"] if same and "lastUpdateTime" in before else stamp(now)}


def _has_moved(before: DeploymentStatus, now: DeploymentStatus) -> bool:
    """Whether new pods came or old ones went since the status was last written."""
    old_before = (before.replicas or 0) - (before.updated_replicas or 0)
    old_now = (now.replicas or 0) - (now.updated_replicas or 0)
    return (
        (now.updated_replicas or 0) > (before.updated_replicas or 0)
        or old_now < old_before
        or (now.ready_replicas or 0) > (before.ready_replicas or 0)
        or (now.available_replicas or 0) > (before.available_replicas or 0)
    )


def _left(deployment: Deployment, progressing: Condition, now: datetime) -> float | None:
    """Seconds until the rollout is late; None when it cannot be."""
    deadline = deployment.spec.progress_deadline_seconds
    since = moment(progressing.get("lastUpdateTime"))
    if deadline is None or deadline == _NO_DEADLINE or since is None:
        return None
    return deadline - (now - since).total_seconds()


def _is_late(deployment: Deployment, progressing: Condition, now: datetime) -> bool:
    if progressing["reason"] == _LATE:
        return True
    if progressing["reason"] == _DONE:
        return False
    left = _left(deployment, progressing, now)
    return left is not None and left <= 0


def _deadline(deployment: Deployment, progressing: Condition | None, now: datetime) -> timedelta | None:
    if progressing is None or progressing["reason"] in (_LATE, _DONE, "DeploymentPaused"):
        return None
    left = _left(deployment, progressing, now)
    return None if left is None else seconds(left)
