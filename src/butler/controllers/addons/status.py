"""What the status of an addon says, given what came of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypeVar

from msgspec import structs

from butler.addons.model import AddonState, Seen
from butler.api.addon import ManagementAddonPhase, ManagementAddonStatus, TenantAddonPhase, TenantAddonStatus
from butler.api.addon import TenantAddonPhase as Phase
from butler.api.shared import HelmRelease
from butler.engines.helm.protocol import Place
from kubekit.model.status import Condition
from kubekit.runtime import failures
from kubekit.runtime.conditions import Truth, condition, merged
from kubekit.runtime.reconciler import Note

from ..errands import Ended
from ..requests import FORCED
from .attempts import Attempt

AddonStatus = TenantAddonStatus | ManagementAddonStatus
S = TypeVar("S", bound=AddonStatus)

CLUSTER_READY, DEPENDENCIES_MET = "ClusterReady", "DependenciesMet"
INSTALLED, HEALTHY, READY = "Installed", "Healthy", "Ready"
ELSEWHERE, ROLLED_BACK, NO_INSTALLER = "ManagedElsewhere", "RolledBack", "NoInstaller"
INSTALL_FAILED = "InstallFailed"
_KEEPERS = {"flux": "Flux", "argocd": "Argo CD"}
_UNDER_WAY = {Phase.INSTALLING, Phase.UPGRADING}
_STANDING = {Phase.INSTALLED, Phase.DEGRADED}
_OF_MANAGEMENT = {Phase.DEGRADED: ManagementAddonPhase.INSTALLED, Phase.DELETING: ManagementAddonPhase.UNINSTALLING}
"""Phases that an addon of the management cluster has under another name; conditions say the rest."""


def place_of(status: AddonStatus) -> Place | None:
    """Where its release is, or was about to be."""
    release = status.helm_release
    return Place(release.name or "", release.namespace or "") if release is not None else None


def is_elsewhere(status: AddonStatus) -> bool:
    """Whether others keep it."""
    said = status.condition(INSTALLED)
    return said is not None and said.reason == ELSEWHERE


def is_settled(status: AddonStatus) -> bool:
    """Whether it was found to do its work."""
    said = status.condition(READY)
    return said is not None and said.status == "True"


def changed(status: S, phase: Phase | None, *conditions: Condition, **fields: Any) -> S:
    """A status with another phase, None for the same, and other conditions and fields."""
    if phase is not None:
        fields["phase"] = _named(status, phase)
    new: S = structs.replace(status, conditions=merged(status.conditions, *conditions), **fields)
    return new


def _named(status: AddonStatus, phase: Phase) -> TenantAddonPhase | ManagementAddonPhase:
    if isinstance(status, TenantAddonStatus):
        return phase
    return _OF_MANAGEMENT.get(phase) or ManagementAddonPhase(phase.value)


def refused(status: S, reason: str, message: str, *more: Condition) -> S:
    """Somebody has to change something. What is installed stays."""
    told = [condition(READY, False, reason, message), *more]
    if status.installed_version is None:
        told.append(condition(INSTALLED, False, reason, message))
    return changed(status, Phase.FAILED, *told, message=message)


def waiting(status: S, kind: str, reason: str, message: str) -> S:
    """Something else has to come first. What is installed stays, and nobody knows how it is."""
    stands = status.installed_version is not None and status.phase in _STANDING
    truth: Truth = "Unknown" if stands else "False"
    told = [condition(READY, truth, reason, message)]
    if kind != READY:
        told.append(condition(kind, False, reason, message))
    return changed(status, None if stands else Phase.PENDING, *told, message=message)


def homeless(status: S, reason: str, message: str) -> S:
    """Its cluster is not there, and so nothing of it is."""
    gone = changed(
        status, Phase.PENDING, condition(INSTALLED, False, reason, message), condition(HEALTHY, False, reason, message),
        installed_version=None, helm_release=None, values_digest=None,
    )  # fmt: skip
    return waiting(gone, CLUSTER_READY, reason, message)


def begun(status: S, attempt: Attempt) -> S:
    """About to be installed where it never was: whoever takes over knows from this where to look for it."""
    release = HelmRelease(name=attempt.place.name, namespace=attempt.place.namespace)
    return under_way(changed(status, None, helm_release=release), attempt)


def under_way(status: S, attempt: Attempt) -> S:
    if attempt.verb == "look":
        return status
    phase = Phase.UPGRADING if attempt.is_upgrade else Phase.INSTALLING
    message = f"{attempt.version} is being installed"
    if attempt.verb == "remove":
        message = f"{attempt.place} is being removed: another is to take its place"
    told = [condition(READY, False, phase.value, message)]
    if status.installed_version is None:
        told.append(condition(INSTALLED, False, phase.value, message))
    return changed(_attempted(status, attempt), phase, *told, message=message)


def held_back(status: S, reason: str, message: str) -> S:
    """It is to go, and cannot."""
    hint = f"to let go of it all the same, annotate it with {FORCED}=true"
    return deleting(status, reason, f"{message}; {hint}")


def deleting(status: S, reason: str, message: str) -> S:
    return changed(status, Phase.DELETING, condition(READY, False, reason, message), message=message)


def after(status: S, ended: Ended[Attempt, Seen | None], now: datetime) -> S:
    """The status with what came of an errand; the same however often it is told."""
    attempt = ended.about
    if ended.error is not None:
        return _after_error(status, attempt, ended.error)
    if ended.result is None:
        if place_of(status) != attempt.place:
            return status
        return changed(status, None, helm_release=None, installed_version=None, values_digest=None)
    return _after_seeing(status, attempt, ended.result, now)


def _after_error(status: S, attempt: Attempt, error: Exception) -> S:
    reason, message = failures.reason_of(error), failures.message_of(error)
    if attempt.verb == "look":
        # That nobody can look at it does not mean that it does not work.
        unknown = [condition(kind, "Unknown", reason, message) for kind in (HEALTHY, READY)]
        return changed(status, None, *unknown, message=message)
    return refused(_attempted(status, attempt), reason, message)


def _attempted(status: S, attempt: Attempt) -> S:
    if isinstance(status, ManagementAddonStatus) and attempt.verb == "install":
        return changed(status, None, last_attempted_version=attempt.version)
    return status


def _after_seeing(status: S, attempt: Attempt, seen: Seen, now: datetime) -> S:
    status = _attempted(status, attempt)
    release = HelmRelease(
        name=attempt.place.name,
        namespace=attempt.place.namespace,
        version=seen.version or None,
        status=seen.release_status or None,
        revision=seen.revision or None,
    )
    if seen.keeper in _KEEPERS:
        return _kept_by_others(changed(status, None, helm_release=release), attempt, seen)
    if seen.rolled_back:
        return _rolled_back(changed(status, None, helm_release=release), attempt, seen)
    if seen.state is AddonState.FAILED:
        return _failed(changed(status, None, helm_release=release), attempt, seen)
    if attempt.verb == "install" and seen.outdated:
        return _coming(changed(status, None, helm_release=release), attempt, seen)
    told = status.helm_release.version if status.helm_release is not None else None
    is_other = attempt.verb == "look" and told != release.version
    if attempt.verb == "install":
        version, digest = attempt.version, attempt.digest
    else:
        version = seen.version if is_other and attempt.repairs else status.installed_version or ""
        # Nobody knows with which values others left it.
        is_unknown = is_elsewhere(status) or (seen.outdated and attempt.repairs)
        digest = "" if is_unknown else status.values_digest or ""
    there = condition(INSTALLED, True, "Installed", f"{version} is installed")
    new = changed(
        status, None, there, helm_release=release, installed_version=version or None, values_digest=digest or None
    )
    if is_other and not attempt.repairs:
        return _degraded(new, f"somebody put {seen.version} in its place")
    if seen.state is AddonState.HEALTHY:
        return _healthy(new, seen)
    if seen.state is AddonState.INSTALLING and not _is_overdue(new, attempt, now):
        return _coming(new, attempt, seen)
    return _degraded(new, seen.message)


def _healthy(status: S, seen: Seen) -> S:
    message = seen.message or f"{seen.version} is installed and works"
    ready = condition(READY, True, "Installed", message)
    return changed(status, Phase.INSTALLED, condition(HEALTHY, True, "Healthy", message), ready, message=message)


def _coming(status: S, attempt: Attempt, seen: Seen) -> S:
    if attempt.verb == "look" and status.phase not in _UNDER_WAY:
        # What was just put right needs a moment; the next look, which is soon, finds out.
        return status if seen.repaired else _degraded(status, seen.message)
    phase = status.phase if attempt.verb == "look" else Phase.UPGRADING if attempt.is_upgrade else Phase.INSTALLING
    message = seen.message or f"{seen.version} is written, and does not work yet"
    told = [condition(kind, False, "Progressing", message) for kind in (HEALTHY, READY)]
    return changed(status, Phase(str(phase)), *told, message=message)


def _degraded(status: S, message: str) -> S:
    message = message or "something of it does not work"
    told = [condition(kind, False, "Degraded", message) for kind in (HEALTHY, READY)]
    return changed(status, Phase.DEGRADED, *told, message=message)


def _kept_by_others(status: S, attempt: Attempt, seen: Seen) -> S:
    keeper = _KEEPERS[seen.keeper]
    message = f"kept by {keeper}, and left to it" + (f": {seen.message}" if seen.message else "")
    works = seen.state is AddonState.HEALTHY
    return changed(
        status,
        Phase.INSTALLED if works else Phase.DEGRADED,
        condition(INSTALLED, True, ELSEWHERE, message),
        condition(HEALTHY, works, ELSEWHERE, message),
        condition(READY, works, ELSEWHERE, message),
        installed_version=seen.version or None,
        values_digest=attempt.digest,
        message=message,
    )


def _rolled_back(status: S, attempt: Attempt, seen: Seen) -> S:
    runs = seen.version or status.installed_version or ""
    message = f"{attempt.version} failed, and {runs} is there again" + (f": {seen.message}" if seen.message else "")
    return changed(
        status,
        Phase.FAILED,
        condition(INSTALLED, True, ROLLED_BACK, message),
        condition(READY, False, ROLLED_BACK, message),
        installed_version=runs or None,
        message=message,
    )


def _failed(status: S, attempt: Attempt, seen: Seen) -> S:
    if attempt.verb == "install":
        return refused(
            status, seen.reason or INSTALL_FAILED, seen.message or f"{attempt.version} could not be installed"
        )
    if attempt.repairs:
        # What is gone, or stands there broken, is installed again.
        status = changed(status, None, values_digest=None)
    if not seen.revision:
        status = changed(
            status, None, condition(INSTALLED, False, "Gone", "its release is gone"), installed_version=None
        )
    return _degraded(status, seen.message)


def _is_overdue(status: S, attempt: Attempt, now: datetime) -> bool:
    """Whether it had the time it may take."""
    said = status.condition(HEALTHY)
    since = said.last_transition_time if said is not None and said.status == "False" else None
    return since is not None and now - since > attempt.patience


def stamped(old: S, new: S, now: datetime) -> S:
    """With the time of the phase, where there is such a field."""
    if isinstance(new, TenantAddonStatus) and new.phase != old.phase:
        return changed(new, None, last_transition_time=now)
    return new


def notes_for(old: AddonStatus, new: AddonStatus) -> list[Note]:
    """What happened, one for each change of phase."""
    before, now = old.condition(READY), new.condition(READY)
    reason = now.reason if now is not None else ""
    is_same = old.phase == new.phase and (before.reason if before is not None else "") == reason
    has_changed = (old.installed_version, old.values_digest) != (new.installed_version, new.values_digest)
    message = new.message or ""
    if new.phase == Phase.FAILED and not is_same:
        return [Note("AddonRolledBack" if reason == ROLLED_BACK else "AddonInstallFailed", message, "Warning")]
    if is_settled(new) and not is_elsewhere(new):
        if old.phase == Phase.UPGRADING or (has_changed and old.installed_version is not None):
            return [Note("AddonUpgraded", message)]
        if old.phase in (None, Phase.PENDING, Phase.INSTALLING) or has_changed:
            return [Note("AddonInstalled", message)]
        return [] if is_same else [Note("AddonRecovered", message)]
    return [Note("AddonDegraded", message, "Warning")] if reason == "Degraded" and not is_same else []
