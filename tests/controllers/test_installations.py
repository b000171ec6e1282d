"""Addons are installed beside the controller: one at a time for a cluster, and never for longer than it works."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise

import pytest

from butler.addons.errors import AddonRefused
from butler.addons.model import Addon, AddonState, Seen
from butler.api.cluster import ObservedAddon
from butler.controllers.cluster.addons.installations import Installations
from butler.controllers.cluster.addons.observed import observed
from butler.engines.helm.charts import Chart
from butler.engines.helm.errors import ClusterUnreachable
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
        self.outdated, self.repaired, self.lasting = False, "", False
        self.begun: list[list[str]] = []
        self.looked_at: list[list[str]] = []
        self.removed: list[str] = []
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
        return self.seen(wanted)

    def seen(self, addons: Sequence[Addon]) -> list[Seen]:
        return [
            Seen(
                one.name,
                one.version,
                self.state,
                self.message,
                outdated=self.outdated,
                repaired=self.repaired,
                lasting=self.lasting,
            )
            for one in addons
        ]

    async def look(self, installed: Sequence[Addon]) -> list[Seen]:
        self.looked_at.append([one.name for one in installed])
        if self.error is not None:
            raise self.error
        return self.seen(installed)

    async def remove(self, addon: ObservedAddon) -> None:
        if self.error is not None:
            raise self.error
        self.removed.append(addon.name)


class World:
    """A manager's companion at work, and whom it woke."""

    def __init__(self) -> None:
        self.clock, self.helm = FakeClock(), Helm()
        self.installations = Installations(self.clock, at_once=2)
        self.woken: asyncio.Queue[str] = asyncio.Queue()
        self.installations.errands.wake = self.woken.put_nowait

    async def look(self, *installed: Addon) -> None:
        await self.installations.look_after("a/shop", installed, self.helm.look)

    async def pass_by(self) -> None:
        """Until the cluster is to be visited again."""
        again = self.installations.again("a/shop")
        assert again is not None
        self.clock.seconds += again.total_seconds()

    async def begin(self, key: str = "a/shop", *wanted: Addon) -> None:
        await self.installations.begin(key, wanted or (CILIUM,), self.helm.install)

    def states(self, key: str = "a/shop") -> dict[str, str]:
        return {name: one.status for name, one in self.installations.news(key, ()).items() if one}


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


async def test_what_failed_is_tried_ever_more_rarely(world: World) -> None:
    world.helm.state = AddonState.FAILED
    world.helm.may_end.set()
    waited = []
    for _ in range(6):
        await world.begin()
        began = world.clock.seconds
        await world.pass_by()
        waited.append(round(world.clock.seconds - began))
    assert waited == [15, 30, 60, 120, 240, 480]


async def test_what_is_written_and_does_not_work_yet_is_looked_at_until_it_does(world: World) -> None:
    world.helm.state, world.helm.message = AddonState.INSTALLING, "DaemonSet kube-system/cilium: no nodes yet"
    world.helm.may_end.set()
    await world.begin()
    (told,) = world.installations.news("a/shop", ()).values()
    assert told is not None
    assert (told.status, told.message) == ("Installing", world.helm.message)
    assert world.installations.news("a/shop", (told,)) == {"cilium": told}, "it is under way"
    for _ in range(3):
        await world.begin()
        await world.pass_by()
        await world.look(CILIUM, TRAEFIK)
    assert (len(world.helm.begun), world.helm.looked_at) == (1, [["cilium"]] * 3)
    world.helm.state, world.helm.message = AddonState.HEALTHY, ""
    await world.pass_by()
    await world.look(CILIUM, TRAEFIK)
    assert world.states() == {"cilium": "Healthy"}


async def test_what_waits_for_something_else_is_installed_later(world: World) -> None:
    world.helm.state, world.helm.outdated, world.helm.message = AddonState.INSTALLING, True, "waits for metallb"
    world.helm.may_end.set()
    await world.begin()
    (told,) = world.installations.news("a/shop", ()).values()
    assert told is not None
    await world.look(CILIUM)
    assert world.helm.looked_at == []
    assert world.installations.news("a/shop", (told,)) == {"cilium": told}, "it is not forgotten meanwhile"
    world.clock.seconds += 60
    world.helm.state, world.helm.outdated = AddonState.HEALTHY, False
    await world.begin()
    assert world.states() == {"cilium": "Healthy"}


