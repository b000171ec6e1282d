"""What users do and what befalls a system: the deeds a history is made of."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from kubekit.errors import ApiError
from kubekit.server.store.changes import Change
from kubekit.server.store.events import Event
from kubekit.testing.deterministic_loop import Loop
from kubekit.testing.faults import Faults
from tests.runtime.witnesses import Record, Replica
from tests.runtime.world import NAMESPACE, PART, Cloud, Paint, Widget, WidgetSpace, paint, widget

NAMES = ("ant", "bee", "cow")
_PAINTS = ("matt", "gloss")
_COLOURS = ("red", "green", "blue")

Deed = Callable[[], Awaitable[None]]


class Stage:
    """An API, replicas of a manager on it, and everything that can happen to them."""

    def __init__(self, loop: Loop, seed: int) -> None:
        self._loop, self._random = loop, random.Random(f"history {seed}")
        space = WidgetSpace(loop.clock, loop.chance)
        self.record = Record(space, Cloud(loop.clock))
        space.store.listen(self.record.see)
        space.store.listen(self._see_part)
        self.faults = self._some_faults()
        self._client = space.client()
        self._replicas: list[Replica] = []
        self._started = 0
        self._snatching = False
        self._meddlers: asyncio.TaskGroup
        self._meddling = 0.25
        """How often an object changes while it is visited."""
        self._slowness = 0.1
        """How often the cloud takes its time."""
        self.record.meddle = self._meddle
        self.record.cloud.pause = lambda: 4.0 if self._random.random() < self._slowness else 0.05

    def _some_faults(self) -> Faults:
        """A different mixture each time: now and then none of one sort, sometimes plenty."""
        strength = self._random.choice((0.3, 1.0, 2.0))
        likelihoods = {
            name: getattr(Faults(), name) * strength * self._random.choice((0, 1, 1, 2))
            for name in ("slow", "refused", "lost", "conflict", "late", "twice", "cut", "mute", "expired")
        }
        return Faults(longest=self._random.choice((0.2, 1.0, 3.0)), **likelihoods)

    def _calm(self) -> None:
        """No more faults of any sort."""
        self.faults.on = self._snatching = False
        self._meddling = self._slowness = 0.0
        self.record.cloud.down_for.clear()
        for replica in self._replicas:
            replica.far.is_cut_off = replica.far.is_blind = False

    def _start(self) -> None:
        self._started += 1
        self._replicas.append(Replica(f"replica-{self._started}", self.record, self.faults, self._loop))

    def _leader(self) -> Replica:
        return next((one for one in self._replicas if one.identity == self.record.holder), self._replicas[0])

    def _meddle(self, name: str) -> None:
        if self._random.random() < self._meddling:
            self._meddlers.create_task(self._resize_softly(name, self._random.randint(0, 3)))

    async def _resize_softly(self, name: str, size: int) -> None:
        await asyncio.sleep(0.02)
        with suppress(ApiError):
            await self._client.patch(Widget, name, {"spec": {"size": size}}, NAMESPACE)

    def _deeds(self) -> tuple[list[Deed], list[int]]:
        """With how often each is done: some often and others not at all, so that what hides behind the rest shows."""
        deeds: list[tuple[int, Deed]] = [
            (8, self._make), (8, self._resize), (4, self._repaint), (3, self._mix), (5, self._delete),
            (3, self._steal_part), (2, self._break), (4, self._label), (4, self._outage), (3, self._crash),
            (2, self._restart), (1, self._cut_off), (2, self._compact), (2, self._end_watches),
            (3, self._steal_unseen), (3, self._snatch), (3, self._blind), (2, self._usurp),
        ]  # fmt: skip
        weights = [weight * self._random.choice((0, 0, 1, 1, 4)) for weight, _ in deeds]
        return [deed for _, deed in deeds], [8, 8, *weights[2:]]

    async def _mix_paints(self) -> None:
        for name in _PAINTS:
            await self._client.create(paint(name, "white"))

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
        leading = self._leader()
        for replica in self._replicas:
            replica.far.is_blind = replica is not leading
        for one in (await self._client.list(Widget)).items[:1]:
            await self._client.delete(Widget, one.metadata.name, NAMESPACE)
        await asyncio.sleep(7)
        self._replicas.remove(leading)
        await leading.crash()
        await asyncio.sleep(9)
        for replica in self._replicas:
            replica.far.is_blind = False
        self._start()

    async def _blind(self) -> None:
        far = self._random.choice(self._replicas).far
        far.is_blind = not far.is_blind

    async def _compact(self) -> None:
        self.record.space.store.compact(self.record.space.store.committed)

    async def _end_watches(self) -> None:
        self.record.space.hub.end()

    def _name(self) -> str:
        return self._random.choice(NAMES)

    async def _change(self, change: dict[str, Any]) -> None:
        await self._client.patch(Widget, self._name(), change, NAMESPACE)

    def _exercises(self) -> list[Deed]:
        every: list[Deed] = [
            self._resize_all,
            self._resize_in_the_middle,
            self._snatch_in_peace,
            self._outage_in_peace,
            self._hand_over_under_load,
            self._cut_off_under_load,
            self._usurp,
        ]
        return self._random.sample(every, 3)

    async def _resize_all(self) -> None:
        for name in NAMES:
            with suppress(ApiError):
                await self._client.patch(Widget, name, {"spec": {"size": self._random.randint(0, 3)}}, NAMESPACE)

    async def _resize_in_the_middle(self) -> None:
        """While a visit finds nothing to do."""
        self._meddling = 1.0
        for name in NAMES:
            with suppress(ApiError):
                await self._client.patch(Widget, name, {"metadata": {"labels": {"shelf": "top"}}}, NAMESPACE)
        await asyncio.sleep(0.04)
        self._meddling = 0.0

    async def _snatch_in_peace(self) -> None:
        """One part is made and gone again before anyone sees it."""
        await self._snatch()
        for one in (await self._client.list(Widget)).items[:1]:
            await self._client.patch(Widget, one.metadata.name, {"spec": {"size": one.spec.size + 1}}, NAMESPACE)
        await asyncio.sleep(5)
        self._snatching = False

    async def _outage_in_peace(self) -> None:
        self.record.cloud.down_for.update(NAMES)
        await self._resize_all()
        await asyncio.sleep(18)
        self.record.cloud.down_for.clear()

    async def _hand_over_under_load(self) -> None:
        self._slowness = 1.0
        await self._resize_all()
        await asyncio.sleep(1)
        leader = self._leader()
        self._replicas.remove(leader)
        await leader.stop()
        self._slowness = 0.0
        self._start()

    async def _cut_off_under_load(self) -> None:
        leader = self._leader()
        leader.far.is_cut_off = True
        self._slowness = 1.0
        await self._resize_all()
        await asyncio.sleep(15)
        self._slowness = 0.0
        leader.far.is_cut_off = False
