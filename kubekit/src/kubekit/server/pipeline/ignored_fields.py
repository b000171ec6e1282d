"""Which fields an endpoint ignores: nobody comes to own them through it, and they stay as they were."""

from __future__ import annotations

from kubekit.model.resource import Object
from kubekit.server.kinds.builtin.status_fields import kept_by_status
from kubekit.server.objects.request import Target

_KEPT_FIELDS = ("creationTimestamp", "generation", "selfLink")
"""What an update leaves as it was, whatever it says."""
_IMMUTABLE_FIELDS = ("uid", "deletionGracePeriodSeconds")
"""What an update need not mention, but may not change."""
_PARTS = {"status": "status", "approval": "status", "finalize": "spec"}
"""The member that a subresource changes."""
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


def carried_over(target: Target, obj: Object, old: Object) -> Object:
    """What an update may not change: identity, and the part that belongs to the other endpoint."""
    if target.subresource:
        part = _PARTS.get(target.subresource, "")
        meta = _metadata_for_part(target, obj["metadata"], old["metadata"])
        kept = {name: value for name, value in old.items() if name != part}
        obj = {**kept, "metadata": meta, **({part: obj[part]} if part in obj else {})}
    elif target.resource.status:
        obj.pop("status", None)
        if "status" in old:
            obj["status"] = old["status"]
    meta, before = obj["metadata"], old["metadata"]
    for name in _KEPT_FIELDS:
        if name in before:
            meta[name] = before[name]
        else:
            meta.pop(name, None)
    for name in _IMMUTABLE_FIELDS:
        if name in before:
            meta.setdefault(name, before[name])
    if "deletionTimestamp" in before:
        meta["deletionTimestamp"] = before["deletionTimestamp"]
    return obj


def _metadata_for_part(target: Target, meta: Object, before: Object) -> Object:
    """The metadata after a change by way of a subresource: built-in kinds take most of it from a status too."""
    if target.resource.is_custom or target.subresource not in _PARTS:
        kept = {**before}
        if "managedFields" in meta:
            kept["managedFields"] = meta["managedFields"]
        return kept
    names = kept_by_status(target.resource.qualified)
    kept = {name: value for name, value in meta.items() if name not in names}
    return kept | {name: before[name] for name in names if name in before}
