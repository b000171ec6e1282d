"""Which objects live on, out of what was found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from ..changes import Change
from .finds import Finds, Names, Place, Version, value_of
from .pages import Pages


@dataclass
class Survivors:
    """What lives on, and what does not."""

    places: dict[Place, Version] = field(default_factory=dict)
    lost: list[Place] = field(default_factory=list)
    older: list[Place] = field(default_factory=list)
    """Those of which the newest version is lost, and the one before is not."""
    doubtful: list[Place] = field(default_factory=list)
    """Those that may have been deleted since."""


def choose(finds: Finds, pages: Pages) -> Survivors:
    """Decide for each object, by its newest intact version and by what points to it."""
    chosen = Survivors()
    newest, pointed = _newest(finds, pages)
    for place, version in newest.items():
        pointer = finds.pointers.get(place)
        is_last = version.change is not Change.BEGUN and (pointer is None or pointer.revision <= version.revision)
        if version.change is Change.DELETED:
            if not is_last:
                chosen.lost.append(place)
        elif pointer is not None:
            chosen.places[place] = version
            if not is_last:
                chosen.older.append(place)
        elif version.change is not Change.BEGUN and not finds.pointers_complete:
            chosen.places[place] = version
            chosen.doubtful.append(place)
    missing = {place for place, pointer in finds.pointers.items() if pointer.revision not in pointed}
    if not finds.pointers_complete:
        missing |= set(finds.broken.values())
    chosen.lost += sorted(missing - newest.keys())
    return chosen


def _newest(finds: Finds, pages: Pages) -> tuple[dict[Place, Version], set[int]]:
    """The newest intact version of each object; and the revisions of those whose place was put right."""
    names = finds.buckets()
    by_revision = {pointer.revision: place for place, pointer in finds.pointers.items()}
    newest: dict[Place, Version] = {}
    settled: set[int] = set()
    for revision in sorted(finds.versions):
        version = finds.versions[revision]
        place = (version.bucket, version.key)
        pointed = by_revision.get(revision)
        if pointed is not None and pointed != place:
            place = _right_place(version, pointed, names, pages)
            settled.add(revision)
        before = newest.get(place)
        if version.change is not Change.BEGUN or before is None:
            newest[place] = version
    return newest, settled


def _right_place(version: Version, pointed: Place, names: dict[int, Names], pages: Pages) -> Place:
    """Of two that differ, the one that fits the value, which is intact for sure."""
    bucket = version.bucket if version.bucket in names else pointed[0]
    key = key_of(value_of(version, pages))
    return bucket, version.key if version.key == key or pointed[1] != key else pointed[1]


def key_of(value: bytes) -> str:
    """Under which key an object of the API is stored."""
    try:
        metadata: dict[str, Any] = msgspec.json.decode(value)["metadata"]
        namespace, name = metadata.get("namespace", ""), metadata["name"]
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError):
        return ""
    return f"{namespace}/{name}" if namespace else str(name)
