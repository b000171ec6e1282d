"""The engine of one controller: from changes to visits, and from outcomes to what is written and when it is next."""

from __future__ import annotations

import asyncio
import logging
import math
from dataclasses import dataclass
from typing import Any

from kubekit.client.protocol import Client, address_of
from kubekit.clock import Chance, Clock
from kubekit.errors import Conflict, KubeError, LeadershipLost, NotFound
from kubekit.model.resource import Address
from kubekit.time_limit import TimeLimit

from . import failures, status_writes
from .events import Recorder
from .guarded_client import Written, ledger
from .informer import Handler, Informer, Informers
from .logs import say
from .metrics import Metrics
from .objects import (
    Kind,
    finalizers_of,
    identity_of,
    is_deleting,
    key_of,
    number,
    receipt_for,
    status_of,
    version_of,
)
from .queue import USUAL_BACKOFF, Backoff, Lane, WorkQueue
from .reconciler import Note, Outcome, Reconciler, Watch, name_of

_CATCH_UP = 30.0
"""Seconds to wait for a cache of other objects to show what was written; the wait for one's own has no limit."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What controllers of one manager share."""

    client: Client
    """Writes only while this process leads."""
    informers: Informers
    recorder: Recorder
    clock: Clock
    chance: Chance
    metrics: Metrics
    backoff: Backoff = USUAL_BACKOFF


@dataclass(frozen=True, slots=True)
class Pending:
    """A write that a cache has yet to show."""

    informer: Informer[Any]
    epoch: int
    version: int
    until: float

    def is_over(self, now: float) -> bool:
        informer = self.informer
        return informer.version >= self.version or informer.epoch != self.epoch or now >= self.until


