"""delete: at once when nobody minds, else a mark that finalizers and dependents are waited for."""

from __future__ import annotations

from contextlib import suppress

from kubekit.errors import NotFound
from kubekit.model.resource import Object
from kubekit.server.kinds.crds.life import CLEANUP_FINALIZER, marked_status
from kubekit.server.objects import refusals
from kubekit.server.objects.request import Answer, DeleteOptions, Target, WriteOptions
from kubekit.server.objects.resource import Resource
from kubekit.server.store import json_values
from kubekit.server.store.changes import Change
from kubekit.server.store.rows import Row

from .commit import durably, encode, stage
from .space import Space

ORPHAN = "orphan"
FOREGROUND = "foregroundDeletion"
_ATTEMPTS = 5
_DEFINITIONS = "apiextensions.k8s.io/customresourcedefinitions"
ORPHANING = frozenset({"batch/jobs", "/replicationcontrollers"})
"""Kinds whose dependents stay unless the client says otherwise."""


@durably
async def delete(space: Space, target: Target, options: DeleteOptions, write: WriteOptions) -> Answer:
    """Delete an object or mark it for deletion; `deleted` in the answer tells which. Raises NotFound, Conflict."""
    for _ in range(_ATTEMPTS):
        row = space.existing(target)
        old = row.decode()
        check_preconditions(target, old, options)
        if space.admission.concerns(target.resource, "DELETE", ""):
            seen = json_values.decode(await space.converter.value(target.resource, row))
            await space.admission.validate("DELETE", target, None, seen, write)
            now = space.latest(target)
            if now is None or now.revision != row.revision:
                continue
        space.admission.check("DELETE", target, None, old, write)
        answer = await _delete(space, target, row, old, options)
        answer.value = await space.converter.written(target.resource, answer.value)
        return answer
    raise refusals.modified(target)


async def _delete(space: Space, target: Target, row: Row, old: Object, options: DeleteOptions) -> Answer:
    obj = row.decode()
    meta = obj["metadata"]
    finalizers = _finalizers(target.resource, meta.get("finalizers") or [], options)
    if finalizers:
        meta["finalizers"] = finalizers
    else:
        meta.pop("finalizers", None)
    grace = _grace_period(target.resource, obj, options)
    if target.resource.storage_key == "/pods":
        # Pods end gracefully, even if in no time.
        _mark(space, target.resource, obj, grace)
    waits = bool(finalizers) or grace > 0 or not _is_final(target.resource, obj) or _is_first_step(target, meta)
    if not waits:
        if options.dry_run:
            return Answer(target.resource, encode(obj), deleted=True)
        return Answer(target.resource, await stage(space, target, Change.DELETED, obj, row), deleted=True)
    _mark(space, target.resource, obj, grace)
    if obj == old or options.dry_run:
        await space.store.durable(row.revision)
        return Answer(target.resource, encode(obj))
    return Answer(target.resource, await stage(space, target, Change.MODIFIED, obj, row))


def _mark(space: Space, resource: Resource, obj: Object, grace: int) -> None:
    """Set when the object is to be gone; a second deletion can only bring that nearer."""
    meta = obj["metadata"]
    if "deletionTimestamp" in meta:
        if grace < meta.get("deletionGracePeriodSeconds", 0):
            meta["deletionGracePeriodSeconds"] = grace
        return
    meta["deletionTimestamp"] = space.timestamp_after(grace)
    match resource.storage_key:
        case "/namespaces":
            obj.setdefault("status", {})["phase"] = "Terminating"
        case "apiextensions.k8s.io/customresourcedefinitions":
            obj["status"] = marked_status(obj, space.timestamp())
        case _:
            meta["deletionGracePeriodSeconds"] = grace
            if "generation" in meta:
                meta["generation"] += 1


def is_finished(resource: Resource, obj: Object) -> bool:
    """Whether an object that is being deleted has nothing left to wait for."""
    meta = obj["metadata"]
    if "deletionTimestamp" not in meta or meta.get("finalizers") or not _is_final(resource, obj):
        return False
    return not meta.get("deletionGracePeriodSeconds")


def _is_final(resource: Resource, obj: Object) -> bool:
    """A namespace is final only when its own finalizers, in its spec, are gone."""
    return resource.storage_key != "/namespaces" or not (obj.get("spec") or {}).get("finalizers")


def _is_first_step(target: Target, meta: Object) -> bool:
    """A namespace is marked before it goes, even when nothing holds it."""
    return target.resource.storage_key == "/namespaces" and "deletionTimestamp" not in meta


def _finalizers(resource: Resource, current: list[str], options: DeleteOptions) -> list[str]:
    """The finalizers that carry out the wanted propagation, or first of all empty a kind that is to go."""
    if resource.storage_key == _DEFINITIONS and CLEANUP_FINALIZER not in current:
        return [*current, CLEANUP_FINALIZER]
    kept = [one for one in current if one not in (ORPHAN, FOREGROUND)]
    match options.propagation:
        case "Orphan":
            return [*kept, ORPHAN]
        case "Foreground":
            return [*kept, FOREGROUND]
        case "Background":
            return kept
    if resource.storage_key in ORPHANING and FOREGROUND not in current:
        return [*kept, ORPHAN]
    return list(current)


def _grace_period(resource: Resource, obj: Object, options: DeleteOptions) -> int:
    """Only pods end gracefully, and only once a node has them."""
    if resource.storage_key != "/pods":
        return 0
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    if not spec.get("nodeName") or status.get("phase") in ("Succeeded", "Failed"):
        return 0
    if options.grace_period is not None:
        return options.grace_period if options.grace_period >= 0 else 1
    return int(spec.get("terminationGracePeriodSeconds", 30))


def check_preconditions(target: Target, old: Object, options: DeleteOptions) -> None:
    meta = old["metadata"]
    if options.uid and options.uid != meta["uid"]:
        raise refusals.wrong_uid(target, options.uid, meta["uid"])
    if options.resource_version and options.resource_version != meta["resourceVersion"]:
        raise refusals.wrong_version(target, options.resource_version, meta["resourceVersion"])


async def delete_all(
    space: Space, resource: Resource, values: list[bytes], options: DeleteOptions, write: WriteOptions
) -> None:
    """Delete the listed objects one after the other; what is gone already does not matter."""
    for value in values:
        meta = json_values.decode(value)["metadata"]
        with suppress(NotFound):
            await delete(space, Target(resource, meta.get("namespace", ""), meta["name"]), options, write)
