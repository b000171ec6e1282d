"""One controller at work: what it is called with, what is written for it, and what happens when it fails."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import aclosing
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from msgspec import structs

from butler.errors import (
    Conflict,
    Details,
    Forbidden,
    InvalidConfiguration,
    NotFound,
    ServiceUnavailable,
    TooManyRequests,
)
from butler.kube.client import EVERYTHING, Selection, Watched
from butler.runtime import deterministic
from butler.runtime.conditions import condition, merged
from butler.runtime.deterministic import Loop
from butler.runtime.events import EVENT
from butler.runtime.manager import Manager, Settings
from butler.runtime.objects import Kind
from butler.runtime.queue import Backoff
from butler.runtime.reconciler import Note, Outcome, Reconciler, Watch
from butler.runtime.wrapping import Call, Go, WrappedClient
from tests.runtime.world import NAMESPACE, MemorySpace, Paint, Widget, paint, widget

Act = Callable[[Widget], Awaitable[Outcome]]


class Counting(WrappedClient):
    """Remembers what was asked of the API."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.calls: list[Call] = []
        self.fail: Callable[[Call], Exception | None] = lambda call: None

    async def around(self, call: Call, go: Go) -> Any:
        self.calls.append(call)
        error = self.fail(call)
        if error is not None:
            raise error
        return await go()

    def writes(self, plural: str = "widgets") -> list[tuple[str, str]]:
        return [(call.verb, call.subresource) for call in self.calls if call.writes and call.address.plural == plural]


class Scripted(Reconciler[Widget]):
    """Does what the test says."""

    kind = Widget
    workers = 2
    patience = 30.0

    def __init__(self, act: Act) -> None:
        self.act, self.seen = act, list[Widget]()
        self.undo: Act = done

    async def reconcile(self, obj: Widget) -> Outcome:
        self.seen.append(obj)
        return await self.act(obj)

    async def finalize(self, obj: Widget) -> Outcome:
        return await self.undo(obj)


async def done(obj: Widget) -> Outcome:
    return Outcome()


