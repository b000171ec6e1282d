"""Makes writes durable: in groups by a thread of its own, or at once for a store in memory."""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import chain, repeat
from pathlib import Path
from typing import Any, Protocol

from kubekit.errors import InternalError

from . import database, high_water, queries
from .changes import Change, Write
from .high_water import HighWater
from .loop_bridge import Handover

_GROUP = 256
_GROUP_BYTES = 1024 * 1024
_COMPACT_STEP = 1000
"""Revisions that replace others, of which so many are dealt with at a time."""


Written = Callable[[Sequence[Write], Exception | None], None]


class Writer(Protocol):
    """Takes writes in order of revision, and calls back in the same order once they are durable."""

    def submit(self, write: Write, written: Written) -> None: ...

    def run(self, statements: Sequence[str], values: Mapping[str, Any], done: asyncio.Future[None]) -> None:
        """Statements that take effect together, after all that was submitted before and before all that follows."""

    def compact(self, revision: int) -> None: ...

    def resume(self) -> None:
        """What is submitted from now on builds upon nothing that has failed."""

    async def close(self) -> None: ...


class InlineWriter:
    """For a store in memory: no thread, so that a history repeats exactly."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def submit(self, write: Write, written: Written) -> None:
        writes = [write, *write.together]
        _store(self._connection, writes)
        asyncio.get_running_loop().call_soon(written, writes, None)

    def run(self, statements: Sequence[str], values: Mapping[str, Any], done: asyncio.Future[None]) -> None:
        _execute(self._connection, statements, values)
        asyncio.get_running_loop().call_soon(_tell, done, None)

    def compact(self, revision: int) -> None:
        while not _compact(self._connection, revision):
            pass

    def resume(self) -> None:
        return None

    async def close(self) -> None:
        return None


_Submitted = tuple[Write, Written]
_Job = Callable[[sqlite3.Connection], None]


class GroupWriter:
    """A thread that commits whatever has arrived since the last commit as one synced transaction."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._arrived: queue.SimpleQueue[list[_Submitted] | _Job | None] = queue.SimpleQueue()
        high_water.verify(path, database.newest_revision(connection))
        self._high_water = HighWater(path)
        self._handover = Handover()
        self._round: list[_Submitted] = []
        """What was submitted in this round of the event loop, which does not stop for the thread in between."""
        self._failure: Exception | None = None
        self._owed: list[tuple[Sequence[str], Mapping[str, Any]]] = []
        """Statements that are still to be run, before anything else is written."""
        self._thread = threading.Thread(target=self._work, name="kubekit-store", daemon=True)
        self._thread.start()

    def submit(self, write: Write, written: Written) -> None:
        if not self._round:
            asyncio.get_running_loop().call_soon(self._pass_on)
        self._round.append((write, written))

    def _pass_on(self) -> None:
        if self._round:
            self._arrived.put(self._round)
            self._round = []
            self._handover.come_by()

    def _put(self, job: _Job | None) -> None:
        """None is the end."""
        self._pass_on()
        self._arrived.put(job)

    def run(self, statements: Sequence[str], values: Mapping[str, Any], done: asyncio.Future[None]) -> None:
        def job(connection: sqlite3.Connection) -> None:
            failure = self._failure
            if (statements, values) not in self._owed:
                self._owed.append((statements, values))
            try:
                if failure is None:
                    self._pay(connection)
            except Exception as error:
                failure = error
                raise
            finally:
                self._handover.put(done.get_loop(), _tell, done, failure)

        self._put(job)

    def compact(self, revision: int) -> None:
        def step(connection: sqlite3.Connection) -> None:
            if not _compact(connection, revision):
                # What has arrived meanwhile comes first, so that a write never waits long.
                self._arrived.put(step)

        self._put(step)

    def resume(self) -> None:
        def job(_: sqlite3.Connection) -> None:
            if self._failure is not None and database.may_pass(self._failure):
                self._failure = None

        self._put(job)

    async def close(self) -> None:
        self._put(None)
        await asyncio.get_running_loop().run_in_executor(None, self._thread.join)
        # What stays in the log is as safe there as in the file.
        with suppress(sqlite3.OperationalError):
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._connection.close()
        self._high_water.close()

    def _work(self) -> None:
        group: list[_Submitted] = []
        size = 0
        while True:
            try:
                arrived = self._arrived.get_nowait() if group else self._arrived.get()
            except queue.Empty:
                group, size = self._commit(group), 0
                continue
            if isinstance(arrived, list):
                group += arrived
                size += sum(len(write.value) for write, _ in arrived)
                if len(group) < _GROUP and size < _GROUP_BYTES:
                    continue
            group, size = self._commit(group), 0
            if arrived is None:
                return
            if not isinstance(arrived, list):
                self._run(arrived)

    def _run(self, job: _Job) -> None:
        try:
            job(self._connection)
        except Exception as error:
            # No write builds upon it.
            if not database.may_pass(error):
                self._failure = error

    def _commit(self, group: list[_Submitted]) -> list[_Submitted]:
        """Store the group and start a new one."""
        if not group:
            return group
        writes = [one for write, _ in group for one in (write, *write.together)]
        first, written = group[0]
        try:
            if self._failure is None:
                self._store(writes)
        except Exception as error:
            # Later writes build upon these, so none of them may succeed either.
            self._failure = error
        self._handover.put(first.done.get_loop(), written, writes, self._failure)
        return []

    def _store(self, writes: list[Write]) -> None:
        self._pay(self._connection)
        _store(self._connection, writes)
        # They are durable; the number may lag behind.
        with suppress(OSError):
            self._high_water.note(writes[-1].revision)

    def _pay(self, connection: sqlite3.Connection) -> None:
        while self._owed:
            _execute(connection, *self._owed[0])
            del self._owed[0]


