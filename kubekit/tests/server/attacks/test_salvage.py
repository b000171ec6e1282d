"""What can be read of damaged data is brought out into a directory that starts, and the rest is named."""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
from pathlib import Path

import msgspec
import pytest

from kubekit.clock import SystemClock
from kubekit.errors import DataInUse, StorageError
from kubekit.model.resource import Address
from kubekit.server.client import DirectClient
from kubekit.server.serve.server import Server
from kubekit.server.spaces.salvage import Loss, Report, salvage
from kubekit.server.store import inspection
from tests.server.attacks.damage import DATABASE, KEYS, RECORDS, Damage, World, full_disk, make, snapshot, texts_of

CLUSTER_ROLES = Address("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", False)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return asyncio.run(make(tmp_path_factory.mktemp("world")))


def named(losses: list[Loss]) -> set[tuple[str, str]]:
    """Space and name of the ConfigMaps among them."""
    return {(one.space, one.key.removeprefix("default/")) for one in losses if one.resource == "/configmaps"}


def said(report: Report) -> str:
    return msgspec.json.encode(report).decode()


@pytest.mark.parametrize("form", ["killed", "stopped"])
async def test_without_damage_everything_comes_out_and_nothing_is_lost(world: World, tmp_path: Path, form: str) -> None:
    data = world.copy(form, tmp_path)
    before = snapshot(data)
    report = salvage(data, tmp_path / "new", SystemClock())
    assert report.is_complete, said(report)
    assert not report.unreadable_pages
    async with Server(tmp_path / "new") as server:
        assert await texts_of(server) == world.texts
        assert server.store.committed >= report.revision
        assert server.pki.server_authority == (data / "pki" / "ca.crt").read_bytes()
    assert snapshot(data) == before


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("form", "file", "damage"), [*DATABASE, *RECORDS, *KEYS])
async def test_what_is_readable_comes_out_and_the_rest_is_named(
    world: World, tmp_path: Path, form: str, file: str, damage: Damage, seed: int
) -> None:
    data = world.copy(form, tmp_path)
    damage(data / file, random.Random(f"{form} {file} {damage.__name__} {seed}"))
    before = snapshot(data)
    readable = whole_texts(world, form, data)
    try:
        report = salvage(data, tmp_path / "new", SystemClock())
    except StorageError:
        assert not readable
        return
    finally:
        assert snapshot(data) == before
    async with Server(tmp_path / "new") as server:
        found = await texts_of(server)
    older, doubtful, lost = named(report.older), named(report.doubtful), named(report.lost)
    for place, text in world.texts.items():
        if place not in older and found.get(place) != text:
            assert place in lost or report.missing_revisions or report.unplaced, (place, said(report))
    assert found.keys() - world.texts.keys() <= doubtful | older, said(report)
    if not report.unplaced:
        assert not {place for place in readable if found.get(place) != world.texts[place]}, said(report)


def whole_texts(world: World, form: str, data: Path) -> set[tuple[str, str]]:
    """The ConfigMaps of which every byte is where it was, with what stands before them in their row."""
    with inspection.viewing(getattr(world, form) / "state.db") as connection:
        rows = connection.execute(
            "SELECT b.space, o.key, r.value FROM objects o JOIN revisions r USING (revision)"
            " JOIN buckets b ON b.id = o.bucket WHERE b.resource = '/configmaps' AND length(r.value) < 8000"
        ).fetchall()
    whole = set()
    for name in ("state.db", "state.db-wal"):
        original, path = getattr(world, form) / name, data / name
        before = original.read_bytes() if original.exists() else b""
        after = path.read_bytes() if path.exists() else b""
        for space, key, value in rows:
            at = before.rfind(value)
            if at >= 0 and before[at - 64 : at + len(value)] == after[at - 64 : at + len(value)]:
                whole.add((space, key.removeprefix("default/")))
    return whole & world.texts.keys()


