"""watch: a cursor over the changes of one resource.

A watcher is a position in history. While it keeps up, it is handed events as they become durable; when it falls behind
it forgets what it was handed and reads on from the store. So a client that reads slowly, or never, costs a bounded
queue and nothing else, and one that asks for a forgotten past is told so.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import inf

import msgspec

from kubekit.errors import ApiError
from kubekit.model.resource import Object
from kubekit.server.kinds.builtin.go_shape import shape_of_kind
from kubekit.server.objects.long_work import LARGE
from kubekit.server.objects.request import WatchOptions
from kubekit.server.objects.resource import Resource
from kubekit.server.store.changes import Change
from kubekit.server.store.events import Event, frame
from kubekit.server.store.rows import Row
from kubekit.server.store.store import Store

from . import conversion
from .reads import Matcher, prefix_for, start_of, too_new, values_of
from .space import Space

_QUEUE_LIMIT = 1000
_QUEUE_BYTES = 2 * 1024 * 1024
_CHUNK = 500
_CHUNK_BYTES = 64 * 1024
"""How much is read at once, and held for a client that takes its time."""
_PAGE_BYTES = 4 * _CHUNK_BYTES
"""The same of what is there when a watch begins: of a past moment, a small page costs as much as a large one."""
_TOGETHER = 64
"""So many of those are sent together."""
BOOKMARK_INTERVAL = 60.0
_LAST_BOOKMARK = 2.0
"""Seconds before its end a watch tells once more how far it has come."""


@dataclass(slots=True)
class Signal:
    """One line of a watch: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR."""

    type: str
    value: bytes
    """The object's stored JSON; for an ERROR the Status."""
    event: Event | None = None

    def frame(self, resource: Resource) -> bytes:
        """The line as it goes over the wire; made once for all watchers of the same version."""
        if self.type == "ERROR":
            return b'{"type":"ERROR","object":%b}\n' % self.value
        if self.event is None or self.value is not self.event.value:
            return frame(self.type, resource.opening, self.value)
        return self.event.frame(self.type, resource.opening)


class Batch:
    """Signals that go out together."""

    __slots__ = ("_lines", "signals")

    def __init__(self, signals: list[Signal]) -> None:
        self.signals = signals
        self._lines: bytes | None = None

    @property
    def size(self) -> int:
        return sum(len(signal.value) for signal in self.signals)

    def lines(self, resource: Resource) -> bytes:
        """The batch as it goes over the wire; made once for all watchers it is handed to."""
        if self._lines is None:
            self._lines = b"".join([signal.frame(resource) for signal in self.signals])
        return self._lines


Push = Callable[[Batch], bool]
"""Sends a batch at once, and says whether it could."""


class News:
    """What one commit brought to one resource.

    Most of its watchers need the same of it, which is made once."""

    __slots__ = ("_batches", "_parts", "events")

    def __init__(self, events: list[Event]) -> None:
        self.events = events
        self._parts: dict[str, News] = {}
        self._batches: dict[Resource, Batch | None] = {}

    def under(self, prefix: str) -> News:
        """The part of it that a watcher of this prefix gets to see."""
        if not prefix:
            return self
        found = self._parts.get(prefix)
        if found is None:
            found = self._parts[prefix] = News([event for event in self.events if event.key.startswith(prefix)])
        return found

    def batch(self, resource: Resource) -> Batch | None:
        """All of it for those who watch without a selector; None where something has to be converted first."""
        try:
            return self._batches[resource]
        except KeyError:
            ready = all(conversion.is_ready(resource, event) for event in self.events)
            made = Batch([Signal(event.change.name, event.value, event) for event in self.events]) if ready else None
            self._batches[resource] = made
            return made


class Hub:
    """Hands what has become durable to the watchers of its resource."""

    def __init__(self, store: Store) -> None:
        self._watchers: dict[int, dict[Watcher, None]] = {}
        """By bucket, in the order they came."""
        store.listen_to_commits(self._publish)

    def add(self, watcher: Watcher) -> None:
        self._watchers.setdefault(watcher.bucket, {})[watcher] = None

    def remove(self, watcher: Watcher) -> None:
        watchers = self._watchers.get(watcher.bucket)
        if watchers is not None:
            watchers.pop(watcher, None)
            if not watchers:
                del self._watchers[watcher.bucket]

    def end(self, bucket: int | None = None) -> None:
        """End the watches of one resource, or all."""
        chosen = list(self._watchers) if bucket is None else [bucket]
        for number in chosen:
            for watcher in list(self._watchers.get(number, ())):
                watcher.end()

    def count(self, buckets: Iterable[int] | None = None) -> int:
        """How many there are, over all resources or over some."""
        return sum(len(self._watchers.get(bucket, ())) for bucket in (self._watchers if buckets is None else buckets))

    def _publish(self, events: list[Event]) -> None:
        heard: dict[int, list[Event]] = {}
        for event in events:
            if event.bucket in self._watchers:
                heard.setdefault(event.bucket, []).append(event)
        for bucket, happened in heard.items():
            news = News(happened)
            for watcher in self._watchers[bucket]:
                watcher.offer(news)