class World:
    """An API, a manager and a scripted controller."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.space = MemorySpace(loop.clock, loop.chance)
        self.user = self.space.client()
        self.client = Counting(self.space.client())
        self.manager = Manager(
            self.client,
            Settings("test", backoff=Backoff(first=1.0, variation=0.0)),
            clock=loop.clock,
            chance=loop.chance,
        )
        self.controller = Scripted(done)

    async def start(self) -> None:
        self.manager.add(self.controller)
        await self.user.create(widget("first"))
        await self.user.delete(Widget, "first", NAMESPACE)
        self.running = asyncio.ensure_future(self.manager.run())
        await asyncio.sleep(1)

    async def get(self, name: str = "a") -> Widget:
        found: Widget = await self.user.get(Widget, name, NAMESPACE)
        return found

    async def reasons(self) -> list[str]:
        return [event["reason"] for event in (await self.user.list(EVENT, Selection(NAMESPACE))).items]

    def count(self, result: str) -> float:
        return self.manager.metrics.reconciles.get("widgets", result)


def in_a_world(test: Callable[[World], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    def run() -> None:
        async def main(loop: Loop) -> None:
            await test(World(loop))

        deterministic.run(main, seed=1)

    run.__name__ = test.__name__
    return run


def answering(**status: Any) -> Act:
    async def act(obj: Widget) -> Outcome:
        return Outcome(structs.replace(obj.status, **status))

    return act


def failing(error: Exception, times: int = 1_000) -> Act:
    left = [times]

    async def act(obj: Widget) -> Outcome:
        left[0] -= 1
        if left[0] >= 0:
            raise error
        return Outcome(structs.replace(obj.status, parts=1))

    return act


@in_a_world
async def test_the_status_is_written_once_with_only_what_changed(world: World) -> None:
    world.controller.act = answering(parts=3)
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(10)
    assert (await world.get()).status.parts == 3
    assert (await world.get()).status.observed_generation == 1
    assert world.client.writes() == [("patch", "status")]
    assert len(world.controller.seen) == 1


@in_a_world
async def test_a_change_brings_another_visit_but_no_needless_write(world: World) -> None:
    world.controller.act = answering(parts=3)
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(1)
    await world.user.patch(Widget, "a", {"metadata": {"labels": {"x": "y"}}}, NAMESPACE)
    await asyncio.sleep(10)
    assert len(world.controller.seen) == 2
    assert world.client.writes() == [("patch", "status")]


@in_a_world
async def test_what_the_status_no_longer_says_is_removed_and_the_rest_stays(world: World) -> None:
    async def act(obj: Widget) -> Outcome:
        return Outcome(structs.replace(obj.status, parts=None))

    await world.start()
    await world.user.create(widget("a"))
    await world.user.patch(Widget, "a", {"status": {"parts": 7, "colour": "red"}}, NAMESPACE, subresource="status")
    world.controller.act = act
    await world.user.patch(Widget, "a", {"spec": {"size": 2}}, NAMESPACE)
    await asyncio.sleep(10)
    status = (await world.get()).status
    assert (status.parts, status.colour, status.observed_generation) == (None, "red", 2)


@in_a_world
async def test_an_outcome_says_when_to_come_again(world: World) -> None:
    async def act(obj: Widget) -> Outcome:
        return Outcome(again=timedelta(seconds=20) if len(world.controller.seen) < 3 else None)

    world.controller.act = act
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(200)
    assert len(world.controller.seen) == 3
    assert world.count("requeue_after") == 2


@in_a_world
async def test_the_finalizer_is_there_before_the_work_begins_and_until_it_is_undone(world: World) -> None:
    steps: list[str] = []

    async def act(obj: Widget) -> Outcome:
        steps.append(f"made with {list((await world.get()).metadata.finalizers)}")
        return Outcome()

    async def undo(obj: Widget) -> Outcome:
        steps.append("undone")
        return Outcome(again=timedelta(seconds=5) if len(steps) < 4 else None)

    world.controller.finalizer = "test/held"
    world.controller.act, world.controller.undo = act, undo
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(5)
    await world.user.delete(Widget, "a", NAMESPACE)
    await asyncio.sleep(4)
    assert (await world.get()).deleting
    await asyncio.sleep(20)
    assert steps == ["made with ['test/held']", "undone", "undone", "undone"]
    with pytest.raises(NotFound):
        await world.get()


@in_a_world
async def test_who_wants_to_see_the_end_of_objects_does(world: World) -> None:
    world.controller.sees_ending = True
    await world.start()
    held = structs.replace(widget("a"), metadata=structs.replace(widget("a").metadata, finalizers=("test/other",)))
    await world.user.create(held)
    await asyncio.sleep(1)
    await world.user.delete(Widget, "a", NAMESPACE)
    await asyncio.sleep(1)
    assert [one.deleting for one in world.controller.seen] == [False, True]


@in_a_world
async def test_events_name_their_source_and_leave_conditions_out_if_asked_to(world: World) -> None:
    async def act(obj: Widget) -> Outcome:
        conditions = merged(obj.status.conditions, condition("Ready", True, "Painted"))
        return Outcome(structs.replace(obj.status, conditions=conditions), notes=(Note("Done", "it is done"),))

    world.controller.act, world.controller.source = act, "painter"
    world.controller.tells_conditions = False
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(10)
    told = [
        (event["reason"], event["source"]["component"])
        for event in (await world.user.list(EVENT, Selection(NAMESPACE))).items
    ]
    assert told == [("Done", "painter")]


@in_a_world
async def test_a_change_of_what_does_not_matter_wakes_nobody(world: World) -> None:
    world.controller.watches = (Watch(Paint, lambda one: [f"{NAMESPACE}/a"], matters=lambda one: one.spec.colour),)
    await world.start()
    await world.user.create(widget("a"))
    await world.user.create(paint("gloss", "red"))
    await asyncio.sleep(1)
    visits = len(world.controller.seen)
    await world.user.patch(Paint, "gloss", {"metadata": {"labels": {"shelf": "top"}}}, NAMESPACE)
    await asyncio.sleep(1)
    assert len(world.controller.seen) == visits
    await world.user.patch(Paint, "gloss", {"spec": {"colour": "blue"}}, NAMESPACE)
    await asyncio.sleep(1)
    assert len(world.controller.seen) == visits + 1


@in_a_world
async def test_other_finalizers_stay(world: World) -> None:
    world.controller.finalizer = "test/held"
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(1)
    finalizers = {"metadata": {"finalizers": ["test/other", "test/held"]}}
    await world.user.patch(Widget, "a", finalizers, NAMESPACE)
    await world.user.delete(Widget, "a", NAMESPACE)
    await asyncio.sleep(5)
    assert (await world.get()).metadata.finalizers == ("test/other",)


class Lagging(Counting):
    """Once `lag` is set, changes are seen that many seconds after they happened."""

    lag = 0.0

    async def watch(
        self, kind: Kind, selection: Selection = EVERYTHING, *, version: str = ""
    ) -> AsyncGenerator[Watched[Any], None]:
        async with aclosing(self.inner.watch(kind, selection, version=version)) as events:
            async for event in events:
                if kind is Widget:
                    await asyncio.sleep(self.lag)
                yield event


@in_a_world
async def test_what_is_undone_is_not_undone_again_while_the_cache_does_not_know(world: World) -> None:
    undone: list[str] = []

    async def undo(obj: Widget) -> Outcome:
        undone.append(obj.metadata.uid)
        return Outcome()

    world.client = Lagging(world.client.inner)
    world.manager = Manager(world.client, Settings("test"), clock=world.loop.clock, chance=world.loop.chance)
    world.controller.finalizer, world.controller.undo = "test/held", undo
    world.controller.watches = (Watch(Paint, lambda one: [f"{NAMESPACE}/a"]),)
    await world.start()
    for life in (1, 2):
        await world.user.create(widget("a"))
        await asyncio.sleep(30)
        world.client.lag = 10.0
        await world.user.delete(Widget, "a", NAMESPACE)
        await asyncio.sleep(15)
        # The object is gone, and the cache does not show it yet.
        await world.user.create(paint(f"gloss-{life}", "red"))
        await asyncio.sleep(30)
        world.client.lag = 0.0
        assert len(set(undone)) == len(undone) == life


@in_a_world
async def test_a_retryable_error_is_tried_again_later_and_later(world: World) -> None:
    moments: list[float] = []

    async def act(obj: Widget) -> Outcome:
        moments.append(world.loop.time())
        raise ServiceUnavailable("no route to host")

    world.controller.act = act
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(40)
    pauses = [later - sooner for sooner, later in pairwise(moments)]
    assert pauses == pytest.approx([1, 2, 4, 8, 16])
    assert world.count("error") == 6
    assert await world.reasons() == ["ServiceUnavailable"]


@in_a_world
async def test_the_api_may_say_how_long_to_wait(world: World) -> None:
    world.controller.act = failing(TooManyRequests("slow down", Details(retry_after=17)), times=1)
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(16)
    assert len(world.controller.seen) == 1
    await asyncio.sleep(3)
    assert len(world.controller.seen) == 2


@in_a_world
async def test_a_final_error_is_shown_once_and_taken_back_when_it_is_over(world: World) -> None:
    world.controller.act = failing(InvalidConfiguration("default/a", "spec.size", "too large"))
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(60)
    shown = (await world.get()).status.condition("Reconciled")
    assert shown is not None
    assert (shown.status, shown.reason) == ("False", "InvalidConfiguration")
    assert world.client.writes() == [("patch", "status")]
    assert len(world.controller.seen) == 1
    assert await world.reasons() == ["InvalidConfiguration"]
    world.controller.act = answering(parts=1)
    await world.user.patch(Widget, "a", {"spec": {"size": 2}}, NAMESPACE)
    await asyncio.sleep(1)
    shown = (await world.get()).status.condition("Reconciled")
    assert shown is not None
    assert shown.status == "True"


@in_a_world
async def test_a_final_error_is_looked_at_again_after_a_long_time(world: World) -> None:
    world.controller.act = failing(Forbidden("may not"), times=1)
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(301)
    assert (await world.get()).status.parts == 1


@in_a_world
async def test_a_conflict_is_silent(world: World) -> None:
    world.controller.act = failing(Conflict("someone was quicker"), times=2)
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(10)
    assert (await world.get()).status.parts == 1
    assert await world.reasons() == []
    assert (world.count("requeue"), world.count("error")) == (2, 0)


def test_an_unexpected_error_is_logged_once_with_its_trace(caplog: pytest.LogCaptureFixture) -> None:
    @in_a_world
    async def play(world: World) -> None:
        world.controller.act = failing(KeyError("hunter2"), times=3)
        await world.start()
        await world.user.create(widget("a"))
        await asyncio.sleep(20)
        assert (await world.get()).status.parts == 1
        assert world.manager.metrics.panics.get("widgets") == 3
        assert [event["message"] for event in (await world.user.list(EVENT, Selection(NAMESPACE))).items] == [
            "unexpected KeyError"
        ]

    with caplog.at_level(logging.INFO, "butler.runtime"):
        play()
    failed = [record for record in caplog.records if record.getMessage().startswith("failed")]
    assert [record.exc_info is not None for record in failed] == [True, False, False]
    assert all("controller=widgets key=default/a" in record.getMessage() for record in failed)


@in_a_world
async def test_of_several_errors_at_once_a_mendable_one_counts(world: World) -> None:
    async def act(obj: Widget) -> Outcome:
        if len(world.controller.seen) > 1:
            return Outcome(structs.replace(obj.status, parts=1))
        raise ExceptionGroup("both", [InvalidConfiguration("a", "b", "c"), ServiceUnavailable("down")])

    world.controller.act = act
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(5)
    assert (await world.get()).status.parts == 1


@in_a_world
async def test_a_visit_that_takes_too_long_is_given_up(world: World) -> None:
    async def act(obj: Widget) -> Outcome:
        if len(world.controller.seen) == 1:
            await asyncio.sleep(3600)
        return Outcome(structs.replace(obj.status, parts=1))

    world.controller.act = act
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(40)
    assert (await world.get()).status.parts == 1
    assert world.manager.metrics.timeouts.get("widgets") == 1


@in_a_world
async def test_a_part_that_is_cancelled_does_not_end_the_worker(world: World) -> None:
    async def act(obj: Widget) -> Outcome:
        if len(world.controller.seen) <= 4:
            raise asyncio.CancelledError
        return Outcome(structs.replace(obj.status, parts=1))

    world.controller.act = act
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(40)
    assert (await world.get()).status.parts == 1


@in_a_world
async def test_an_error_in_the_outcome_saves_the_status_first(world: World) -> None:
    async def act(obj: Widget) -> Outcome:
        error = ServiceUnavailable("half way") if len(world.controller.seen) == 1 else None
        return Outcome(structs.replace(obj.status, parts=len(world.controller.seen)), error=error)

    world.controller.act = act
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(0.5)
    assert (await world.get()).status.parts == 1
    await asyncio.sleep(5)
    assert (await world.get()).status.parts == 2


@in_a_world
async def test_notes_become_events_only_when_something_changed(world: World) -> None:
    async def act(obj: Widget) -> Outcome:
        return Outcome(structs.replace(obj.status, parts=3), notes=(Note("Assembled", "three parts"),))

    world.controller.act = act
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(1)
    await world.user.patch(Widget, "a", {"metadata": {"labels": {"x": "y"}}}, NAMESPACE)
    await asyncio.sleep(1)
    events = (await world.user.list(EVENT, Selection(NAMESPACE))).items
    assert [(event["reason"], event["count"]) for event in events] == [("Assembled", 1)]
    assert events[0]["involvedObject"]["name"] == "a"


@in_a_world
async def test_a_write_refused_as_outdated_is_no_error_and_is_made_up_for(world: World) -> None:
    async def act(obj: Widget) -> Outcome:
        if len(world.controller.seen) == 1:
            await world.user.patch(Widget, "a", {"spec": {"size": 9}}, NAMESPACE)
        return Outcome(structs.replace(obj.status, parts=obj.spec.size))

    world.controller.act = act
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(5)
    assert (await world.get()).status.parts == 9
    assert world.count("error") == 0


@in_a_world
async def test_an_object_that_disappears_during_the_visit_is_no_error(world: World) -> None:
    async def act(obj: Widget) -> Outcome:
        await world.user.delete(Widget, "a", NAMESPACE)
        return Outcome(structs.replace(obj.status, parts=1))

    world.controller.act = act
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(5)
    assert (world.count("error"), world.count("success")) == (0, 1)


@in_a_world
async def test_a_stop_finishes_what_is_under_way_and_begins_nothing_more(world: World) -> None:
    async def act(obj: Widget) -> Outcome:
        await asyncio.sleep(5)
        return Outcome(structs.replace(obj.status, parts=1))

    world.controller.act = act
    await world.start()
    for name in "abc":
        await world.user.create(widget(name))
    await asyncio.sleep(1)
    world.manager.stop()
    await world.running
    assert len(world.controller.seen) == 2
    assert sorted([(await world.get(name)).status.parts or 0 for name in "abc"]) == [0, 1, 1]


@in_a_world
async def test_nothing_is_asked_of_the_api_while_nothing_happens(world: World) -> None:
    world.controller.act = answering(parts=1)
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(10)
    world.client.calls.clear()
    await asyncio.sleep(3600)
    assert world.client.calls == []


@in_a_world
async def test_two_controllers_of_one_name_are_refused(world: World) -> None:
    world.manager.add(Scripted(done))
    with pytest.raises(ValueError, match="widgets"):
        world.manager.add(Scripted(done))
