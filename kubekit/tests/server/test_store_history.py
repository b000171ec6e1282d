"""The store's history: how far back it goes, and how it is forgotten."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from kubekit.errors import Expired
from kubekit.server.store.changes import Change
from kubekit.server.store.store import Store
from tests.server.things import World


async def test_a_watch_from_the_list_of_an_empty_store_sees_the_first_write(store: Store) -> None:
    world = World(store)
    seen = store.page(world.bucket).revision
    first = await world.put("ns/a")
    assert [event.revision for event in store.events(world.bucket, "", seen)] == [first]


async def test_pages_show_one_moment_whatever_happens_between_them(store: Store) -> None:
    world = World(store)
    for name in "abcd":
        await world.put(f"ns/{name}", name)
    first = store.page(world.bucket, limit=2)
    await world.put("ns/c", "changed")
    await world.delete("ns/d")
    await world.put("ns/e", "new")
    rest = store.page(world.bucket, after=first.rows[-1].key, revision=first.revision)
    assert [row.decode()["text"] for row in first.rows + rest.rows] == ["a", "b", "c", "d"]
    assert world.texts() == ["a", "b", "changed", "new"]


async def test_history_tells_what_happened_with_the_state_before(store: Store) -> None:
    world = World(store)
    start = await world.put("ns/a", "one")
    await world.put("ns/a", "two")
    await world.delete("ns/a")
    seen = [(event.change, (event.previous or {}).get("text")) for event in store.events(world.bucket, "", start - 1)]
    assert seen == [(Change.ADDED, None), (Change.MODIFIED, "one"), (Change.DELETED, "two")]


async def test_compaction_forgets_history_and_keeps_what_is_live(store: Store) -> None:
    world = World(store)
    first = await world.put("ns/a", "one")
    for index in range(10):
        await world.put("ns/a", str(index))
    await world.put("ns/b", "last")
    await world.put("ns/c", "newest")
    store.compact(store.committed - 1)
    assert world.texts() == ["9", "last", "newest"]
    with pytest.raises(Expired):
        store.events(world.bucket, "", first)
    with pytest.raises(Expired):
        store.page(world.bucket, revision=first)


async def _with_much_history(path: Path) -> Store:
    """300 objects in 150 versions each."""
    world = World(store := Store(path))
    for _ in range(150):
        await asyncio.gather(*[world.put(f"ns/{index:03}", "x") for index in range(300)])
    return store


async def _write_between(store: Store) -> None:
    """So often that all is forgotten in the end: after each write comes a step of that."""
    for index in range(50):
        await World(store).put(f"ns/between-{index}")


async def test_a_write_does_not_wait_until_much_history_is_forgotten(tmp_path: Path) -> None:
    store = await _with_much_history(tmp_path / "state.db")
    store.compact(store.committed)
    await World(store).put("ns/quick")
    assert _stored_versions(tmp_path) > 2000
    await _write_between(store)
    assert _stored_versions(tmp_path) == 301 + 1 + 50
    await store.close()


async def test_what_is_forgotten_when_the_store_is_closed_is_gone_on_with_later(tmp_path: Path) -> None:
    store = await _with_much_history(tmp_path / "state.db")
    store.compact(store.committed)
    await store.close()
    assert _stored_versions(tmp_path) > 2000
    store = Store(tmp_path / "state.db")
    assert store.compacted < store.committed - 1
    store.compact(store.committed)
    await _write_between(store)
    assert _stored_versions(tmp_path) == 301 + 50
    await store.close()


def _stored_versions(directory: Path) -> int:
    with sqlite3.connect(directory / "state.db") as connection:
        (count,) = connection.execute("SELECT count(*) FROM revisions").fetchone()
    connection.close()
    return int(count)


async def test_a_file_from_before_there_were_indexes_gets_them(tmp_path: Path) -> None:
    world = World(store := Store(tmp_path / "state.db"))
    first = await world.put("ns/a", "one")
    await world.put("ns/a", "two")
    await store.close()
    with sqlite3.connect(tmp_path / "state.db") as connection:
        connection.execute("DROP INDEX revisions_by_bucket")
        connection.execute("DROP INDEX revisions_that_replace")
    connection.close()
    world = World(store := Store(tmp_path / "state.db"))
    await world.put("ns/a", "three")
    assert [event.object["text"] for event in store.events(world.bucket, "", first)] == ["two", "three"]
    store.compact(store.committed)
    await store.close()
    assert _stored_versions(tmp_path) == 2


async def test_the_file_grows_with_live_data_not_with_history(tmp_path: Path) -> None:
    store = Store(tmp_path / "state.db")
    world = World(store)
    for _ in range(10):
        for index in range(200):
            await world.put(f"ns/{index % 5}", "x" * 4000)
        store.compact(store.committed - 1)
    await store.close()
    assert (tmp_path / "state.db").stat().st_size < 4_000_000