class Watcher:
    """One client's position in the history of one resource."""

    def __init__(self, store: Store, bucket: int, prefix: str, position: int) -> None:
        self._store, self.bucket, self._prefix = store, bucket, prefix
        self.position = position
        self._queue: deque[Event] = deque()
        self._queued = 0
        """Bytes of what is in the queue."""
        self.is_behind = True
        """Whether there may be more in the store than was handed over."""
        self.is_ended = False
        self._wake: asyncio.Future[None] | None = None
        self.push: Callable[[News], bool] = lambda _: False
        """Takes news at once if it can."""

    def offer(self, news: News) -> None:
        if self.is_behind:
            return
        news = news.under(self._prefix)
        if not news.events:
            return
        # Everything handed over before has been sent, and the reader has nothing to do.
        is_waiting = self._wake is not None and not self._wake.done() and not self._queue
        if is_waiting and news.events[0].revision > self.position and self.push(news):
            self.position = news.events[-1].revision
            return
        for event in news.events:
            if len(self._queue) >= _QUEUE_LIMIT or self._queued > _QUEUE_BYTES:
                self._forget()
                self.is_behind = True
                break
            self._queue.append(event)
            self._queued += len(event.value)
        self._notify()

    def end(self) -> None:
        self.is_ended = True
        self._notify()

    async def next(self, patience: float) -> list[Event] | None:
        """The next events, none after `patience` seconds without any, None when the watch is over. Raises Expired."""
        events = self._take()
        if events or self.is_ended:
            return None if self.is_ended else events
        self._wake = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(patience):
                await self._wake
        except TimeoutError:
            return []
        finally:
            self._wake = None
        return None if self.is_ended else self._take()

    def _take(self) -> list[Event]:
        if self.is_behind:
            return self._catch_up()
        events = [event for event in self._queue if event.revision > self.position]
        self._forget()
        # Nothing handed over is left, so this watcher has seen all there is.
        self.position = max(self.position, self._store.committed)
        return events

    def _catch_up(self) -> list[Event]:
        events = self._store.events(self.bucket, self._prefix, self.position, _CHUNK, _CHUNK_BYTES)
        if events:
            self.position = events[-1].revision
        else:
            # Everything durable has been read, so what is handed over from now on joins without a gap.
            self.is_behind = False
            self._forget()
            self.position = max(self.position, self._store.committed)
        return events

    def _forget(self) -> None:
        self._queue.clear()
        self._queued = 0

    def _notify(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)


