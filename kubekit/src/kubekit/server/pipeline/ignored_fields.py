"""Which fields nobody comes to own through an endpoint, because it ignores them."""

from __future__ import annotations

from kubekit.server.objects.request import Target

_BY_STATUS = {
    "/pods": ("spec", "metadata.deletionTimestamp", "metadata.ownerReferences"),
    "apps/deployments": ("spec", "metadata.labels"),
    "networking.k8s.io/servicecidrs": ("metadata", "spec"),
    "admissionregistration.k8s.io/validatingadmissionpolicies": ("metadata", "spec"),
}
"""What writing a status leaves alone, where that is more than the spec."""
_REQUESTS = "certificates.k8s.io/certificatesigningrequests"
_BY_PART = {
    (_REQUESTS, "status"): ("spec", "status.conditions"),
    (_REQUESTS, "approval"): ("spec", "status.certificate"),
    ("/namespaces", "finalize"): ("status",),
}


def ownerless(target: Target) -> tuple[str, ...]:
    resource = target.resource
    if (by_part := _BY_PART.get((resource.storage_key, target.subresource))) is not None:
        return by_part
    if target.subresource == "status":
        return ("metadata", "spec") if resource.is_custom else _BY_STATUS.get(resource.storage_key, ("spec",))
    if resource.storage_key == _REQUESTS:
        # What is asked for never changes, and who signs says so in the status.
        return ("spec", "status")
    return ("status",) if resource.status else ()
