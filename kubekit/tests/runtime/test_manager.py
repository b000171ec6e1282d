"""The manager: leading, standing by, health and what it tells Prometheus."""

from __future__ import annotations

import asyncio
import logging
import re
from typing import Any

import aiohttp
import pytest

from kubekit.clock import SystemChance, SystemClock
from kubekit.errors import ServiceUnavailable
from kubekit.runtime.client_wrapper import Call, Go, WrappedClient
from kubekit.runtime.endpoints import serving
from kubekit.runtime.leader import Election
from kubekit.runtime.manager import Manager, ManagerSettings
from kubekit.runtime.metrics import Metrics
from kubekit.runtime.reconciler import Outcome
from kubekit.testing.deterministic_loop import Loop
from tests.runtime.world import NAMESPACE, Cloud, Widget, Widgets, WidgetSpace, paint, widget

ELECTION = Election("test", NAMESPACE)


class Line(WrappedClient):
    is_cut = False

    async def around(self, call: Call, go: Go) -> Any:
        if self.is_cut:
            raise ServiceUnavailable("no route to host")
        return await go()

    async def watch(self, *args: Any, **options: Any) -> Any:
        async for event in self.inner.watch(*args, **options):
            if self.is_cut:
                raise ServiceUnavailable("connection reset")
            yield event


class World:
    def __init__(self, loop: Loop, space: WidgetSpace) -> None:
        self.loop, self.space = loop, space
        self.client = self.space.client()
        self.cloud = Cloud(loop.clock)

    def replica(self, identity: str, election: Election | None = ELECTION) -> tuple[Manager, Line]:
        line = Line(self.space.client())
        settings = ManagerSettings("test", election, identity)
        manager = Manager(line, settings, clock=self.loop.clock, chance=self.loop.chance)
        manager.add(Widgets(manager, self.cloud))
        return manager, line

    async def is_complete(self, name: str) -> bool:
        ready = (await self.client.get(Widget, name, NAMESPACE)).status.condition("Ready")
        return ready is not None and ready.status == "True"


@pytest.fixture
async def world(kubekit_loop: Loop, space: WidgetSpace) -> World:
    return World(kubekit_loop, space)


async def test_when_the_leader_is_cut_off_another_takes_over(world: World) -> None:
    first, line = world.replica("first")
    second, _ = world.replica("second")
    running = [asyncio.ensure_future(first.run())]
    await asyncio.sleep(1)
    running.append(asyncio.ensure_future(second.run()))
    await asyncio.sleep(5)
    assert first.leadership is not None
    assert first.leadership.holds()
    line.is_cut = True
    await world.client.create(widget("a", 2))
    await asyncio.sleep(40)
    assert not first.leadership.holds()
    assert await world.is_complete("a")
    line.is_cut = False
    second.stop()
    await running[1]
    await world.client.create(widget("b", 2))
    await asyncio.sleep(120)
    assert first.leadership.holds()
    assert await world.is_complete("b")
    first.stop()
    await running[0]


async def test_a_stop_while_it_is_still_starting_does_not_wait_for_anyone(world: World) -> None:
    manager, _ = world.replica("only", election=None)
    running = asyncio.ensure_future(manager.run())
    await manager.informers.synced()
    manager.stop()
    before = world.loop.clock.monotonic()
    await running
    assert world.loop.clock.monotonic() - before < 1


async def test_a_cancelled_manager_leaves_nothing_running(world: World) -> None:
    manager, _ = world.replica("only")
    running = asyncio.ensure_future(manager.run())
    await world.client.create(widget("a", 2))
    await asyncio.sleep(2.02)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert len(asyncio.all_tasks()) == 1
    assert world.space.hub.count() == 0


async def test_a_manager_is_ready_once_it_has_listed_everything(world: World) -> None:
    manager, line = world.replica("only")
    line.is_cut = True
    running = asyncio.ensure_future(manager.run())
    await asyncio.sleep(60)
    assert manager.ready()["informer-widgets.example.com"] == "has not listed yet"
    assert "lease not reached" in manager.ready()["leadership"]
    line.is_cut = False
    await asyncio.sleep(60)
    assert not any(manager.ready().values())
    running.cancel()


