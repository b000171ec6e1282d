"""A new database out of what survived."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from .. import database, high_water, private_files
from ..changes import Change
from .finds import Names, Place

_EVENTS = ("/events", "events.k8s.io/events")
_EVENT_LIFETIME = 3600


@dataclass(frozen=True, slots=True)
class Kept:
    """An object as it is stored again."""

    place: Place
    revision: int
    value: bytes
    expires: int | None = None


def write(
    path: Path, buckets: Mapping[int, Names], objects: Iterable[Kept], replaced: Iterable[Place], newest: int
) -> int:
    """Store everything, each at the revision it had; answers how many objects that were. History begins anew."""
    count = 0
    with closing(database.open_writer(path)) as connection:
        connection.execute("BEGIN")
        named = [(number, *names) for number, names in sorted(buckets.items())]
        connection.executemany("INSERT OR IGNORE INTO buckets (id, space, resource) VALUES (?,?,?)", named)
        for one in objects:
            owners, is_ending = _links(one.value)
            row = (one.revision, *one.place, int(Change.ADDED), None, database.checksum_of(one.value), one.value)
            connection.execute("INSERT INTO writes VALUES (?,?,?,?,?,?,?,?)", (*row, one.expires))
            owned = [(owner, *one.place) for owner in owners]
            connection.executemany("INSERT OR IGNORE INTO owners (owner, bucket, key) VALUES (?,?,?)", owned)
            if is_ending:
                connection.execute("INSERT INTO ending (bucket, key) VALUES (?,?)", one.place)
            count += 1
        known = [(*place, newest) for place in replaced]
        connection.executemany("INSERT OR IGNORE INTO replaced (bucket, key, revision) VALUES (?,?,?)", known)
        facts = [("compacted", newest), ("newest", newest), ("bucket", max(buckets, default=0))]
        connection.executemany("INSERT OR REPLACE INTO facts (name, value) VALUES (?,?)", facts)
        connection.execute("COMMIT")
    private_files.write_private(high_water.beside(path), b"%-20d\n" % newest)
    return count


def expiry(names: Names, value: bytes) -> int | None:
    """When an object ends by itself of which nothing else says so: events live for an hour."""
    if names[1] not in _EVENTS:
        return None
    made = _metadata(value).get("creationTimestamp")
    try:
        return int(datetime.fromisoformat(str(made)).timestamp()) + _EVENT_LIFETIME
    except ValueError:
        return 0


def _links(value: bytes) -> tuple[list[str], bool]:
    """The uids of an object's owners, and whether somebody asked to delete it."""
    metadata = _metadata(value)
    owners = metadata.get("ownerReferences") or ()
    return [str(owner["uid"]) for owner in owners if "uid" in owner], "deletionTimestamp" in metadata


def _metadata(value: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(value)
    except msgspec.DecodeError:
        return {}
    metadata = found.get("metadata") if isinstance(found, dict) else None
    return metadata if isinstance(metadata, dict) else {}
