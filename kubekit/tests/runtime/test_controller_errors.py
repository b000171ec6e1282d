"""What happens when a controller fails, or takes too long."""

from __future__ import annotations

import asyncio
import logging
from itertools import pairwise

import pytest
from msgspec import structs

from kubekit.client.protocol import Selection
from kubekit.errors import Conflict, Details, Forbidden, InvalidConfiguration, ServiceUnavailable, TooManyRequests
from kubekit.runtime.events import EVENT
from kubekit.runtime.reconciler import Outcome
from tests.runtime.controller_world import World, answering, failing
from tests.runtime.world import NAMESPACE, Widget, widget


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


async def test_the_api_may_say_how_long_to_wait(world: World) -> None:
    world.controller.act = failing(TooManyRequests("slow down", Details(retry_after=17)), times=1)
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(16)
    assert len(world.controller.seen) == 1
    await asyncio.sleep(3)
    assert len(world.controller.seen) == 2


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


async def test_a_final_error_is_looked_at_again_after_a_long_time(world: World) -> None:
    world.controller.act = failing(Forbidden("may not"), times=1)
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(301)
    assert (await world.get()).status.parts == 1


async def test_a_conflict_is_silent(world: World) -> None:
    world.controller.act = failing(Conflict("someone was quicker"), times=2)
    await world.start()
    await world.user.create(widget("a"))
    await asyncio.sleep(10)
    assert (await world.get()).status.parts == 1
    assert await world.reasons() == []
    assert (world.count("requeue"), world.count("error")) == (2, 0)


async def test_an_unexpected_error_is_logged_once_with_its_trace(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.controller.act = failing(KeyError("hunter2"), times=3)
    with caplog.at_level(logging.INFO, "kubekit.runtime"):
        await world.start()
        await world.user.create(widget("a"))
        await asyncio.sleep(20)
    assert (await world.get()).status.parts == 1
    assert world.manager.metrics.panics.get("widgets") == 3
    assert [event["message"] for event in (await world.user.list(EVENT, Selection(NAMESPACE))).items] == [
        "unexpected KeyError"
    ]
    failed = [record for record in caplog.records if record.getMessage().startswith("failed")]
    assert [record.exc_info is not None for record in failed] == [True, False, False]
    assert all("controller=widgets key=default/a" in record.getMessage() for record in failed)


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
