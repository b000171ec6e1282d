"""Following a kind: nothing is missed and nothing comes twice, whatever happens in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from kubekit.client import kubeconfig
from kubekit.client.endless_watch import follow
from kubekit.client.http import HttpClient
from kubekit.client.protocol import Client, Listed, Selection, Signal, Watched
from kubekit.clock import SeededChance
from kubekit.errors import ApiError, Details, Expired, Forbidden, ServiceUnavailable, TooManyRequests
from kubekit.server.client import DirectClient
from kubekit.server.serve.server import Server
from tests.client import worlds
from tests.client.worlds import CONFIG_MAP, WIDGET, Relay, Widget, World, at_port, config_map, widget


class Hasty:
    """A clock on which waiting takes no time, and which remembers how long it would have been."""

    def __init__(self) -> None:
        self.pauses: list[float] = []
        self.time = 0.0

    def monotonic(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)


class Story:
    """What a follower is told, as a picture of what there must be."""

    def __init__(self, news: AsyncGenerator[Any, None]) -> None:
        self._news = news
        self.seen: dict[str, str] = {}
        self.snapshots = 0
        self.changes: list[tuple[Signal, str]] = []

    async def until(self, reached: Callable[[], bool]) -> None:
        async with asyncio.timeout(100):
            while not reached():
                self._take(await anext(self._news))

    def _take(self, told: Any) -> None:
        if isinstance(told, Listed):
            self.snapshots += 1
            self.seen = {_name(item): _version(item) for item in told.items}
            return
        if told.signal is Signal.BOOKMARK:
            return
        name = _name(told.item)
        self.changes.append((told.signal, name))
        if told.signal is Signal.DELETED:
            del self.seen[name]
        else:
            assert (name in self.seen) is (told.signal is Signal.MODIFIED)
            self.seen[name] = _version(told.item)


def _name(item: Any) -> str:
    return str(item["metadata"]["name"] if isinstance(item, dict) else item.metadata.name)


def _version(item: Any) -> str:
    return str(item["metadata"]["resourceVersion"] if isinstance(item, dict) else item.metadata.resource_version)


@asynccontextmanager
async def following(client: Any, kind: Any, selection: Selection) -> AsyncIterator[Story]:
    news = follow(client, kind, selection, clock=Hasty(), chance=SeededChance(1))
    async with aclosing(news):
        yield Story(news)


async def test_first_comes_what_there_is_and_then_what_changes(world: World) -> None:
    await world.client.create(widget("a", world.namespace))
    async with following(world.client, Widget, world.here) as story:
        await story.until(lambda: story.snapshots == 1)
        assert list(story.seen) == ["a"]
        await world.client.create(widget("b", world.namespace))
        await world.client.delete(Widget, "a", world.namespace)
        await story.until(lambda: len(story.changes) == 2)
    assert story.changes == [(Signal.ADDED, "b"), (Signal.DELETED, "a")]
    assert story.snapshots == 1


async def test_after_a_cut_connection_nothing_is_missing(world: World) -> None:
    async with following(world.client, WIDGET, world.here) as story:
        await story.until(lambda: story.snapshots == 1)
        for number in range(5):
            await world.client.create(widget(f"w{number}", world.namespace))
            await story.until(lambda wanted=number: len(story.changes) > wanted)  # type: ignore[misc]
            await world.interrupt()
    assert story.changes == [(Signal.ADDED, f"w{number}") for number in range(5)]
    assert story.snapshots == 1


async def test_selected_objects_are_followed(world: World) -> None:
    async with following(world.client, CONFIG_MAP, Selection(world.namespace, labels="mine")) as story:
        await story.until(lambda: story.snapshots == 1)
        await world.client.create(config_map("other", world.namespace), CONFIG_MAP)
        await world.client.create(config_map("mine", world.namespace, labels={"mine": "1"}), CONFIG_MAP)
        await story.until(lambda: bool(story.changes))
    assert story.changes == [(Signal.ADDED, "mine")]


async def test_after_an_outage_that_outlasts_history_comes_a_snapshot(tmp_path: Path) -> None:
    """Here the server is told to forget while nobody is connected."""
    async with worlds.direct_world(tmp_path / "data", "team") as world:
        await world.client.create(widget("a", world.namespace))
        broken = Unreliable(world.client)
        async with following(broken, Widget, world.here) as story:
            await story.until(lambda: story.snapshots == 1)
            broken.fail_watches(ServiceUnavailable("away"), times=2, then=world.forget)
            await world.interrupt()
            await world.client.delete(Widget, "a", world.namespace)
            await world.client.create(widget("b", world.namespace))
            await world.client.create(widget("c", world.namespace))
            await story.until(lambda: story.snapshots == 2)
        assert list(story.seen) == ["b", "c"]


async def test_a_restarted_server_is_followed_on(tmp_path: Path) -> None:
    server = Server(tmp_path / "data")
    await server.start()
    relay = Relay("127.0.0.1", server.port)
    here = Selection("default")
    async with (
        relay.running() as port,
        HttpClient(at_port(kubeconfig.load(server.kubeconfig), port)) as client,
        following(client, CONFIG_MAP, here) as story,
    ):
        await story.until(lambda: story.snapshots == 1)
        await client.create(config_map("a", "default"), CONFIG_MAP)
        await story.until(lambda: len(story.changes) == 1)
        await relay.cut()
        await server.stop()
        async with Server(tmp_path / "data", port=server.port) as again:
            await DirectClient(again.root).create(config_map("b", "default"), CONFIG_MAP)
            await story.until(lambda: len(story.changes) == 2)
            await relay.cut()
    assert story.changes == [(Signal.ADDED, "a"), (Signal.ADDED, "b")]
    assert story.snapshots == 1


class Unreliable:
    """A client whose lists and watches go wrong as told."""

    def __init__(self, inner: Client | None = None) -> None:
        self._inner = inner
        self.lists: list[ApiError] = []
        self.watches: list[ApiError | None] = []
        self._then: Callable[[], object] = lambda: None
        self.opened: list[str] = []
        self.enough = 0
        self.reached = asyncio.Event()

    def fail_watches(self, error: ApiError, times: int, then: Callable[[], object] = lambda: None) -> None:
        self.watches, self._then = [error] * times, then

    def _note(self, version: str) -> None:
        self.opened.append(version)
        if len(self.opened) == self.enough:
            self.reached.set()

    async def list(self, kind: Any, selection: Selection) -> Listed[Any]:
        if self.lists:
            raise self.lists.pop(0)
        return await self._inner.list(kind, selection) if self._inner else Listed((), "7")

    async def watch(self, kind: Any, selection: Selection, *, version: str = "") -> AsyncGenerator[Watched[Any], None]:
        self._note(version)
        if self.watches:
            error = self.watches.pop(0)
            if not self.watches:
                self._then()
            if error is not None:
                raise error
            return
        if self._inner:
            async for event in self._inner.watch(kind, selection, version=version):
                yield event
        else:
            await asyncio.get_running_loop().create_future()


async def told(client: Unreliable, clock: Hasty, watches: int, idle: float = 60.0) -> list[Any]:
    """What follows until so many watches have been opened."""
    as_client: Any = client
    news = follow(as_client, WIDGET, clock=clock, chance=SeededChance(1), idle=idle)
    found: list[Any] = []

    async def read() -> None:
        async for one in news:
            found.append(one)  # noqa: PERF401 - what came before the end counts

    client.enough = watches
    reading = asyncio.create_task(read())
    async with asyncio.timeout(100):
        await client.reached.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    return found


async def test_a_server_that_ends_watches_at_once_is_asked_less_and_less_often() -> None:
    client, clock = Unreliable(), Hasty()
    client.watches = [None] * 8
    await told(client, clock, 9)
    assert len(clock.pauses) == 8
    assert clock.pauses[-1] > 10 > 1 > clock.pauses[0] > 0.2
    assert max(clock.pauses) <= 30
    assert client.opened == ["7"] * 9


async def test_refusals_are_tried_again_from_the_same_place() -> None:
    client, clock = Unreliable(), Hasty()
    client.watches = [Forbidden("no"), ServiceUnavailable("away"), Forbidden("no")]
    snapshots = await told(client, clock, 4)
    assert client.opened == ["7"] * 4
    assert len(snapshots) == 1


async def test_a_past_that_is_forgotten_at_once_does_not_make_a_busy_loop() -> None:
    client, clock = Unreliable(), Hasty()
    client.watches = [Expired("too old")] * 5
    snapshots = await told(client, clock, 6)
    assert len(snapshots) == 6
    assert sum(clock.pauses) > 5


async def test_a_list_that_fails_is_tried_again() -> None:
    client, clock = Unreliable(), Hasty()
    client.lists = [ServiceUnavailable("away"), TooManyRequests("later", Details(retry_after=40))]
    snapshots = await told(client, clock, 1)
    assert len(snapshots) == 1
    assert clock.pauses[1] == 40


async def test_a_watch_that_falls_silent_is_opened_again() -> None:
    client, clock = Unreliable(), Hasty()
    await told(client, clock, 3, idle=0.01)
    assert client.opened == ["7"] * 3


async def test_success_makes_the_next_failure_cheap_again() -> None:
    class Lasting(Unreliable):
        async def watch(self, kind: Any, selection: Selection, *, version: str = "") -> AsyncGenerator[Any, None]:
            self._note(version)
            clock.time += 0.0 if len(self.opened) % 5 else 60.0
            for _ in self.watches:
                yield Watched(Signal.BOOKMARK, version, None)
            raise ServiceUnavailable("away")

    client, clock = Lasting(), Hasty()
    await told(client, clock, 13)
    assert clock.pauses[3] > 1.9
    assert clock.pauses[4] < 0.51
