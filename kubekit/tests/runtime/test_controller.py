"""One controller at work: what it is called with, and what is written for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import timedelta
from typing import Any

import pytest
from msgspec import structs

from kubekit.client.protocol import EVERYTHING, Selection, Watched
from kubekit.errors import NotFound
from kubekit.runtime.conditions import condition, merged
from kubekit.runtime.events import EVENT
from kubekit.runtime.manager import Manager, ManagerSettings
from kubekit.runtime.objects import Kind
from kubekit.runtime.reconciler import Note, Outcome, Watch
from tests.runtime.controller_world import Counting, Scripted, World, answering, done
from tests.runtime.world import NAMESPACE, Paint, Widget, paint, widget


async def test_the_status_is_written_once_with_only_what_changed(world: World) -> None:
    world.controller.act = answering(parts=3)
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(10)
    assert (await world.get()).status.parts == 3
    assert (await world.get()).status.observed_generation == 1
    assert world.client.writes() == [("patch", "status")]
    assert len(world.controller.seen) == 1


async def test_a_change_brings_another_visit_but_no_needless_write(world: World) -> None:
    world.controller.act = answering(parts=3)
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(1)
    await world.user.patch(Widget, "a", {"metadata": {"labels": {"x": "y"}}}, NAMESPACE)
    await asyncio.sleep(10)
    assert len(world.controller.seen) == 2
    assert world.client.writes() == [("patch", "status")]


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


async def test_an_outcome_says_when_to_come_again(world: World) -> None:
    async def act(obj: Widget) -> Outcome:
        return Outcome(again=timedelta(seconds=20) if len(world.controller.seen) < 3 else None)

    world.controller.act = act
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(200)
    assert len(world.controller.seen) == 3
    assert world.count("requeue_after") == 2


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


async def test_who_wants_to_see_the_end_of_objects_does(world: World) -> None:
    world.controller.sees_ending = True
    await world.start()
    held = structs.replace(widget("a"), metadata=structs.replace(widget("a").metadata, finalizers=("test/other",)))
    await world.user.create(held)
    await asyncio.sleep(1)
    await world.user.delete(Widget, "a", NAMESPACE)
    await asyncio.sleep(1)
    assert [one.deleting for one in world.controller.seen] == [False, True]


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


@pytest.mark.parametrize(("parts", "told"), [(None, [None, None]), (7, [None, 7, 7])])
async def test_last_words_are_seen_before_the_object_goes(
    world: World, parts: int | None, told: list[int | None]
) -> None:
    async def undo(obj: Widget) -> Outcome:
        return Outcome(structs.replace(obj.status, parts=parts))

    world.controller.finalizer, world.controller.undo = "test/held", undo
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(1)
    version = (await world.get()).metadata.resource_version
    await world.user.delete(Widget, "a", NAMESPACE)
    async with aclosing(world.user.watch(Widget, Selection(NAMESPACE), version=version)) as events:
        seen = [(await anext(events)).item for _ in told]
    assert [one.status.parts for one in seen if one is not None] == told
    with pytest.raises(NotFound):
        await world.get()


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


async def test_what_is_undone_is_not_undone_again_while_the_cache_does_not_know(world: World) -> None:
    undone: list[str] = []

    async def undo(obj: Widget) -> Outcome:
        undone.append(obj.metadata.uid)
        return Outcome()

    world.client = Lagging(world.client.inner)
    world.manager = Manager(world.client, ManagerSettings("test"), clock=world.loop.clock, chance=world.loop.chance)
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


async def test_an_object_that_disappears_during_the_visit_is_no_error(world: World) -> None:
    async def act(obj: Widget) -> Outcome:
        await world.user.delete(Widget, "a", NAMESPACE)
        return Outcome(structs.replace(obj.status, parts=1))

    world.controller.act = act
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(5)
    assert (world.count("error"), world.count("success")) == (0, 1)


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


async def test_nothing_is_asked_of_the_api_while_nothing_happens(world: World) -> None:
    world.controller.act = answering(parts=1)
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(10)
    world.client.calls.clear()
    await asyncio.sleep(3600)
    assert world.client.calls == []


async def test_two_controllers_of_one_name_are_refused(world: World) -> None:
    world.manager.add(Scripted(done))
    with pytest.raises(ValueError, match="widgets"):
        world.manager.add(Scripted(done))
