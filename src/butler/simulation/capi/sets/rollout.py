"""How many machines each revision of a deployment should have next. Pure arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from butler.engines.capi.kinds import MachineDeployment, RollingUpdate, Rollout, RolloutStrategy

ON_DELETE = "OnDelete"


@dataclass(frozen=True, slots=True)
class Revision:
    """A machine set, by its numbers."""

    name: str
    wanted: int
    """What its spec says."""
    actual: int
    """Machines there are, those on their way out included."""
    available: int
    """Machines that are of use, and stay."""
    going: int = 0
    """Machines on their way out."""

    @property
    def staying(self) -> int:
        """Machines that are there and wanted."""
        return min(self.actual - self.going, self.wanted)


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many machines a deployment may have and must have."""

    replicas: int
    surge: int
    unavailable: int

    @property
    def most(self) -> int:
        return self.replicas + self.surge

    @property
    def fewest(self) -> int:
        return max(self.replicas - self.unavailable, 0)


def strategy_of(deployment: MachineDeployment) -> RolloutStrategy:
    return (deployment.spec.rollout or Rollout()).strategy or RolloutStrategy()


def bounds_of(deployment: MachineDeployment) -> Bounds:
    """Percentages become numbers: of machines more than wanted rounded up, of machines fewer rounded down."""
    replicas, strategy = deployment.spec.replicas or 0, strategy_of(deployment)
    if strategy.type == ON_DELETE:
        return Bounds(replicas, 0, 0)
    given = strategy.rolling_update or RollingUpdate()
    surge = _number(1 if given.max_surge is None else given.max_surge, replicas, up=True)
    unavailable = min(_number(given.max_unavailable or 0, replicas, up=False), replicas)
    # With neither, nothing could ever be replaced.
    return Bounds(replicas, surge, unavailable) if surge or unavailable else Bounds(replicas, 0, 1)


def _number(given: int | str, whole: int, *, up: bool) -> int:
    if isinstance(given, int):
        return given
    if not given.endswith("%"):
        return int(given)
    share = int(given[:-1]) * whole / 100
    return math.ceil(share) if up else math.floor(share)


def plan(bounds: Bounds, newest: Revision, older: Sequence[Revision], *, on_delete: bool = False) -> dict[str, int]:
    """What the specs should say, by name, as far as that is something else. `older` by age, oldest first."""
    if on_delete:
        return _follow_deletions(bounds, newest, older)
    targets = {}
    if (grown := _newest_target(bounds, newest, older)) != newest.wanted:
        targets[newest.name] = grown
    targets |= _older_targets(bounds, newest, older, targets)
    return targets or _unblocked(newest, older)


def _newest_target(bounds: Bounds, newest: Revision, older: Sequence[Revision]) -> int:
    """As many as wanted, as long as all together stay below the most there may be."""
    if newest.wanted >= bounds.replicas:
        return bounds.replicas
    total = sum(max(one.wanted, one.actual) for one in (newest, *older))
    room = max(bounds.most - total, 0)
    return newest.wanted + min(room, bounds.replicas - newest.wanted)


def _older_targets(
    bounds: Bounds, newest: Revision, older: Sequence[Revision], targets: dict[str, int]
) -> dict[str, int]:
    """Fewer of the older ones, as long as enough machines stay available whichever of them go."""
    revisions = (newest, *older)
    pending = sum(max(one.actual - min(one.wanted, targets.get(one.name, one.wanted)), 0) for one in revisions)
    spare = sum(one.wanted for one in revisions) - pending - bounds.fewest
    # Of what is to go but does not yet, any machine may turn out to be one that is available.
    doomed = sum(max(one.actual - one.going - targets.get(one.name, one.wanted), 0) for one in revisions)
    available = sum(one.available for one in revisions) - doomed
    shrunk: dict[str, int] = {}
    for only_unavailable in (True, False):
        for one in older:
            wanted = shrunk.get(one.name, one.wanted)
            surplus = wanted - min(one.available, wanted) if only_unavailable else wanted
            fewer = min(surplus, max(spare, 0))
            fewer, lost = _bearable(one, wanted, fewer, available - bounds.fewest)
            if fewer > 0:
                shrunk[one.name] = wanted - fewer
                spare -= fewer
                available -= lost
    return shrunk


def _bearable(one: Revision, wanted: int, fewer: int, losable: int) -> tuple[int, int]:
    """How many fewer a revision can want, and how many available machines that may cost, if so many can be lost."""
    if one.available == 0:
        return fewer, 0
    staying = min(one.staying, wanted)
    lost = max(staying - (wanted - fewer), 0)
    if lost > max(losable, 0):
        fewer = max(wanted - max(staying - max(losable, 0), 0), 0)
        lost = max(staying - (wanted - fewer), 0)
    return fewer, min(one.available, lost)


def _unblocked(newest: Revision, older: Sequence[Revision]) -> dict[str, int]:
    """Nothing can move because machines of an older revision are not available: one of them has to go."""
    revisions = (newest, *older)
    if any(one.wanted != one.actual for one in revisions) or newest.available != newest.actual:
        return {}
    stuck = next((one for one in older if one.wanted > 0 and one.available < one.actual), None)
    return {} if stuck is None else {stuck.name: stuck.wanted - 1}


def _follow_deletions(bounds: Bounds, newest: Revision, older: Sequence[Revision]) -> dict[str, int]:
    """Machines are replaced when somebody deletes them, and only then."""
    targets = {one.name: one.actual for one in older if one.actual < one.wanted}
    kept = sum(min(one.wanted, one.actual) for one in older)
    wanted = max(bounds.replicas - kept, 0)
    if wanted > newest.wanted:
        wanted = min(wanted, newest.wanted + max(bounds.replicas - newest.wanted - sum(one.actual for one in older), 0))
    return {**targets, **({newest.name: wanted} if wanted != newest.wanted else {})}
