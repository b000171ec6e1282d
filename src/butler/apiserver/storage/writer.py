"""Makes writes durable: in groups by a thread of its own, or at once for a store in memory."""

from __future__ import annotations

import asyncio
import os
import queue
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from butler.errors import DataDamaged

from . import database
from .changes import Change, Write

_GROUP = 1024
_COMPACT_STEP = 2000


Written = Callable[[Iterable[Write], Exception | None], None]


class Writer(Protocol):
    """Takes writes in order of revision, and calls back in the same order once they are durable."""

    def submit(self, write: Write, written: Written) -> None: ...

    def run(self, statement: str, rows: list[tuple[Any, ...]]) -> None:
        """A statement of housekeeping, done before any write that is submitted after it."""

    def compact(self, already: int, revision: int) -> None: ...

    async def close(self) -> None: ...


class InlineWriter:
    """For a store in memory: no thread, so that a history repeats exactly."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def submit(self, write: Write, written: Written) -> None:
        _store(self._connection, [write])
        asyncio.get_running_loop().call_soon(written, [write], None)

    def run(self, statement: str, rows: list[tuple[Any, ...]]) -> None:
        self._connection.executemany(statement, rows)

    def compact(self, already: int, revision: int) -> None:
        _compact(self._connection, already, revision)

    async def close(self) -> None:
        return None


_Submitted = tuple[Write, Written, asyncio.AbstractEventLoop]
_Job = Callable[[sqlite3.Connection], None]


class GroupWriter:
    """A thread that commits whatever has arrived since the last commit as one synced transaction."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._arrived: queue.SimpleQueue[_Submitted | _Job | None] = queue.SimpleQueue()
        self._high_water = HighWater(path)
        self._high_water.verify(database.newest_revision(connection))
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._work, name="butler-store", daemon=True)
        self._thread.start()

    def submit(self, write: Write, written: Written) -> None:
        self._arrived.put((write, written, asyncio.get_running_loop()))

    def run(self, statement: str, rows: list[tuple[Any, ...]]) -> None:
        self._arrived.put(partial(_execute, statement=statement, rows=rows))

    def compact(self, already: int, revision: int) -> None:
        # In steps, so that a write never waits long behind it.
        for start in range(already, revision, _COMPACT_STEP):
            end = min(start + _COMPACT_STEP, revision)
            self._arrived.put(partial(_compact, already=start, revision=end))

    async def close(self) -> None:
        self._arrived.put(None)
        await asyncio.get_running_loop().run_in_executor(None, self._thread.join)
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._connection.close()
        self._high_water.close()

    def _work(self) -> None:
        group: list[_Submitted] = []
        while True:
            try:
                arrived = self._arrived.get_nowait() if group else self._arrived.get()
            except queue.Empty:
                group = self._commit(group)
                continue
            if isinstance(arrived, tuple):
                group.append(arrived)
                if len(group) < _GROUP:
                    continue
            group = self._commit(group)
            if arrived is None:
                return
            if not isinstance(arrived, tuple):
                self._run(arrived)

    def _run(self, job: _Job) -> None:
        try:
            job(self._connection)
        except sqlite3.Error as error:
            self._failure = error

    def _commit(self, group: list[_Submitted]) -> list[_Submitted]:
        """Store the group and start a new one."""
        if not group:
            return group
        writes = [write for write, _, _ in group]
        _, written, loop = group[0]
        try:
            if self._failure is None:
                _store(self._connection, writes)
                self._high_water.note(writes[-1].revision)
        except (sqlite3.Error, OSError) as error:
            # Later writes build upon these, so none of them may succeed either.
            self._failure = error
        try:
            loop.call_soon_threadsafe(written, writes, self._failure)
        except RuntimeError:
            # The loop is closed: nobody is left to be told.
            return []
        return []