class Controller:
    """Runs a reconciler. `run` may be called again after it ended: each time begins with a visit to every object."""

    def __init__(self, reconciler: Reconciler[Any], tools: Tools) -> None:
        self.reconciler, self._tools = reconciler, tools
        self.name = name_of(reconciler)
        self._receipt = receipt_for(address_of(reconciler.kind))
        self._informer = tools.informers.of(reconciler.kind, reconciler.selection)
        self._watched = [(tools.informers.of(watch.kind, watch.selection), watch) for watch in reconciler.watches]
        self._caches: dict[Address, list[Informer[Any]]] = {}
        for informer in dict.fromkeys((self._informer, *(informer for informer, _ in self._watched))):
            self._caches.setdefault(informer.address, []).append(informer)
        self.queue = self._new_queue()
        self._pending: dict[str, list[Pending]] = {}
        self._own: dict[str, int] = {}
        """The version of an object that the last write of this controller made: no news to it."""
        self._released: dict[str, tuple[str, int]] = {}
        """The uid of an object whose finalizer was taken away, and the epoch of the cache. No version tells when the
        cache has noticed, if that was the end of the object; but nobody can give it the finalizer back."""
        self._panics: dict[str, str] = {}
        """The last error nobody had thought of, so that its trace is logged once and not with every repetition."""
        self._parked: dict[str, Pending] = {}
        self._visiting: dict[str, bool] = {}
        """Objects that are being visited, and whether they changed since."""
        tools.metrics.active_workers.watch(lambda: len(self._visiting), self.name)
        tools.metrics.most_workers.watch(lambda: reconciler.workers, self.name)
        self._time = tools.metrics.reconcile_time.of(self.name)

    def _new_queue(self) -> WorkQueue:
        tools = self._tools
        return WorkQueue(self.name, tools.clock, tools.chance, backoff=tools.backoff, metrics=tools.metrics)

    async def run(self) -> None:
        """Work until `stop` and what was under way is finished, or until cancelled."""
        self.queue = self._new_queue()
        # What was written in an earlier term stays to be waited for; everything else begins anew.
        for memory in (self._parked, self._own, self._released, self._panics, self._visiting):
            memory.clear()
        attached = self._attach()
        try:
            async with asyncio.TaskGroup() as workers:
                for _ in range(self.reconciler.workers):
                    workers.create_task(self._work())
        finally:
            for informer, handler in attached:
                informer.stop_handling(handler)
            self.queue.close()

    def wake(self, key: str) -> None:
        """Visit this object: something happened that no watch tells."""
        self.queue.add(key)

    def stop(self) -> None:
        """Begin nothing more."""
        self.queue.close()

    def problem(self) -> str:
        """What is stuck; empty while all is well."""
        longest = self.queue.longest_work()
        if longest > 2 * self.reconciler.patience:
            return f"work under way for {longest:.0f}s"
        waiting = self.queue.longest_wait()
        if waiting > 2 * self.reconciler.patience and not self.queue.working:
            return f"work waiting for {waiting:.0f}s and nobody works"
        return ""

    def _attach(self) -> list[tuple[Informer[Any], Handler]]:
        handlers: list[tuple[Informer[Any], Handler]] = [(self._informer, self._see)]
        handlers += [(informer, self._see_other(watch)) for informer, watch in self._watched]
        for informer, handler in handlers:
            informer.handle(handler)
        return handlers

    def _see(self, old: Any | None, new: Any | None, news: bool) -> None:
        """An object of ours changed; unless that is what we wrote ourselves, and no more than that."""
        key = key_of(old if new is None else new)
        if key in self._visiting:
            self._visiting[key] = True
        elif new is None or self._own.get(key) != number(version_of(new)):
            self.queue.add(key, Lane.FRESH if news else Lane.ROUTINE)

    def _see_other(self, watch: Watch) -> Handler:
        def see(old: Any | None, new: Any | None, news: bool) -> None:
            if old is not None and new is not None and not watch.is_news(old, new):
                return
            concerned = dict.fromkeys(key for obj in (old, new) if obj is not None for key in watch.keys(obj))
            for key in concerned:
                self.queue.add(key, Lane.FRESH if news else Lane.ROUTINE)

        return see

    async def _work(self) -> None:
        queue, limit = self.queue, TimeLimit(self.reconciler.patience)
        try:
            while (key := await queue.get()) is not None:
                self._visiting[key] = False
                try:
                    await self._visit(key, limit)
                finally:
                    self._leave(key)
                    queue.done(key)
        finally:
            limit.close()

    async def _visit(self, key: str, limit: TimeLimit) -> None:
        obj = self._informer.get(key)
        if obj is None:
            self._forget(key)
            return
        if not self._caught_up(key):
            return
        written: list[Written] = []
        ledger.set(written)
        shown = {informer: informer.version for informers in self._caches.values() for informer in informers}
        started = self._tools.clock.monotonic()
        try:
            with limit:
                again = await self._turn(key, obj)
        except (Exception, asyncio.CancelledError) as error:
            await self._failed(key, obj, failures.cause_of(error))
        else:
            self._succeeded(key, again)
        finally:
            ledger.set(None)
            self._note_pending(key, written, shown)
            self._time.observe(self._tools.clock.monotonic() - started)

    def _leave(self, key: str) -> None:
        """What happened to the object during the visit is a reason for another, unless it was our own doing."""
        if self._visiting.pop(key):
            now = self._informer.get(key)
            if now is None or self._own.get(key) != number(version_of(now)):
                self.queue.add(key)

    async def _turn(self, key: str, obj: Any) -> float | None:
        """Finalizer, reconcile or finalize, status. Answers in how many seconds to come again."""
        finalizer = self.reconciler.finalizer
        if is_deleting(obj) and not self.reconciler.sees_ending:
            if finalizer not in finalizers_of(obj) or self._released.get(key) == self._life(obj):
                return None
            outcome = await self.reconciler.finalize(obj)
            return await self._finish(key, obj, outcome)
        if not self.reconciler.concerns(obj):
            return None
        if finalizer and finalizer not in finalizers_of(obj):
            finalizers = {"finalizers": [*finalizers_of(obj), finalizer]}
            obj = await self._patch(key, obj, {"metadata": finalizers}, self.reconciler.kind)
        outcome = await self.reconciler.reconcile(obj)
        await self._write_status(key, obj, outcome)
        return _seconds(outcome)

    async def _finish(self, key: str, obj: Any, outcome: Outcome) -> float | None:
        finished = outcome.again is None and outcome.error is None
        others = [name for name in finalizers_of(obj) if name != self.reconciler.finalizer]
        version = version_of(obj)
        if others or not finished or status_writes.has_last_words(obj, outcome.status):
            version = await self._write_status(key, obj, outcome)
        if finished:
            change = {"metadata": {"finalizers": others, "resourceVersion": version}}
            await self._patch(key, obj, change, self._receipt)
            self._released[key] = self._life(obj)
        return _seconds(outcome)

    def _life(self, obj: Any) -> tuple[str, int]:
        """Tells an object from a later one of the same name, and from itself in an API that went back in time."""
        return identity_of(obj).uid, self._informer.epoch

    def _caught_up(self, key: str) -> bool:
        """Whether every cache shows what the last visit wrote; if not, the key comes back when it does."""
        now = self._tools.clock.monotonic()
        waiting = [one for one in self._pending.get(key, ()) if not one.is_over(now)]
        if not waiting:
            self._pending.pop(key, None)
            self._parked.pop(key, None)
            return True
        self._pending[key], first = waiting, waiting[0]
        if self._parked.get(key) is not first:
            self._parked[key] = first
            queue = self.queue
            first.informer.when_at(first.version, lambda: queue.add(key))
        if first.until != math.inf:
            self.queue.add_after(key, first.until - now)
        return False

    def _note_pending(self, key: str, written: list[Written], shown: dict[Informer[Any], int]) -> None:
        """Take note of what the caches have yet to show, given what they showed when the visit began.

        When they show something new that was written to another object, it is time for another visit. Usually that
        object's own event says so, but not if it is gone again before anyone saw it. Own objects are waited for as
        long as it takes, others for a while: they may not be in the selection."""
        newest: dict[Informer[Any], int] = {}
        for one in written:
            for informer in self._caches.get(one.address, ()):
                if one.version > max(shown[informer], newest.get(informer, 0)):
                    newest[informer] = one.version
        queue, soon = self.queue, self._tools.clock.monotonic() + _CATCH_UP
        pending = []
        for informer, version in newest.items():
            is_own = informer is self._informer
            if informer.version < version:
                pending.append(Pending(informer, informer.epoch, version, math.inf if is_own else soon))
            if not is_own:
                informer.when_at(version, lambda: queue.add(key))
        if pending:
            self._pending[key] = pending

    async def _write_status(self, key: str, obj: Any, outcome: Outcome) -> str:
        """Write what differs, if anything does, and then tell what happened. Answers the version the object has now."""
        version = version_of(obj)
        if outcome.status is not None:
            new = status_writes.after_success(obj, outcome.status, self._tools.clock.now())
            version = await self._write_difference(key, obj, new, outcome.notes)
        if outcome.error is not None:
            raise outcome.error
        return version

    async def _write_difference(self, key: str, obj: Any, new: dict[str, Any], notes: tuple[Note, ...]) -> str:
        old = status_of(obj)
        change = status_writes.difference(old, new)
        if not change:
            return version_of(obj)
        written = await self._patch(key, obj, {"status": change}, self._receipt, "status")
        flipped = map(_note, status_writes.flipped(old, new)) if self.reconciler.tells_conditions else ()
        for note in (*flipped, *notes):
            self._record(obj, note)
        return version_of(written)

    def _record(self, obj: Any, note: Note) -> None:
        if self.reconciler.journal is not None:
            level = logging.WARNING if note.type == "Warning" else logging.INFO
            text = " ".join(note.message.split())
            self.reconciler.journal.log(level, "%s %s: %s", key_of(obj), note.reason, text)
        self._tools.recorder.record(obj, self.reconciler.kind, note, self.reconciler.source)

    async def _patch(self, key: str, obj: Any, change: dict[str, Any], form: Kind, subresource: str = "") -> Any:
        """Change the object if nobody else has meanwhile, and take note of the version that makes. The answer has
        the form that is asked for."""
        identity = identity_of(obj)
        metadata = {"resourceVersion": version_of(obj), **change.get("metadata", {})}
        try:
            answer = await self._tools.client.patch(
                form, identity.name, {**change, "metadata": metadata}, identity.namespace,
                subresource=subresource, manager=self.name,
            )  # fmt: skip
        except NotFound as error:
            raise failures.Gone from error
        self._own[key] = number(version_of(answer))
        return answer

    def _succeeded(self, key: str, again: float | None) -> None:
        self.queue.forget(key)
        self._panics.pop(key, None)
        if again is not None:
            self.queue.add_after(key, again)
        self._tools.metrics.reconciles.add(self.name, "success" if again is None else "requeue_after")

    async def _failed(self, key: str, obj: Any, error: Exception) -> None:
        match error:
            case failures.Gone():
                # The cache will say so too.
                self._tools.metrics.reconciles.add(self.name, "success")
            case Conflict() | LeadershipLost():
                # Silent: someone was quicker, and what they did wakes us. This is in case it does not.
                self.queue.add_rate_limited(key)
                self._tools.metrics.reconciles.add(self.name, "requeue")
            case KubeError(retryable=False):
                await self._give_up(key, obj, error)
            case _:
                self._retry(key, obj, error)

    def _retry(self, key: str, obj: Any, error: Exception) -> None:
        delay = failures.requested_delay(error)
        if delay:
            self.queue.add_after(key, delay)
        else:
            delay = self.queue.add_rate_limited(key)
        known = isinstance(error, KubeError | TimeoutError)
        first = self._panics.get(key) != repr(error)
        if not known:
            self._panics[key] = repr(error)
            self._tools.metrics.panics.add(self.name)
        self._count_error(error)
        text = failures.message_of(error)
        say(
            logging.WARNING if known else logging.ERROR, "failed", trace=None if known or not first else error,
            controller=self.name, key=key, reason=failures.reason_of(error), error=text, again_in=delay,
        )  # fmt: skip
        self._record(obj, Note(failures.reason_of(error), text, "Warning"))

    async def _give_up(self, key: str, obj: Any, error: KubeError) -> None:
        """Show what is wrong, once, and leave it at that until something changes or a long time has passed."""
        self._tools.metrics.terminal_errors.add(self.name)
        self._count_error(error)
        status = status_writes.after_failure(obj, error, self._tools.clock.now())
        note = Note(error.reason, str(error), "Warning")
        try:
            if status is None:
                self._record(obj, note)
            else:
                async with asyncio.timeout(self.reconciler.patience):
                    version = await self._write_difference(key, obj, status, (note,))
        except (KubeError, TimeoutError, failures.Gone):
            self.queue.add_rate_limited(key)
            return
        self.queue.forget(key)
        self.queue.add_at_leisure(key)
        if status is None or version != version_of(obj):
            say(logging.ERROR, "given up", controller=self.name, key=key, reason=error.reason, error=error)

    def _count_error(self, error: Exception) -> None:
        metrics = self._tools.metrics
        if isinstance(error, TimeoutError):
            metrics.timeouts.add(self.name)
        metrics.errors.add(self.name)
        metrics.reconciles.add(self.name, "error")

    def _forget(self, key: str) -> None:
        self.queue.forget(key)
        for memory in (self._pending, self._parked, self._own, self._released, self._panics):
            memory.pop(key, None)


def _note(condition: dict[str, Any]) -> Note:
    told = condition.get("message") or f"{condition['type']} is {condition['status']}"
    return Note(condition["reason"], told)


def _seconds(outcome: Outcome) -> float | None:
    return None if outcome.again is None else outcome.again.total_seconds()
