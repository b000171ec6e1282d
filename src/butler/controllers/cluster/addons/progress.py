"""How far the addons of a cluster are: which are missing, and what is to be said of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from butler.api.cluster import ObservedAddon

from ..scope import Scope
from ..settings import NETWORK, AddonSettings
from ..step import Verdict, Whose

READY = "AddonsReady"
"""The condition that speaks of all addons."""

CNI_FAILED, FAILED, NO_INSTALLER = "CNIInstallFailed", "AddonInstallFailed", "NoInstaller"
FAILURES = {CNI_FAILED, FAILED, NO_INSTALLER}
"""Reasons that somebody should hear of, and hear the end of."""
_INSTALLED, _INSTALLING, _WAITING = "AddonsInstalled", "AddonsInstalling", "WaitingForDependencies"


def missing_addons(scope: Scope) -> tuple[AddonSettings, ...]:
    """Addons that are wanted and not there, or there in another version or with other values. None of a cluster that
    is only observed, once it had all of them; and of one that is kept as it was, only those it never had."""
    wanted = scope.settings.addons
    if scope.is_kept:
        # Values are not kept in mind, so nobody knows whether they were others.
        there = {one.name for one in scope.installed}
        return tuple(one for one in wanted if one.name not in there)
    if scope.cluster.spec.management_policy.mode == "Observe" and _had_all(scope):
        return ()
    return tuple(one for one in wanted if (seen := attempt_at(scope, one)) is None or seen.status != "Healthy")


def to_install(scope: Scope, wanted: Iterable[AddonSettings]) -> tuple[AddonSettings, ...]:
    """Those of them that are missing. Nothing is installed for a change that is refused."""
    missing = () if scope.is_kept else missing_addons(scope)
    return tuple(one for one in wanted if one in missing)


def attempt_at(scope: Scope, wanted: AddonSettings) -> ObservedAddon | None:
    """What became of an addon as it is wanted; None when it was only ever another, or never there."""
    return next((one for one in scope.installed if is_as(one, wanted)), None)


def observed(
    wanted: AddonSettings, status: Literal["Pending", "Installing", "Healthy", "Failed"], message: str = ""
) -> ObservedAddon:
    """An addon as the status of a cluster shows it. Pending is what nothing here installs."""
    return ObservedAddon(
        name=wanted.name,
        version=wanted.version,
        status=status,
        managed_by="butler",
        values_digest=wanted.values_digest,
        message=message or None,
    )


def is_as(found: ObservedAddon, wanted: AddonSettings) -> bool:
    return (found.name, found.version, found.values_digest) == (wanted.name, wanted.version, wanted.values_digest)


def verdict_on(scope: Scope, wanted: Sequence[AddonSettings], hindrance: str) -> Verdict:
    """How far these addons are; `hindrance` is what has to come before those that are missing."""
    lacking = missing_addons(scope)
    missing = [one for one in wanted if one in lacking]
    if not missing:
        return Verdict(True, _INSTALLED, _listed(scope, wanted))
    tried = [seen for one in missing if (seen := attempt_at(scope, one)) is not None]
    failed = [one for one in tried if one.status == "Failed"]
    if failed:
        reason = CNI_FAILED if any(one.name == NETWORK for one in failed) else FAILED
        said = "; ".join(f"{one.name} {one.version}: {one.message}" for one in failed)
        return Verdict(False, reason, f"could not be installed: {said}", Whose.PLATFORM)
    names = ", ".join(one.name for one in missing)
    if any(one.status == "Pending" for one in tried):
        return Verdict(
            False, NO_INSTALLER, f"nothing here installs addons, and the cluster needs {names}", Whose.PLATFORM
        )
    if hindrance:
        return Verdict(False, _WAITING, f"{names}: after {hindrance}", changing=True)
    begun = ", ".join(one.name for one in tried if one.status == "Installing")
    return Verdict(
        False, _INSTALLING, f"being installed: {begun}" if begun else f"to be installed: {names}", changing=True
    )


def _listed(scope: Scope, wanted: Sequence[AddonSettings]) -> str:
    names = {one.name for one in wanted}
    found = [one for one in scope.installed if one.name in names]
    remarks = ", ".join(sorted({one.message for one in found if one.message}))
    text = ", ".join(sorted(one.name for one in found))
    return f"{text} ({remarks})" if remarks else text


def _had_all(scope: Scope) -> bool:
    said = scope.cluster.status.condition(READY)
    return bool(scope.running_version) and said is not None and said.status == "True"
