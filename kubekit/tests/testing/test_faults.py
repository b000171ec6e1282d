"""The client that makes trouble: each fault does what it says, and no more."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace

import pytest

from kubekit.errors import Conflict, Expired, InternalError, NotFound, ServiceUnavailable
from kubekit.testing.deterministic_loop import Loop
from kubekit.testing.faults import Faults, FaultyClient
from tests.runtime.world import NAMESPACE, Paint, WidgetSpace, paint

NONE = Faults(slow=0, refused=0, lost=0, conflict=0, late=0, twice=0, cut=0, mute=0, expired=0)


class World:
    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.client = WidgetSpace(loop.clock, loop.chance).client()

    def troubled_by(self, **faults: float) -> FaultyClient:
        chosen = replace(NONE, **faults)  # type: ignore[arg-type] # mypy sees `on` in every name
        return FaultyClient(self.client, chosen, self.loop.clock, self.loop.chance)

    async def exists(self, name: str) -> bool:
        try:
            await self.client.get(Paint, name, NAMESPACE)
        except NotFound:
            return False
        return True

    async def seen(self, client: FaultyClient, seconds: float = 100) -> list[str]:
        """The names a watch from the beginning tells."""
        names: list[str] = []
        try:
            async with asyncio.timeout(seconds), aclosing(client.watch(Paint, version="1")) as events:
                async for event in events:
                    names += [event.item.metadata.name] if event.item is not None else []
        except TimeoutError:
            names.append("silence")
        return names


@pytest.fixture
async def world(kubekit_loop: Loop) -> World:
    made = World(kubekit_loop)
    for name in ("a", "b"):
        await made.client.create(paint(name, "red"))
    return made


async def test_what_is_refused_has_no_effect(world: World) -> None:
    with pytest.raises(ServiceUnavailable):
        await world.troubled_by(refused=1).create(paint("new", "red"))
    assert not await world.exists("new")


async def test_what_is_lost_has_its_effect(world: World) -> None:
    with pytest.raises(InternalError):
        await world.troubled_by(lost=1).create(paint("new", "red"))
    assert await world.exists("new")


async def test_only_writes_conflict(world: World) -> None:
    client = world.troubled_by(conflict=1)
    assert (await client.get(Paint, "a", NAMESPACE)).spec.colour == "red"
    with pytest.raises(Conflict):
        await client.delete(Paint, "a", NAMESPACE)
    assert await world.exists("a")


async def test_slow_takes_time(world: World) -> None:
    await world.troubled_by(slow=1).get(Paint, "a", NAMESPACE)
    assert world.loop.time() > 0


async def test_events_come_late_twice_or_not_at_all(world: World) -> None:
    assert await world.seen(world.troubled_by()) == ["a", "b", "silence"]
    assert await world.seen(world.troubled_by(twice=1)) == ["a", "a", "b", "b", "silence"]
    assert await world.seen(world.troubled_by(cut=1)) == []
    assert await world.seen(world.troubled_by(mute=1), seconds=20) == ["silence"]
    assert await world.seen(world.troubled_by(late=1)) == ["a", "b", "silence"]


async def test_a_version_expires(world: World) -> None:
    with pytest.raises(Expired):
        await world.seen(world.troubled_by(expired=1))


async def test_without_faults_nothing_happens(world: World) -> None:
    client = FaultyClient(world.client, Faults(on=False, refused=1, lost=1), world.loop.clock, world.loop.chance)
    await client.create(paint("new", "red"))
    assert world.loop.time() == 0
