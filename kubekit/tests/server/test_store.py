"""The store: versions, snapshots, and what happens to damaged files."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from pathlib import Path

import pytest

from kubekit.errors import DataDamaged, DataInUse, DataVersion, StorageError
from kubekit.server.store import backup, inspection
from kubekit.server.store.changes import Change
from kubekit.server.store.events import Event
from kubekit.server.store.rows import Row
from kubekit.server.store.store import Store
from tests.server.things import World


async def test_a_write_is_read_back_at_its_revision(store: Store) -> None:
    world = World(store)
    revision = await world.put("ns/a", "one")
    row = store.get(world.bucket, "ns/a")
    assert row == Row("ns/a", revision, b'{"metadata":{"resourceVersion":"%d"},"text":"one"}' % revision)


async def test_revisions_only_grow(store: Store) -> None:
    world = World(store)
    revisions = [await world.put("ns/a", str(index)) for index in range(5)]
    assert revisions == sorted(set(revisions))


async def test_a_staged_write_is_latest_before_it_is_readable(store: Store) -> None:
    world = World(store)
    pending = asyncio.ensure_future(world.put("ns/a", "new"))
    await asyncio.sleep(0)
    assert store.latest(world.bucket, "ns/a") is not None
    await pending
    assert store.get(world.bucket, "ns/a") is not None


async def test_nobody_reads_what_was_not_told_yet(store: Store) -> None:
    """Not even when it is on disk: a kind that is established is offered by then, and a right holds."""
    world = World(store)
    told: list[int] = []
    store.listen(lambda event: told.append(event.revision))
    first = await world.put("ns/a", "old")
    pending = asyncio.ensure_future(world.put("ns/a", "new"))
    for _ in range(2):
        await asyncio.sleep(0)
    # The thread that writes has all the time it needs; the event loop, which would be told, has none.
    time.sleep(0.1)  # noqa: ASYNC251 - on purpose
    page = store.page(world.bucket)
    assert ([row.revision for row in page.rows], page.revision) == (told[-1:], told[-1])
    assert [event.revision for event in store.events(world.bucket, "", first)] == told[1:]
    second = await pending
    assert [row.revision for row in store.page(world.bucket).rows] == [second]
    assert [event.revision for event in store.events(world.bucket, "", first)] == told[1:] == [second]


async def test_a_group_of_any_size_is_stored_whole(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    store = Store(path)
    keys = [f"ns/{index:04}" for index in range(700)]
    await asyncio.gather(*(World(store).put(key, key) for key in keys))
    await store.close()
    store = Store(path)
    assert World(store).texts() == keys
    await store.close()


async def test_of_the_changes_of_one_object_in_one_group_the_last_counts(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    world = World(store := Store(path))
    writes = [
        asyncio.ensure_future(write)
        for write in (
            world.put("ns/changed", "old", owners=("uid-1",)),
            world.put("ns/changed", "new", owners=("uid-2",)),
            world.put("ns/replaced", "old", owners=("uid-1",)),
            world.delete("ns/replaced"),
            world.put("ns/replaced", "new"),
            world.put("ns/deleted", owners=("uid-1",)),
            world.delete("ns/deleted"),
        )
    ]
    await asyncio.gather(*writes)
    await store.close()
    world = World(store := Store(path))
    assert world.texts() == ["new", "new"]
    assert store.dependents("uid-1") == []
    assert store.dependents("uid-2") == [(world.bucket, "ns/changed")]
    await store.close()


async def test_keys_are_listed_in_the_order_of_their_bytes(store: Store) -> None:
    world = World(store)
    for key in ("b/x", "a/y", "a-b/z"):
        await world.put(key, key)
    assert world.texts() == ["a-b/z", "a/y", "b/x"]


async def test_a_prefix_lists_one_namespace_only(store: Store) -> None:
    world = World(store)
    for key in ("a/1", "a/2", "ab/3"):
        await world.put(key, key)
    assert world.texts(prefix="a/") == ["a/1", "a/2"]


async def test_a_page_counts_what_remains(store: Store) -> None:
    world = World(store)
    for index in range(5):
        await world.put(f"ns/{index}")
    page = store.page(world.bucket, limit=2)
    assert (page.more, page.remaining) == (True, 3)


async def test_an_object_is_found_by_its_owner_until_it_is_gone(store: Store) -> None:
    world = World(store)
    await world.put("ns/child", owners=("uid-1", "uid-2"))
    assert store.dependents("uid-1") == [(world.bucket, "ns/child")]
    await world.put("ns/child", owners=("uid-2",))
    assert store.dependents("uid-1") == []
    await world.delete("ns/child")
    assert store.dependents("uid-2") == []


async def test_listeners_see_durable_changes_in_order(store: Store) -> None:
    world, seen = World(store), list[int]()

    def listener(event: Event) -> None:
        assert store.get(event.bucket, event.key) is not None
        seen.append(event.revision)

    store.listen(listener)
    await asyncio.gather(*(world.put(f"ns/{index}") for index in range(50)))
    assert seen == sorted(seen)
    assert len(seen) == 50


async def test_a_removed_space_leaves_nothing(store: Store) -> None:
    other = store.bucket("tenant", "test/things")
    await store.write(other, "ns/x", Change.ADDED, b'{"metadata":{}}')
    store.delete_space("tenant")
    assert store.spaces() == set()
    assert store.page(store.bucket("tenant", "test/things")).rows == []


async def test_a_closed_store_opens_where_it_was(tmp_path: Path) -> None:
    store = Store(tmp_path / "state.db")
    revision = await World(store).put("ns/a", "kept")
    await store.close()
    again = Store(tmp_path / "state.db")
    assert World(again).texts() == ["kept"]
    assert again.next_revision() == revision + 1
    await again.close()


async def test_a_file_with_pages_of_another_size_is_used_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA page_size=4096")
        connection.execute("VACUUM")
    connection.close()
    store = Store(path)
    world = World(store)
    for index in range(20):
        await world.put(f"ns/{index:02}", "x" * 5000)
    await store.close()
    again = World(Store(path))
    assert len(again.texts()) == 20
    inspection.check_whole(path)
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA page_size").fetchone() == (4096,)
    connection.close()
    await again.store.close()


async def test_a_file_that_another_program_holds_is_not_called_damaged(tmp_path: Path) -> None:
    await Store(tmp_path / "state.db").close()
    with sqlite3.connect(tmp_path / "state.db", isolation_level=None) as connection:
        connection.execute("DROP INDEX revisions_by_bucket")
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(
            StorageError, match=r"state\.db: cannot be opened for writing: database is locked"
        ) as refused:
            Store(tmp_path / "state.db")
        connection.execute("ROLLBACK")
    connection.close()
    assert not isinstance(refused.value, DataDamaged)
    await Store(tmp_path / "state.db").close()


async def test_a_file_that_is_no_database_is_reported_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(b"not a database at all" * 500)
    with pytest.raises(DataDamaged, match=r"state\.db"):
        Store(path)
    assert path.read_bytes() == b"not a database at all" * 500


async def test_a_foreign_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE other (x)")
    connection.close()
    with pytest.raises(DataDamaged, match="not a database of this server"):
        Store(path)


async def test_a_newer_format_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    await Store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version=99")
    connection.close()
    with pytest.raises(DataVersion, match="format 99"):
        Store(path)


async def test_a_flipped_bit_in_an_object_is_noticed_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    store = Store(path)
    await World(store).put("ns/a", "precious" * 100)
    await store.close()
    path.write_bytes(path.read_bytes().replace(b"preciousprecious", b"preciousprecioux", 1))
    store = Store(path)
    with pytest.raises(DataDamaged, match="revision 2"):
        store.get(store.bucket("root", "test/things"), "ns/a")
    await store.close()


async def test_a_lost_write_ahead_log_is_noticed_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    store = Store(path)
    for index in range(20):
        await World(store).put(f"ns/{index}", "x")
    # A copy without the log is what a careless backup or a damaged disk leaves behind.
    copied = tmp_path / "copy" / "state.db"
    copied.parent.mkdir()
    copied.write_bytes(path.read_bytes())
    copied.with_suffix(".revision").write_bytes(path.with_suffix(".revision").read_bytes())
    await store.close()
    with pytest.raises(DataDamaged, match="revision 21 was acknowledged"):
        Store(copied)


async def test_a_backup_of_a_running_store_restores_to_the_same_state(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "pki").mkdir(parents=True)
    (data / "pki" / "ca.key").write_text("secret")
    store = Store(data / "state.db")
    for index in range(50):
        await World(store).put(f"ns/{index}", str(index))
    made = backup.make(data, tmp_path / "backup", "2026-01-01T00:00:00Z")
    assert (made.objects, made.revision) == (50, store.committed)
    await World(store).put("ns/later", "not in the backup")
    await store.close()
    backup.restore(tmp_path / "backup", tmp_path / "restored")
    again = Store(tmp_path / "restored" / "state.db")
    assert len(World(again).texts()) == 50
    assert (tmp_path / "restored" / "pki" / "ca.key").read_text() == "secret"
    assert (tmp_path / "backup").stat().st_mode & 0o777 == 0o600
    await again.close()


async def test_a_cut_backup_is_refused_and_restores_nothing(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "pki").mkdir(parents=True)
    await Store(data / "state.db").close()
    backup.make(data, tmp_path / "backup", "2026-01-01T00:00:00Z")
    whole = (tmp_path / "backup").read_bytes()
    (tmp_path / "backup").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataDamaged):
        backup.restore(tmp_path / "backup", tmp_path / "restored")
    assert not (tmp_path / "restored").exists()


async def test_a_restore_never_overwrites(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "pki").mkdir(parents=True)
    await Store(data / "state.db").close()
    backup.make(data, tmp_path / "backup", "2026-01-01T00:00:00Z")
    with pytest.raises(DataInUse, match="not empty"):
        backup.restore(tmp_path / "backup", data)


async def test_a_listener_that_fails_keeps_nobody_waiting(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: Event) -> None:
        raise KeyError("type")

    store, seen = Store(None), list[str]()
    store.listen(fail)
    store.listen(lambda event: seen.append(event.key))
    await store.write(store.bucket("root", "/configmaps"), "a", Change.ADDED, b"{}")
    await store.close()
    assert seen == ["a"]
    assert "a listener failed on revision" in caplog.text
