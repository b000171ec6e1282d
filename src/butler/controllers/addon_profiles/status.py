"""What a profile says of itself, given its plan."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import structs

from butler.api.addon_profile import MOST_TOLD, AddonProfile, AddonProfileStatus, ClusterProgress, ProfileCluster
from kubekit.model.status import Condition
from kubekit.runtime.conditions import condition, merged
from kubekit.runtime.reconciler import Note

from .plan import ADDON_FAILED, PAUSED, Conflicts, Plan
from .survey import Standing
from .wanted_addon import READY

PROGRESSING, STOPPED, CONFLICT = "Progressing", "Stopped", "Conflict"
_NAMED = 5
"""So many objects are named in a sentence."""
_LONGEST = 256
_ORDER = list(ClusterProgress)


def status_after(profile: AddonProfile, plan: Plan) -> AddonProfileStatus:
    """The whole status once the plan is carried out."""
    standings, started = list(plan.standings), {one.cluster.key for one in plan.started}
    waiting = [one for one in standings if one.waits and not one.is_ready]
    failed = [one for one in standings if one.has_failed]
    old, generation = profile.status, profile.metadata.generation
    return structs.replace(
        old,
        matched=len(standings),
        updated=sum(not one.changes or one.cluster.key in started for one in standings),
        ready=sum(one.is_ready for one in standings),
        failed=len(failed),
        waiting=len(waiting),
        wave=f"{plan.wave}/{len(plan.waves)}",
        completed_generation=generation if plan.is_complete else old.completed_generation,
        clusters=_told(standings, started),
        conditions=merged(
            old.conditions, _ready(plan, standings, failed), _progressing(plan), _stopped(plan, failed),
            _conflict(plan.conflicts),
        ),
    )  # fmt: skip


def notes_for(old: AddonProfileStatus, new: AddonProfileStatus) -> list[Note]:
    """What happened, each told once: Ready and Progressing speak of the same, and of what stopped it too."""
    stopped, progressing, conflict = (_news(kind, old, new) for kind in (STOPPED, PROGRESSING, CONFLICT))
    told = []
    if stopped is not None and stopped.status == "True":
        told.append(Note(stopped.reason, stopped.message, "Normal" if stopped.reason == PAUSED else "Warning"))
    elif progressing is not None:
        told.append(Note(progressing.reason, progressing.message))
    if conflict is not None and conflict.status == "True":
        told.append(Note(conflict.reason, conflict.message, "Warning"))
    return told


def _news(kind: str, old: AddonProfileStatus, new: AddonProfileStatus) -> Condition | None:
    """A condition that says something else than before."""
    was, now = old.condition(kind), new.condition(kind)
    said = (was.status, was.reason) if was is not None else None
    return now if now is not None and (now.status, now.reason) != said else None


def _ready(plan: Plan, standings: Collection[Standing], failed: Collection[Standing]) -> Condition:
    ready = sum(one.is_ready for one in standings)
    told = f"{ready} of {len(standings)} clusters have all addons"
    if failed:
        return condition(READY, False, ADDON_FAILED, f"{told}; an addon failed in {_names(_keys(failed))}")
    if plan.conflicts.foreign or plan.conflicts.lost:
        return condition(READY, False, "Conflict", f"{told}; some belong to others")
    if plan.stop is not None:
        return condition(READY, False, plan.stop.reason, told)
    if plan.is_complete:
        waiting = len(standings) - ready
        return condition(READY, True, "Complete", f"{told}; {waiting} were never ready" if waiting else told)
    return condition(READY, False, "RollingOut", told)


def _progressing(plan: Plan) -> Condition:
    if plan.stop is not None:
        return condition(PROGRESSING, False, plan.stop.reason, "no cluster is touched")
    if plan.is_complete:
        return condition(PROGRESSING, False, "Complete", "every wave is through")
    return condition(PROGRESSING, True, "RollingOut", f"wave {plan.wave} of {len(plan.waves)}")


def _stopped(plan: Plan, failed: Collection[Standing]) -> Condition:
    if plan.stop is None:
        return condition(STOPPED, False, "NotStopped", "")
    message = plan.stop.message or (
        f"an addon failed in {_names(_keys(failed))}; no further cluster is touched until it works, or the profile says"
        " something else of it"
    )
    return condition(STOPPED, True, plan.stop.reason, message)


def _conflict(conflicts: Conflicts) -> Condition:
    told = []
    if conflicts.foreign:
        told.append(("NotOwned", f"left alone, since others made them: TenantAddons {_names(conflicts.foreign)}"))
    for holder in dict.fromkeys(profile for _, profile in conflicts.lost):
        lost = [addon for addon, profile in conflicts.lost if profile == holder]
        told.append(("OlderProfile", f"left to AddonProfile {holder}, which is older: TenantAddons {_names(lost)}"))
    if conflicts.younger:
        told.append(("YoungerProfile", f"wanted as well, by younger AddonProfiles: {_names(conflicts.younger)}"))
    if not told:
        return condition(CONFLICT, False, "NoConflict", "")
    return condition(CONFLICT, True, told[0][0], "; ".join(text for _, text in told))


def _told(standings: Iterable[Standing], started: Collection[str]) -> tuple[ProfileCluster, ...]:
    """Those who failed first: the list is short."""
    found = [(_progress(one, started), one) for one in standings if not one.is_ready]
    found.sort(key=lambda pair: _ORDER.index(pair[0]))
    return tuple(
        ProfileCluster(
            namespace=one.cluster.metadata.namespace, name=one.cluster.metadata.name, state=state, message=_lacks(one)
        )
        for state, one in found[:MOST_TOLD]
    )


def _progress(one: Standing, started: Collection[str]) -> ClusterProgress:
    if one.waits:
        return ClusterProgress.WAITING
    if one.failed:
        return ClusterProgress.FAILED
    is_begun = not one.changes or one.is_begun or one.cluster.key in started
    return ClusterProgress.UPDATING if is_begun else ClusterProgress.PENDING


def _lacks(one: Standing) -> str:
    if one.failed:
        return "; ".join(f"{name}: {why}" if why else name for name, why in one.failed)[:_LONGEST]
    surplus = (addon.metadata.name for addon in one.surplus)
    return _names([*one.underway, *(wanted.entry.name for wanted in one.missing), *surplus])


def _keys(standings: Iterable[Standing]) -> list[str]:
    return [one.cluster.key for one in standings]


def _names(names: Collection[str]) -> str:
    """The first of them, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(list(names)[:_NAMED]) + more
