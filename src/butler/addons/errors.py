"""Why an addon cannot be had as it is asked for: nothing is tried until somebody changes something."""

from __future__ import annotations

from kubekit.errors import KubeError


class AddonRefused(KubeError):
    """`reason` is the word for programs; the text is for people and holds no values."""

    retryable = False
    reason = "AddonRefused"

    def __init__(self, addon: str, message: str) -> None:
        super().__init__(f"{addon}: {message}")
        self.addon = addon


class AddonNotFound(AddonRefused):
    reason = "AddonNotFound"


class VersionUnknown(AddonRefused):
    """Nobody says which version."""

    reason = "VersionUnknown"


class InvalidValues(AddonRefused):
    """Values that the definition's schema does not allow, or that name something that is not there."""

    reason = "InvalidValues"


class AddonUnsuitable(AddonRefused):
    """Not for this Kubernetes, or not for this infrastructure."""

    reason = "AddonUnsuitable"


class AddonConflict(AddonRefused):
    """Something else in the cluster keeps it out."""

    reason = "AddonConflict"


class RepositoryRefused(AddonRefused):
    """Charts may not come from there."""

    reason = "RepositoryRefused"
