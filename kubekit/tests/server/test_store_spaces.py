"""The store and its spaces: what comes together, what goes together, what was not finished."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from kubekit.errors import InternalError, ServiceUnavailable
from kubekit.server.store.changes import Change
from kubekit.server.store.events import Event
from kubekit.server.store.store import Store


async def put(store: Store, space: str, key: str, text: str, owners: tuple[str, ...] = ()) -> None:
    bucket = store.bucket(space, "test/things")
    before = store.latest(bucket, key)
    change = Change.MODIFIED if before else Change.ADDED
    await store.write(bucket, key, change, text.encode(), previous=before, owners=owners)


async def drop(store: Store, space: str, key: str) -> None:
    bucket = store.bucket(space, "test/things")
    before = store.latest(bucket, key)
    assert before is not None
    await store.write(bucket, key, Change.DELETED, before.value, previous=before)


async def test_what_is_added_together_has_successive_revisions_and_is_told_in_order(store: Store) -> None:
    seen: list[Event] = []
    store.listen(seen.append)
    first, bucket = store.next_revision(), store.bucket("a", "test/things")
    await store.add_all([(bucket, name, b"{}") for name in "xyz"])
    assert [(event.key, event.revision) for event in seen] == [("x", first), ("y", first + 1), ("z", first + 2)]
    assert [row.key for row in store.page(bucket).rows] == ["x", "y", "z"]


async def test_what_is_added_together_is_refused_together(tmp_path: Path) -> None:
    store = Store(tmp_path / "state.db")
    await put(store, "a", "x", "{}")
    # The bucket is one the database will not take: its number is in use.
    bucket = store.bucket("c", "test/things")
    store._buckets._new[bucket] = (store.bucket("a", "test/things"), "c", "test/things")
    with pytest.raises(InternalError):
        await store.add_all([(bucket, name, b"{}") for name in "xyz"])
    await store.close()
    again = Store(tmp_path / "state.db")
    assert again.spaces() == {"a"}
    assert again.count() == 1
    await again.close()


async def test_a_bucket_nothing_was_written_to_is_not_stored(tmp_path: Path) -> None:
    store = Store(tmp_path / "state.db")
    store.bucket("a", "test/things")
    await store.close()
    again = Store(tmp_path / "state.db")
    assert again.spaces() == set()
    await again.close()


async def test_nothing_can_be_written_to_a_removed_space(store: Store) -> None:
    await put(store, "a", "x", "{}")
    bucket = store.bucket("a", "test/things")
    await store.delete_space("a")
    with pytest.raises(ServiceUnavailable, match="gone"):
        store.write(bucket, "y", Change.ADDED, b"{}")
    assert store.get(bucket, "x") is None


async def test_a_write_is_finished_before_the_space_it_is_in_goes(store: Store) -> None:
    writing = asyncio.ensure_future(put(store, "a", "x", "{}"))
    await asyncio.sleep(0)
    await store.delete_space("a")
    await writing
    assert store.count() == 0
    assert store.page(store.bucket("a", "test/things")).rows == []


async def test_other_spaces_keep_what_they_have(store: Store) -> None:
    for space in "ab":
        for text in ("1", "2"):
            await put(store, space, "x", text, owners=("owner",))
    await store.delete_space("a")
    bucket = store.bucket("b", "test/things")
    assert [row.value for row in store.page(bucket).rows] == [b"2"]
    assert [event.value for event in store.events(bucket, "", 0)] == [b"1", b"2"]
    assert store.dependents("owner") == [(bucket, "x")]


_ENDING = b'{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}}'


async def end(store: Store, space: str, key: str) -> None:
    """Ask for the deletion of an object, which somebody holds up."""
    await put(store, space, key, "{}")
    bucket = store.bucket(space, "test/things")
    before = store.latest(bucket, key)
    await store.write(bucket, key, Change.MODIFIED, _ENDING, previous=before, is_ending=True)


def unfinished(store: Store) -> set[tuple[str, str]]:
    return {(store.names_of(bucket)[0], key) for bucket, key in store.unfinished()}


async def test_what_was_not_finished_is_found_again(store: Store) -> None:
    owner = '{"metadata":{"uid":"u-1"}}'
    await put(store, "a", "owner", owner)
    await put(store, "a", "left-alone", "{}", owners=("u-2",))
    await put(store, "a", "bereaved", "{}", owners=("u-1",))
    await end(store, "b", "ending")
    await drop(store, "a", "owner")
    assert unfinished(store) == {("a", "bereaved"), ("b", "ending")}


async def test_what_has_ended_is_not_found_again(store: Store) -> None:
    await end(store, "a", "ended")
    await drop(store, "a", "ended")
    await put(store, "a", "ended", "{}")
    await end(store, "b", "gone with its space")
    await store.delete_space("b")
    assert unfinished(store) == set()


async def test_an_object_that_ends_at_once_leaves_no_mark(tmp_path: Path) -> None:
    """Both changes come into one group, as the first waits for the second."""
    store = Store(tmp_path / "state.db")
    bucket = store.bucket("a", "test/things")
    first = store.write(bucket, "x", Change.ADDED, b"{}")
    second = store.write(bucket, "x", Change.MODIFIED, _ENDING, previous=store.latest(bucket, "x"), is_ending=True)
    third = store.write(bucket, "x", Change.DELETED, _ENDING, previous=store.latest(bucket, "x"))
    await asyncio.gather(first, second, third)
    assert unfinished(store) == set()
    await store.close()


async def test_what_was_not_finished_is_found_in_a_file_of_the_first_format(tmp_path: Path) -> None:
    store = Store(tmp_path / "state.db")
    await end(store, "a", "ending")
    await put(store, "a", "staying", "{}")
    await store.close()
    with sqlite3.connect(tmp_path / "state.db") as connection:
        connection.executescript("DROP TABLE ending; DROP TABLE replaced; PRAGMA user_version=1")
    connection.close()
    again = Store(tmp_path / "state.db")
    assert unfinished(again) == {("a", "ending")}
    await again.close()
