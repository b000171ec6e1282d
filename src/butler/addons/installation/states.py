"""What the record and the objects of a release come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from butler.engines.helm.protocol import Difference, Unready
from butler.engines.helm.records import Record, ReleaseStatus

from ..model import Addon, AddonState, Seen

_MOST, _LONGEST = 3, 400


@dataclass(frozen=True, slots=True)
class Verdict:
    """How an addon is doing, and why."""

    state: AddonState
    message: str = ""
    repaired: str = ""
    """What was not as it should be, and is again."""

    @property
    def is_settled(self) -> bool:
        """Whether waiting is no use."""
        return self.state in (AddonState.HEALTHY, AddonState.FAILED)


HEALTHY = Verdict(AddonState.HEALTHY)


def judged(addon: Addon, unready: Sequence[Unready], *, is_new: bool) -> Verdict:
    """What nodes cannot do without may wait for them for as long as it takes."""
    left = [one for one in unready if not (addon.for_nodes and one.nodeless)]
    if not left:
        return HEALTHY
    if not addon.for_nodes and any(one.failed for one in left):
        state = AddonState.FAILED
    elif is_new or len(left) < len(unready):
        state = AddonState.INSTALLING
    else:
        state = AddonState.DEGRADED
    return Verdict(state, listed(left))


def listed(found: Sequence[Unready] | Sequence[Difference]) -> str:
    """The first few of them, of each no more than anybody reads: names and fields are what others made them."""
    more = f", and {len(found) - _MOST} more" if len(found) > _MOST else ""
    return f"{'; '.join(str(one)[:_LONGEST] for one in found[:_MOST])}{more}"


def seen(addon: Addon, record: Record | None, verdict: Verdict) -> Seen:
    """What Helm says of it, and what we do."""
    if record is None:
        return Seen(addon.name, "", verdict.state, verdict.message)
    version = record.chart_version if record.status is ReleaseStatus.DEPLOYED else ""
    return Seen(
        addon.name,
        version,
        verdict.state,
        verdict.message,
        revision=record.revision,
        release_status=str(record.status),
        repaired=verdict.repaired,
    )


def time_left(addon: Addon, record: Record, now: datetime) -> float:
    """Seconds in which its objects may get to work, counted from when they were written: however often somebody begins
    to wait anew, it comes to an end."""
    allowed = addon.release.timeout.total_seconds()
    if record.begun_at is None:
        return allowed
    return min(allowed, allowed - (now - record.begun_at).total_seconds())
