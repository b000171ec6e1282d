"""What a profile comes to now: which TenantAddons to write and to delete, and what there is to say.

Pure: the same profile and the same objects give the same plan. Nothing is remembered of waves but the objects
themselves, so a plan that was carried out half is simply made again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from butler.api.addon import TenantAddon
from butler.api.addon_profile import AddonProfile
from butler.api.cluster import TenantCluster

from .rivals import rivals_of
from .selection import matching, wave_size, waves
from .survey import Memory, Sight, Standing, cluster_key, survey
from .wanted_addon import Wanted

ADDON_FAILED, PAUSED, INVALID = "AddonFailed", "Paused", "InvalidSpec"
"""Why no cluster is touched."""
MOST_WRITES = 200
"""So many at once; the rest follows when these are seen."""


@dataclass(frozen=True, slots=True)
class Conflicts:
    """What somebody else has, or wants as well."""

    foreign: tuple[str, ...] = ()
    """TenantAddons of others under a name that is wanted here."""
    lost: tuple[tuple[str, str], ...] = ()
    """TenantAddons that are left to older profiles, and to which."""
    younger: tuple[str, ...] = ()
    """Profiles that leave something to this one."""


@dataclass(frozen=True, slots=True)
class Stop:
    """That no cluster is touched, and why."""

    reason: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do and what to say."""

    waves: list[list[Standing]] = field(default_factory=list)
    started: tuple[Standing, ...] = ()
    """Clusters whose changes are made now."""
    pruned: tuple[TenantAddon, ...] = ()
    """To be deleted from clusters that match no more, or are no more."""
    wave: int = 0
    """The one under way, from 1; 0 where there is none."""
    is_complete: bool = False
    stop: Stop | None = None
    conflicts: Conflicts = Conflicts()

    @property
    def standings(self) -> Iterable[Standing]:
        return (one for wave in self.waves for one in wave)

    @property
    def writes(self) -> list[Wanted]:
        """Where two clusters make the same name, the first has it."""
        found: dict[str, Wanted] = {}
        for standing in self.started:
            for one in standing.missing:
                found.setdefault(one.key, one)
        return list(found.values())

    @property
    def deletions(self) -> list[TenantAddon]:
        return [*self.pruned, *(one for standing in self.started for one in standing.surplus)]


def plan(profile: AddonProfile, sight: Sight, memory: Memory | None = None) -> Plan:
    """What to do now. A memory makes the next plan cheaper, and no different."""
    spec, matches = profile.spec, matching(profile.spec)
    matched = [one for one in sight.clusters if matches(one)]
    rivals = rivals_of(profile, sight.profiles)
    memory = Memory() if memory is None else memory
    standing = survey(profile, sight, rivals, memory)
    order = [[standing(one) for one in wave] for wave in waves(spec.rollout, matched)]
    memory.forget_others(matched)
    conflicts = Conflicts(
        foreign=tuple(key for wave in order for one in wave for key in one.foreign),
        lost=tuple(each for wave in order for one in wave for each in one.lost),
        younger=tuple(rivals.younger(spec.addons, matched)),
    )
    stop = _stop(profile, order)
    if stop is not None:
        # Who takes a cluster that failed out of the profile wants it to be rid of the addon.
        pruned = _pruned(profile, sight, matched) if stop.reason == ADDON_FAILED else ()
        return Plan(order, pruned=tuple(pruned), wave=_wave(order, is_stopped=True), stop=stop, conflicts=conflicts)
    started = _bounded(_startable(profile, order), MOST_WRITES)
    pruned = _pruned(profile, sight, matched)
    complete = not any(one.changes or one.is_begun for wave in order for one in wave)
    return Plan(order, tuple(started), tuple(pruned), _wave(order), complete, None, conflicts)


def _stop(profile: AddonProfile, order: list[list[Standing]]) -> Stop | None:
    if circle := _circle(profile):
        return Stop(INVALID, f"dependsOn goes round in a circle: {' → '.join(circle)}")
    if profile.spec.rollout.pause:
        return Stop(PAUSED, "spec.rollout.pause is set: all clusters are left as they are")
    failed = [one for wave in order for one in wave if one.has_failed]
    return Stop(ADDON_FAILED) if len(failed) > profile.spec.rollout.max_failures else None


def _circle(profile: AddonProfile) -> list[str]:
    """Names that depend on each other; empty where none do."""
    left = {one.name: {*one.depends_on} for one in profile.spec.addons}
    while free := [name for name, needs in left.items() if not needs & left.keys()]:
        for name in free:
            del left[name]
    path: list[str] = []
    name = next(iter(left), "")
    while name and name not in path:
        path.append(name)
        name = min(left[name] & left.keys())
    return [*path[path.index(name) :], name] if name else []


def _wave(order: list[list[Standing]], *, is_stopped: bool = False) -> int:
    """The first in which something is still to happen, or else the last."""

    def holds_up(one: Standing) -> bool:
        return not one.waits and (one.changes > 0 or one.is_begun or (is_stopped and one.has_failed))

    return next((place for place, wave in enumerate(order, 1) if any(map(holds_up, wave))), len(order))


def _startable(profile: AddonProfile, order: list[list[Standing]]) -> list[Standing]:
    """The clusters whose changes may be made: those of the wave under way, as far as no more than one wave is under
    way altogether; and those that hold up nobody, when it is their turn."""
    if profile.status.completed_generation == profile.metadata.generation:
        return [one for wave in order for one in wave if one.changes]
    now = _wave(order)
    waiting = [one for wave in order[:now] for one in wave if one.waits and one.changes]
    turn = [one for one in order[now - 1] if not one.waits and one.changes] if order else []
    begun = [one for one in turn if one.is_begun]
    room = wave_size(profile.spec.rollout, sum(map(len, order))) - sum(one.is_begun for wave in order for one in wave)
    return [*begun, *[one for one in turn if not one.is_begun][: max(room, 0)], *waiting]


def _bounded(standings: Iterable[Standing], most: int) -> Iterable[Standing]:
    """As many clusters as there is room for; a cluster is not torn apart."""
    for one in standings:
        if most <= 0:
            return
        yield one
        most -= one.changes


def _pruned(profile: AddonProfile, sight: Sight, matched: Iterable[TenantCluster]) -> Iterable[TenantAddon]:
    """Of clusters that are being deleted nothing is taken out: all of it goes with them."""
    stay = {one.key for one in matched}
    left = [one for one in sight.owned if not one.deleting and cluster_key(one) not in stay]
    if not left:
        return
    known = {one.key: one for one in sight.clusters}
    for one in left:
        cluster = known.get(cluster_key(one))
        if cluster is None or (profile.spec.prune and not cluster.deleting):
            yield one
