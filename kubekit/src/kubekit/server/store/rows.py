"""Objects as they come out of the store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec

from kubekit.errors import DataDamaged, Expired
from kubekit.model.resource import Object

from . import database, json_values

Found = tuple[str, int, int, bytes]
"""Key, revision, checksum and value of a stored object."""


class Row(msgspec.Struct, frozen=True):
    """One version of one object; `value` is its JSON without apiVersion and kind."""

    key: str
    revision: int
    value: bytes

    def decode(self) -> Object:
        """A fresh, mutable object."""
        decoded: Object = json_values.decode(self.value)
        return decoded


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a list as it was at one revision."""

    rows: list[Row]
    revision: int
    more: bool
    remaining: int = 0


def intact(revision: int, checksum: int, value: bytes) -> bytes:
    """The value, if it is what was written. Raises DataDamaged."""
    if database.checksum_of(value) != checksum:
        raise DataDamaged(f"the object stored at revision {revision} is not what was written; restore a backup")
    return value


def fetched(cursor: sqlite3.Cursor, limit: int, size: int) -> tuple[list[Row], bool]:
    """The next rows, up to `limit` and about `size` bytes of values, and whether there are more.

    A few at a time where they are small, which is faster."""
    found: list[Found] = []
    count = 1
    while size > 0 and (few := cursor.fetchmany(count)):
        found += few
        sizes = [len(row[3]) for row in few]
        size -= sum(sizes)
        count = max(1, min(2 * count, 8, size // max(1, *sizes)))
    more = 0 < limit < len(found) or cursor.fetchone() is not None
    rows = [Row(key, number, intact(number, checksum, value)) for key, number, checksum, value in found]
    return rows[:limit] if limit else rows, more


def each(cursor: Iterable[Found]) -> Iterator[Row]:
    for key, number, checksum, value in cursor:
        yield Row(key, number, intact(number, checksum, value))


def taken(rows: Iterable[Row], limit: int, size: int) -> tuple[list[Row], bool]:
    """The first rows, up to `limit` and about `size` bytes of values, and whether there are more."""
    found: list[Row] = []
    for row in rows:
        if size <= 0 or 0 < limit == len(found):
            return found, True
        found.append(row)
        size -= len(row.value)
    return found, False


def count_behind(connection: sqlite3.Connection, bucket: int, last: str, high: str, begun: Iterable[str]) -> int:
    """How many objects there are behind a key, of those that are stored and of those that are as they began."""
    query = "SELECT count(*) FROM objects WHERE bucket = ? AND key > ? AND key < ?"
    stored = connection.execute(query, (bucket, last, high)).fetchone()[0]
    return int(stored) + sum(key > last for key in begun)


def too_old(revision: int, compacted: int) -> Expired:
    return Expired(f"too old resource version: {revision} ({compacted})")
