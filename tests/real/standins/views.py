"""Objects as far as they should be alike: without what is chance, time, or somebody else's words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import permutations
from typing import Any

from tests.real.standins.objects import NODES, Json
from tests.real.standins.recording import Snapshot

View = dict[str, Any]
"""An object as its leaves by path."""

_MACHINE = re.compile(r"shop-workers-[a-z0-9]{5}-[a-z0-9]{5}\b")
_SET = re.compile(r"shop-workers-[a-z0-9]{5}\b")
_HASH = re.compile(r"\b\d+-[a-z0-9]{5}\b")
_UNTOLD = {
    "metadata.uid", "metadata.resourceVersion", "metadata.creationTimestamp", "metadata.managedFields",
    "metadata.generation", "metadata.deletionTimestamp", "metadata.deletionGracePeriodSeconds", "metadata.selfLink",
    "metadata.generateName", "metadata.ownerReferences", "metadata.finalizers", "apiVersion", "kind",
    "status.observedGeneration", "status.deprecated", "status.conditions",
}  # fmt: skip
_BY_NAME = ("metadata.labels.", "metadata.annotations.")
"""Where something that is empty is not nothing."""
_TIMES = ("Time", "lastUpdated")


def named(text: str) -> str:
    """A text with its random parts taken out."""
    text = _MACHINE.sub("MACHINE", text)
    text = _SET.sub("SET", text)
    return _HASH.sub("HASH", text)


def view(obj: Json) -> View:
    """What of an object is compared."""
    meta = obj["metadata"]
    found = {path: value for path, value in _leaves("", obj) if path not in _UNTOLD}
    if "deletionTimestamp" in meta:
        found["metadata.deletionTimestamp"] = "set"
    for owner in meta.get("ownerReferences", ()):
        how = "controller" if owner.get("controller") else "owner"
        blocks = ", blocks" if owner.get("blockOwnerDeletion") else ""
        found[f"metadata.ownerReferences[{owner['kind']}/{named(owner['name'])}]"] = f"{how}{blocks}"
    for finalizer in meta.get("finalizers", ()):
        found[f"metadata.finalizers[{finalizer}]"] = "set"
    status = obj.get("status", {})
    for one in status.get("conditions", ()):
        found[f"status.conditions[{one['type']}]"] = f"{one['status']}/{one.get('reason', '')}"
    if obj.get("kind") != NODES.kind and "observedGeneration" in status:
        found["status.observedGeneration"] = "newest" if status["observedGeneration"] == meta["generation"] else "old"
    return found


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Every value with its path; a map of labels counts as one level, a list as a value, and nothing as nothing."""
    if path in _UNTOLD:
        return
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(f"{path}.{name}" if path else name, inner)
    elif path.startswith(_BY_NAME) or value not in (None, [], ""):
        yield path, _told(path, value)


def _told(path: str, value: Any) -> Any:
    if path.endswith(_TIMES):
        return "some time"
    if path.startswith(("data.", "stringData.")):
        return "some bytes"
    if isinstance(value, str):
        return named(value)
    return [_told("", one) for one in value] if isinstance(value, list) else value


def differences(real: list[View], ours: list[View]) -> list[tuple[str, Any, Any]]:
    """Where objects of one kind differ: path, here and there; paired so that they differ least."""
    size = max(len(real), len(ours))
    here, there = [*real, *[{}] * (size - len(real))], [*ours, *[{}] * (size - len(ours))]
    pairings = ([pair for a, b in zip(here, order, strict=True) for pair in _between(a, b)]
                for order in permutations(there))  # fmt: skip
    return min(pairings, key=len)


def _between(real: View, ours: View) -> list[tuple[str, Any, Any]]:
    if not real or not ours:
        return [("object", "there" if real else None, "there" if ours else None)] if real or ours else []
    paths = sorted({*real, *ours})
    return [(path, real.get(path), ours.get(path)) for path in paths if real.get(path) != ours.get(path)]


def views(snapshot: Snapshot, kind: str) -> list[View]:
    return [view(one) for one in snapshot[kind]]
