"""Versioned objects with optimistic locking, durable before they are acknowledged, watchable from any revision.

The event loop decides (reads the newest state, assigns the next revision), a writer makes it durable in groups, and
only what is durable is shown to readers and watchers. Everything here is called from the event loop's thread.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from kubekit.errors import DataDamaged, Expired, InternalError, ServiceUnavailable
from kubekit.model.resource import Object

from . import database, queries
from .buckets import Buckets
from .changes import Change, Write
from .events import Event
from .listeners import tell
from .reading_turns import Turns
from .recent import RecentValues
from .writer import GroupWriter, InlineWriter, Writer

log = logging.getLogger("kubekit.server")


class Row(msgspec.Struct, frozen=True):
    """One version of one object; `value` is its JSON without apiVersion and kind."""

    key: str
    revision: int
    value: bytes

    def decode(self) -> Object:
        """A fresh, mutable object."""
        decoded: Object = msgspec.json.decode(self.value)
        return decoded


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a list as it was at one revision."""

    rows: list[Row]
    revision: int
    more: bool
    remaining: int = 0


Listener = Callable[[Event], None]
CommitListener = Callable[[list[Event]], None]

_RECENT_BYTES = 16 * 1024 * 1024


class Store:
    """All objects of all spaces in one database; `path=None` keeps them in memory."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        connection = database.open_writer(path)
        self._read = connection if path is None else database.open_reader(path)
        self._writer: Writer = InlineWriter(connection) if path is None else GroupWriter(connection, path)
        stored = self._read.execute("SELECT id, space, resource FROM buckets")
        self._buckets = Buckets(stored, self._fact("bucket"))
        # A list of an empty store is of revision 1, and a watch from there must see the first write.
        newest = max(database.newest_revision(self._read), 1)
        self._assigned: int = newest
        self.committed: int = newest
        self.compacted: int = self._fact("compacted")
        self._staged: dict[tuple[int, str], Write] = {}
        self._live: defaultdict[int, dict[str, int]] = defaultdict(dict)
        """Revision of every live object, by bucket and key: most questions need no query."""
        for number, key, revision in self._read.execute("SELECT bucket, key, revision FROM objects"):
            # Most keys are the same in every space.
            self._live[number][sys.intern(key)] = revision
        self._recent = RecentValues(_RECENT_BYTES)
        self.turns = Turns()
        """For whoever reads much."""
        self._listeners: list[Listener] = []
        self._commit_listeners: list[CommitListener] = []
        self._failure: Exception | None = None
        self._lost = 0
        """The newest revision of what was staged when a write failed."""
        self._is_closed = False

    def bucket(self, space: str, resource: str) -> int:
        """The number under which one resource of one space is kept. Nothing is stored before the first write."""
        return self._buckets.number(space, resource)

    def names_of(self, bucket: int) -> tuple[str, str]:
        """The space and the resource of a bucket; empty when its space is gone."""
        return self._buckets.names.get(bucket, ("", ""))

    def spaces(self) -> set[str]:
        return self._buckets.spaces()

    def buckets_of(self, space: str) -> list[int]:
        return self._buckets.of(space)

    def get(self, bucket: int, key: str) -> Row | None:
        """The newest durable version."""
        revision = self._live[bucket].get(key)
        if revision is None:
            return None
        value = self._recent.get(revision)
        if value is None:
            query = "SELECT checksum, value FROM revisions WHERE revision = ?"
            value = _intact(revision, *self._read.execute(query, (revision,)).fetchone())
            self._recent.add(revision, value)
        return Row(key, revision, value)

    def latest(self, bucket: int, key: str) -> Row | None:
        """The newest version including writes that are not durable yet: what a new write must build upon."""
        staged = self._staged.get((bucket, key))
        if staged is None:
            return self.get(bucket, key)
        return None if staged.change is Change.DELETED else Row(key, staged.revision, staged.value)

    def page(
        self,
        bucket: int,
        prefix: str = "",
        *,
        after: str = "",
        limit: int = 0,
        size: int = sys.maxsize,
        revision: int = 0,
        count: bool = True,
    ) -> Page:
        """Objects whose key starts with `prefix`, in key order, from behind `after`, as of `revision` (0 = now).

        At most `limit`, and about `size` bytes. Raises Expired when that revision is no longer known."""
        low = max(prefix, after + "\x00") if after else prefix
        high = queries.after_prefix(prefix)
        self._read.execute("BEGIN")
        try:
            newest = database.newest_revision(self._read)
            at = revision or max(newest, 1)
            if at < self.compacted:
                raise too_old(at, self.compacted)
            query, values = queries.page(bucket, low, high, at, current=at >= newest)
            cursor = self._read.execute(f"{query} LIMIT ?", (*values, limit + 1 if limit else -1))
            found = _fetched(cursor, size)
            more = 0 < limit < len(found) or cursor.fetchone() is not None
            cursor.close()
            rows = [Row(key, number, _intact(number, checksum, value)) for key, number, checksum, value in found]
            rows = rows[:limit] if limit else rows
            remaining = self._count(bucket, rows[-1].key + "\x00", high) if more and count else 0
        finally:
            self._read.execute("COMMIT")
        return Page(rows, at, more, remaining)

    def has(self, space: str, resource: str, key: str) -> bool:
        """Whether there is such a durable object; asked without a query."""
        number = self._buckets.find(space, resource)
        return number is not None and key in self._live[number]

    def newest_in(self, space: str, resource: str) -> int:
        """The revision at which an object of one resource was last changed; 0 when there is none."""
        number = self._buckets.find(space, resource)
        return max(self._live[number].values(), default=0) if number is not None else 0

    def rows(self, space: str, resource: str) -> list[Row]:
        """All objects of one resource; costs nothing when there are none."""
        return self.page(self.bucket(space, resource)).rows if self.newest_in(space, resource) else []

    def keys(self, bucket: int, prefix: str = "") -> list[str]:
        """The keys of all live objects under `prefix`."""
        return sorted(key for key in self._live[bucket] if key.startswith(prefix))

    def dependents(self, owner: str) -> list[tuple[int, str]]:
        """(bucket, key) of every object whose ownerReferences name the uid `owner`."""
        return self._read.execute("SELECT bucket, key FROM owners WHERE owner = ?", (owner,)).fetchall()

    def unfinished(self) -> set[tuple[int, str]]:
        """(bucket, key) of every object that is to be deleted, or whose owner was, as far back as history goes."""
        ending = self._read.execute("SELECT bucket, key FROM ending")
        return {*ending, *self._read.execute(queries.BEREAVED, (self.compacted,))}

    def expired(self, now: int) -> list[tuple[int, str]]:
        """(bucket, key) of every object that was written to live only until `now`."""
        statement = "SELECT bucket, key FROM objects WHERE expires IS NOT NULL AND expires <= ? LIMIT 1000"
        return self._read.execute(statement, (now,)).fetchall()

    def events(self, bucket: int, prefix: str, after: int, limit: int = 500, size: int = 1 << 22) -> list[Event]:
        """What happened under `prefix` after a revision, up to `limit` events or about `size` bytes. Raises Expired."""
        if after < self.compacted:
            raise too_old(after, self.compacted)
        values = (after, bucket, prefix, queries.after_prefix(prefix), limit)
        found = self._read.execute(queries.EVENTS, values)
        events: list[Event] = []
        for number, key, change, checksum, value, previous in found:
            events.append(Event(number, bucket, key, Change(change), _intact(number, checksum, value), previous))
            if (size := size - len(value)) < 0:
                break
        return events

    def count(self) -> int:
        """How many objects are live, over all spaces."""
        return sum(len(keys) for keys in self._live.values())

    def next_revision(self) -> int:
        """The revision the next `write` will have; the caller puts it into the object it encodes."""
        return self._assigned + 1

    def write(
        self,
        bucket: int,
        key: str,
        change: Change,
        value: bytes,
        *,
        previous: Row | None = None,
        owners: Sequence[str] = (),
        expires: int | None = None,
        is_ending: bool = False,
    ) -> asyncio.Future[Event]:
        """Stage one change; the future is done when it is on disk and every listener has seen it.

        There must be no await between `latest`, `next_revision` and `write`: that is what makes it atomic."""
        write = self._staged_write(bucket, key, change, value, previous)
        write.owners, write.expires, write.is_ending = owners, expires, is_ending
        self._writer.submit(write, self._written)
        return write.done

    def add_all(self, additions: Sequence[tuple[int, str, bytes]]) -> asyncio.Future[Event]:
        """Stage new objects (bucket, key, value) that become durable together or not at all.

        The values hold the revisions from `next_revision` on, in order."""
        first, *rest = [self._staged_write(bucket, key, Change.ADDED, value) for bucket, key, value in additions]
        for one in rest:
            one.done = first.done
        first.together = rest
        self._writer.submit(first, self._written)
        return first.done

    def _staged_write(self, bucket: int, key: str, change: Change, value: bytes, previous: Row | None = None) -> Write:
        if self._is_closed:
            raise ServiceUnavailable("the server is stopping")
        if self._failure is not None and not database.may_pass(self._failure):
            raise InternalError(f"storage failed and accepts no writes until restart: {self._failure}")
        if bucket not in self._buckets.names:
            raise ServiceUnavailable("this API is gone")
        self._assigned += 1
        write = Write(
            self._assigned, bucket, key, change, value, previous.revision if previous else None,
            previous.value if previous else None, (), None, False, asyncio.get_running_loop().create_future(),
        )  # fmt: skip
        if self._buckets.has_new:
            write.buckets = self._buckets.take_new()
        self._staged[bucket, key] = write
        return write

    def delete_space(self, space: str) -> asyncio.Future[None]:
        """Forget every object of a space at once; its watchers must have been ended before.

        The future is done when that is on disk. Writes that are under way are finished before."""
        for number in self._buckets.remove(space):
            self._live.pop(number, None)
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        values = {"space": space, "newest": self._assigned, "bucket": self._buckets.highest}
        self._writer.run(queries.DELETE_SPACE, values, done)
        return done

    def compact(self, revision: int) -> None:
        """Forget history up to a revision; live objects are never touched."""
        revision = min(revision, self.committed - 1)
        if revision <= self.compacted:
            return
        self._writer.compact(revision)
        self.compacted = revision

    def problem(self) -> str:
        """Why the last write failed; empty while all is well."""
        return str(self._failure or "")

    def try_again(self) -> None:
        """Find out whether what kept the last write from the disk has passed, though nobody writes."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        done.add_done_callback(self._tried)
        self._writer.run((queries.TRIAL,), {}, done)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` for every durable change in order of revision; the answer ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def listen_to_commits(self, listener: CommitListener) -> None:
        """Call `listener` with all that became durable together, after those who listen to each change by itself."""
        self._commit_listeners.append(listener)

    async def close(self) -> None:
        """Finish what is staged; afterwards nothing can be written."""
        self._is_closed = True
        await self._writer.close()
        self._read.close()

    def _written(self, writes: Sequence[Write], error: Exception | None) -> None:
        if error is not None:
            self._fail(writes, error)
            return
        self._failure = None
        events: list[Event] = []
        for write in writes:
            revision, bucket, key, change, value = write.revision, write.bucket, write.key, write.change, write.value
            if self._staged.get((bucket, key)) is write:
                del self._staged[bucket, key]
            if write.buckets:
                self._buckets.confirm(write.buckets)
            self.committed = revision
            self._settle(write)
            event = Event(revision, bucket, key, change, value, write.previous_value, write.owners)
            events.append(event)
            tell(self._listeners, event, revision)
            if not write.done.done():
                write.done.set_result(event)
        tell(self._commit_listeners, events, self.committed)

    def _settle(self, write: Write) -> None:
        """From now on this is what readers see."""
        if write.bucket not in self._buckets.names:
            return
        live = self._live[write.bucket]
        if write.previous is not None:
            self._recent.drop(write.previous)
        if write.change is Change.DELETED:
            live.pop(write.key, None)
        else:
            live[write.key] = write.revision
            self._recent.add(write.revision, write.value)

    def _fail(self, writes: Sequence[Write], error: Exception) -> None:
        """A group could not be made durable (disk full, I/O error): whoever waits for it is told."""
        doomed = [*writes]
        if writes[0].revision > self._lost:
            # What is staged builds upon it. The writer refuses that until it comes to the call of `resume`.
            doomed += self._staged.values()
            self._staged, self._lost = {}, self._assigned
            self._buckets.take_back()
            self._writer.resume()
        if self._failure is None:
            log.error("storage revision=%d error=%s", writes[0].revision, error)
        self._failure = error
        for write in doomed:
            if not write.done.done():
                write.done.set_exception(InternalError(f"the write could not be stored: {error}"))

    def _tried(self, done: asyncio.Future[None]) -> None:
        if done.exception() is None:
            self._failure = None

    def _count(self, bucket: int, low: str, high: str) -> int:
        counted = self._read.execute(
            "SELECT count(*) FROM objects WHERE bucket = ? AND key >= ? AND key < ?", (bucket, low, high)
        )
        return int(counted.fetchone()[0])

    def _fact(self, name: str) -> int:
        found = self._read.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return int(found[0]) if found else 0


def too_old(revision: int, compacted: int) -> Expired:
    return Expired(f"too old resource version: {revision} ({compacted})")


def _fetched(cursor: sqlite3.Cursor, size: int) -> list[tuple[str, int, int, bytes]]:
    """The next rows, up to about `size` bytes of values: a few at a time where they are small, which is faster."""
    rows: list[tuple[str, int, int, bytes]] = []
    count = 1
    while size > 0 and (few := cursor.fetchmany(count)):
        rows += few
        sizes = [len(row[3]) for row in few]
        size -= sum(sizes)
        count = max(1, min(2 * count, 8, size // max(1, *sizes)))
    return rows


def _intact(revision: int, checksum: int, value: bytes) -> bytes:
    if database.checksum_of(value) != checksum:
        raise DataDamaged(f"the object stored at revision {revision} is not what was written; restore a backup")
    return value
