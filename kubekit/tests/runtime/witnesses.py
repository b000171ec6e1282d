"""Replicas of a manager, and witnesses of what they do that the runtime knows nothing about."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any

from kubekit.client.protocol import EVERYTHING, Client, Selection
from kubekit.errors import ServiceUnavailable
from kubekit.runtime.client_wrapper import Call, Go, WrappedClient
from kubekit.runtime.leader import LEASE, Election
from kubekit.runtime.manager import Manager, ManagerSettings
from kubekit.runtime.objects import number, version_of
from kubekit.runtime.queue import Backoff
from kubekit.runtime.reconciler import Outcome
from kubekit.server.store.changes import Change
from kubekit.server.store.events import Event
from kubekit.testing.deterministic_loop import Loop
from kubekit.testing.faults import Faults, FaultyClient
from tests.runtime.world import FINALIZER, NAMESPACE, Cloud, Widget, Widgets, WidgetSpace

ELECTION = Election("test", NAMESPACE, lease_duration=7.0, renew_deadline=5.0, retry_period=2.0)
BACKOFF = Backoff(first=0.05, longest=15.0)


class Violation(AssertionError):
    """Something that must never happen, or that should have."""


@dataclass
class Record:
    """What is known of a history from outside of the runtime."""

    space: WidgetSpace
    cloud: Cloud
    active: dict[str, str] = field(default_factory=dict)
    """Objects that are being visited, and by which manager."""
    visits: int = 0
    attempts: dict[str, int] = field(default_factory=dict)
    """Visits during an outage, by object."""
    writes: int = 0
    """Changes to anything but leases and events."""
    trace: Any = field(default_factory=hashlib.sha256)
    holder: str = ""
    violations: list[str] = field(default_factory=list)
    is_dark: bool = False
    """Whether the API takes no watches."""
    meddle: Callable[[str], None] = lambda name: None
    """Called when a visit begins: a chance to change the object behind its back."""

    def see(self, event: Event) -> None:
        """A change in the store."""
        _, resource = self.space.store.names_of(event.bucket)
        self.trace.update(f"{event.revision} {event.change.name} {event.key}".encode() + event.value)
        if resource.endswith("leases"):
            self.holder = event.object["spec"].get("holderIdentity") or ""
        elif not resource.endswith("events"):
            self.writes += 1
        if resource.endswith("widgets") and event.change is Change.DELETED:
            uid = event.object["metadata"]["uid"]
            if self.cloud.find(uid) is not None:
                self.violated(f"{event.key} went while its machine is still there")

    def violated(self, rule: str) -> None:
        """Remembered rather than raised, because the runtime guards itself against what controllers raise."""
        self.violations.append(rule)

    def note(self, text: str) -> None:
        self.trace.update(text.encode())


class Near(WrappedClient):
    """What a manager knows it wrote: the version of each of its widgets."""

    def __init__(self, inner: Client) -> None:
        super().__init__(inner)
        self.written: dict[str, int] = {}

    async def around(self, call: Call, go: Go) -> Any:
        answer = await go()
        if call.writes and call.address == Widget.address:
            self.written[f"{call.namespace}/{call.name}"] = number(version_of(answer))
        return answer


class Far(WrappedClient):
    """What reaches the API, seen from the API: only the leader writes, and no status without a change."""

    def __init__(self, inner: Client, record: Record, identity: str) -> None:
        super().__init__(inner)
        self._record, self._identity = record, identity
        self.is_cut_off = False
        self.is_blind = False
        """Whether its watches are held up, though nobody can tell."""

    async def watch(self, kind: Any, selection: Selection = EVERYTHING, *, version: str = "") -> Any:
        if self._record.is_dark:
            raise ServiceUnavailable("no watches now")
        async with aclosing(self.inner.watch(kind, selection, version=version)) as events:
            async for event in events:
                while self.is_blind:  # noqa: ASYNC110 - virtual seconds cost nothing
                    await asyncio.sleep(0.5)
                yield event

    async def around(self, call: Call, go: Go) -> Any:
        if self.is_cut_off:
            raise ServiceUnavailable("no route to host")
        if not call.writes or call.address == LEASE:
            return await go()
        if self._record.holder != self._identity:
            self._record.violated(f"{self._identity} writes {call.name} although {self._record.holder!r} leads")
        before = self._record.space.store.committed
        answer = await go()
        if call.subresource == "status" and self._record.space.store.committed == before:
            self._record.violated(f"the status of {call.name} was written although nothing changed")
        return answer


class Watched(Widgets):
    """The controller under test, telling what it is called with."""

    def __init__(self, manager: Manager, record: Record, near: Near, identity: str) -> None:
        super().__init__(manager, record.cloud)
        self._record, self._near, self._identity = record, near, identity

    async def reconcile(self, obj: Widget) -> Outcome:
        if FINALIZER not in obj.metadata.finalizers:
            self._record.violated(f"{obj.key} is reconciled without a finalizer")
        return await self._visit(obj, super().reconcile)

    async def finalize(self, obj: Widget) -> Outcome:
        return await self._visit(obj, super().finalize)

    async def _visit(self, obj: Widget, work: Callable[[Widget], Awaitable[Outcome]]) -> Outcome:
        record, key = self._record, obj.key
        record.visits += 1
        record.note(f"{self._identity} visits {key} at {obj.metadata.resource_version}")
        if obj.metadata.name in record.cloud.down_for:
            record.attempts[key] = record.attempts.get(key, 0) + 1
        if key in record.active:
            record.violated(f"{key} is visited by {self._identity} and by {record.active[key]} at the same time")
        if number(obj.metadata.resource_version) < self._near.written.get(key, 0):
            record.violated(f"{key} is visited at a version older than what was written for it")
        record.active[key] = self._identity
        record.meddle(obj.metadata.name)
        try:
            return await work(obj)
        finally:
            record.active.pop(key, None)


class Replica:
    """One manager process, from start to crash."""

    def __init__(self, identity: str, record: Record, faults: Faults, loop: Loop) -> None:
        self.identity = identity
        self.far = Far(record.space.client(), record, identity)
        near = Near(FaultyClient(self.far, faults, loop.clock, loop.chance))
        settings = ManagerSettings("test", ELECTION, identity, BACKOFF, grace=5.0)
        self.manager = Manager(near, settings, clock=loop.clock, chance=loop.chance)
        self.manager.add(Watched(self.manager, record, near, identity))
        self.task = asyncio.create_task(self.manager.run())

    async def crash(self) -> None:
        """At once, leaving everything as it is."""
        self.task.cancel()
        with suppress(asyncio.CancelledError):
            await self.task

    async def stop(self) -> None:
        """In an orderly way."""
        self.manager.stop()
        await self.task
