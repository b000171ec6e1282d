"""Addons as the status of a cluster shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import structs

from butler.addons.model import Addon, Seen
from butler.api.addon import AddonDefinition
from butler.api.cluster import ObservedAddon
from butler.engines.helm.protocol import Place

from .resolved import Declined

KEPT = "no longer asked for, and kept: "
"""How the message of an addon begins that stays although nobody asks for it any more."""
_THERE = {"Healthy", "Degraded"}

Health = Literal["Pending", "Installing", "Healthy", "Degraded", "Failed"]
News = Mapping[str, ObservedAddon | None]
"""By name, what is known of addons; None of one that is gone."""


def observed(wanted: Addon, status: Health, message: str = "") -> ObservedAddon:
    """Pending is what nothing here installs."""
    return ObservedAddon(
        name=wanted.name,
        version=wanted.version,
        status=status,
        managed_by="butler",
        release=f"{wanted.place.namespace}/{wanted.place.name}",
        values_digest=wanted.digest,
        message=message or None,
    )


def seen_as(wanted: Addon, seen: Seen) -> ObservedAddon:
    """What came of an addon. Of one that others keep, the version is theirs."""
    status: Health = seen.state.value
    told = observed(wanted, status, seen.message)
    if seen.keeper == "butler":
        return told
    return structs.replace(told, managed_by=seen.keeper, version=seen.version)


def declined_as(declined: Declined, found: ObservedAddon | None) -> ObservedAddon:
    """An addon that cannot be had as it is asked for; what is there of it stays."""
    there = version_there(found)
    told = found or ObservedAddon(name=declined.name, version="", status="Failed", managed_by="butler")
    return structs.replace(
        told,
        version=declined.wish.version or there,
        status="Failed",
        installed_version=there or None,
        message=str(declined.error),
    )


def version_there(found: ObservedAddon | None) -> str:
    """The version that is in the cluster; empty where none is."""
    if found is None:
        return ""
    return found.installed_version or (found.version if found.status in _THERE else "")


def with_news(told: Sequence[ObservedAddon], news: News) -> tuple[ObservedAddon, ...]:
    """What a status says, and what happened since."""
    before = {one.name: one for one in told}
    # What the status says to be under way may have ended with whoever did it.
    after = {one.name: one if one.status != "Installing" else None for one in told}
    for name, one in news.items():
        after[name] = one and _over(one, before.get(name))
    return tuple(one for one in after.values() if one is not None)


def is_told(one: ObservedAddon | None, name: str, told: Mapping[str, ObservedAddon]) -> bool:
    """Whether a status says this of an addon."""
    found = told.get(name)
    if one is None or found is None:
        return one is found
    return _over(one, found) == found


def _over(one: ObservedAddon, before: ObservedAddon | None) -> ObservedAddon:
    there = None if one.status in _THERE else version_there(before) or None
    return structs.replace(one, installed_version=there)


def is_as(found: ObservedAddon, wanted: Addon) -> bool:
    """Whether a status is about an addon as it is wanted. What others keep is as they want it."""
    if found.managed_by != "butler":
        return found.name == wanted.name
    return (found.name, found.version, found.values_digest) == (wanted.name, wanted.version, wanted.digest)


def place_of(found: ObservedAddon, definition: AddonDefinition | None) -> Place:
    """Where an addon is: as it was written down, else as its definition says."""
    namespace, _, name = (found.release or "").partition("/")
    if name:
        return Place(name, namespace)
    defaults = definition.spec.defaults if definition is not None else None
    return Place((defaults and defaults.release_name) or found.name, (defaults and defaults.namespace) or found.name)