async def test_what_is_there_is_looked_after_about_every_ten_minutes(world: World) -> None:
    times: list[float] = []
    while len(times) < 20:
        before = len(world.helm.looked_at)
        await world.look(CILIUM, TRAEFIK)
        if len(world.helm.looked_at) > before:
            times.append(world.clock.seconds)
        await world.pass_by()
    assert world.helm.looked_at == [["cilium", "traefik"]] * 20
    assert times[0] <= 600
    gaps = [later - sooner for sooner, later in pairwise(times)]
    assert all(450 <= gap <= 750 for gap in gaps)
    assert len(set(gaps)) > 1, "not all at the same time"


async def test_what_cannot_change_is_not_looked_at(world: World) -> None:
    world.helm.lasting = True
    world.helm.may_end.set()
    await world.begin()
    await world.look(CILIUM)
    assert world.installations.again("a/shop") is None
    await world.look(CILIUM, TRAEFIK)
    await world.pass_by()
    await world.look(CILIUM, TRAEFIK)
    assert world.helm.looked_at == [["traefik"]]


async def test_nothing_is_said_of_what_is_as_it_was(world: World) -> None:
    world.helm.may_end.set()
    await world.begin()
    (told,) = world.installations.news("a/shop", ()).values()
    assert told is not None
    world.clock.seconds += 1000
    await world.look(CILIUM)
    await world.pass_by()
    await world.look(CILIUM)
    assert len(world.helm.looked_at) > 0
    assert world.installations.news("a/shop", (told,)) == {}
    assert world.installations.take_notes("a/shop") == ()


async def test_what_was_repaired_is_told_once(world: World) -> None:
    world.helm.repaired = "Deployment traefik/traefik: spec.replicas"
    await world.look(TRAEFIK)
    await world.pass_by()
    await world.look(TRAEFIK)
    (note,) = world.installations.take_notes("a/shop")
    assert (note.reason, note.message) == (
        "AddonRepaired", "traefik 34.3.0: Deployment traefik/traefik: spec.replicas",
    )  # fmt: skip
    assert world.installations.take_notes("a/shop") == ()


async def test_a_cluster_that_does_not_answer_is_looked_at_again(world: World) -> None:
    world.helm.error = ClusterUnreachable("shop", "nobody answers")
    await world.look(TRAEFIK)
    await world.pass_by()
    await world.look(TRAEFIK)
    assert (len(world.helm.looked_at), world.states()) == (1, {})
    assert world.installations.take_error("a/shop") is None
    assert world.installations.again("a/shop") is not None


async def test_what_is_gone_is_installed_again(world: World) -> None:
    world.helm.state, world.helm.outdated = AddonState.INSTALLING, True
    await world.look(TRAEFIK)
    await world.pass_by()
    await world.look(TRAEFIK)
    assert world.states() == {"traefik": "Installing"}
    world.helm.state, world.helm.outdated = AddonState.HEALTHY, False
    world.helm.may_end.set()
    await world.begin("a/shop", TRAEFIK)
    assert (world.helm.begun, world.states()) == ([["traefik"]], {"traefik": "Healthy"})


async def test_what_nobody_wants_is_taken_out(world: World) -> None:
    told = observed(TRAEFIK, "Healthy")
    await world.installations.remove("a/shop", [told], world.helm.remove)
    assert (world.helm.removed, world.installations.news("a/shop", (told,))) == (["traefik"], {"traefik": None})
    (note,) = world.installations.take_notes("a/shop")
    assert note.reason == "AddonRemoved"
    assert world.installations.news("a/shop", ()) == {}


async def test_what_cannot_be_taken_out_stays_and_says_why(world: World) -> None:
    told = observed(TRAEFIK, "Healthy")
    world.helm.error = AddonRefused("traefik", "volume one is still there")
    await world.installations.remove("a/shop", [told], world.helm.remove)
    (kept,) = world.installations.news("a/shop", (told,)).values()
    assert kept is not None
    assert kept.message == "no longer asked for, and kept: traefik: volume one is still there"
    world.helm.error = None
    await world.installations.remove("a/shop", [kept], world.helm.remove)
    assert world.helm.removed == [], "not before a while has passed"
    await world.pass_by()
    await world.installations.remove("a/shop", [kept], world.helm.remove)
    assert world.helm.removed == ["traefik"]


async def test_what_came_of_it_is_kept_until_the_status_says_it(world: World) -> None:
    world.helm.may_end.set()
    await world.begin()
    (found,) = world.installations.news("a/shop", ()).values()
    assert found is not None
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
