"""The recorder of events."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kubekit.client.protocol import Selection
from kubekit.errors import Forbidden, ServiceUnavailable
from kubekit.runtime.client_wrapper import Call, Go, WrappedClient
from kubekit.runtime.events import EVENT, Recorder
from kubekit.runtime.metrics import Metrics
from kubekit.runtime.reconciler import Note
from kubekit.testing.deterministic_loop import Loop
from tests.runtime.world import NAMESPACE, Widget, WidgetSpace, widget


class Failing(WrappedClient):
    error: Exception | None = None

    async def around(self, call: Call, go: Go) -> Any:
        if self.error is not None:
            raise self.error
        return await go()


class World:
    def __init__(self, loop: Loop, space: WidgetSpace) -> None:
        self.client = Failing(space.client())
        self.metrics = Metrics()
        self.recorder = Recorder("test", loop.clock, loop.chance, self.metrics)

    async def start(self) -> None:
        self.widget = await self.client.create(widget("a"))
        self.running = asyncio.ensure_future(self.recorder.run(self.client))

    def say(self, message: str, reason: str = "Happened") -> None:
        self.recorder.record(self.widget, Widget, Note(reason, message))

    async def told(self) -> list[tuple[str, int]]:
        await asyncio.sleep(1)
        return sorted(
            [
                (event["message"], event["count"])
                for event in (await self.client.list(EVENT, Selection(NAMESPACE))).items
            ]
        )


@pytest.fixture
async def world(kubekit_loop: Loop, space: WidgetSpace) -> World:
    made = World(kubekit_loop, space)
    await made.start()
    return made


async def test_the_same_event_is_counted_not_repeated(world: World) -> None:
    for _ in range(3):
        world.say("once")
        await asyncio.sleep(5)
    assert await world.told() == [("once", 3)]


async def test_after_a_long_time_it_is_another_event(world: World) -> None:
    world.say("once")
    await asyncio.sleep(1000)
    world.say("once")
    assert await world.told() == [("once", 1), ("once", 1)]


async def test_many_similar_events_are_put_together(world: World) -> None:
    for number in range(15):
        world.say(f"number {number}")
    told = await world.told()
    assert len(told) == 11
    assert told[0] == ("(combined from similar events): number 14", 5)


async def test_an_object_cannot_flood_the_api(world: World) -> None:
    for number in range(100):
        world.say("x", reason=f"Reason{number}")
    assert len(await world.told()) == 50
    assert world.metrics.dropped_events.get("rate") == 50
    await asyncio.sleep(61)
    world.say("y")
    assert ("y", 1) in await world.told()


async def test_an_outage_delays_an_event(world: World) -> None:
    world.client.error = ServiceUnavailable("down")
    world.say("late")
    await asyncio.sleep(1)
    world.client.error = None
    await asyncio.sleep(20)
    assert await world.told() == [("late", 1)]


async def test_an_event_that_is_refused_is_dropped_in_silence(world: World) -> None:
    world.client.error = Forbidden("no")
    world.say("lost")
    await asyncio.sleep(1)
    world.client.error = None
    world.say("found")
    assert await world.told() == [("found", 1)]
    assert world.metrics.dropped_events.get("refused") == 1


async def test_an_event_that_expired_begins_anew(world: World) -> None:
    world.say("again")
    await asyncio.sleep(1)
    name = (await world.client.list(EVENT, Selection(NAMESPACE))).items[0]["metadata"]["name"]
    await world.client.delete(EVENT, name, NAMESPACE)
    world.say("again")
    assert await world.told() == [("again", 2)]
