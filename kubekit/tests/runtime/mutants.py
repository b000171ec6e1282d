"""Ways to break the runtime, each of which the histories must notice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kubekit.client.endless_watch import Change, Snapshot
from kubekit.client.protocol import Signal
from kubekit.runtime import status_writes
from kubekit.runtime.controller import Controller
from kubekit.runtime.informer import Informer, Informers
from kubekit.runtime.leader import Leadership
from kubekit.runtime.manager import Manager
from kubekit.runtime.objects import finalizers_of, is_deleting, key_of, number, version_of
from kubekit.runtime.queue import Lane, WorkQueue
from kubekit.runtime.reconciler import Outcome

Breakage = Callable[[pytest.MonkeyPatch], None]


@contextmanager
def broken(breakage: Breakage) -> Iterator[None]:
    """The runtime with one thing wrong."""
    with pytest.MonkeyPatch.context() as patch:
        breakage(patch)
        yield


def lost_wake_up(patch: pytest.MonkeyPatch) -> None:
    """What is added while it is worked on is forgotten."""
    add = WorkQueue.add

    def broken_add(self: WorkQueue, key: str, lane: Lane = Lane.FRESH) -> None:
        if key not in self._working:
            add(self, key, lane)

    patch.setattr(WorkQueue, "add", broken_add)
    patch.setattr(Controller, "_leave", lambda self, key: self._visiting.pop(key))


def news_during_a_visit_ignored(patch: pytest.MonkeyPatch) -> None:
    """A change of the object itself while it is visited is no reason to come again."""
    patch.setattr(Controller, "_leave", lambda self, key: self._visiting.pop(key))


def foreign_changes_taken_for_own(patch: pytest.MonkeyPatch) -> None:
    """Once something was written, every change looks like that write."""

    def broken_see(self: Controller, old: Any, new: Any, news: bool) -> None:
        key = key_of(old if new is None else new)
        if key in self._visiting:
            self._visiting[key] = True
        elif new is None or is_deleting(new) or key not in self._own:
            self.queue.add(key)

    patch.setattr(Controller, "_see", broken_see)


def double_processing(patch: pytest.MonkeyPatch) -> None:
    """A key is handed out although someone works on it."""

    def broken_add(self: WorkQueue, key: str, lane: Lane = Lane.FRESH) -> None:
        if not self._closed:
            self._put(key, lane)

    def broken_done(self: WorkQueue, key: str) -> None:
        self._working.pop(key, None)

    patch.setattr(WorkQueue, "add", broken_add)
    patch.setattr(WorkQueue, "done", broken_done)
    patch.setattr(Controller, "_leave", lambda self, key: self._visiting.pop(key, None) and self.queue.add(key))


def no_relist_after_expiry(patch: pytest.MonkeyPatch) -> None:
    """A later list is not looked at, only its version."""
    replace = Informer._replace

    def broken_replace(self: Informer[Any], snapshot: Snapshot[Any]) -> None:
        if self.synced:
            self._restart(number(snapshot.version))
        else:
            replace(self, snapshot)

    patch.setattr(Informer, "_replace", broken_replace)


def deletions_lost_in_a_relist(patch: pytest.MonkeyPatch) -> None:
    """What a later list no longer shows stays in the cache."""
    replace = Informer._replace

    def broken_replace(self: Informer[Any], snapshot: Snapshot[Any]) -> None:
        listed = {key_of(item) for item in snapshot.items}
        kept = tuple(obj for obj in self if key_of(obj) not in listed)
        replace(self, Snapshot((*snapshot.items, *kept), snapshot.version))

    patch.setattr(Informer, "_replace", broken_replace)


def handler_before_the_cache(patch: pytest.MonkeyPatch) -> None:
    """Handlers are told first, and the cache is brought up to date a little later."""

    def broken_change(self: Informer[Any], change: Change[Any]) -> None:
        version = number(change.version)
        if version <= self.version:
            return
        self.version = version
        if change.item is None:
            return
        new = None if change.signal is Signal.DELETED else change.item
        key = key_of(change.item)
        self._announce(self.get(key), change.item, True)
        asyncio.get_running_loop().call_later(0.5, self.put, key, new)

    patch.setattr(Informer, "_change", broken_change)


def old_replaces_new(patch: pytest.MonkeyPatch) -> None:
    """An event that comes twice is believed twice, a moment after the newer ones."""
    change = Informer._change

    def broken_change(self: Informer[Any], event: Change[Any]) -> None:
        if event.item is not None and number(event.version) <= self.version:
            late = None if event.signal is Signal.DELETED else event.item
            asyncio.get_running_loop().call_later(2.0, self.put, key_of(event.item), late)
        change(self, event)

    patch.setattr(Informer, "_change", broken_change)


def visits_on_a_stale_cache(patch: pytest.MonkeyPatch) -> None:
    """Nobody waits until the cache shows what was written."""
    patch.setattr(Controller, "_caught_up", lambda self, key: True)


def leader_that_does_not_stop(patch: pytest.MonkeyPatch) -> None:
    """Who has led once leads for ever."""
    patch.setattr(Leadership, "holds", lambda self: self._until > 0)

    async def broken_keep(self: Leadership) -> None:
        while True:
            await self._clock.sleep(self._election.retry_period)
            await self.attempt()

    patch.setattr(Leadership, "keep", broken_keep)


def lease_taken_too_early(patch: pytest.MonkeyPatch) -> None:
    """A candidate does not wait until the leader must have stopped."""
    patch.setattr(Leadership, "_has_expired", lambda self: self._clock.monotonic() - self.heard > 5)


def lease_released_before_the_work_is_finished(patch: pytest.MonkeyPatch) -> None:
    """On a graceful stop the next leader begins while this one still writes."""
    finish = Manager._finish

    async def broken_finish(self: Manager, workers: Any) -> None:
        if self.leadership is not None:
            await self.leadership.release()
            self.leadership._stopped = False
        await finish(self, workers)

    patch.setattr(Manager, "_finish", broken_finish)


def status_always_written(patch: pytest.MonkeyPatch) -> None:
    """The whole status is sent, whether it differs or not."""
    patch.setattr(status_writes, "difference", lambda old, new: new)


def conditions_stamped_at_every_look(patch: pytest.MonkeyPatch) -> None:
    """The time of a condition moves although its status stays."""

    def broken_settled(old: Any, new: Any, now: Any) -> list[Any]:
        return [{**one, "lastTransitionTime": now.strftime("%Y-%m-%dT%H:%M:%SZ")} for one in new]

    patch.setattr(status_writes, "settled", broken_settled)


def finalizer_removed_early(patch: pytest.MonkeyPatch) -> None:
    """Once finalize was called, the object may go."""
    finish = Controller._finish

    async def broken_finish(self: Controller, key: str, obj: Any, outcome: Outcome) -> float | None:
        return await finish(self, key, obj, Outcome(outcome.status))

    patch.setattr(Controller, "_finish", broken_finish)


def finalizer_added_late(patch: pytest.MonkeyPatch) -> None:
    """Work begins before the finalizer is there."""
    turn = Controller._turn

    async def broken_turn(self: Controller, key: str, obj: Any) -> float | None:
        if not is_deleting(obj) and self.reconciler.finalizer not in finalizers_of(obj):
            await self.reconciler.reconcile(obj)
        return await turn(self, key, obj)

    patch.setattr(Controller, "_turn", broken_turn)


def failures_forgotten(patch: pytest.MonkeyPatch) -> None:
    """What failed is not tried again."""
    patch.setattr(WorkQueue, "add_rate_limited", lambda self, key: 0.0)


def no_backoff(patch: pytest.MonkeyPatch) -> None:
    """What failed is tried again at once, for ever."""

    def broken_add(self: WorkQueue, key: str) -> float:
        self.add_after(key, 0.05)
        return 0.05

    patch.setattr(WorkQueue, "add_rate_limited", broken_add)


def appointments_lost(patch: pytest.MonkeyPatch) -> None:
    """An appointment is forgotten when a later one is made."""
    set_timer = WorkQueue._set_timer

    def broken_set_timer(self: WorkQueue) -> None:
        if len(self._due) > 1:
            earliest = min(self._due, key=lambda key: self._due[key])
            del self._due[earliest]
        set_timer(self)

    patch.setattr(WorkQueue, "_set_timer", broken_set_timer)


def timer_not_brought_forward(patch: pytest.MonkeyPatch) -> None:
    """An appointment earlier than all others waits until the next of them, for an hour if need be."""

    def broken_add_after(self: WorkQueue, key: str, seconds: float) -> None:
        if seconds > 0 and self._timer is not None and not self._closed:
            self._due.setdefault(key, self._clock.monotonic() + 3600)
            return
        add_after(self, key, seconds)

    add_after = WorkQueue.add_after
    patch.setattr(WorkQueue, "add_after", broken_add_after)


def children_wake_nobody(patch: pytest.MonkeyPatch) -> None:
    """Changes of watched objects are not passed on."""
    patch.setattr(Controller, "_see_other", lambda self, watch: lambda old, new, news: None)


def second_term_without_a_look_around(patch: pytest.MonkeyPatch) -> None:
    """A new leader waits for news instead of visiting everything first."""
    handle = Informer.handle

    def broken_handle(self: Informer[Any], handler: Any) -> None:
        if self.synced:
            self._handlers.append(handler)
        else:
            handle(self, handler)

    patch.setattr(Informer, "handle", broken_handle)


def writes_without_a_condition(patch: pytest.MonkeyPatch) -> None:
    """The object is changed even if someone else changed it meanwhile."""

    async def broken_patch(self: Controller, key: str, obj: Any, change: Any, form: Any, subresource: str = "") -> Any:
        change = {**change, "metadata": {**change.get("metadata", {})}}
        change["metadata"].pop("resourceVersion", None)
        identity = obj.metadata
        answer: Any = await self._tools.client.patch(
            form, identity.name, change, identity.namespace, subresource=subresource, manager=self.name
        )
        self._own[key] = number(version_of(answer))
        return answer

    patch.setattr(Controller, "_patch", broken_patch)


def new_leader_on_an_old_cache(patch: pytest.MonkeyPatch) -> None:
    """Who begins to lead believes what it saw before."""

    async def broken_refresh(self: Informers) -> None:
        pass

    patch.setattr(Informers, "refresh", broken_refresh)


def what_was_written_wakes_nobody(patch: pytest.MonkeyPatch) -> None:
    """Only events wake, although one may be missing when a child comes and goes unseen."""

    def broken_when_at(self: Informer[Any], version: int, callback: Callable[[], None]) -> None:
        if self.address.plural != "parts":
            when_at(self, version, callback)

    when_at = Informer.when_at
    patch.setattr(Informer, "when_at", broken_when_at)


ALL: tuple[Breakage, ...] = (
    lost_wake_up,
    news_during_a_visit_ignored,
    foreign_changes_taken_for_own,
    double_processing,
    no_relist_after_expiry,
    deletions_lost_in_a_relist,
    handler_before_the_cache,
    old_replaces_new,
    visits_on_a_stale_cache,
    leader_that_does_not_stop,
    lease_taken_too_early,
    lease_released_before_the_work_is_finished,
    status_always_written,
    conditions_stamped_at_every_look,
    finalizer_removed_early,
    finalizer_added_late,
    failures_forgotten,
    no_backoff,
    appointments_lost,
    timer_not_brought_forward,
    children_wake_nobody,
    second_term_without_a_look_around,
    writes_without_a_condition,
    new_leader_on_an_old_cache,
    what_was_written_wakes_nobody,
)