def _tell(done: asyncio.Future[None], failure: Exception | None) -> None:
    if done.done():
        return
    if failure is None:
        done.set_result(None)
    else:
        done.set_exception(InternalError(f"the change could not be stored: {failure}"))


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _execute(connection: sqlite3.Connection, statements: Sequence[str], values: Mapping[str, Any]) -> None:
    with _transaction(connection):
        for statement in statements:
            connection.execute(statement, values)


def _store(connection: sqlite3.Connection, writes: list[Write]) -> None:
    """One transaction for a group of writes.

    After each statement this thread waits for Python's lock, which the busy event loop gives up only now and then.
    Therefore most groups are one statement, which is a transaction of its own."""
    # sqlite3 takes its time over an enumeration, hence the int.
    rows = [
        (w.revision, w.bucket, w.key, int(w.change), w.previous, database.checksum_of(w.value), w.value, w.expires)
        for w in writes
    ]
    buckets = [bucket for write in writes for bucket in write.buckets]
    linked = _linked(writes)
    replaced = [(w.bucket, w.key, w.revision) for w in writes if w.is_first]
    if not buckets and not linked and not replaced and len(rows) <= _GROUP:
        _insert(connection, rows)
        return
    with _transaction(connection):
        connection.executemany("INSERT INTO buckets (id, space, resource) VALUES (?,?,?)", buckets)
        for start in range(0, len(rows), _GROUP):
            _insert(connection, rows[start : start + _GROUP])
        owned = [(owner, w.bucket, w.key) for w in linked for owner in w.owners]
        connection.executemany("INSERT OR IGNORE INTO owners (owner, bucket, key) VALUES (?,?,?)", owned)
        connection.executemany("INSERT OR IGNORE INTO replaced (bucket, key, revision) VALUES (?,?,?)", replaced)
        ending = [(w.bucket, w.key) for w in linked if w.is_ending]
        connection.executemany("INSERT OR IGNORE INTO ending (bucket, key) VALUES (?,?)", ending)


def _insert(connection: sqlite3.Connection, rows: list[tuple[Any, ...]]) -> None:
    """Insert rows by one statement that has place for the next power of two of them: so few different ones are needed
    that all stay prepared. The places left over are NULL."""
    places = 1 << (len(rows) - 1).bit_length()
    nothing = repeat(None, (places - len(rows)) * len(rows[0]))
    connection.execute(_insertion(places), [*chain.from_iterable(rows), *nothing])


@cache
def _insertion(places: int) -> str:
    values = ",".join(["(?,?,?,?,?,?,?,?)"] * places)
    return f"INSERT INTO writes SELECT * FROM (VALUES {values}) WHERE column1 IS NOT NULL"  # noqa: S608 - fixed texts


def _linked(writes: list[Write]) -> list[Write]:
    """Those that leave an object behind which has owners or is to be deleted."""
    if not any(write.owners or write.is_ending for write in writes):
        return []
    newest = {(write.bucket, write.key): write for write in writes if write.change is not Change.BEGUN}
    return [write for write in newest.values() if write.change is not Change.DELETED]


def _compact(connection: sqlite3.Connection, revision: int) -> bool:
    """Forget some of the history up to a revision; answers whether that was all."""
    found = connection.execute(queries.COMPACTION_STEP, {"revision": revision, "most": _COMPACT_STEP}).fetchone()
    end = found[0] if found else revision
    _execute(connection, queries.COMPACT, {"end": end})
    return end == revision
