"""Addons by real Helm: in order, judged by their objects, and nobody else's touched."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from butler.engines.helm import program
from butler.engines.helm.engine import Helm
from butler.engines.helm.errors import HelmMissing
from butler.engines.helm.objects.live import in_turn
from butler.engines.helm.protocol import Cluster, Place, Releases
from kubekit.clock import Clock
from kubekit.errors import ServiceUnavailable, Unauthorized

from . import mirrors
from .credentials import ReadSecret
from .gitops import Claim, GitOps
from .installation import dependencies, ownership, volumes
from .installation.companions import Companions
from .installation.deployment import Deployment
from .installation.inspection import Inspection
from .mirrors import ReadCharts
from .model import Addon, AddonState, Seen

_UNREACHED = frozenset([ServiceUnavailable.reason, Unauthorized.reason])


def build(folder: Path, clock: Clock, read_secret: ReadSecret, read_charts: ReadCharts) -> HelmInstaller | None:
    """By the `helm` program that can be had; None where there is none. `folder` keeps charts and locks."""
    try:
        found = program.find()
    except HelmMissing:
        return None
    helm = Helm(folder, found, mirrors=mirrors.configured(read_charts, read_secret), clock=clock)
    return HelmInstaller(helm, read_secret, clock)


class HelmInstaller:
    """`butler.addons.model.Installer` by Helm."""

    def __init__(self, releases: Releases, read_secret: ReadSecret, clock: Clock) -> None:
        self._releases, self._companions, self._gitops = releases, Companions(), GitOps(clock)
        self._deployment = Deployment(releases, self._companions, read_secret, clock)
        self._inspection = Inspection(releases, self._companions, clock)

    async def install(self, cluster: Cluster, addons: Sequence[Addon]) -> tuple[Seen, ...]:
        claims = await self._gitops.claims(cluster)
        order, circular = dependencies.ordered(addons)
        tasks: dict[str, asyncio.Task[Seen]] = {}
        async with asyncio.TaskGroup() as group:
            for addon in order:
                before = [(one, tasks[one.name]) for one in order if one.name in addon.depends_on]
                tasks[addon.name] = group.create_task(self._install(cluster, addon, before, claims))
        seen = {name: task.result() for name, task in tasks.items()}
        seen |= {one.name: _waiting_for_itself(one, circular) for one in circular}
        return _reached([seen[one.name] for one in addons])

    async def look(self, cluster: Cluster, addons: Sequence[Addon], *, repair: bool) -> tuple[Seen, ...]:
        claims = await self._gitops.claims(cluster)
        return _reached(await in_turn([partial(self._look, cluster, one, claims, repair=repair) for one in addons]))

    async def remove(self, cluster: Cluster, place: Place, *, name: str = "", holds_volumes: bool = False) -> None:
        if any(one.covers(place) for one in await self._gitops.claims(cluster)):
            return
        found = await self._releases.find(cluster, place)
        if found is not None:
            if not ownership.is_ours(found, name):
                return
            if holds_volumes:
                await volumes.check(cluster, place, found)
            await self._releases.uninstall(cluster, place)
        await self._companions.forget(cluster, place)

    async def _install(
        self,
        cluster: Cluster,
        addon: Addon,
        before: Sequence[tuple[Addon, asyncio.Task[Seen]]],
        claims: Sequence[Claim],
    ) -> Seen:
        lacking = [one.name for one, task in before if not _lets_go_on(one, await task)]
        if lacking:
            seen = await self._look(cluster, addon, claims, repair=False)
            return replace(seen, message=f"waits for {', '.join(lacking)}") if seen.outdated else seen
        return _claimed(addon, claims) or await self._deployment.bring(cluster, addon)

    async def _look(self, cluster: Cluster, addon: Addon, claims: Sequence[Claim], *, repair: bool) -> Seen:
        return _claimed(addon, claims) or await self._inspection.look(cluster, addon, repair=repair)


def _claimed(addon: Addon, claims: Sequence[Claim]) -> Seen | None:
    found = (one for one in claims if one.covers(addon.place, addon.release.chart.name))
    return next((one.seen(addon.name) for one in found), None)


def _lets_go_on(addon: Addon, seen: Seen) -> bool:
    """What nodes cannot do without may not work before there are any; it is enough that it is written."""
    return seen.state is AddonState.HEALTHY or (addon.for_nodes and seen.state is not AddonState.FAILED)


def _waiting_for_itself(addon: Addon, circular: Sequence[Addon]) -> Seen:
    message = f"{', '.join(one.name for one in circular)} wait for each other"
    return Seen(addon.name, "", AddonState.FAILED, message, reason="AddonConflict", outdated=True)


def _reached(seen: Sequence[Seen]) -> tuple[Seen, ...]:
    """Raises ServiceUnavailable where the cluster answered nobody."""
    if seen and all(one.reason in _UNREACHED for one in seen):
        raise ServiceUnavailable(seen[0].message)
    return tuple(seen)
