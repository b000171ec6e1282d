"""One addon looked at in one cluster. Helm does not run."""

from __future__ import annotations

from dataclasses import dataclass, replace

from butler.engines.helm.errors import HelmError
from butler.engines.helm.protocol import Cluster, Releases
from butler.engines.helm.records import Record, ReleaseStatus
from kubekit.clock import Clock
from kubekit.errors import ApiError, KubeError

from ..errors import AddonConflict, ObjectRefused
from ..model import Addon, AddonState, Seen
from . import ownership, states
from .companions import Companions
from .messages import told
from .states import Verdict

_NOT_INSTALLED = Verdict(AddonState.INSTALLING, "is not installed")


@dataclass(frozen=True, slots=True)
class Inspection:
    """`look` answers with how an addon is doing."""

    releases: Releases
    companions: Companions
    clock: Clock

    async def look(self, cluster: Cluster, addon: Addon, *, repair: bool) -> Seen:
        record = None
        try:
            record = await self.releases.find(cluster, addon.place)
            ownership.check(addon, record)
            if record is None or record.status is ReleaseStatus.UNINSTALLED:
                return replace(states.seen(addon, None, _NOT_INSTALLED), outdated=True)
            if record.status is not ReleaseStatus.DEPLOYED:
                return replace(states.seen(addon, record, _unfinished(record)), outdated=True)
            if await self.releases.is_current(addon.release, record):
                return await self._current(cluster, addon, record, repair=repair)
            return await self._outdated(cluster, addon, record, repair=repair)
        except AddonConflict as conflict:
            seen = states.seen(addon, record, Verdict(AddonState.FAILED, str(conflict)))
            is_manual = record is not None and not ownership.is_ours(record)
            return replace(seen, keeper="manual" if is_manual else "butler", outdated=True, reason=conflict.reason)
        except KubeError as error:
            verdict = Verdict(AddonState.DEGRADED, told(error))
            return replace(states.seen(addon, record, verdict), reason=error.reason)

    async def _current(self, cluster: Cluster, addon: Addon, record: Record, *, repair: bool) -> Seen:
        verdict = await self._verdict(cluster, addon, record, repair=repair)
        seen = states.seen(addon, record, verdict)
        resources = addon.resources if verdict.state is AddonState.HEALTHY else ()
        try:
            if repair:
                await self.companions.write(cluster, addon, (*addon.secrets, *resources))
                return seen
            missing = await self.companions.missing(cluster, addon, resources)
        except ObjectRefused as refused:
            outdated = refused.again and not repair
            return replace(
                seen, state=AddonState.DEGRADED, message=str(refused), reason=refused.reason, outdated=outdated
            )
        if not missing:
            return seen
        return replace(seen, state=AddonState.INSTALLING, message=f"missing: {', '.join(missing)}", outdated=True)

    async def _outdated(self, cluster: Cluster, addon: Addon, record: Record, *, repair: bool) -> Seen:
        """What is there is looked after until it is replaced."""
        verdict = await self._verdict(cluster, addon, record, repair=repair)
        if verdict.state is AddonState.HEALTHY:
            verdict = Verdict(AddonState.INSTALLING, f"revision {record.revision} is not what is asked for")
        return replace(states.seen(addon, record, verdict), outdated=True)

    async def _verdict(self, cluster: Cluster, addon: Addon, record: Record, *, repair: bool) -> Verdict:
        drift, repaired = await self._drift(cluster, addon, record, repair=repair)
        unready = await self.releases.health(cluster, addon.place, record)
        is_new = bool(repaired) or states.time_left(addon, record, self.clock.now()) > 0
        verdict = states.judged(addon, unready, is_new=is_new)
        message = "; ".join(one for one in (drift, verdict.message) if one)
        is_degraded = drift and not repaired and verdict.state is AddonState.HEALTHY
        return Verdict(AddonState.DEGRADED if is_degraded else verdict.state, message, repaired)

    async def _drift(self, cluster: Cluster, addon: Addon, record: Record, *, repair: bool) -> tuple[str, str]:
        """What is to be said of it, and what was repaired."""
        differences = await self.releases.drift(cluster, addon.place, record)
        if not differences:
            return "", ""
        found = states.listed(differences)
        if not repair:
            return f"changed by others: {found}", ""
        try:
            await self.releases.repair(cluster, addon.place, differences)
        except (ApiError, HelmError) as error:
            return f"changed by others, and cannot be repaired: {found}: {told(error)}", ""
        return f"repaired: {found}", found


def _unfinished(record: Record) -> Verdict:
    state = AddonState.INSTALLING if record.is_unfinished else AddonState.FAILED
    return Verdict(state, f"revision {record.revision} is {record.status}")
