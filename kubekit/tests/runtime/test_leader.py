"""Leadership: one at a time, handed over, and given up in time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kubekit.errors import LeadershipLost, ServiceUnavailable
from kubekit.runtime.client_wrapper import Call, Go, WrappedClient
from kubekit.runtime.guarded_client import GuardedClient
from kubekit.runtime.leader import LEASE, Election, Leadership
from kubekit.runtime.metrics import Metrics
from kubekit.testing.deterministic_loop import Loop
from tests.runtime.world import NAMESPACE, WidgetSpace, paint

ELECTION = Election("test", NAMESPACE)


class Line(WrappedClient):
    """A connection that can be cut, or be so slow that nothing comes back."""

    is_cut = False
    is_stuck = False
    count = 0

    async def around(self, call: Call, go: Go) -> Any:
        self.count += 1
        if self.is_stuck:
            await asyncio.sleep(3600)
        if self.is_cut:
            raise ServiceUnavailable("no route to host")
        return await go()


class World:
    def __init__(self, loop: Loop, space: WidgetSpace) -> None:
        self.loop, self.space = loop, space
        self.client = self.space.client()

    def candidate(self, name: str) -> tuple[Leadership, Line]:
        line = Line(self.space.client())
        return Leadership(line, ELECTION, name, self.loop.clock, self.loop.chance), line

    async def lease(self) -> dict[str, Any]:
        spec: dict[str, Any] = (await self.client.get(LEASE, "test", NAMESPACE))["spec"]
        return spec


@pytest.fixture
async def world(kubekit_loop: Loop, space: WidgetSpace) -> World:
    return World(kubekit_loop, space)


async def test_the_first_candidate_leads_and_the_second_waits(world: World) -> None:
    first, _ = world.candidate("first")
    second, _ = world.candidate("second")
    await first.campaign()
    keeping = asyncio.ensure_future(first.keep())
    waiting = asyncio.ensure_future(second.campaign())
    await asyncio.sleep(120)
    assert first.holds()
    assert not second.holds()
    assert (await world.lease())["holderIdentity"] == "first"
    keeping.cancel()
    waiting.cancel()


async def test_who_cannot_renew_stops_before_another_begins(world: World) -> None:
    first, line = world.candidate("first")
    second, _ = world.candidate("second")
    await first.campaign()
    keeping = asyncio.ensure_future(first.keep())
    waiting = asyncio.ensure_future(second.campaign())
    await asyncio.sleep(30)
    line.is_cut = True
    await keeping
    stopped = world.loop.time()
    assert not first.holds()
    await waiting
    assert second.holds()
    assert world.loop.time() - stopped > ELECTION.lease_duration - ELECTION.renew_deadline - 2 * ELECTION.retry_period
    assert (await world.lease())["leaseTransitions"] == 1


async def test_a_connection_that_hangs_is_as_good_as_none(world: World) -> None:
    first, line = world.candidate("first")
    await first.campaign()
    led_until = world.loop.time() + ELECTION.renew_deadline
    line.is_stuck = True
    await first.keep()
    assert world.loop.time() == pytest.approx(led_until)
    assert not first.holds()


async def test_a_release_lets_the_next_lead_at_once(world: World) -> None:
    first, _ = world.candidate("first")
    second, _ = world.candidate("second")
    await first.campaign()
    waiting = asyncio.ensure_future(second.campaign())
    await asyncio.sleep(1)
    released = world.loop.time()
    await first.release()
    assert not first.holds()
    await waiting
    assert world.loop.time() - released <= 1.2 * ELECTION.retry_period


async def test_a_lease_someone_else_took_is_given_up(world: World) -> None:
    first, _ = world.candidate("first")
    await first.campaign()
    await world.client.patch(LEASE, "test", {"spec": {"holderIdentity": "thief"}}, NAMESPACE)
    await first.keep()
    assert not first.holds()
    assert (await world.lease())["holderIdentity"] == "thief"


async def test_leading_costs_one_request_per_period(world: World) -> None:
    first, line = world.candidate("first")
    await first.campaign()
    keeping = asyncio.ensure_future(first.keep())
    line.count = 0
    await asyncio.sleep(60)
    assert line.count <= 60 / ELECTION.retry_period
    keeping.cancel()


async def test_a_lease_left_by_a_crash_is_taken_after_its_time(world: World) -> None:
    first, _ = world.candidate("first")
    await first.campaign()
    crashed = world.loop.time()
    second, _ = world.candidate("second")
    await second.campaign()
    assert ELECTION.lease_duration <= world.loop.time() - crashed <= ELECTION.lease_duration + 2 * ELECTION.retry_period


async def test_a_client_writes_only_while_it_may(world: World) -> None:
    leads = [True]
    client = GuardedClient(world.client, world.loop.clock, Metrics(), lambda: leads[0])
    await client.create(paint("a", "red"))
    leads[0] = False
    with pytest.raises(LeadershipLost):
        await client.create(paint("b", "red"))
    with pytest.raises(LeadershipLost):
        await client.delete(type(paint("a", "red")), "a", NAMESPACE)
    assert (await client.get(type(paint("a", "red")), "a", NAMESPACE)).spec.colour == "red"


def test_patience_that_leaves_no_fence_is_refused() -> None:
    with pytest.raises(ValueError, match="fence"):
        Election("test", NAMESPACE, lease_duration=10, renew_deadline=10)
