"""Who is told of a change, and in which order."""

from __future__ import annotations

import asyncio

from butler.apiserver.storage.changes import Change
from butler.apiserver.storage.store import Event, Store
from butler.apiserver.watching import Hub, Watcher


async def test_watchers_are_told_in_the_order_they_came() -> None:
    store = Store(None)
    hub, bucket, told = Hub(store), store.bucket("root", "test/things"), list[int]()

    def watcher(number: int) -> Watcher:
        def note(_: Event) -> bool:
            told.append(number)
            return True

        made = Watcher(store, bucket, "", store.committed)
        made.push = note
        hub.add(made)
        return made

    waiting = [asyncio.ensure_future(watcher(number).next(60)) for number in range(50)]
    await asyncio.sleep(0)
    await store.write(bucket, "ns/a", Change.ADDED, b"{}")
    assert told == list(range(50))
    hub.end()
    await asyncio.gather(*waiting)
    await store.close()
