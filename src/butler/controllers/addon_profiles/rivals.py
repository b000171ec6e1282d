"""Profiles that want the same addon in the same cluster: the older one has it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from butler.api.addon_profile import AddonProfile, ProfileAddon
from butler.api.cluster import TenantCluster

from .selection import Matches, matching

_BEGINNING = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Holder:
    """Who has an addon, and what it is called there."""

    profile: str
    addon: str


@dataclass(frozen=True, slots=True)
class Rival:
    """A profile that wants something that another wants too."""

    name: str
    is_older: bool
    matches: Matches
    claims: dict[str, str]

    def claim(self, addon: ProfileAddon) -> str | None:
        """What it calls this addon, if it wants it too."""
        return next((self.claims[one] for one in _claims_of(addon) if one in self.claims), None)


@dataclass(frozen=True, slots=True)
class Rivals:
    """All rivals of one profile."""

    found: tuple[Rival, ...] = ()
    identity: tuple[tuple[str, int], ...] = ()
    """Differs when what they want does."""

    def holder(self, addon: ProfileAddon, cluster: TenantCluster) -> Holder | None:
        """The older profile that this addon is left to."""
        for rival in self.found:
            if rival.is_older and (name := rival.claim(addon)) and rival.matches(cluster):
                return Holder(rival.name, name)
        return None

    def younger(self, addons: Iterable[ProfileAddon], clusters: Iterable[TenantCluster]) -> list[str]:
        """The profiles that leave something to this one."""
        younger = [rival for rival in self.found if not rival.is_older and any(map(rival.claim, addons))]
        return [rival.name for rival in younger if any(map(rival.matches, clusters))]


def rivals_of(profile: AddonProfile, others: Iterable[AddonProfile]) -> Rivals:
    """The oldest first."""
    found = sorted((one for one in others if not one.deleting and share_addons(profile, one)), key=_age)
    return Rivals(
        tuple(Rival(one.metadata.name, _age(one) < _age(profile), matching(one.spec), _claims(one)) for one in found),
        tuple((one.metadata.uid, one.metadata.generation) for one in found),
    )


def share_addons(one: AddonProfile, other: AddonProfile) -> bool:
    """Whether two profiles want the same addon, in whatever clusters."""
    return one.metadata.name != other.metadata.name and not _claims(one).keys().isdisjoint(_claims(other))


def _claims(profile: AddonProfile) -> dict[str, str]:
    return {claim: addon.name for addon in profile.spec.addons for claim in _claims_of(addon)}


def _claims_of(addon: ProfileAddon) -> tuple[str, ...]:
    """The same name is the same object, and the same definition the same release."""
    return (f"name {addon.name}", f"definition {addon.addon}") if addon.addon else (f"name {addon.name}",)


def _age(profile: AddonProfile) -> tuple[datetime, str]:
    return profile.metadata.creation_timestamp or _BEGINNING, profile.metadata.name
