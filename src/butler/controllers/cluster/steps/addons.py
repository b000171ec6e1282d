"""What is installed inside the cluster."""

from __future__ import annotations

from collections.abc import Sequence

from butler.api.cluster import ObservedAddon

from ..scope import Scope
from ..settings import AddonSettings
from ..step import Step, Verdict, Whose

NETWORK = "cilium"
"""The one addon without which a cluster is of no use."""


CNI_FAILED, FAILED = "CNIInstallFailed", "AddonInstallFailed"
FAILURES = {CNI_FAILED, FAILED}
"""Reasons that somebody should hear of, and hear the end of."""


class Addons(Step):
    """Reads what the installer last found; installing itself is the reconciler's work, since it takes other hands."""

    condition, title = "AddonsReady", "Addons"

    def verdict(self, scope: Scope) -> Verdict:
        found = observed(scope)
        missing = missing_addons(scope)
        if missing and not _failed(found):
            names = ", ".join(one.name for one in missing)
            return Verdict(False, "AddonsInstalling", f"to be installed: {names}", changing=True)
        return verdict_on(found)


def verdict_on(addons: Sequence[ObservedAddon]) -> Verdict:
    """What is to be said of addons when nothing is under way."""
    failed = _failed(addons)
    if NETWORK in failed:
        return Verdict(False, CNI_FAILED, f"{NETWORK} could not be installed", Whose.PLATFORM)
    if failed:
        return Verdict(False, FAILED, f"could not be installed: {', '.join(failed)}", Whose.PLATFORM)
    names = ", ".join(sorted(one.name for one in addons))
    remarks = ", ".join(sorted({one.message for one in addons if one.message}))
    return Verdict(True, "AddonsInstalled", f"{names} ({remarks})" if remarks else names)


def _failed(addons: Sequence[ObservedAddon]) -> list[str]:
    return sorted(one.name for one in addons if one.status == "Failed")


def observed(scope: Scope) -> tuple[ObservedAddon, ...]:
    """What the installer last found. Nothing is in a cluster whose control plane does not run yet, or has to be made
    anew because someone deleted it."""
    if not scope.running_version:
        return ()
    state = scope.cluster.status.observed_state
    return state.addons if state is not None else ()


def missing_addons(scope: Scope) -> tuple[AddonSettings, ...]:
    """Addons that are wanted and not there, or there in another version or with other values. None of a cluster that
    is only observed, once it had all of them."""
    if scope.cluster.spec.management_policy.mode == "Observe" and _had_all(scope):
        return ()
    there = {(one.name, one.version, one.values_digest) for one in observed(scope) if one.status == "Healthy"}
    return tuple(one for one in scope.settings.addons if (one.name, one.version, one.values_digest) not in there)


def _had_all(scope: Scope) -> bool:
    said = scope.cluster.status.condition(Addons.condition)
    return bool(scope.running_version) and said is not None and said.status == "True"
