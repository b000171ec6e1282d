"""Addons are installed beside the controller: one at a time for a cluster, and never for longer than it works."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from butler.addons.model import Addon, AddonState, Seen
from butler.controllers.cluster.addons.installations import Installations
from butler.engines.helm.charts import Chart
from butler.engines.helm.protocol import Place, Release
from kubekit.clock import SystemClock



def addon(name: str, version: str, *, for_nodes: bool = False) -> Addon:
    chart = Chart("https://charts.example.com", name, version)
    return Addon(name, Release(Place(name, "kube-system"), chart), for_nodes)


CILIUM, TRAEFIK = addon("cilium", "1.17.0", for_nodes=True), addon("traefik", "34.3.0")


class FakeClock(SystemClock):
    """Goes on when it is told to."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds


class Helm:
    """Takes as long as the test wants."""

    def __init__(self) -> None:
        self.may_end = asyncio.Event()
        self.state, self.message = AddonState.HEALTHY, ""
        self.error: Exception | None = None
        self.begun: list[list[str]] = []
        self.given_up = 0

    async def install(self, wanted: Sequence[Addon]) -> list[Seen]:
        self.begun.append([one.name for one in wanted])
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            self.given_up += 1
            raise
        if self.error is not None:
            raise self.error
        return [Seen(one.name, one.version, self.state, self.message) for one in wanted]


class World:
    """A manager's companion at work, and whom it woke."""

    def __init__(self) -> None:
        self.clock, self.helm = FakeClock(), Helm()
        self.installations = Installations(self.clock, at_once=2)
        self.woken: asyncio.Queue[str] = asyncio.Queue()
        self.installations.wake = self.woken.put_nowait

    async def begin(self, key: str = "a/shop", *wanted: Addon) -> None:
        await self.installations.begin(key, wanted or (CILIUM,), self.helm.install)

    def states(self, key: str = "a/shop") -> dict[str, str]:
        return {name: one.status if one else "gone" for name, one in self.installations.news(key, ()).items()}


@pytest.fixture
async def world() -> AsyncIterator[World]:
    made = World()
    companion = asyncio.create_task(made.installations.run())
    await asyncio.sleep(0)
    yield made
    companion.cancel()
    await asyncio.wait((companion,))


async def test_what_ends_at_once_is_known_at_once_and_wakes_nobody(world: World) -> None:
    world.helm.may_end.set()
    await world.begin()
    assert world.states() == {"cilium": "Healthy"}
    assert world.installations.again("a/shop") is None
    assert world.woken.empty()


async def test_what_takes_long_is_not_waited_for_and_wakes_its_cluster_at_the_end(world: World) -> None:
    await world.begin()
    assert world.states() == {"cilium": "Installing"}
    assert world.installations.again("a/shop") is not None
    world.helm.may_end.set()
    assert await world.woken.get() == "a/shop"
    assert world.states() == {"cilium": "Healthy"}


async def test_nothing_else_is_installed_into_a_cluster_meanwhile(world: World) -> None:
    await world.begin()
    await world.begin("a/shop", TRAEFIK)
    await world.begin()
    assert world.helm.begun == [["cilium"]]
    world.helm.may_end.set()
    await world.woken.get()
    await world.begin("a/shop", TRAEFIK)
    assert world.helm.begun == [["cilium"], ["traefik"]]


async def test_few_clusters_are_installed_into_at_the_same_time(world: World) -> None:
    await asyncio.gather(*(world.begin(f"a/{number}") for number in range(4)))
    assert len(world.helm.begun) == 2
    world.helm.may_end.set()
    assert sorted([await world.woken.get() for _ in range(4)]) == [f"a/{number}" for number in range(4)]
    assert len(world.helm.begun) == 4


async def test_what_failed_is_tried_again_after_a_while_or_as_something_else(world: World) -> None:
    world.helm.state = AddonState.FAILED
    world.helm.may_end.set()
    await world.begin()
    assert world.states() == {"cilium": "Failed"}
    await world.begin()
    assert len(world.helm.begun) == 1
    await world.begin("a/shop", addon("cilium", "1.17.1", for_nodes=True))
    assert len(world.helm.begun) == 2
    again = world.installations.again("a/shop")
    assert again is not None
    world.clock.seconds += again.total_seconds()
    assert world.installations.again("a/shop") is None
    world.helm.state = AddonState.HEALTHY
    await world.begin()
    assert world.states() == {"cilium": "Healthy"}


async def test_why_nothing_could_be_tried_is_told_once_and_then_tried_again(world: World) -> None:
    world.helm.error = OSError("nobody answers")
    world.helm.may_end.set()
    await world.begin()
    assert world.states() == {}
    await world.begin()
    assert len(world.helm.begun) == 1, "not before somebody heard of it"
    assert world.installations.take_error("a/shop") is world.helm.error
    assert world.installations.take_error("a/shop") is None
    world.helm.error = None
    await world.begin()
    assert world.states() == {"cilium": "Healthy"}


async def test_what_came_of_it_is_kept_until_the_status_says_it(world: World) -> None:
    world.helm.may_end.set()
    await world.begin()
    (found,) = world.installations.news("a/shop", ()).values()
    assert world.installations.news("a/shop", ()) == {"cilium": found}
    assert world.installations.news("a/shop", (found,)) == {}
    assert world.states() == {}


async def test_what_is_under_way_ends_with_its_cluster(world: World) -> None:
    await world.begin()
    await world.installations.stop("a/shop")
    assert (world.helm.given_up, world.states()) == (1, {})
    assert world.woken.empty()
    await world.installations.stop("a/shop")


async def test_what_is_under_way_ends_with_the_controllers_and_begins_anew_with_them() -> None:
    world = World()
    for term in (1, 2):
        companion = asyncio.create_task(world.installations.run())
        await asyncio.sleep(0)
        await world.begin()
        companion.cancel()
        await asyncio.wait((companion,))
        assert (len(world.helm.begun), world.helm.given_up) == (term, term)
