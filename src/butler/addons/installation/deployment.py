"""One addon brought into one cluster: what it needs before, the release, and what comes after it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from butler.engines.helm.errors import HelmError, ReleaseBusy
from butler.engines.helm.protocol import Cluster, Release, Releases
from butler.engines.helm.records import Record, ReleaseStatus
from kubekit.clock import Clock
from kubekit.errors import ApiError, KubeError

from ..credentials import ReadSecret, credentials
from ..errors import AddonConflict, ObjectRefused
from ..model import Addon, AddonState, Seen
from . import ownership, states
from .companions import Companions
from .messages import told
from .patience import Patience
from .states import Verdict

_LONGEST_REFUSAL = 60.0
"""Seconds in which webhooks that just started may refuse what is written."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """`bring` answers with what became of an addon."""

    releases: Releases
    companions: Companions
    read_secret: ReadSecret
    clock: Clock

    async def bring(self, cluster: Cluster, addon: Addon) -> Seen:
        try:
            return await self._brought(cluster, addon)
        except KubeError as error:
            return await self._failed(cluster, addon, error)

    async def _brought(self, cluster: Cluster, addon: Addon) -> Seen:
        found = await self.releases.find(cluster, addon.place)
        ownership.check(addon, found)
        await self.companions.write(cluster, addon, addon.secrets)
        release, good = addon.release, None
        if found is None or not await self.releases.is_current(release, found):
            await self.companions.make_namespace(cluster, addon)
            release = await self._opened(addon)
            good = await self._good(cluster, addon, found)
        record = (await self.releases.deploy(cluster, ownership.owned(addon, release))).record
        verdict = await self._settled(cluster, addon, record)
        if verdict.state is AddonState.HEALTHY:
            return await self._completed(cluster, addon, record)
        if good is None:
            return states.seen(addon, record, verdict)
        back = await self.releases.rollback(cluster, addon.place, good.revision)
        verdict = Verdict(AddonState.FAILED, f"revision {record.revision} did not get to work: {verdict.message}")
        return replace(states.seen(addon, back, verdict), rolled_back=True, outdated=True, reason="ReleaseNotReady")

    async def _opened(self, addon: Addon) -> Release:
        if addon.credentials is None:
            return addon.release
        opening = await credentials(self.read_secret, addon.name, addon.credentials)
        return replace(addon.release, credentials=opening)

    async def _good(self, cluster: Cluster, addon: Addon, found: Record | None) -> Record | None:
        """What to go back to when the objects of an upgrade do not get to work: what worked until then."""
        if found is None or found.status is not ReleaseStatus.DEPLOYED:
            return None
        if addon.for_nodes or not addon.release.roll_back or await self.releases.health(cluster, addon.place, found):
            return None
        return found

    async def _settled(self, cluster: Cluster, addon: Addon, record: Record) -> Verdict:
        """How the objects are doing, once they work or had their time."""
        patience = Patience(self.clock, states.time_left(addon, record, self.clock.now()))
        while True:
            is_over = patience.is_over
            verdict = await self._verdict(cluster, addon, record, is_new=addon.for_nodes or not is_over)
            if verdict.is_settled or is_over or addon.for_nodes:
                return verdict
            await patience.pause()

    async def _verdict(self, cluster: Cluster, addon: Addon, record: Record, *, is_new: bool) -> Verdict:
        try:
            unready = await self.releases.health(cluster, addon.place, record)
            return states.judged(addon, unready, is_new=is_new)
        except ApiError as error:
            if not (error.retryable and is_new):
                raise
            return Verdict(AddonState.INSTALLING, told(error))

    async def _completed(self, cluster: Cluster, addon: Addon, record: Record) -> Seen:
        """With the objects that come after it."""
        patience = Patience(self.clock, _LONGEST_REFUSAL)
        while True:
            is_over = patience.is_over or addon.for_nodes
            try:
                await self.companions.write(cluster, addon, addon.resources)
                return states.seen(addon, record, states.HEALTHY)
            except ObjectRefused as refused:
                if is_over or not refused.again:
                    verdict = Verdict(AddonState.INSTALLING if refused.again else AddonState.FAILED, str(refused))
                    return replace(states.seen(addon, record, verdict), outdated=True, reason=refused.reason)
            await patience.pause()

    async def _failed(self, cluster: Cluster, addon: Addon, error: KubeError) -> Seen:
        verdict = Verdict(AddonState.INSTALLING if isinstance(error, ReleaseBusy) else AddonState.FAILED, told(error))
        try:
            record = await self.releases.find(cluster, addon.place)
        except KubeError:
            record = None
        is_manual = isinstance(error, AddonConflict) and record is not None and not ownership.is_ours(record)
        return replace(
            states.seen(addon, record, verdict),
            keeper="manual" if is_manual else "butler",
            rolled_back=isinstance(error, HelmError) and error.rolled_back,
            reason=error.reason,
            outdated=True,
        )
