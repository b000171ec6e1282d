"""One history: managers that crash on an API that misbehaves, users who change their minds, and what must hold."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from butler.apiserver.storage.changes import Change
from butler.apiserver.storage.store import Event
from butler.errors import ApiError
from butler.runtime import deterministic
from butler.runtime.conditions import RECONCILED
from butler.runtime.deterministic import Loop
from butler.runtime.faults import Faults
from tests.runtime.witnesses import Record, Replica, Violation
from tests.runtime.world import NAMESPACE, PART, Cloud, MemorySpace, Paint, Widget, paint, widget

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
            (2, self._restart), (1, self._cut_off), (2, self._compact), (2, self._end_watches),
            (3, self._steal_unseen), (3, self._snatch), (3, self._blind), (2, self._usurp),
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
        while (problem := await self._problem()) and self._loop.time() < deadline:  # noqa: ASYNC110 - virtual
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