async def test_a_page_that_is_lost_costs_no_more_than_what_is_in_it(world: World, tmp_path: Path) -> None:
    """Whichever it is: also the first, and those by which SQLite finds the others."""
    pages = (world.stopped / "state.db").stat().st_size // 16384
    worst = 0
    for number in (*range(14), *range(14, pages, 6)):
        data = world.copy("stopped", tmp_path / str(number))
        content = bytearray((data / "state.db").read_bytes())
        content[number * 16384 : (number + 1) * 16384] = bytes(16384)
        (data / "state.db").write_bytes(content)
        report = salvage(data, tmp_path / str(number) / "new", SystemClock())
        gone = len(named(report.lost)) + len(named(report.older))
        assert report.unplaced == 0, said(report)
        worst = max(worst, gone)
    assert worst <= 16


async def test_data_in_use_is_left_alone(tmp_path: Path) -> None:
    async with Server(tmp_path / "data"):
        with pytest.raises(DataInUse):
            salvage(tmp_path / "data", tmp_path / "new", SystemClock())


async def test_nothing_is_overwritten(world: World, tmp_path: Path) -> None:
    with pytest.raises(DataInUse, match="is not empty"):
        salvage(world.stopped, world.killed, SystemClock())


def test_a_full_disk_is_named_and_leaves_nothing_behind(world: World, tmp_path: Path) -> None:
    with full_disk(), pytest.raises(StorageError, match=r"new.*: "):
        salvage(world.stopped, tmp_path / "new", SystemClock())
    assert list(tmp_path.iterdir()) == []


async def test_keys_that_are_lost_are_made_anew_and_named(world: World, tmp_path: Path) -> None:
    data = world.copy("stopped", tmp_path)
    shutil.rmtree(data / "pki")
    report = salvage(data, tmp_path / "new", SystemClock())
    assert [remark.partition(":")[0] for remark in report.remarks] == ["pki/ca.key", "pki/sa.key"]
    async with Server(tmp_path / "new") as server:
        assert await texts_of(server) == world.texts


async def test_an_api_of_which_nothing_is_known_gets_new_keys_and_keeps_its_objects(
    world: World, tmp_path: Path
) -> None:
    data = world.copy("stopped", tmp_path)
    connection = sqlite3.connect(data / "state.db")
    for table in ("revisions", "objects"):
        connection.execute(
            f"DELETE FROM {table} WHERE bucket IN (SELECT id FROM buckets WHERE resource IN ('space', 'base'))"
        )
    connection.commit()
    connection.close()
    report = salvage(data, tmp_path / "new", SystemClock())
    assert [remark.partition(":")[0] for remark in report.remarks] == ["root", "tenant"]
    async with Server(tmp_path / "new") as server:
        assert await texts_of(server) == world.texts
        assert server.admin_kubeconfig("tenant")


async def test_an_api_whose_beginnings_are_lost_begins_anew_and_keeps_its_objects(world: World, tmp_path: Path) -> None:
    data = world.copy("stopped", tmp_path)
    content = (data / "state.db").read_bytes()
    connection = sqlite3.connect(data / "state.db")
    connection.execute(
        "UPDATE revisions SET value = zeroblob(9) WHERE bucket IN (SELECT id FROM buckets WHERE resource = 'base')"
    )
    connection.commit()
    connection.close()
    assert (data / "state.db").read_bytes() != content
    report = salvage(data, tmp_path / "new", SystemClock())
    assert [remark.partition(":")[2] for remark in report.remarks] == [
        " what this API began with is lost; what every API has is made anew"
    ] * 2
    async with Server(tmp_path / "new") as server:
        assert await texts_of(server) == world.texts
        await server.spaces["tenant"].settled()
        roles = await DirectClient(server.spaces["tenant"]).list(CLUSTER_ROLES)
        assert "cluster-admin" in {item["metadata"]["name"] for item in roles.items}
