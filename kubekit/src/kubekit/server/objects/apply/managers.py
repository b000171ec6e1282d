"""`metadata.managedFields` ↔ who owns which fields."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from kubekit.model.resource import Object

from . import paths, sets
from .nodes import Division, Node
from .sets import SELF, FieldSet

MAX_UPDATERS = 10
"""Update entries an object may carry before the oldest are put together."""
ANCIENT = "ancient-changes"


class Writer(msgspec.Struct, frozen=True):
    """Who writes, and how."""

    manager: str
    api_version: str
    """The version of the object as written."""
    time: str
    """Now, in RFC 3339 with whole seconds in UTC."""
    subresource: str = ""


class Owner(NamedTuple):
    """What tells one entry of managedFields from another."""

    manager: str
    operation: str
    api_version: str
    """Empty for Apply: an applier has one entry whatever version it uses."""
    subresource: str

    def sort_text(self) -> str:
        """The owner as Kubernetes spells it internally, which decides about ties."""
        named = {
            "manager": self.manager,
            "operation": self.operation,
            "apiVersion": self.api_version,
            "subresource": self.subresource,
        }
        return "{" + ",".join(f'"{name}":{paths.go_json(value)}' for name, value in named.items() if value) + "}"


class Entry(NamedTuple):
    """What one owner owns, in which version, since when."""

    fields: FieldSet
    api_version: str
    time: str


Managed = dict[Owner, Entry]


def updater(writer: Writer) -> Owner:
    return Owner(writer.manager or "unknown", "Update", writer.api_version, writer.subresource)


def applier(writer: Writer) -> Owner:
    return Owner(writer.manager or "unknown", "Apply", "", writer.subresource)


def stored(obj: Object) -> Managed:
    """The owners of an object that this server wrote."""
    return {_owner(entry): _entry(entry) for entry in obj.get("metadata", {}).get("managedFields") or ()}


def sent(entries: Any) -> Managed:
    """The owners a client claims. Raises ValueError when an entry makes no sense."""
    managed: Managed = {}
    if not isinstance(entries, list):
        raise ValueError("not a list")
    for position, entry in enumerate(entries):
        if not isinstance(entry, dict) or entry.get("operation") not in ("Apply", "Update"):
            raise ValueError("operation must be `Apply` or `Update`")
        if not entry.get("apiVersion"):
            raise ValueError("apiVersion must not be empty")
        if entry.get("fieldsType") != "FieldsV1":
            raise ValueError(f"invalid fieldsType in managed fields entry {position}")
        fields = sets.canonical(entry.get("fieldsV1") or {})
        fields.pop(SELF, None)
        managed[_owner(entry)] = Entry(fields, entry["apiVersion"], _utc(entry.get("time") or ""))
    return managed


def is_reset(entries: Any) -> bool:
    """Does a client ask to forget all owners, with `[]` or `[{}]`?"""
    if not isinstance(entries, list):
        return False
    return not entries or (len(entries) == 1 and isinstance(entries[0], dict) and not any(entries[0].values()))


def _owner(entry: Object) -> Owner:
    operation = entry["operation"]
    version = "" if operation == "Apply" else entry["apiVersion"]
    return Owner(entry.get("manager", ""), operation, version, entry.get("subresource", ""))


def _entry(entry: Object) -> Entry:
    return Entry(entry.get("fieldsV1") or {}, entry["apiVersion"], entry.get("time", ""))


def _utc(time: str) -> str:
    if not time or time.endswith("Z"):
        return time
    return datetime.fromisoformat(time).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def write(obj: Object, managed: Managed) -> None:
    """Set the object's managedFields, in place; without owners it has none."""
    metadata = obj.setdefault("metadata", {})
    if not managed:
        metadata.pop("managedFields", None)
        return
    listed = list(managed.items())
    if len(listed) > 1:
        listed.sort(key=_wire_order)
    metadata["managedFields"] = [wire(owner, entry) for owner, entry in listed]


def _wire_order(owned: tuple[Owner, Entry]) -> tuple[str, str, str, str, str]:
    owner, entry = owned
    return (owner.operation, entry.time, owner.manager, entry.api_version, owner.subresource)


def wire(owner: Owner, entry: Entry) -> Object:
    """An entry of managedFields."""
    shown: Object = {}
    if owner.manager:
        shown["manager"] = owner.manager
    shown["operation"] = owner.operation
    shown["apiVersion"] = entry.api_version
    if entry.time:
        shown["time"] = entry.time
    shown["fieldsType"] = "FieldsV1"
    shown["fieldsV1"] = entry.fields
    if owner.subresource:
        shown["subresource"] = owner.subresource
    return shown


def cap(managed: Managed) -> Managed:
    """The owners with the oldest updaters of a version put into one entry while there are too many."""
    updaters = [owner for owner in managed if owner.operation == "Update"]
    excess = len(updaters) - MAX_UPDATERS
    if excess <= 0:
        return managed
    capped = dict(managed)
    first_of: dict[str, Owner] = {}
    for owner in sorted(updaters, key=lambda owner: (managed[owner].time, owner.sort_text())):
        if not excess:
            break
        entry = managed[owner]
        if entry.api_version not in first_of:
            first_of[entry.api_version] = owner
            continue
        bucket = Owner(ANCIENT, "Update", entry.api_version, "")
        if bucket not in capped:
            capped[bucket] = capped.pop(first_of[entry.api_version])
        del capped[owner]
        older = capped.get(bucket, entry)
        capped[bucket] = Entry(sets.plus(entry.fields, older.fields), entry.api_version, entry.time)
        excess -= 1
    return capped


def fitted(managed: Managed, node: Node, versions: Collection[str]) -> Managed:
    """The owners as the schema has them now: what became owned as a whole is, and lost versions are gone."""
    result: Managed = {}
    for owner, entry in managed.items():
        if versions and entry.api_version not in versions:
            continue
        fields = _fit(entry.fields, node)
        result[owner] = entry if fields is entry.fields else entry._replace(fields=fields)
    return result


def _fit(fields: FieldSet, node: Node) -> FieldSet:
    fit = fields
    for element, below in fields.items():
        if not below or element == SELF:
            continue
        child = node.fields.get(element[2:], node.element) if element[0] == "f" else node.item
        # Nothing below a place without a schema has a nature that could have changed.
        if child is None or child.free:
            continue
        held = {} if _is_whole(child) else _fit(below, child)
        if held is not below:
            if fit is fields:
                fit = dict(fields)
            fit[element] = held
    return fit


def _is_whole(node: Node) -> bool:
    if node.division is not Division.NONE:
        return node.division is Division.WHOLE
    return node.sequence is Division.WHOLE and not node.scalars
