"""Ownership after a create, an update or a patch."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Any

from kubekit.model.resource import Object

from ..schema.model import Schema
from . import differences, managers, nodes, sets
from .differences import Differences, Mismatch
from .managers import Entry, Managed, Owner, Writer
from .nodes import Node
from .sets import FieldSet

_IDENTITY = frozenset(
    {
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        "managedFields",
        "resourceVersion",
    }
)
NEVER_OWNED: FieldSet = {
    sets.SELF: {},
    "f:apiVersion": {},
    "f:kind": {},
    "f:metadata": {sets.SELF: {}, **{f"f:{name}": {} for name in sorted(_IDENTITY)}},
}
"""What identifies an object belongs to nobody."""


def record_create(obj: Object, schema: Schema, writer: Writer, *, reset: tuple[str, ...] = ()) -> None:
    """Set metadata.managedFields of a new object (operation Update), in place.

    `reset` names what the endpoint ignores in what a client writes, such as `status` or `metadata.labels`.
    """
    if "managedFields" in obj.get("metadata", {}):
        record_update(obj, {}, schema, writer, reset=reset)
        return
    # Without owners from before, what is there is what the writer owns.
    try:
        added = differences.added(_ownable(obj), nodes.of_schema(schema))
    except Mismatch:
        return
    mine = sets.minus(sets.without(added, reset_set(reset)), NEVER_OWNED)
    if mine:
        entry = Entry(mine, writer.api_version, writer.time)
        obj.setdefault("metadata", {})["managedFields"] = [managers.wire(managers.updater(writer), entry)]


def _ownable(obj: Object) -> Object:
    """The object without most of what belongs to nobody, so that it need not be taken away from the fields found."""
    meta = obj.get("metadata")
    if not meta:
        return obj
    return obj | {"metadata": {name: value for name, value in meta.items() if name not in _IDENTITY}}


def record_update(
    obj: Object,
    old: Object,
    schema: Schema,
    writer: Writer,
    *,
    reset: tuple[str, ...] = (),
    versions: Collection[str] = (),
) -> None:
    """Set metadata.managedFields of `obj`, which carries those the client sent or none, after a write over `old`.

    Works in place and leaves them as they were when nothing changed. `reset` is as for `record_create`; `versions`,
    when given, are the apiVersions the kind still has: entries of others are dropped.
    """
    node = nodes.of_schema(schema)
    managed = _known_owners(obj, old, node, writer)
    obj.get("metadata", {}).pop("managedFields", None)
    is_new = not old.get("metadata", {}).get("uid")
    if not managed and not is_new:
        # Nobody owns anything until the first apply of an object whose owners were forgotten.
        return
    try:
        managers.write(obj, updated(managed, obj, old, node, writer, reset=reset, versions=versions))
    except Mismatch:
        # An object that does not fit its schema has no owners rather than wrong ones.
        return


def _known_owners(obj: Object, old: Object, node: Node, writer: Writer) -> Managed:
    claimed = obj.get("metadata", {}).get("managedFields")
    held = old.get("metadata", {}).get("managedFields")
    # Kubernetes cannot tell an empty list from none in a custom resource; there, only [{}] is a wish to forget.
    is_nothing = claimed is None or (claimed == [] and not node.implied)
    if is_nothing or writer.subresource or claimed == held:
        return managers.stored(old)
    if managers.is_reset(claimed):
        return {}
    try:
        return managers.sent(claimed) or managers.stored(old)
    except ValueError:
        return managers.stored(old)


def updated(
    managed: Managed,
    obj: Object,
    old: Object,
    node: Node,
    writer: Writer,
    *,
    reset: tuple[str, ...],
    versions: Collection[str],
) -> Managed:
    """The owners after `writer` made `obj` out of `old`."""
    found = ignoring(differences.between(old, obj, node), reset)
    remaining = taken_away(managers.fitted(managed, node, versions), found)
    mine = sets.minus(found.changed, NEVER_OWNED)
    if mine:
        owner = managers.updater(writer)
        if owner in remaining:
            mine = sets.plus(mine, remaining[owner].fields)
        remaining[owner] = Entry(mine, writer.api_version, writer.time)
    return managers.cap(remaining)


def ignoring(found: Differences, reset: tuple[str, ...]) -> Differences:
    if not reset:
        return found
    ignored = reset_set(reset)
    return Differences(sets.without(found.changed, ignored), sets.without(found.removed, ignored))


@cache
def reset_set(reset: tuple[str, ...]) -> FieldSet:
    """The set of paths written as `status` or `metadata.labels`."""
    ignored: FieldSet = {}
    for path in reset:
        ignored = sets.plus(ignored, sets.of_path(tuple(f"f:{name}" for name in path.split("."))))
    return ignored


def taken_away(managed: Managed, found: Differences, *, but: Owner | None = None) -> Managed:
    """The owners without what has changed or gone, `but` for one of them."""
    remaining: Managed = {}
    for owner, entry in managed.items():
        fields = entry.fields
        if owner != but:
            fields = sets.minus(sets.minus(fields, found.changed), found.removed)
        if fields:
            remaining[owner] = entry if fields is entry.fields else entry._replace(fields=fields)
    return remaining


def keep_times(obj: Object, old: Object) -> None:
    """Undo, in place, new times in managedFields when nothing else in the object is new.

    For after defaulting: a write may turn out to change nothing only then.
    """
    new_entries: Any = obj.get("metadata", {}).get("managedFields")
    old_entries: Any = old.get("metadata", {}).get("managedFields")
    if not new_entries or not old_entries or new_entries == old_entries or len(new_entries) != len(old_entries):
        return
    if any({**new, "time": ""} != {**was, "time": ""} for new, was in zip(new_entries, old_entries, strict=True)):
        return
    kept = {**obj, "metadata": {**obj["metadata"], "managedFields": old_entries}}
    if kept == old:
        obj["metadata"]["managedFields"] = old_entries