async def test_a_manager_that_waits_for_its_turn_is_ready(world: World) -> None:
    first, _ = world.replica("first")
    second, _ = world.replica("second")
    running = [asyncio.ensure_future(first.run()), asyncio.ensure_future(second.run())]
    await asyncio.sleep(120)
    assert [any(manager.ready().values()) for manager in (first, second)] == [False, False]
    assert sum(manager.metrics.leader.get("test") for manager in (first, second)) == 1
    for task in running:
        task.cancel()


async def test_a_watch_that_says_nothing_any_more_is_noticed(world: World) -> None:
    manager, line = world.replica("only")
    running = asyncio.ensure_future(manager.run())
    await asyncio.sleep(600)
    assert not any(manager.ready().values())
    line.is_cut = True
    await asyncio.sleep(600)
    assert "has heard nothing" in manager.ready()["informer-paints.example.com"]
    running.cancel()


async def test_work_that_is_stuck_is_noticed(world: World) -> None:
    class Stuck(Widgets):
        name = "stuck"

        async def reconcile(self, widget: Widget) -> Outcome:
            while True:
                try:
                    await asyncio.sleep(3600)
                except asyncio.CancelledError:
                    if world.loop.time() > 1000:
                        raise

    manager, _ = world.replica("only", None)
    manager.add(Stuck(manager, world.cloud))
    running = asyncio.ensure_future(manager.run())
    await world.client.create(widget("a"))
    await asyncio.sleep(100)
    assert "under way for" in manager.alive()["queue-stuck"]
    await asyncio.sleep(1000)
    running.cancel()


async def test_logs_name_the_object_and_never_what_is_in_it(world: World, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        manager, _ = world.replica("only")
        running = asyncio.ensure_future(manager.run())
        await world.client.create(paint("matt", "hunter2"))
        await world.client.create(widget("a", 2, "matt"))
        world.cloud.down_for.add("a")
        await asyncio.sleep(20)
        world.cloud.down_for.clear()
        await asyncio.sleep(60)
    assert (await world.client.get(Widget, "a", NAMESPACE)).status.colour == "hunter2"
    running.cancel()
    assert "controller=widgets key=default/a reason=CloudDown" in caplog.text
    assert "hunter2" not in caplog.text


async def test_the_endpoints_answer() -> None:
    space = WidgetSpace(SystemClock(), SystemChance())
    manager = Manager(space.client())
    manager.add(Widgets(manager, Cloud(SystemClock())))
    async with serving(manager, "127.0.0.1", 0) as port, aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:
        async with session.get("/readyz") as answer:
            assert answer.status == 500
            assert "[-]informer-widgets.example.com failed: has not listed yet" in await answer.text()
        running = asyncio.ensure_future(manager.run())
        await manager.informers.synced()
        for path in ("/healthz", "/readyz"):
            async with session.get(path) as answer:
                assert (answer.status, await answer.text()) == (200, "ok")
        async with session.get("/metrics") as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            text = await answer.text()
    manager.stop()
    await running
    line = re.compile(r'(#.*|[a-z_]+(\{([a-z]+="[^"]*",?)*\})? [0-9.e+-]+)')
    assert [one for one in text.splitlines() if not line.fullmatch(one)] == []
    assert 'workqueue_depth{name="widgets"} 0' in text
    assert 'controller_runtime_reconcile_time_seconds_bucket{controller="widgets",le="+Inf"} 0' in text
    assert 'rest_client_requests_total{code="200",method="GET"} 3' in text


async def test_companions_run_as_long_as_controllers_do(world: World) -> None:
    told: list[str] = []

    async def work() -> None:
        told.append("begun")
        try:
            await asyncio.sleep(3600)
        finally:
            told.append("ended")

    manager, _ = world.replica("only", election=None)
    manager.accompany(work)
    running = asyncio.ensure_future(manager.run())
    await asyncio.sleep(1)
    assert told == ["begun"]
    manager.stop()
    await running
    assert told == ["begun", "ended"]


def test_a_histogram_counts_up_to_each_bound() -> None:
    metrics = Metrics()
    for seconds in (0.0005, 0.001, 0.3, 100.0):
        metrics.reconcile_time.of("x").observe(seconds)
    text = metrics.text()
    assert 'reconcile_time_seconds_bucket{controller="x",le="0.001"} 2' in text
    assert 'reconcile_time_seconds_bucket{controller="x",le="0.5"} 3' in text
    assert 'reconcile_time_seconds_bucket{controller="x",le="+Inf"} 4' in text
    assert 'reconcile_time_seconds_count{controller="x"} 4' in text
