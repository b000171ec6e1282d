"""Who is told of a change, in which order, and in how many pieces."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kubekit.server.pipeline.watches import Hub, News, Watcher
from kubekit.server.store.changes import Change
from kubekit.server.store.store import Store


class Audience:
    """Watchers of one resource, each with a number, and what they were handed."""

    def __init__(self, store: Store) -> None:
        self.store, self.hub, self.bucket = store, Hub(store), store.bucket("root", "test/things")
        self.told: list[tuple[int, list[str]]] = []
        self._waiting: list[asyncio.Future[object]] = []

    async def seat(self, number: int, prefix: str = "") -> None:
        def note(news: News) -> bool:
            self.told.append((number, [event.key for event in news.events]))
            return True

        watcher = Watcher(self.store, self.bucket, prefix, self.store.committed)
        watcher.push = note
        self.hub.add(watcher)
        self._waiting.append(asyncio.ensure_future(watcher.next(60)))
        await asyncio.sleep(0)

    async def leave(self) -> None:
        self.hub.end()
        await asyncio.gather(*self._waiting)


@pytest.fixture
async def audience(tmp_path: Path) -> AsyncIterator[Audience]:
    store = Store(tmp_path / "state.db")
    made = Audience(store)
    yield made
    await made.leave()
    await store.close()


async def test_watchers_are_told_in_the_order_they_came(audience: Audience) -> None:
    for number in range(50):
        await audience.seat(number)
    await audience.store.write(audience.bucket, "ns/a", Change.ADDED, b"{}")
    assert audience.told == [(number, ["ns/a"]) for number in range(50)]


async def test_what_isstored_together_is_handed_over_in_one_piece(audience: Audience) -> None:
    await audience.seat(1)
    await audience.seat(2, prefix="b/")
    keys = ["a/1", "b/1", "a/2", "b/2"]
    await audience.store.add_all([(audience.bucket, key, b"{}") for key in keys])
    assert audience.told == [(1, keys), (2, ["b/1", "b/2"])]


async def test_a_change_elsewhere_is_nothing_to_hear_of(audience: Audience) -> None:
    await audience.seat(1, prefix="b/")
    await audience.store.write(audience.bucket, "a/1", Change.ADDED, b"{}")
    await audience.store.write(audience.store.bucket("root", "test/others"), "b/1", Change.ADDED, b"{}")
    assert audience.told == []
