"""How far the addons of a cluster are: which are missing, which are too many, and what is to be said of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import structs

from butler.addons import errors
from butler.addons.builtin.platform import NETWORK
from butler.addons.model import Addon
from butler.api.cluster import ObservedAddon

from ..scope import Scope
from ..step import Verdict, Whose
from .observed import KEPT, declined_as, is_as
from .resolved import Declined

READY = "AddonsReady"
"""The condition that speaks of all addons."""

CNI_FAILED, FAILED, NO_INSTALLER, DEGRADED = "CNIInstallFailed", "AddonInstallFailed", "NoInstaller", "AddonsDegraded"
_REFUSALS = (
    errors.AddonNotFound,
    errors.VersionUnknown,
    errors.InvalidValues,
    errors.AddonUnsuitable,
    errors.AddonConflict,
)
FAILURES = {CNI_FAILED, FAILED, NO_INSTALLER, DEGRADED, *(one.reason for one in _REFUSALS)}
"""Reasons that somebody should hear of, and hear the end of."""
_INSTALLED, _INSTALLING, _WAITING = "AddonsInstalled", "AddonsInstalling", "WaitingForDependencies"
_REMOVING = "AddonsRemoving"
_NODES_NEED_IT = f"{KEPT}nodes need it"


def missing_addons(scope: Scope) -> tuple[Addon, ...]:
    """Addons that are wanted and not there, or there in another version or with other values. None of a cluster that
    is only observed, once it had all of them; and of one that is kept as it was, only those it never had."""
    wanted = scope.addons.addons
    if scope.is_kept:
        # Values are not kept in mind, so nobody knows whether they were others.
        there = {one.name for one in scope.installed}
        return tuple(one for one in wanted if one.name not in there)
    if _is_left_alone(scope):
        return ()
    return tuple(one for one in wanted if not _is_there(attempt_at(scope, one)))


def declined_addons(scope: Scope) -> tuple[Declined, ...]:
    """Wishes that cannot be fulfilled, as far as `missing_addons` would speak of them."""
    if _is_left_alone(scope):
        return ()
    there = {one.name for one in scope.installed} if scope.is_kept else set()
    return tuple(one for one in scope.addons.declined if one.name not in there)


def to_install(scope: Scope, wanted: Iterable[Addon]) -> tuple[Addon, ...]:
    """Those of them that are missing and whose turn it is. Nothing is installed for a change that is refused."""
    missing = () if scope.is_kept else missing_addons(scope)
    due = [one for one in wanted if one in missing]
    names, there = {one.name for one in due}, {one.name for one in scope.installed if _is_there(one)}
    while late := [one for one in due if not names.union(there).issuperset(one.depends_on)]:
        # They come once what they depend on is healthy.
        due = [one for one in due if one not in late]
        names = {one.name for one in due}
    return tuple(due)


def to_remove(scope: Scope) -> tuple[ObservedAddon, ...]:
    """What Butler installed and nobody asks for any more, the last first; without what nodes cannot do without."""
    if scope.is_kept or scope.cluster.spec.management_policy.mode == "Observe":
        return ()
    return tuple(one for one in reversed(_unasked(scope)) if not _is_for_nodes(scope, one))


def _unasked(scope: Scope) -> list[ObservedAddon]:
    wishes = {one.name for one in scope.settings.addons}
    return [one for one in scope.installed if one.name not in wishes and one.managed_by == "butler"]


def _is_for_nodes(scope: Scope, one: ObservedAddon) -> bool:
    definition = scope.definition(one.name)
    return one.name == NETWORK or (definition is not None and definition.spec.for_nodes)


def attempt_at(scope: Scope, wanted: Addon) -> ObservedAddon | None:
    """What became of an addon as it is wanted; None when it was only ever another, or never there."""
    return next((one for one in scope.installed if is_as(one, wanted)), None)


def shown(scope: Scope) -> tuple[ObservedAddon, ...]:
    """What the status says of addons: what is there, what cannot be, and what stays though nobody asks for it. In the
    order in which they are asked for, so that it does not matter which was first."""
    found = {one.name: one for one in scope.installed}
    for declined in declined_addons(scope):
        found[declined.name] = declined_as(declined, found.get(declined.name))
    for one in _unasked(scope):
        if not scope.is_kept and _is_for_nodes(scope, one):
            found[one.name] = structs.replace(one, message=_NODES_NEED_IT)
    order = [one.name for one in scope.settings.addons if one.name in found]
    return tuple(found[name] for name in dict.fromkeys((*order, *found)))


def verdict_on_all(scope: Scope, hindrance: str) -> Verdict:
    """How far everything is, also what is to go."""
    verdict = verdict_on(scope, scope.addons.addons, declined_addons(scope), hindrance)
    going = [one.name for one in to_remove(scope) if not (one.message or "").startswith(KEPT)]
    if verdict.done and going:
        return Verdict(False, _REMOVING, f"being removed: {', '.join(going)}", changing=True)
    kept = [one for one in shown(scope) if (one.message or "").startswith(KEPT)]
    if not verdict.done or not kept:
        return verdict
    told = "; ".join(f"{one.name} is {one.message}" for one in kept)
    return Verdict(True, verdict.reason, f"{verdict.message}; {told}")


def verdict_on(scope: Scope, wanted: Sequence[Addon], declined: Sequence[Declined], hindrance: str) -> Verdict:
    """How far these addons are; `hindrance` is what has to come before those that are missing."""
    lacking = missing_addons(scope)
    missing = [one for one in wanted if one in lacking]
    tried = [seen for one in missing if (seen := attempt_at(scope, one)) is not None]
    for said in (_failure(tried), _refusal(declined)):
        if said is not None:
            return said
    if not missing:
        return _degraded(scope, wanted) or Verdict(True, _INSTALLED, _listed(scope, wanted))
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


def _failure(tried: Iterable[ObservedAddon]) -> Verdict | None:
    failed = [one for one in tried if one.status == "Failed"]
    if not failed:
        return None
    reason = CNI_FAILED if any(one.name == NETWORK for one in failed) else FAILED
    said = "; ".join(f"{one.name} {one.version}: {one.message}" for one in failed)
    return Verdict(False, reason, f"could not be installed: {said}", Whose.PLATFORM)


def _refusal(declined: Sequence[Declined]) -> Verdict | None:
    if not declined:
        return None
    is_of_owner = any(one.error.reason == errors.InvalidValues.reason for one in declined)
    said = "; ".join(str(one.error) for one in declined)
    whose = Whose.OWNER if is_of_owner else Whose.PLATFORM
    return Verdict(False, declined[0].error.reason, f"cannot be installed: {said}", whose)


def _degraded(scope: Scope, wanted: Sequence[Addon]) -> Verdict | None:
    names = {one.name for one in wanted}
    found = [one for one in scope.installed if one.name in names and one.status == "Degraded"]
    if not found or scope.is_kept:
        return None
    said = "; ".join(f"{one.name} {one.version}: {one.message}" for one in found)
    return Verdict(False, DEGRADED, f"not all of it works: {said}", Whose.PLATFORM)


def _listed(scope: Scope, wanted: Sequence[Addon]) -> str:
    names = {one.name for one in wanted}
    found = [one for one in scope.installed if one.name in names]
    remarks = ", ".join(sorted({one.message for one in found if one.message}))
    text = ", ".join(sorted(one.name for one in found))
    return f"{text} ({remarks})" if remarks else text


def _is_there(seen: ObservedAddon | None) -> bool:
    if seen is None or seen.status == "Failed":
        return False
    return seen.managed_by != "butler" or seen.status in ("Healthy", "Degraded")


def _is_left_alone(scope: Scope) -> bool:
    """Whether a cluster is only observed, and had all of them once."""
    said = scope.cluster.status.condition(READY)
    had_all = said is not None and (said.status == "True" or said.reason == DEGRADED) and bool(scope.running_version)
    return scope.cluster.spec.management_policy.mode == "Observe" and had_all
