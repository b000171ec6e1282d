"""Why an addon cannot be had as it is asked for: nothing is tried until somebody changes something."""

from __future__ import annotations

from collections.abc import Iterable

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


class ValuesMissing(AddonRefused):
    """They are to come from a Secret, and may come yet; `keys` are what it has instead, for those who may see it."""

    reason = "ValuesMissing"

    def __init__(self, addon: str, message: str, keys: Iterable[str] = ()) -> None:
        super().__init__(addon, message)
        self.keys = sorted(keys)


class AddonUnsuitable(AddonRefused):
    """Not for this Kubernetes, or not for this infrastructure."""

    reason = "AddonUnsuitable"


class AddonConflict(AddonRefused):
    """Something else in the cluster keeps it out."""

    reason = "AddonConflict"


class CredentialsMissing(AddonRefused):
    """What opens a repository is not where it is said to be."""

    reason, retryable = "CredentialsMissing", True


class ObjectRefused(AddonRefused):
    """An object beside the release could not be written; `again` tells whether it may be later."""

    reason = "ObjectRefused"

    def __init__(self, addon: str, message: str, *, again: bool = False) -> None:
        super().__init__(addon, message)
        self.again = again


class VolumesInUse(AddonRefused):
    """Volumes would lose what serves them. They go without anybody telling, so it is worth trying again."""

    reason, retryable = "VolumesInUse", True


class RepositoryRefused(AddonRefused):
    """Charts may not come from there."""

    reason = "RepositoryRefused"
