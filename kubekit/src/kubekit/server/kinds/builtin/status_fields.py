"""What a change of the status leaves alone besides the spec."""

from __future__ import annotations

_ALL = ("labels", "annotations", "finalizers", "ownerReferences")
_KEPT = {
    "deployments.apps": ("labels",),
    "pods": ("ownerReferences",),
    "apiservices.apiregistration.k8s.io": _ALL,
    "resourceclaims.resource.k8s.io": _ALL,
    "servicecidrs.networking.k8s.io": _ALL,
    "validatingadmissionpolicies.admissionregistration.k8s.io": _ALL,
    "volumeattachments.storage.k8s.io": _ALL,
}


def kept_by_status(qualified: str) -> tuple[str, ...]:
    """The metadata of a built-in resource that its status endpoint does not change; most kinds change all of it."""
    return _KEPT.get(qualified, ())
