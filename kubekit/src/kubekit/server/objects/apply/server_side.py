"""Server-side apply: a live object and a configuration → the object after it, and who owns what."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice
from typing import Any

import msgspec

from kubekit.errors import BadRequest, Cause, Conflict, Details, Unclassified
from kubekit.model.resource import Object

from ..long_work import LARGE
from ..schema.model import Schema
from ..schema.values import copy_json
from . import configuration, differences, managers, nodes, paths, sets
from .differences import Mismatch
from .managers import Entry, Managed, Owner, Writer
from .merge import merge, remove, with_named
from .nodes import Node
from .ownership import NEVER_OWNED, ignoring, reset_set, taken_away, updated
from .sets import FieldSet

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
BEFORE_FIRST_APPLY = "before-first-apply"
MAX_ANNOTATIONS = 256 * 1024

Clash = tuple[Owner, tuple[str, ...]]
"""A field that is owned by someone else and would change."""

_MOST_LISTED = 1000
"""Mistakes and conflicts that a refusal lists."""


def apply(
    live: Object | None,
    config: Object,
    schema: Schema,
    writer: Writer,
    *,
    force: bool,
    reset: tuple[str, ...] = (),
    versions: Collection[str] = (),
) -> Object:
    """The object after `config` is applied: merged, dropped fields gone, managedFields set.

    Shares nothing with its arguments and equals `live` when nothing changed. Raises Conflict with one cause per field
    that someone else owns with another value, BadRequest for a configuration that cannot be one, Unclassified (500)
    for one that does not fit the schema. `reset` and `versions` are as for `record_update`.
    """
    _check(config, live or {}, writer)
    step = _Apply(live or {}, config, nodes.of_schema(schema), writer, reset, versions)
    done, clashes = step.run(force=force)
    if clashes and writer.manager == "kubectl":
        clashes = _beyond_last_applied(clashes, step)
        if not clashes:
            done, _ = step.run(force=True)
    if clashes:
        raise _conflict(clashes)
    if writer.manager == "kubectl":
        _refresh_last_applied(done, config)
    return done


def _check(config: Object, live: Object, writer: Writer) -> None:
    kind = config.get("kind")
    if config.get("apiVersion", writer.api_version) != writer.api_version or kind != live.get("kind", kind):
        raise BadRequest(f"invalid object type: {kind_of(config, writer.api_version)}")
    metadata = config.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("managedFields"), list):
        raise BadRequest("metadata.managedFields must be nil")


def kind_of(config: Object, api_version: str) -> str:
    """What a configuration says it is, as refusals show it."""
    version = str(config.get("apiVersion", api_version))
    return f"{version if '/' in version else '/' + version}, Kind={config.get('kind', '')}"


def key_and_kind(config: Object, api_version: str) -> str:
    """Which object a configuration is of, as refusals show it."""
    metadata = config.get("metadata")
    named = metadata if isinstance(metadata, dict) else {}
    parts = (named.get(name) for name in ("namespace", "name"))
    key = "/".join(part if isinstance(part, str) else "" for part in parts)
    return f"{key}; {kind_of(config, api_version)}"


@dataclass(frozen=True, slots=True)
class _Apply:
    live: Object
    config: Object
    node: Node
    writer: Writer
    reset: tuple[str, ...]
    versions: Collection[str]

    def run(self, *, force: bool) -> tuple[Object, list[Clash]]:
        """The object afterwards, or the fields that stand in the way."""
        said = self._said()
        managed = managers.fitted(self._owners(), self.node, self.versions)
        me = managers.applier(self.writer)
        last = managed.get(me)
        if self.reset:
            said = sets.without(said, reset_set(self.reset))
        managed[me] = Entry(said, self.writer.api_version, last.time if last else "")
        new = merge(self.live, self._body(), self.node)
        mine = sets.minus(said, NEVER_OWNED)
        if last is not None and last.fields and last.fields != mine:
            new = _prune(new, last.fields, managed, self.node)
        found = ignoring(differences.between(self.live, new, self.node), self.reset)
        if not force and (clashes := _clashes(managed, found.changed, me)):
            return {}, clashes
        remaining = taken_away(managed, found, but=me)
        changed = bool(found.changed or found.removed) or new != self.live
        remaining.pop(me, None)
        if mine:
            time = self.writer.time if changed else managed[me].time
            remaining[me] = Entry(mine, self.writer.api_version, time)
        return self._written(new, remaining), []

    def _body(self) -> Object:
        """The configuration without its type when the live object, too, is kept without it."""
        if not self.live or "kind" in self.live:
            return self.config
        return {name: value for name, value in self.config.items() if name not in ("apiVersion", "kind")}

    def _said(self) -> FieldSet:
        try:
            return configuration.fields_of(self.config, self.node)
        except Mismatch as mismatch:
            listed = list(islice(configuration.problems(self.config, self.node), _MOST_LISTED))
            text = listed[0] if len(listed) == 1 else "\n".join(["errors:", *(f"  {one}" for one in listed)])
            which = key_and_kind(self.config, self.writer.api_version)
            raise Unclassified(f"failed to create typed patch object ({which}): {text}") from mismatch

    def _owners(self) -> Managed:
        owners = managers.stored(self.live)
        if owners or not self.live:
            return owners
        before = Writer(BEFORE_FIRST_APPLY, self.writer.api_version, self.writer.time, self.writer.subresource)
        return updated({}, self.live, {}, self.node, before, reset=self.reset, versions=())

    def _written(self, new: Object, owners: Managed) -> Object:
        shell = {**new, "metadata": dict(new.get("metadata") or {})}
        managers.write(shell, owners)
        value = msgspec.json.encode(shell)
        # What is large is copied step by step, so that the event loop has its turn in between.
        copied: Object = copy_json(shell) if len(value) > LARGE else msgspec.json.decode(value)
        return copied


def _prune(merged: Object, last: FieldSet, managed: Managed, node: Node) -> Object:
    """`merged` without what this applier owned, no longer mentions, and nobody else owns."""
    owned: FieldSet = {}
    for entry in managed.values():
        owned = sets.plus(owned, entry.fields)
    return merged if sets.plus(owned, last) is owned else _pruned(merged, last, owned, node)


def _pruned(merged: Object, last: FieldSet, owned: FieldSet, node: Node) -> Object:
    last, owned = with_named(last, node), with_named(owned, node)
    there = with_named(configuration.fields_of_any(merged, node), node)

    def staying(value: Any) -> FieldSet:
        return with_named(configuration.fields_of_any(value, node), node)

    kept = sets.plus(staying(remove(merged, last, node)), owned)
    kept_or_owned = remove(merged, sets.minus(there, kept), node)
    gone = sets.common(sets.minus(there, staying(kept_or_owned)), last)
    pruned: Object = remove(merged, gone, node) or {}
    return pruned


def _clashes(managed: Managed, changed: FieldSet, me: Owner) -> list[Clash]:
    if not changed:
        return []
    others = sorted((owner for owner in managed if owner != me), key=Owner.sort_text)
    return [(owner, path) for owner in others for path in sets.each(sets.common(managed[owner].fields, changed))]


def _conflict(clashes: list[Clash]) -> Conflict:
    shown = clashes[:_MOST_LISTED]
    causes = tuple(
        Cause("FieldManagerConflict", f"conflict with {_shown(owner)}", _path(path)) for owner, path in shown
    )
    if len(clashes) == 1:
        return Conflict(f"Apply failed with 1 conflict: {causes[0].message}: {causes[0].field}", Details(causes=causes))
    lines = []
    for owner in dict.fromkeys(owner for owner, _ in shown):
        lines.append(f"conflicts with {_shown(owner)}:")
        lines += [f"- {_path(path)}" for other, path in shown if other == owner]
    return Conflict(f"Apply failed with {len(clashes)} conflicts: " + "\n".join(lines), Details(causes=causes))


def _path(path: tuple[str, ...]) -> str:
    return "".join(map(paths.text, path))


def _shown(owner: Owner) -> str:
    name = json.dumps(owner.manager, ensure_ascii=False)
    if owner.subresource:
        name = f"{name} with subresource {json.dumps(owner.subresource)}"
    return f"{name} using {owner.api_version}" if owner.operation == "Update" else name


def _annotation(obj: Object) -> str:
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    return str(annotations.get(LAST_APPLIED) or "")


def _beyond_last_applied(clashes: list[Clash], step: _Apply) -> list[Clash]:
    """Clashes that client-side apply would have had too: it may take over what it set itself."""
    try:
        before = json.loads(_annotation(step.live) or "{}")
        if before.get("apiVersion") != step.writer.api_version:
            return clashes
        set_by_client = configuration.fields_of(before, step.node)
        found = differences.between(before, step.live, step.node)
    except (ValueError, AttributeError, Mismatch):
        return clashes
    allowed = sets.minus(sets.minus(set_by_client, found.changed), found.removed)
    return [clash for clash in clashes if not sets.contains(allowed, clash[1])]


def _refresh_last_applied(obj: Object, config: Object) -> None:
    """Keep the annotation of client-side apply true, so that a user may go back to it."""
    if not _annotation(obj):
        return
    shown = dict(config)
    metadata = shown["metadata"] = dict(config.get("metadata") or {})
    if metadata.get("annotations"):
        metadata["annotations"] = {
            name: value for name, value in metadata["annotations"].items() if name != LAST_APPLIED
        }
    else:
        metadata.pop("annotations", None)
    annotations = obj["metadata"]["annotations"]
    annotations[LAST_APPLIED] = paths.go_json(shown) + "\n"
    if sum(len(name.encode()) + len(value.encode()) for name, value in annotations.items()) > MAX_ANNOTATIONS:
        del annotations[LAST_APPLIED]