class HighWater:
    """The newest acknowledged revision, in a small file of its own.

    SQLite takes a write-ahead log that was cut short for one that ends there. The number in this file is written after
    each commit and never synced, so it may lag behind the database after a power cut but can never be ahead of it: if
    it is, acknowledged writes are missing."""

    def __init__(self, database_path: Path) -> None:
        self._path = database_path.with_suffix(".revision")
        self._database = database_path
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)

    def verify(self, newest: int) -> None:
        text = os.pread(self._file, 32, 0).strip(b"\0 \n")
        try:
            noted = int(text or b"0")
        except ValueError:
            raise DataDamaged(f"{self._path}: not a revision: {text!r}") from None
        if noted > newest:
            raise DataDamaged(
                f"{self._database}: ends at revision {newest}, but revision {noted} was acknowledged; part of the "
                f"database or its write-ahead log is missing. Restore a backup, or remove {self._path} to accept that"
            )

    def note(self, revision: int) -> None:
        os.pwrite(self._file, b"%-20d\n" % revision, 0)

    def close(self) -> None:
        os.close(self._file)


def _execute(connection: sqlite3.Connection, statement: str, rows: list[tuple[Any, ...]]) -> None:
    connection.executemany(statement, rows)


def _store(connection: sqlite3.Connection, writes: list[Write]) -> None:
    """One transaction for a group of writes."""
    newest = {(write.bucket, write.key): write for write in writes}
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.executemany(
            "INSERT INTO revisions (revision, bucket, key, change, previous, checksum, value) VALUES (?,?,?,?,?,?,?)",
            [
                (w.revision, w.bucket, w.key, w.change, w.previous, database.checksum_of(w.value), w.value)
                for w in writes
            ],
        )
        live = [(w.bucket, w.key, w.revision, w.expires) for w in newest.values() if w.change is not Change.DELETED]
        _insert(connection, "INSERT OR REPLACE INTO objects (bucket, key, revision, expires)", live)
        gone = [(w.bucket, w.key) for w in newest.values() if w.change is Change.DELETED]
        if gone:
            connection.executemany("DELETE FROM objects WHERE bucket = ? AND key = ?", gone)
        _store_owners(connection, newest.values())
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


_AT_ONCE = (128, 32, 8, 1)


def _insert(connection: sqlite3.Connection, into: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows many at a time: each statement gives up and takes back Python's lock, and while SQLite works on a
    large one, the event loop goes on."""
    at = 0
    for size in _AT_ONCE:
        while len(rows) - at >= size:
            chunk = rows[at : at + size]
            connection.execute(_values(into, len(chunk[0]), size), list(chain.from_iterable(chunk)))
            at += size


@lru_cache
def _values(into: str, columns: int, rows: int) -> str:
    row = f"({','.join('?' * columns)})"
    return f"{into} VALUES {','.join([row] * rows)}"


def _store_owners(connection: sqlite3.Connection, writes: Iterable[Write]) -> None:
    changed = [(w.bucket, w.key) for w in writes if w.previous is not None or w.owners]
    if changed:
        connection.executemany("DELETE FROM owners WHERE bucket = ? AND key = ?", changed)
    owned = [(owner, w.bucket, w.key) for w in writes if w.change is not Change.DELETED for owner in w.owners]
    if owned:
        connection.executemany("INSERT OR IGNORE INTO owners (owner, bucket, key) VALUES (?,?,?)", owned)


def _compact(connection: sqlite3.Connection, already: int, revision: int) -> None:
    """Versions that were replaced or deleted by a revision in the range, and the records of those deletions."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(
            "DELETE FROM revisions WHERE revision IN (SELECT previous FROM revisions"
            " WHERE revision > ? AND revision <= ? AND previous IS NOT NULL)",
            (already, revision),
        )
        connection.execute(
            "DELETE FROM revisions WHERE change = 2 AND revision > ? AND revision <= ?", (already, revision)
        )
        connection.execute("UPDATE facts SET value = ? WHERE name = 'compacted'", (revision,))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
