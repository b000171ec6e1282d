"""AddonProfile: carries out what its plan says."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any

from butler.api.addon import TenantAddon
from butler.api.addon_profile import AddonProfile
from butler.api.cluster import TenantCluster
from butler.controllers.cluster.names import APPLIED
from kubekit.errors import KubeError, NotFound
from kubekit.runtime.informer import Informer
from kubekit.runtime.manager import Manager
from kubekit.runtime.objects import Owner, owners_of
from kubekit.runtime.reconciler import Outcome, Permission, Reconciler, Watch

from .plan import plan
from .rivals import share_addons
from .selection import is_established, matching
from .status import notes_for, status_after
from .survey import Memory, Sight, cluster_key
from .wanted_addon import READY, Wanted

MANAGER = "butler-controller/addonprofile"
"""Owner of the fields a profile writes."""
_BY_OWNER, _BY_CLUSTER = "profile", "profile-cluster"
_AT_ONCE = 8
"""Requests beside each other."""


def add_addon_profiles(manager: Manager) -> None:
    """Run the controller."""
    manager.add(AddonProfiles(manager))


class AddonProfiles(Reconciler[AddonProfile]):
    """AddonProfile → TenantAddons."""

    kind = AddonProfile
    tells_conditions = False
    journal = logging.getLogger("butler.addons")
    permissions = (
        Permission(TenantAddon, ("create", "patch", "delete")),
        # Who deletes a profile in the foreground waits for what it made, and that takes this right.
        Permission(AddonProfile, ("update",), "finalizers"),
    )

    def __init__(self, manager: Manager) -> None:
        self._client = manager.client
        self._profiles: Informer[AddonProfile] = manager.informers.of(AddonProfile)
        self._clusters: Informer[TenantCluster] = manager.informers.of(TenantCluster)
        self._addons: Informer[TenantAddon] = manager.informers.of(TenantAddon)
        self._memories: dict[str, Memory] = {}
        self._addons.index(_BY_OWNER, _owners)
        self._addons.index(_BY_CLUSTER, _cluster)
        self.watches = (
            Watch(TenantCluster, self._of_cluster, matters=_what_selects),
            Watch(TenantAddon, self._of_addon, matters=_what_tells),
            Watch(AddonProfile, self._rivals, matters=_what_is_wanted),
        )

    async def reconcile(self, obj: AddonProfile) -> Outcome:
        owned = self._addons.by(_BY_OWNER, obj.metadata.uid)
        sight = Sight(list(self._clusters), self._addons.get, self._inside, owned, list(self._profiles))
        now = plan(obj, sight, self._memory_of(obj))
        jobs = [partial(self._write, obj, one) for one in now.writes]
        refused = await _done([*jobs, *(partial(self._delete, one) for one in now.deletions)])
        if refused:
            return Outcome(error=refused[0])
        status = status_after(obj, now)
        return Outcome(status, notes=tuple(notes_for(obj.status, status)))

    def _inside(self, cluster: str) -> list[TenantAddon]:
        return self._addons.by(_BY_CLUSTER, cluster)

    def _memory_of(self, profile: AddonProfile) -> Memory:
        """Of those that are still there: a memory is as large as what it is of."""
        self._memories = {name: one for name, one in self._memories.items() if name in self._profiles}
        return self._memories.setdefault(profile.metadata.name, Memory())

    async def _write(self, profile: AddonProfile, wanted: Wanted) -> None:
        """One that is new takes nothing from anybody: an object that somebody else made meanwhile is a conflict."""
        live = self._addons.get(wanted.key)
        body = wanted.body(profile, live)
        await self._client.apply(body, TenantAddon.address, manager=MANAGER, force=live is not None)

    async def _delete(self, addon: TenantAddon) -> None:
        meta = addon.metadata
        try:
            await self._client.delete(TenantAddon, meta.name, meta.namespace, uid=meta.uid)
        except NotFound:
            # The cache will say so too.
            return

    def _of_cluster(self, cluster: TenantCluster) -> Iterable[str]:
        """Those that match it, and those that have something in it, also when it is gone."""
        matched = [one.metadata.name for one in self._profiles if matching(one.spec)(cluster)]
        return [*matched, *(owner.name for one in self._addons.by(_BY_CLUSTER, cluster.key) for owner in _makers(one))]

    def _of_addon(self, addon: TenantAddon) -> Iterable[str]:
        """Who made it, and whoever may want one of that name."""
        name = addon.metadata.name
        wanting = (one for one in self._profiles if any(name.endswith(f"-{each.name}") for each in one.spec.addons))
        return [*(owner.name for owner in _makers(addon)), *(one.metadata.name for one in wanting)]

    def _rivals(self, profile: AddonProfile) -> Iterable[str]:
        return [one.metadata.name for one in self._profiles if share_addons(profile, one)]


async def _done(jobs: Iterable[Callable[[], Awaitable[None]]]) -> list[KubeError]:
    """Do all of it, a few at a time, and answer what was refused: one that is keeps no other from being done."""
    left, refused = iter(jobs), list[KubeError]()

    async def work() -> None:
        for job in left:
            try:
                await job()
            except KubeError as error:
                refused.append(error)

    async with asyncio.TaskGroup() as group:
        for _ in range(_AT_ONCE):
            group.create_task(work())
    return refused


def _makers(addon: TenantAddon) -> Iterable[Owner]:
    return [one for one in owners_of(addon) if one.kind == AddonProfile.address.kind]


def _owners(addon: TenantAddon) -> Iterable[str]:
    return [one.uid for one in _makers(addon)]


def _cluster(addon: TenantAddon) -> Iterable[str]:
    return [cluster_key(addon)]


def _what_selects(cluster: TenantCluster) -> Any:
    return cluster.metadata.labels, cluster.deleting, cluster.spec.team_ref, is_established(cluster)


def _what_tells(addon: TenantAddon) -> Any:
    meta, status, ready = addon.metadata, addon.status, addon.status.condition(READY)
    said = (ready.status, ready.observed_generation) if ready is not None else None
    told = (status.phase, status.observed_generation, status.installed_version, said)
    return addon.spec, meta.labels, meta.annotations.get(APPLIED), meta.owner_references, addon.deleting, told


def _what_is_wanted(profile: AddonProfile) -> Any:
    return profile.spec, profile.deleting
