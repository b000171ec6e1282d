"""One simulated machine: what is written down of it, and what follows from that and the time."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from ..contract import Power


class Fate(Enum):
    """What befalls a machine, at its `fate_at`."""

    NONE = "None"
    STUCK = "Stuck"
    """It never boots."""
    LOST = "Lost"
    """It disappears, and nobody asked for that."""
    STOPPED = "Stopped"
    DELETED = "Deleted"


class Vm(NamedTuple):
    """A row of the data centre's records. Times are seconds since 1970."""

    number: int
    """Never used again."""
    id: str
    account: str
    name: str
    token: str
    cpu: int
    memory_mb: int
    disk_gb: int
    user_data: str
    """Its SHA-256."""
    mac: str
    address: str
    created: float
    boots_at: float
    visible_at: float
    fate: str = Fate.NONE.value
    fate_at: float = 0.0

    def befalls(self, now: float) -> Fate:
        """What has befallen it by now, or does at the moment: a deletion takes time, everything else comes at once."""
        fate = Fate(self.fate)
        return fate if fate is Fate.DELETED or now >= self.fate_at else Fate.NONE

    def exists(self, now: float) -> bool:
        return Fate(self.fate) not in (Fate.LOST, Fate.DELETED) or now < self.fate_at

    def power(self, now: float) -> Power:
        match self.befalls(now):
            case Fate.DELETED:
                return Power.DELETING
            case Fate.STOPPED:
                return Power.STOPPED
            case Fate.STUCK:
                return Power.STARTING
        return Power.RUNNING if now >= self.boots_at else Power.STARTING

    def next_change(self, now: float) -> float | None:
        """When it will look different by itself; None when it never will."""
        coming = [moment for moment in (self.visible_at, self.fate_at) if moment > now]
        if self.power(now) is Power.STARTING and self.boots_at > now and Fate(self.fate) is not Fate.STUCK:
            coming.append(self.boots_at)
        return min(coming, default=None)
