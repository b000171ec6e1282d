"""The arithmetic of a rollout: how many pods more, how many fewer, and what may be missing meanwhile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..kinds import Deployment, IntOrPercent, ReplicaSet

REVISION = "deployment.kubernetes.io/revision"
HISTORY = "deployment.kubernetes.io/revision-history"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MOST = "deployment.kubernetes.io/max-replicas"

Sizes = Mapping[str, int]
"""How many pods each ReplicaSet is to have, by name."""


def share(value: IntOrPercent | None, total: int, *, up: bool) -> int:
    """A number, or a percentage of a total, rounded up or down."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    percent = int(value.rstrip("%")) * total
    return -(-percent // 100) if up else percent // 100


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a rollout may go at a time."""

    surge: int
    unavailable: int

    @classmethod
    def of(cls, deployment: Deployment) -> Limits:
        rolling, replicas = deployment.spec.strategy.rolling_update, deployment.spec.replicas
        if deployment.spec.strategy.type == "Recreate" or rolling is None:
            return cls(0, 0)
        surge = share(rolling.max_surge, replicas, up=True)
        unavailable = share(rolling.max_unavailable, replicas, up=False)
        # Both may round to nothing, and then nothing would ever move.
        return cls(surge, min(unavailable or (0 if surge else 1), replicas) if replicas else unavailable)


def revision_of(obj: ReplicaSet | Deployment) -> int:
    text = obj.metadata.annotations.get(REVISION, "")
    return int(text) if text.isdigit() else 0


def available(replica_set: ReplicaSet) -> int:
    return replica_set.status.available_replicas or 0


def total(sets: Sequence[ReplicaSet]) -> int:
    return sum(each.spec.replicas for each in sets)


def grown(deployment: Deployment, new: int, old: int) -> int:
    """The size of the newest ReplicaSet after the next step of a rolling update, given all sizes as they are."""
    wanted = deployment.spec.replicas
    if new >= wanted or deployment.spec.strategy.type == "Recreate":
        return wanted
    room = wanted + Limits.of(deployment).surge - new - old
    return new + max(0, min(room, wanted - new))


def _lasting(replica_set: ReplicaSet) -> int:
    """The available pods that will stay: what was scaled down a moment ago may still be counted."""
    return min(available(replica_set), replica_set.spec.replicas)


def shrunk(deployment: Deployment, new: ReplicaSet, olds: Sequence[ReplicaSet]) -> Sizes:
    """The sizes of the older ReplicaSets after the next step: first what is broken goes, then what can be spared."""
    least = deployment.spec.replicas - Limits.of(deployment).unavailable
    sizes = {each.metadata.name: each.spec.replicas for each in olds}
    spare = total(olds) + _lasting(new) - least
    if spare <= 0:
        return sizes
    for each in olds:
        broken = min(spare, each.spec.replicas - _lasting(each))
        sizes[each.metadata.name] -= broken
        spare -= broken
    spare = sum(map(_lasting, (*olds, new))) - least
    for each in olds:
        step = min(max(spare, 0), sizes[each.metadata.name])
        sizes[each.metadata.name] -= step
        spare -= step
    return sizes


def proportional(deployment: Deployment, sets: Sequence[ReplicaSet]) -> Sizes:
    """The sizes of several ReplicaSets when the number of pods changes in the middle of a rollout."""
    wanted = deployment.spec.replicas
    allowed = wanted + Limits.of(deployment).surge if wanted else 0
    change = allowed - total(sets)
    newest_first = sorted(sets, key=lambda each: str(each.metadata.creation_timestamp), reverse=change > 0)
    order = sorted(newest_first, key=lambda each: each.spec.replicas, reverse=True)
    sizes = {each.metadata.name: each.spec.replicas for each in order}
    left = change
    for each in order:
        most = int(each.metadata.annotations.get(MOST, "0") or 0) or wanted or 1
        part = round(each.spec.replicas * allowed / most) - each.spec.replicas
        part = max(0, min(part, left)) if change > 0 else min(0, max(part, left))
        sizes[each.metadata.name] += part
        left -= part
    if order:
        first = order[0].metadata.name
        sizes[first] = max(0, sizes[first] + left)
    return sizes
