"""Versioned objects with optimistic locking, durable before they are acknowledged, watchable from any revision.

The event loop decides (reads the newest state, assigns the next revision), a writer makes it durable in groups, and
only what is durable is shown to readers and watchers. Everything here is called from the event loop's thread.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from heapq import merge
from operator import attrgetter
from pathlib import Path

from kubekit.errors import InternalError, ServiceUnavailable

from . import database, queries, rows
from .buckets import Buckets
from .changes import Change, Write, not_stored
from .events import Event
from .ground import Ground, Grounds
from .listeners import Waiting, tell
from .reading_turns import Turns
from .recent import RecentValues
from .rows import Page, Row, intact, too_old
from .writer import GroupWriter, InlineWriter, Writer

log = logging.getLogger("kubekit.server")

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
        self._buckets = Buckets(stored, database.fact(self._read, "bucket"))
        # A list of an empty store is of revision 1, and a watch from there must see the first write.
        newest = max(database.newest_revision(self._read), 1)
        self._assigned: int = newest
        self.committed: int = newest
        self.compacted: int = database.fact(self._read, "compacted")
        self._staged: dict[tuple[int, str], Write] = {}
        self._live: defaultdict[int, dict[str, int]] = defaultdict(dict)
        """Revision of every live object, by bucket and key: most questions need no query."""
        for number, key, revision in self._read.execute("SELECT bucket, key, revision FROM objects"):
            # Most keys are the same in every space.
            self._live[number][sys.intern(key)] = revision
        self._grounds = Grounds(self._read.execute("SELECT bucket, key, revision FROM replaced"))
        self._recent = RecentValues(_RECENT_BYTES)
        self.turns = Turns()
        """For whoever reads much."""
        self._listeners: list[Listener] = []
        self._commit_listeners: list[CommitListener] = []
        self._waiting = Waiting()
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

    def lay(self, space: str, ground: Ground) -> None:
        """Put a base under a space: from now on its objects are there, as if they had been stored one by one."""
        self._grounds.lay(space, ground)

    def get(self, bucket: int, key: str) -> Row | None:
        """The newest durable version."""
        revision = self._live[bucket].get(key)
        if revision is None:
            return self._grounds.get(bucket, self.names_of(bucket), key)
        value = self._recent.get(revision)
        if value is None:
            query = "SELECT checksum, value FROM revisions WHERE revision = ?"
            value = intact(revision, *self._read.execute(query, (revision,)).fetchone())
            self._recent.add(revision, value)
        return Row(key, revision, value)

    def latest(self, bucket: int, key: str) -> Row | None:
        """The newest version including writes that are not durable yet: what a new write must build upon."""
        staged = self._staged.get((bucket, key))
        if staged is None:
            return self.get(bucket, key)
        return None if staged.change is Change.DELETED else Row(key, staged.revision, staged.value)

    def staged(self, space: str, resource: str, key: str) -> Write | None:
        """What is about to become of an object; asked without a query."""
        return self._staged.get((self._buckets.find(space, resource) or 0, key)) if self._staged else None

    async def durable(self, revision: int = 0) -> None:
        """Wait until what `latest` has shown, or all that is staged, is on disk and told. Raises InternalError."""
        revision = revision or self._assigned
        if self._staged and revision > self.committed:
            await self._waiting.until(revision)

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
            # What is durable and was not told yet is nothing yet: whoever is to act upon it has not heard of it.
            at = revision or max(self.committed, 1)
            if at < self.compacted:
                raise too_old(at, self.compacted)
            query, values = queries.page(bucket, low, high, at, current=at >= newest)
            cursor = self._read.execute(f"{query} LIMIT ?", (*values, limit + 1 if limit else -1))
            names = self.names_of(bucket)
            begun = [key for key in self._grounds.keys(bucket, names, revision) if low <= key < high]
            if begun:
                stored, beneath = rows.each(cursor), self._grounds.rows(names, begun)
                found, more = rows.taken(merge(stored, beneath, key=attrgetter("key")), limit, size)
            else:
                found, more = rows.fetched(cursor, limit, size)
            cursor.close()
            remaining = rows.count_behind(self._read, bucket, found[-1].key, high, begun) if more and count else 0
        finally:
            self._read.execute("COMMIT")
        return Page(found, at, more, remaining)

    def has(self, space: str, resource: str, key: str) -> bool:
        """Whether there is such a durable object; asked without a query."""
        number = self._buckets.find(space, resource)
        if number is not None and key in self._live[number]:
            return True
        return key in self._grounds.keys(number, (space, resource))

    def newest_in(self, space: str, resource: str) -> int:
        """The revision at which an object of one resource was last changed; 0 when there is none."""
        number = self._buckets.find(space, resource)
        begun = self._grounds.revision(space) if self._grounds.keys(number, (space, resource)) else 0
        return max(self._live[number].values(), default=begun) if number is not None else begun

    def rows(self, space: str, resource: str) -> list[Row]:
        """All objects of one resource; costs nothing when there are none."""
        return self.page(self.bucket(space, resource)).rows if self.newest_in(space, resource) else []

    def keys(self, bucket: int, prefix: str = "") -> list[str]:
        """The keys of all live objects under `prefix`."""
        begun = self._grounds.keys(bucket, self.names_of(bucket))
        return sorted(key for key in (*self._live[bucket], *begun) if key.startswith(prefix))

    def keys_in(self, space: str, resource: str) -> list[str]:
        """The keys of all live objects of one resource; asked without a query."""
        number = self._buckets.find(space, resource)
        begun = self._grounds.keys(number, (space, resource))
        return [*self._live[number], *begun] if number is not None else begun

    def resources(self, space: str) -> set[str]:
        """What a space may have objects of."""
        return self._grounds.resources(space) | {self._buckets.names[number][1] for number in self._buckets.of(space)}

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
        values = (after, self.committed, bucket, prefix, queries.after_prefix(prefix), limit)
        events = self._beginnings(bucket, prefix, after)
        for number, key, change, checksum, value, previous in self._read.execute(queries.EVENTS, values):
            events.append(Event(number, bucket, key, Change(change), intact(number, checksum, value), previous))
            if (size := size - len(value)) < 0:
                break
        return events

    def _beginnings(self, bucket: int, prefix: str, after: int) -> list[Event]:
        """What a space began with, if that was after a revision. All of it came at once, so it is told at once."""
        names = self.names_of(bucket)
        revision = self._grounds.revision(names[0])
        if after >= revision:
            return []
        keys = [key for key in self._grounds.keys(bucket, names, revision) if key.startswith(prefix)]
        found = self._grounds.rows(names, keys) if keys else ()
        return [Event(revision, bucket, row.key, Change.ADDED, row.value, None) for row in found]

    def count(self) -> int:
        """How many objects are live, over all spaces."""
        return sum(len(keys) for keys in self._live.values()) + self._grounds.count()

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
        is_first = previous is not None and key not in self._live[bucket] and (bucket, key) not in self._staged
        write = self._staged_write(bucket, key, change, value, previous)
        write.owners, write.expires, write.is_ending = owners, expires, is_ending
        if previous is not None and is_first:
            self._keep_beginning(write, previous)
        self._writer.submit(write, self._written)
        return write.done

    def _keep_beginning(self, write: Write, begun: Row) -> None:
        """Store with its first change what an object of a base began as."""
        self._assigned += 1
        kept = Write(
            self._assigned, write.bucket, write.key, Change.BEGUN, begun.value, None, None, (), None, False, write.done
        )  # fmt: skip
        write.previous, write.is_first, write.together = kept.revision, True, [kept]

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
        if not self.may_recover:
            raise InternalError(f"storage failed and accepts no writes until restart: {self._failure}")
        if bucket not in self._buckets.names:
            raise ServiceUnavailable("this API is gone")
        self._assigned += 1
        write = Write(
            self._assigned, bucket, key, change, value, previous.revision if previous else None,
            previous.value if previous else None, (), None, False, asyncio.get_running_loop().create_future(),
        )  # fmt: skip
        if self._buckets.has_new:
            write.buckets = self._buckets.take_new(bucket)
        self._staged[bucket, key] = write
        return write

    def delete_space(self, space: str) -> asyncio.Future[None]:
        """Forget every object of a space at once; its watchers must have been ended before.

        The future is done when that is on disk. Writes that are under way are finished before."""
        gone = self._buckets.remove(space)
        for number in gone:
            self._recent.drop_all(self._live.pop(number, {}).values())
        self._grounds.remove(space, gone)
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

    @property
    def may_recover(self) -> bool:
        """Whether what keeps writes from the disk, if anything does, can pass by itself, as a full disk does."""
        return self._failure is None or database.may_pass(self._failure)

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
            if change is Change.BEGUN:
                continue
            self._settle(write)
            event = Event(revision, bucket, key, change, value, write.previous_value, write.owners)
            events.append(event)
            tell(self._listeners, event, revision)
            if not write.done.done():
                write.done.set_result(event)
        tell(self._commit_listeners, events, self.committed)
        self._waiting.succeed(self.committed)

    def _settle(self, write: Write) -> None:
        """From now on this is what readers see."""
        if write.bucket not in self._buckets.names:
            return
        live = self._live[write.bucket]
        if write.is_first:
            self._grounds.replace(write.bucket, write.key, write.revision)
        elif write.previous is not None:
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
            self._waiting.fail(not_stored(error))
        if self._failure is None:
            log.error("storage revision=%d error=%s", writes[0].revision, error)
        self._failure = error
        for write in doomed:
            if not write.done.done():
                write.done.set_exception(not_stored(error))

    def _tried(self, done: asyncio.Future[None]) -> None:
        if done.exception() is None:
            self._failure = None