class Watch:
    """A watch as a client asked for it: the initial state, then changes, bookmarks, and an end."""

    def __init__(self, space: Space, hub: Hub, resource: Resource, namespace: str, options: WatchOptions) -> None:
        self._space, self._hub, self.resource, self._options = space, hub, resource, options
        self._matcher = Matcher(resource, options.labels, options.fields)
        self._prefix = prefix_for(resource, namespace, options.fields)
        self._from = start_of(options.resource_version)
        initial = options.send_initial_events
        self._initial = initial if initial is not None else self._from == 0
        if self._initial and self._from > space.store.committed:
            raise too_new(self._from, space.store.committed)

    async def signals(self, push: Push = lambda _: False) -> AsyncGenerator[Batch, None]:
        """Batches of signals until the time is over or the watch is ended by the server.

        While the caller waits for the next batch, it is offered to `push` first: where that takes it, nobody need be
        woken up."""
        store = self._space.store
        watcher = Watcher(store, self._space.bucket(self.resource), self._prefix, self._from)
        watcher.push = lambda news: self._push(news, push)
        # From the beginning, so that it can be ended while it still tells what is there.
        self._hub.add(watcher)
        if self._space.is_gone:
            watcher.end()
        try:
            if self._initial:
                async for batch in self._beginning(watcher):
                    yield batch
            elif self._from == 0:
                watcher.position = store.committed
            async for batch in self._changes(watcher):
                yield batch
        except ApiError as error:
            yield Batch([error_signal(error)])
        finally:
            self._hub.remove(watcher)

    async def _beginning(self, watcher: Watcher) -> AsyncIterator[Batch]:
        async for batch, revision in self._existing():
            if watcher.is_ended:
                return
            yield batch
            watcher.position = revision
        if self._options.bookmarks:
            yield Batch([self._bookmark(watcher.position, initial=True)])

    async def _changes(self, watcher: Watcher) -> AsyncIterator[Batch]:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._options.timeout
        bookmark = self._next_bookmark(loop.time(), deadline)
        while (left := deadline - loop.time()) > 0:
            events = await watcher.next(min(left, max(bookmark - loop.time(), 0)))
            if events and self.resource.is_converted:
                events = [await self._as_asked(event) for event in events]
            if events is None:
                return
            signals = await self._space.bench.do(self._effort(events), self._signals, events)
            if signals:
                yield Batch(signals)
            if events and watcher.is_behind:
                await self._space.store.turns.take(self._space.name)
            elif not events and loop.time() >= bookmark:
                yield Batch([self._bookmark(watcher.position)])
                bookmark = self._next_bookmark(loop.time(), deadline)

    def _next_bookmark(self, now: float, deadline: float) -> float:
        """When to tell how far the watch has come: now and then, and shortly before its end."""
        if not self._options.bookmarks:
            return inf
        last = deadline - _LAST_BOOKMARK
        return inf if now >= last else min(now + BOOKMARK_INTERVAL, last)

    async def _existing(self) -> AsyncIterator[tuple[Batch, int]]:
        """What is there now, as of one revision, in pages."""
        store, bucket, after, revision = self._space.store, self._space.bucket(self.resource), "", 0
        while True:
            page = store.page(
                bucket, self._prefix, after=after, limit=_CHUNK, size=_PAGE_BYTES, revision=revision, count=False
            )
            revision = page.revision
            values = await values_of(self._space, self.resource, page.rows)
            if self._matcher.selective:
                values = await self._space.bench.do(sum(map(len, values)), self._matcher.matching, values)
            matching = [Signal("ADDED", value) for value in values]
            for start in range(0, max(1, len(matching)), _TOGETHER):
                yield Batch(matching[start : start + _TOGETHER]), revision
            if not page.more:
                return
            after = page.rows[-1].key
            await store.turns.take(self._space.name)

    async def _as_asked(self, event: Event) -> Event:
        """The event with its object, before and after, in the version that is watched."""
        if conversion.is_ready(self.resource, event):
            return event
        seen = [Row(event.key, event.revision, event.value)]
        if event.previous_value is not None:
            seen.append(Row(event.key, 0, event.previous_value))
        value, *previous = await self._space.converter.shown(self.resource, seen)
        return Event(event.revision, event.bucket, event.key, event.change, value, next(iter(previous), None))

    def _push(self, news: News, push: Push) -> bool:
        batch = news.batch(self.resource)
        if batch is None or not self._matcher.selective:
            return batch is not None and push(batch)
        if self._effort(news.events) > LARGE:
            return False
        signals = self._signals(news.events)
        return not signals or push(Batch(signals))

    def _effort(self, events: list[Event]) -> int:
        """How many bytes have to be looked into to find out what events are to this watch."""
        both = (len(event.value) + len(event.previous_value or b"") for event in events)
        return sum(both) if self._matcher.selective else 0

    def _signals(self, events: list[Event]) -> list[Signal]:
        return [signal for signal in map(self._signal, events) if signal is not None]

    def _signal(self, event: Event) -> Signal | None:
        """What an event is to this watch: with a selector, objects also come and go by changing."""
        if not self._matcher.selective:
            return Signal(event.change.name, event.value, event)
        before = event.previous is not None and self._matcher.matches(event.previous)
        after = event.change is not Change.DELETED and self._matcher.matches(event.object)
        if after:
            return Signal("MODIFIED" if before else "ADDED", event.value, event)
        if not before:
            return None
        return Signal("DELETED", event.value if event.change is Change.DELETED else event.as_it_was(), event)

    def _bookmark(self, revision: int, *, initial: bool = False) -> Signal:
        return Signal("BOOKMARK", _bookmark_value(revision, initial, _always_there(self.resource)))


@lru_cache(maxsize=64)
def _bookmark_value(revision: int, initial: bool, rest: bytes) -> bytes:
    annotations = b',"annotations":{"k8s.io/initial-events-end":"true"}' if initial else b""
    return b'{"metadata":{"resourceVersion":"%d"%b}%b}' % (revision, annotations, rest)


@lru_cache(maxsize=256)
def _always_there(resource: Resource) -> bytes:
    """What a built-in kind has even when it is empty, such as a spec."""
    shape = None if resource.is_custom else shape_of_kind(resource.api_version, resource.kind)
    if shape is None:
        return b""
    empty: Object = {}
    shape.apply(empty)
    empty.pop("metadata", None)
    return b"," + msgspec.json.encode(empty)[1:-1] if empty else b""


def error_signal(error: ApiError) -> Signal:
    return Signal("ERROR", msgspec.json.encode(error.status()))
