"""A cache of one kind that follows the API, shared by everyone who looks at that kind."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator
from contextlib import aclosing
from dataclasses import replace
from heapq import heappop, heappush
from typing import Any, Generic

from msgspec import structs

from kubekit.client.endless_watch import Change, Snapshot, follow
from kubekit.client.protocol import EVERYTHING, Client, Selection, Signal, address_of
from kubekit.clock import Chance, Clock

from .cache import Cache, Obj
from .logs import say
from .metrics import Metrics
from .objects import Kind, key_of, number, version_of
from .queue import Backoff

Handler = Callable[[Any | None, Any | None, bool], None]
"""Called with the object as it was, as it is now (None: not there) and whether this is news or a first look."""

_RESTART = Backoff(first=1.0, longest=60.0)


class Informer(Cache[Obj], Generic[Obj]):
    """Follows one kind, or a selection of it, for as long as `run` runs.

    A handler is called after the cache and its indexes show the change. Nothing older ever replaces something
    newer: what repeats or comes late is recognised by its version.
    """

    def __init__(self, kind: Kind, selection: Selection, clock: Clock, metrics: Metrics | None = None) -> None:
        super().__init__()
        self.kind, self.selection, self._clock = kind, selection, clock
        self.address = address_of(kind)
        chosen = ",".join(part for part in (selection.namespace, selection.labels, selection.fields) if part)
        self.name = f"{self.address.name}[{chosen}]" if chosen else self.address.name
        """What it is called in logs, checks and metrics."""
        self.version = 0
        """Everything that happened up to this version is in the cache."""
        self.epoch = 0
        """How often history was seen to begin anew, as after a restore from a backup."""
        self.synced = False
        self.heard = 0.0
        """When the API last said anything, by the monotonic clock."""
        self._metrics = metrics or Metrics()
        self._handlers: list[Handler] = []
        self._progress: list[tuple[int, int, Callable[[], None]]] = []
        self._waits = 0
        self._sync = asyncio.Event()
        self._round: asyncio.Timeout | None = None
        """Ends the following that is under way, so that it begins anew."""
        self._rounds = self._listed = 0

    def handle(self, handler: Handler) -> None:
        """Tell `handler` of every change from now on, and first of everything there is."""
        self._handlers.append(handler)
        for obj in self:
            self._tell(handler, None, obj, False)

    def stop_handling(self, handler: Handler) -> None:
        self._handlers.remove(handler)

    def when_at(self, version: int, callback: Callable[[], None]) -> None:
        """Call back once everything up to a version is in the cache."""
        if self.version >= version:
            callback()
            return
        self._waits += 1
        heappush(self._progress, (version, self._waits, callback))

    async def wait_synced(self) -> None:
        while not self.synced:
            await self._sync.wait()

    async def refresh(self) -> None:
        """List everything anew, and return when the cache shows it: at least what there was when this was called."""
        wanted = self._rounds + 1
        if self._round is not None:
            self._round.reschedule(asyncio.get_running_loop().time())
        while self._listed < wanted:
            self._sync.clear()
            await self._sync.wait()

    async def run(self, client: Client, chance: Chance) -> None:
        """Follow until cancelled, whatever happens."""
        self.heard = self._clock.monotonic()
        failures = 0
        while True:
            try:
                async with asyncio.timeout(None) as self._round:
                    self._rounds += 1
                    await self._follow(client, chance)
            except Exception as error:
                if self._round is not None and self._round.expired():
                    continue
                delay = _RESTART.delay(failures, chance)
                failures += 1
                say(
                    logging.WARNING, "following failed", trace=error, kind=self.name, error=error,
                    again_in=delay,
                )  # fmt: skip
                await self._clock.sleep(delay)

    async def _follow(self, client: Client, chance: Chance) -> None:
        news = follow(client, self.kind, self.selection, clock=self._clock, chance=chance)
        async with aclosing(news):
            async for each in news:
                self.take(each)

    def take(self, news: Snapshot[Any] | Change[Any]) -> None:
        """Bring the cache up to date and tell the handlers."""
        self.heard = self._clock.monotonic()
        if isinstance(news, Snapshot):
            self._replace(news)
        else:
            self._change(news)
        while self._progress and self._progress[0][0] <= self.version:
            heappop(self._progress)[2]()

    def _replace(self, snapshot: Snapshot[Any]) -> None:
        """Everything there is: tell of what differs, also of what disappeared meanwhile."""
        self._metrics.lists.add(self.name)
        now = {key_of(item): item for item in snapshot.items}
        changed: list[tuple[Obj | None, Obj | None]] = [
            (self.put(key, None), None) for key in self.keys() if key not in now
        ]
        for key, item in now.items():
            old = self.get(key)
            if old is None or version_of(old) != version_of(item):
                changed.append((self.put(key, _lean(item, old)), self.get(key)))
        first, self.synced = not self.synced, True
        self._restart(number(snapshot.version))
        self._listed = self._rounds
        self._sync.set()
        for old, new in changed:
            self._announce(old, new, not first)

    def _restart(self, version: int) -> None:
        if version < self.version:
            self.epoch += 1
            waiting, self._progress = self._progress, []
            for _, _, callback in waiting:
                callback()
        self.version = version

    def _change(self, change: Change[Any]) -> None:
        version = number(change.version)
        if version:
            if version <= self.version:
                return
            self.version = version
        if change.signal is Signal.BOOKMARK or change.item is None:
            return
        key = key_of(change.item)
        new = None if change.signal is Signal.DELETED else _lean(change.item, self.get(key))
        old = self.put(key, new)
        # The last state of a deleted object is worth more to a handler than the last one that was cached.
        self._announce(old if new is not None else change.item, new, True)

    def _announce(self, old: Obj | None, new: Obj | None, news: bool) -> None:
        for handler in self._handlers:
            self._tell(handler, old, new, news)

    def _tell(self, handler: Handler, old: Obj | None, new: Obj | None, news: bool) -> None:
        try:
            handler(old, new, news)
        except Exception as error:
            key = key_of(new if new is not None else old)
            say(logging.ERROR, "handler failed", trace=error, kind=self.name, key=key, error=error)


def _lean(item: Any, old: Any | None) -> Any:
    """The item as it is kept: a dict without its managedFields (a Struct never had them), and with the spec that is
    already there if that has not changed, so that a change of status costs little memory."""
    if isinstance(item, dict):
        item["metadata"].pop("managedFields", None)
        if old is not None and "spec" in old and item.get("spec") == old["spec"]:
            item["spec"] = old["spec"]
        return item
    spec = getattr(old, "spec", None)
    return structs.replace(item, spec=spec) if spec is not None and item.spec == spec else item


class Informers:
    """One informer per kind and selection, however many ask for it; with a namespace, of that one only."""

    def __init__(self, clock: Clock, chance: Chance, metrics: Metrics | None = None, namespace: str = "") -> None:
        self._clock, self._chance, self._metrics = clock, chance, metrics or Metrics()
        self._namespace = namespace
        self._informers: dict[tuple[Kind, Selection], Informer[Any]] = {}
        self._start: Callable[[Informer[Any]], None] | None = None

    def of(self, kind: Kind, selection: Selection | None = None) -> Informer[Any]:
        """The shared informer; its cache fills once the manager runs."""
        place = (kind, self._restricted(kind, selection or EVERYTHING))
        informer = self._informers.get(place)
        if informer is None:
            informer = self._informers[place] = Informer(kind, place[1], self._clock, self._metrics)
            self._metrics.objects.watch(informer.__len__, informer.name)
            if self._start is not None:
                self._start(informer)
        return informer

    def _restricted(self, kind: Kind, selection: Selection) -> Selection:
        if not self._namespace or selection.namespace or not address_of(kind).namespaced:
            return selection
        return replace(selection, namespace=self._namespace)

    def following(self, kind: Kind) -> list[Informer[Any]]:
        """All informers of one kind of object, typed or not."""
        address = address_of(kind)
        return [informer for informer in self if informer.address == address]

    async def run(self, client: Client) -> None:
        """Follow everything that is, or will be, asked for."""
        async with asyncio.TaskGroup() as group:
            self._start = lambda informer: _spawn(group, informer.run(client, self._chance))
            for informer in self:
                self._start(informer)
            # The group ends with its tasks, and those never do.
            await asyncio.get_running_loop().create_future()

    async def synced(self) -> None:
        """Wait until every cache shows what there is."""
        for informer in self:
            await informer.wait_synced()

    async def refresh(self) -> None:
        """Bring every cache up to what there is now, whatever it missed before."""
        await asyncio.gather(*(informer.refresh() for informer in self))

    def __iter__(self) -> Iterator[Informer[Any]]:
        return iter(list(self._informers.values()))


def _spawn(group: asyncio.TaskGroup, work: Coroutine[Any, Any, None]) -> None:
    """Raises RuntimeError when the group is ending."""
    try:
        group.create_task(work)
    except RuntimeError:
        # Else Python complains that it was never awaited, wherever it is collected.
        work.close()
        raise
