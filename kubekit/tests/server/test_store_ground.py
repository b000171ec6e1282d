"""What lies under a space behaves as if it had been stored."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from kubekit.errors import Expired
from kubekit.server.store.changes import Change
from kubekit.server.store.ground import Base, Ground
from kubekit.server.store.store import Store

SPACE, THINGS = "demo", "test/things"
BEGUN = tuple(f"b{number}" for number in range(8))
BASE = Base({THINGS: dict.fromkeys(BEGUN, b'{"uid":"%(uid)b","version":"%(revision)b"}')})

State = dict[str, bytes]


class World:
    """A space on a base, and what should be in it at every revision."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.begun = 0
        self.states: dict[int, State] = {}
        self.open()

    def open(self) -> None:
        self.store = Store(self.path)
        if self.begun:
            self.lay()

    def lay(self) -> None:
        self.store.lay(SPACE, Ground(BASE, self.begun, b"seed", {}))
        self.bucket = self.store.bucket(SPACE, THINGS)

    async def begin(self) -> None:
        await self.store.write(self.store.bucket("other", THINGS), "before", Change.ADDED, b"{}")
        self.begun = self.store.next_revision()
        await self.store.write(self.store.bucket(SPACE, "space"), "space", Change.ADDED, b"{}")
        self.lay()
        self.states[self.begun] = {row.key: row.value for row in self.store.page(self.bucket).rows}

    async def write(self, key: str, text: str | None) -> int:
        """Change or make an object; None deletes it."""
        before, revision = self.store.latest(self.bucket, key), self.store.next_revision()
        change = Change.DELETED if text is None else Change.MODIFIED if before else Change.ADDED
        value = b'{"text":"%b"}' % (text or "").encode()
        await self.store.write(self.bucket, key, change, value, previous=before)
        after = dict(self.now)
        after.pop(key, None)
        self.states[revision] = after if text is None else {**after, key: value}
        return revision

    @property
    def now(self) -> State:
        return self.states[max(self.states)]

    def at(self, revision: int) -> State:
        return self.states[max(known for known in self.states if known <= revision)]

    def check(self) -> None:
        store, bucket = self.store, self.bucket
        assert store.keys(bucket) == sorted(self.now)
        assert sorted(store.keys_in(SPACE, THINGS)) == sorted(self.now)
        for key in {*BEGUN, *self.now, "nobody"}:
            row = store.get(bucket, key)
            assert (row and row.value) == self.now.get(key)
            assert store.latest(bucket, key) == row
            assert store.has(SPACE, THINGS, key) is (key in self.now)
        for revision in (0, *range(max(self.begun, store.compacted), store.committed + 1)):
            wanted = self.at(revision) if revision else self.now
            for limit in (0, 1, 3):
                assert self.listed(revision, limit) == sorted(wanted.items())
            if revision:
                assert self.followed(revision) == self.now

    def listed(self, revision: int, limit: int) -> list[tuple[str, bytes]]:
        """A list in pages, of which each says how many are left."""
        found: list[tuple[str, bytes]] = []
        after = ""
        while True:
            page = self.store.page(self.bucket, after=after, limit=limit, revision=revision)
            found += [(row.key, row.value) for row in page.rows]
            if not page.more:
                return found
            if not revision:
                assert page.remaining == len(self.now) - len(found)
            after, revision = page.rows[-1].key, page.revision

    def followed(self, revision: int) -> State:
        """What a watch makes of the state at a revision."""
        state = dict(self.at(revision))
        for event in self.store.events(self.bucket, "", revision, limit=1000):
            assert event.previous_value == state.get(event.key)
            if event.change is Change.DELETED:
                del state[event.key]
            else:
                assert (event.change is Change.ADDED) is (event.key not in state)
                state[event.key] = event.value
        return state


@pytest.fixture(params=["file", "memory"])
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    made = World(tmp_path / "state.db" if request.param == "file" else None)
    await made.begin()
    return made


async def test_a_base_is_there_without_a_row(world: World) -> None:
    world.check()
    assert len(world.now) == len(BEGUN)
    assert len(set(world.now.values())) == len(BEGUN), "each has a uid of its own"
    assert all(b'"version":"%d"' % world.begun in value for value in world.now.values())
    assert world.store.newest_in(SPACE, THINGS) == world.begun
    assert world.store.count() == len(BEGUN) + 2


async def test_an_object_of_a_base_is_changed_and_deleted_like_any_other(world: World) -> None:
    changed = await world.write("b1", "new")
    world.check()
    assert world.store.newest_in(SPACE, THINGS) == changed
    await world.write("b1", None)
    world.check()
    await world.write("b1", "again")
    await world.write("b2", None)
    world.check()
    assert world.store.count() == len(BEGUN) + 2 - 1


async def test_whoever_watches_from_before_is_told_of_the_beginning(world: World) -> None:
    await world.write("b3", "new")
    told = world.store.events(world.bucket, "", world.begun - 1)
    assert [(event.key, event.change) for event in told] == [
        *((key, Change.ADDED) for key in BEGUN), ("b3", Change.MODIFIED),
    ]  # fmt: skip
    assert {event.revision for event in told[:-1]} == {world.begun}


async def test_what_is_not_durable_yet_counts_for_writers_alone(tmp_path: Path) -> None:
    world = World(tmp_path / "state.db")
    await world.begin()
    row = world.store.latest(world.bucket, "b1")
    assert row is not None
    done = world.store.write(world.bucket, "b1", Change.DELETED, row.value, previous=row)
    assert world.store.latest(world.bucket, "b1") is None
    assert world.store.get(world.bucket, "b1") == row
    again = world.store.write(world.bucket, "b1", Change.ADDED, b"{}")
    await done
    await again
    assert world.store.get(world.bucket, "b1") is not None
    assert [event.change for event in world.store.events(world.bucket, "", world.begun)] == [
        Change.DELETED, Change.ADDED,
    ]  # fmt: skip
    await world.store.close()


@pytest.mark.parametrize("seed", range(6))
async def test_any_history_is_as_if_all_had_been_stored(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    world = World(tmp_path / "state.db")
    await world.begin()
    for number in range(60):
        key = chance.choice([*BEGUN, "a", "b11", "c"])
        await world.write(key, chance.choice([None, f"v{number}", f"w{number}"]) if key in world.now else f"n{number}")
        if chance.random() < 0.1:
            await world.store.close()
            world.open()
        if chance.random() < 0.1:
            world.store.compact(chance.randint(world.begun, world.store.committed))
        if number % 10 == 9:
            world.check()
    await world.store.close()


async def test_a_removed_space_leaves_nothing_and_may_come_back(tmp_path: Path) -> None:
    world = World(tmp_path / "state.db")
    await world.begin()
    await world.write("b1", "new")
    await world.write("b2", None)
    await world.store.delete_space(SPACE)
    assert world.store.keys_in(SPACE, THINGS) == []
    await world.store.close()
    world.begun, world.states = 0, {}
    world.open()
    await world.begin()
    world.check()
    await world.store.close()


async def test_a_history_that_was_forgotten_is_too_old(world: World) -> None:
    for text in ("one", "two", "three"):
        await world.write("b1", text)
    world.store.compact(world.store.committed - 1)
    with pytest.raises(Expired):
        world.store.events(world.bucket, "", world.begun)
    world.check()
