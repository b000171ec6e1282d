"""One history: managers that crash on an API that misbehaves, users who change their minds, and what must hold."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any

from butler.apiserver.storage.changes import Change
from butler.apiserver.storage.store import Event
from butler.errors import ApiError, ServiceUnavailable
from butler.kube.client import EVERYTHING, Client, Selection
from butler.runtime import deterministic
from butler.runtime.conditions import RECONCILED
from butler.runtime.deterministic import Loop
from butler.runtime.faults import Faults, FaultyClient
from butler.runtime.leader import LEASE, Election
from butler.runtime.manager import Manager, Settings
from butler.runtime.objects import number, version_of
from butler.runtime.queue import Backoff
from butler.runtime.reconciler import Outcome
from butler.runtime.wrapping import Call, Go, WrappedClient
from tests.runtime.world import FINALIZER, NAMESPACE, PART, Cloud, MemorySpace, Paint, Widget, Widgets, paint, widget

ELECTION = Election("test", NAMESPACE, lease_duration=7.0, renew_deadline=5.0, retry_period=1.5)
BACKOFF = Backoff(first=0.05, longest=15.0)
TROUBLED = 35.0
"""Seconds of faults."""
PATIENCE = 240.0
"""Seconds after the faults within which everything must be as it should."""
QUIET = 30.0
"""Seconds in which then nothing may happen."""
_NAMES = ("ant", "bee", "cow")
_PAINTS = ("matt", "gloss")
_COLOURS = ("red", "green", "blue")
_MOST_ATTEMPTS = 40
"""How often an object may be visited while its cloud is down: a few dozen with backoff, thousands without."""


class Violation(AssertionError):
    """Something that must never happen, or that should have."""


@dataclass
class Record:
    """What is known of a history from outside of the runtime."""

    space: MemorySpace
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
                while self.is_blind:
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
        settings = Settings("test", ELECTION, identity, BACKOFF, grace=5.0)
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


class History:
    """What happens under one seed."""

    def __init__(self, loop: Loop, seed: int) -> None:
        self._loop, self._random = loop, random.Random(f"history {seed}")
        space = MemorySpace(loop.clock, loop.chance)
        self.record = Record(space, Cloud(loop.clock))
        space.store.listen(self.record.see)
        self.faults = self._some_faults()
        self._client = space.client()
        self._replicas: list[Replica] = []
        self._started = 0
        self._snatching = False
        space.store.listen(self._see_part)
        self.record.meddle = self._meddle
        self.record.cloud.pause = self._pause

    def _some_faults(self) -> Faults:
        """A different mixture each time: now and then none of one sort, sometimes plenty."""
        strength = self._random.choice((0.3, 1.0, 2.0))
        likelihoods = {
            name: getattr(Faults(), name) * strength * self._random.choice((0, 1, 1, 2))
            for name in ("slow", "refused", "lost", "conflict", "late", "twice", "cut", "mute", "expired")
        }
        return Faults(longest=self._random.choice((0.2, 1.0, 3.0)), **likelihoods)

    async def run(self) -> str:
        """Raises Violation; answers a digest of everything that happened."""
        async with asyncio.TaskGroup() as self._meddlers:
            for _ in range(2):
                self._start()
            await self._trouble()
        self.faults.on = self._snatching = False
        self.record.cloud.down_for.clear()
        for replica in self._replicas:
            replica.far.is_cut_off = replica.far.is_blind = False
        self._check_violations()
        await self._until_settled()
        await self._stay_quiet()
        for replica in self._replicas:
            await replica.stop()
        self._check_panics()
        self._check_violations()
        return str(self.record.trace.hexdigest())

    def _start(self) -> None:
        self._started += 1
        self._replicas.append(Replica(f"replica-{self._started}", self.record, self.faults, self._loop))

    def _pause(self) -> float:
        return 4.0 if self.faults.on and self._random.random() < 0.1 else 0.05

    def _meddle(self, name: str) -> None:
        if self.faults.on and self._random.random() < 0.25:
            self._meddlers.create_task(self._resize_softly(name, self._random.randint(0, 3)))

    async def _resize_softly(self, name: str, size: int) -> None:
        await asyncio.sleep(0.02)
        with suppress(ApiError):
            await self._client.patch(Widget, name, {"spec": {"size": size}}, NAMESPACE)

    # -- trouble ----------------------------------------------------------------------------------------------

    async def _trouble(self) -> None:
        deeds: list[tuple[int, Callable[[], Awaitable[None]]]] = [
            (8, self._make), (8, self._resize), (4, self._repaint), (3, self._mix), (5, self._delete),
            (3, self._steal_part), (2, self._break), (4, self._label), (4, self._outage), (3, self._crash),
            (2, self._restart), (1, self._cut_off), (2, self._compact), (2, self._end_watches), (3, self._steal_unseen), (3, self._snatch), (3, self._blind), (2, self._usurp),
        ]  # fmt: skip
        # Each history does some things often and others not at all: what hides behind the rest then shows.
        weights = [weight * self._random.choice((0, 0, 1, 1, 4)) for weight, _ in deeds]
        weights[:2] = [8, 8]
        for name in _PAINTS:
            await self._client.create(paint(name, "white"))
        while self._loop.time() < TROUBLED:
            await asyncio.sleep(self._random.expovariate(1.3))
            with suppress(ApiError):
                await self._random.choices(deeds, weights)[0][1]()

    async def _make(self) -> None:
        await self._client.create(widget(self._name(), self._random.randint(0, 3), self._random.choice(("", *_PAINTS))))

    async def _resize(self) -> None:
        await self._change({"spec": {"size": self._random.randint(0, 3)}})

    async def _repaint(self) -> None:
        await self._change({"spec": {"paint": self._random.choice(_PAINTS)}})

    async def _break(self) -> None:
        await self._change({"spec": {"broken": self._random.random() < 0.5}})

    async def _label(self) -> None:
        await self._change({"metadata": {"labels": {"shelf": str(self._random.randint(0, 9))}}})

    async def _mix(self) -> None:
        colour = {"spec": {"colour": self._random.choice(_COLOURS)}}
        await self._client.patch(Paint, self._random.choice(_PAINTS), colour, NAMESPACE)

    async def _delete(self) -> None:
        await self._client.delete(Widget, self._name(), NAMESPACE)

    async def _steal_part(self) -> None:
        await self._client.delete(PART, f"{self._name()}-{self._random.randint(0, 2)}", NAMESPACE)

    async def _steal_unseen(self) -> None:
        """A part goes while nobody watches, and nobody will ever be told."""
        self.record.space.hub.end()
        try:
            await self._steal_part()
        finally:
            await self._compact()

    async def _snatch(self) -> None:
        """The next part that is made goes at once, and nobody sees it come or go."""
        self._snatching = True

    def _see_part(self, event: Event) -> None:
        _, resource = self.record.space.store.names_of(event.bucket)
        if self._snatching and event.change is Change.ADDED and resource.endswith("parts"):
            self._snatching, self.record.is_dark = False, True
            self.record.space.hub.end()
            self._meddlers.create_task(self._take_away(event.object["metadata"]["name"]))

    async def _take_away(self, name: str) -> None:
        with suppress(ApiError):
            await self._client.delete(PART, name, NAMESPACE)
        await self._compact()
        self.record.is_dark = False

    async def _outage(self) -> None:
        """The cloud fails for one widget, or no longer does."""
        down = self.record.cloud.down_for
        name = self._name()
        down.symmetric_difference_update({name})

    async def _crash(self) -> None:
        await self._replicas.pop(self._random.randrange(len(self._replicas))).crash()
        await asyncio.sleep(self._random.random() * 3)
        self._start()

    async def _restart(self) -> None:
        await self._replicas.pop(self._random.randrange(len(self._replicas))).stop()
        self._start()

    async def _cut_off(self) -> None:
        """One replica no longer reaches the API, or does again."""
        far = self._random.choice(self._replicas).far
        far.is_cut_off = not far.is_cut_off

    async def _usurp(self) -> None:
        """The leader finishes a deletion and is gone before the next leader has heard of it."""
        leading = next((one for one in self._replicas if one.identity == self.record.holder), self._replicas[0])
        for replica in self._replicas:
            replica.far.is_blind = replica is not leading
        for one in (await self._client.list(Widget)).items[:1]:
            await self._client.delete(Widget, one.metadata.name, NAMESPACE)
        await asyncio.sleep(7)
        self._replicas.remove(leading)
        await leading.crash()
        await asyncio.sleep(9)
        self._start()

    async def _blind(self) -> None:
        far = self._random.choice(self._replicas).far
        far.is_blind = not far.is_blind

    async def _compact(self) -> None:
        self.record.space.store.compact(self.record.space.store.committed)

    async def _end_watches(self) -> None:
        self.record.space.hub.end()

    def _name(self) -> str:
        return self._random.choice(_NAMES)

    async def _change(self, change: dict[str, Any]) -> None:
        await self._client.patch(Widget, self._name(), change, NAMESPACE)

    # -- what must hold in the end ----------------------------------------------------------------------------

    async def _until_settled(self) -> None:
        deadline = self._loop.time() + PATIENCE
        while (problem := await self._problem()) and self._loop.time() < deadline:
            await asyncio.sleep(2)
        if problem:
            raise Violation(f"not reached: {problem}")
        attempts = max(self.record.attempts.values(), default=0)
        if attempts > _MOST_ATTEMPTS:
            raise Violation(f"{attempts} visits while the cloud was down")

    async def _problem(self) -> str:
        """What is not as it should be; empty when everything is."""
        widgets = (await self._client.list(Widget)).items
        parts = (await self._client.list(PART)).items
        paints = {one.metadata.name: one.spec.colour for one in (await self._client.list(Paint)).items}
        for one in widgets:
            if problem := self._problem_with(one, paints.get(one.spec.paint), parts):
                return f"{one.key}: {problem}"
        uids = {one.metadata.uid for one in widgets}
        if stray := [part for part in parts if part["metadata"]["ownerReferences"][0]["uid"] not in uids]:
            return f"part {stray[0]['metadata']['name']} belongs to nobody"
        if any(uid not in uids and self.record.cloud.find(uid) for uid in list(self.record.cloud.machines)):
            return "a machine belongs to nobody"
        return ""

    def _problem_with(self, one: Widget, colour: str | None, parts: Any) -> str:
        if one.deleting:
            return "still there"
        status = one.status
        if status.observed_generation != one.metadata.generation:
            return f"generation {one.metadata.generation} not observed"
        failed = status.condition(RECONCILED)
        if one.spec.broken:
            return "" if failed is not None and failed.status == "False" else "its error is not shown"
        if failed is not None and failed.status != "True":
            return "an old error is still shown"
        names = sorted(
            part["metadata"]["name"]
            for part in parts
            if part["metadata"]["ownerReferences"][0]["uid"] == one.metadata.uid
        )
        wanted = [f"{one.metadata.name}-{number}" for number in range(one.spec.size)]
        if names != wanted:
            return f"has {names} instead of {wanted}"
        ready = status.condition("Ready")
        shown = (status.parts, status.colour, status.address, ready.status if ready else None)
        expected = (one.spec.size, colour, f"10.0.0.{one.spec.size}", "True")
        return "" if shown == expected else f"shows {shown} instead of {expected}"

    async def _stay_quiet(self) -> None:
        await asyncio.sleep(5)
        writes, visits = self.record.writes, self.record.visits
        await asyncio.sleep(QUIET)
        if self.record.writes != writes:
            raise Violation(f"{self.record.writes - writes} writes although nothing happened")
        # A broken widget is looked at again now and then.
        if self.record.visits - visits > 5 * len(_NAMES):
            raise Violation(f"{self.record.visits - visits} visits although nothing happened")

    def _check_violations(self) -> None:
        if self.record.violations:
            raise Violation(self.record.violations[0])

    def _check_panics(self) -> None:
        for replica in self._replicas:
            if panics := replica.manager.metrics.panics.get("widgets"):
                raise Violation(f"{panics} visits ended in an error nobody had thought of")


def play(seed: int) -> str:
    """Run one history. Raises Violation."""

    async def main(loop: Loop) -> str:
        return await History(loop, seed).run()

    return deterministic.run(main, seed)
