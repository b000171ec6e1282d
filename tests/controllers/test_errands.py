"""Errands: beside a controller, one at a time for an object, and never for longer than it works."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from butler.controllers.errands import Errands
from kubekit.errors import ServiceUnavailable
from kubekit.testing.deterministic_loop import Loop


class World:
    """A manager's companion at work, and whom it woke."""

    def __init__(self) -> None:
        self.errands: Errands[str, int] = Errands(at_once=2)
        self.woken: list[str] = []
        self.errands.wake = self.woken.append
        self.begun: list[str] = []
        self.given_up: list[str] = []
        self.may_end = asyncio.Event()
        self.error: Exception | None = None

    def start(self) -> None:
        self.companion = asyncio.create_task(self.errands.run())

    async def end(self) -> None:
        self.companion.cancel()
        await asyncio.wait((self.companion,))

    async def begin(self, key: str) -> None:
        async def work() -> int:
            self.begun.append(key)
            try:
                await self.may_end.wait()
            except asyncio.CancelledError:
                self.given_up.append(key)
                raise
            if self.error is not None:
                raise self.error
            return 7

        await self.errands.begin(key, f"about {key}", work)


@pytest.fixture
async def world(kubekit_loop: Loop) -> AsyncIterator[World]:
    made = World()
    made.start()
    yield made
    await made.end()


async def test_what_ends_at_once_is_known_at_once_and_wakes_nobody(world: World) -> None:
    world.may_end.set()
    await world.begin("a")
    ended = world.errands.ended("a")
    assert ended is not None
    assert (ended.about, ended.result, ended.error) == ("about a", 7, None)
    assert world.woken == []


async def test_what_takes_long_wakes_and_is_kept_until_the_next_begins(world: World) -> None:
    await world.begin("a")
    assert (world.errands.under_way("a"), world.errands.ended("a")) == ("about a", None)
    world.may_end.set()
    await asyncio.sleep(1)
    assert (world.woken, world.errands.under_way("a")) == (["a"], None)
    assert world.errands.ended("a") == world.errands.ended("a") is not None
    world.may_end.clear()
    await world.begin("a")
    assert world.errands.ended("a") is None


async def test_an_error_is_what_came_of_it(world: World) -> None:
    world.error = ServiceUnavailable("later")
    world.may_end.set()
    await world.begin("a")
    ended = world.errands.ended("a")
    assert ended is not None
    assert ended.error is world.error


async def test_only_so_many_are_under_way_at_once(world: World) -> None:
    for key in ("a", "b", "c"):
        await world.begin(key)
    assert world.begun == ["a", "b"]
    await world.errands.stop("a")
    await asyncio.sleep(1)
    assert (world.begun, world.given_up) == (["a", "b", "c"], ["a"])


async def test_what_is_stopped_wakes_nobody_and_leaves_nothing(world: World) -> None:
    await world.begin("a")
    await world.errands.stop("a")
    assert (world.errands.under_way("a"), world.errands.ended("a"), world.woken) == (None, None, [])
    world.may_end.set()
    await world.begin("a")
    await world.errands.stop("a")
    assert world.errands.ended("a") is None


async def test_none_is_longer_under_way_than_controllers_work(world: World) -> None:
    await world.begin("a")
    await world.end()
    assert world.given_up == ["a"]
    world.start()
    world.may_end.set()
    await world.begin("a")
    assert world.errands.ended("a") is not None


async def test_one_that_comes_before_the_companion_waits_for_it(kubekit_loop: Loop) -> None:
    world = World()
    world.may_end.set()
    beginning = asyncio.create_task(world.begin("a"))
    await asyncio.sleep(1)
    assert world.begun == []
    world.start()
    await beginning
    assert world.begun == ["a"]
    await world.end()
