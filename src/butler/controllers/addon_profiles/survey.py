"""How far each cluster is with the addons of a profile."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from butler.api.addon import TenantAddon
from butler.api.addon_profile import AddonProfile
from butler.api.cluster import TenantCluster

from .rivals import Rivals
from .selection import is_established
from .wanted_addon import Entry, Wanted, entry, has_failed, name_of


@dataclass(frozen=True, slots=True)
class Sight:
    """What there is besides the profile."""

    clusters: Collection[TenantCluster]
    """All of them, whether they match or not."""
    addon: Callable[[str], TenantAddon | None]
    """A TenantAddon by key."""
    inside: Callable[[str], Sequence[TenantAddon]]
    """The TenantAddons of a cluster by its key, whoever made them."""
    owned: Collection[TenantAddon]
    """Those that the profile made, for whatever cluster."""
    profiles: Collection[AddonProfile] = ()


@dataclass(frozen=True)
class Standing:
    """How far a cluster is."""

    cluster: TenantCluster
    missing: tuple[Wanted, ...] = ()
    """To be written."""
    surplus: tuple[TenantAddon, ...] = ()
    """To be deleted."""
    underway: tuple[str, ...] = ()
    """Addons that the cluster was told of and does not have yet, or still has."""
    failed: tuple[tuple[str, str], ...] = ()
    """Addons that failed, and why."""
    foreign: tuple[str, ...] = ()
    """TenantAddons of others under a name that is wanted here."""
    lost: tuple[tuple[str, str], ...] = ()
    """TenantAddons that are left to older profiles, and to which."""

    @cached_property
    def changes(self) -> int:
        return len(self.missing) + len(self.surplus)

    @cached_property
    def waits(self) -> bool:
        """Whether it holds up nobody, whatever it lacks: it was never ready."""
        return not is_established(self.cluster)

    @cached_property
    def is_ready(self) -> bool:
        return not self.changes and not self.underway and not self.failed

    @cached_property
    def is_begun(self) -> bool:
        """Whether a change is on its way in it."""
        return bool(self.underway) and not self.failed and not self.waits

    @cached_property
    def has_failed(self) -> bool:
        return bool(self.failed) and not self.waits


@dataclass
class Memory:
    """What came of looking at each cluster, and at what: it stays the same as long as that does. Of a thousand clusters
    only those are looked at in which something happened."""

    context: Any = None
    """What all of it depends on."""
    found: dict[str, tuple[tuple[str, ...], list[Any], Standing]] = field(default_factory=dict)
    """By cluster: the keys that were looked up, the objects that were seen, and what came of it."""

    def recall(self, cluster: TenantCluster, sight: Sight) -> Standing | None:
        known = self.found.get(cluster.key)
        if known is None:
            return None
        keys, seen, standing = known
        now = _seen(cluster, keys, sight)
        return standing if len(now) == len(seen) and all(map(_is_same, now, seen)) else None

    def forget_others(self, clusters: Collection[TenantCluster]) -> None:
        """All but these are of no more interest."""
        if len(self.found) > len(clusters):
            self.found = {one.key: self.found[one.key] for one in clusters}

    def keep(self, keys: tuple[str, ...], sight: Sight, standing: Standing) -> Standing:
        self.found[standing.cluster.key] = (keys, _seen(standing.cluster, keys, sight), standing)
        return standing


def _seen(cluster: TenantCluster, keys: Iterable[str], sight: Sight) -> list[Any]:
    return [cluster, *map(sight.addon, keys), *sight.inside(cluster.key)]


def _is_same(one: object, other: object) -> bool:
    """Objects of a cache never change: they are replaced."""
    return one is other


def survey(profile: AddonProfile, sight: Sight, rivals: Rivals, memory: Memory) -> Callable[[TenantCluster], Standing]:
    """Tells how far a cluster is."""
    meta, entries = profile.metadata, [entry(one) for one in profile.spec.addons]
    context = (meta.uid, meta.generation, rivals.identity)
    if memory.context != context:
        memory.context, memory.found = context, {}

    def standing(cluster: TenantCluster) -> Standing:
        if (known := memory.recall(cluster, sight)) is not None:
            return known
        wanted, lost = _wanted(cluster, entries, rivals)
        found = _standing(profile, cluster, wanted, sight)
        made = Standing(cluster, *found, lost=lost)
        return memory.keep(tuple(one.key for one in wanted), sight, made)

    return standing


def _wanted(
    cluster: TenantCluster, entries: Iterable[Entry], rivals: Rivals
) -> tuple[list[Wanted], tuple[tuple[str, str], ...]]:
    """What the cluster is to have from this profile, and what it has from an older one."""
    holders = {one.name: rivals.holder(one.addon, cluster) for one in entries}

    def called(name: str) -> str:
        holder = holders[name]
        return name_of(cluster, holder.addon if holder else name)

    wanted = [
        Wanted(one, cluster, tuple(map(called, one.addon.depends_on))) for one in entries if holders[one.name] is None
    ]
    place = cluster.metadata.namespace
    return wanted, tuple((f"{place}/{name_of(cluster, name)}", by.profile) for name, by in holders.items() if by)


def _standing(
    profile: AddonProfile, cluster: TenantCluster, wanted: Sequence[Wanted], sight: Sight
) -> tuple[Any, Any, Any, Any, Any]:
    """What is missing, too much, under way, failed and of others."""
    uid, missing, underway, failed, foreign = profile.metadata.uid, [], [], [], []
    for one in wanted:
        live = sight.addon(one.key)
        if live is not None and not (_is_by(uid, live) and cluster_key(live) == cluster.key):
            # Also another cluster's: a and b-c make the same name as a-b and c.
            foreign.append(one.key)
        elif live is None or not (live.deleting or one.is_written(live, profile.metadata.name)):
            missing.append(one)
        elif has_failed(live):
            failed.append((one.entry.name, live.status.message or ""))
        elif not one.is_settled(live):
            underway.append(one.entry.name)
    names = {one.name for one in wanted}
    left = [one for one in sight.inside(cluster.key) if one.metadata.name not in names and _is_by(uid, one)]
    if not profile.spec.prune:
        left = []
    underway += [one.metadata.name for one in left if one.deleting]
    surplus = tuple(one for one in left if not one.deleting)
    return tuple(missing), surplus, tuple(underway), tuple(failed), tuple(foreign)


def _is_by(uid: str, live: TenantAddon) -> bool:
    return any(owner.uid == uid for owner in live.metadata.owner_references)


def cluster_key(addon: TenantAddon) -> str:
    """The cluster that a TenantAddon is for."""
    return f"{addon.metadata.namespace}/{addon.spec.cluster_ref.name}"
