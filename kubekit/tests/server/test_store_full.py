"""A disk that is full for a while: writes fail by name, nothing is lost, and it goes on when there is room again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from kubekit.clock import SystemClock
from kubekit.errors import InternalError
from kubekit.server.serve.server import Server
from kubekit.server.spaces.background.housekeeping import Housekeeping
from kubekit.server.store.changes import Change
from kubekit.server.store.store import Store
from kubekit.server.store.writer import GroupWriter
from tests.http_api import Api
from tests.server.things import World

BIG = "x" * 50_000


@contextmanager
def full(store: Store) -> Iterator[None]:
    """As long as this lasts, the database may not grow, which SQLite reports as it does a full disk."""
    assert isinstance(store._writer, GroupWriter)
    connection = store._writer._connection
    connection.execute("PRAGMA max_page_count=1")
    try:
        yield
    finally:
        connection.execute("PRAGMA max_page_count=1000000")


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[Store]:
    store = Store(path / "state.db")
    try:
        yield store
    finally:
        await store.close()


async def test_writes_fail_while_the_disk_is_full_and_succeed_when_it_has_room_again(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        world = World(store)
        await world.put("ns/a", "before")
        with full(store):
            with pytest.raises(InternalError, match="could not be stored: database or disk is full"):
                await world.put("ns/b", BIG)
            assert world.texts() == ["before"]
        await world.put("ns/c", "after")
    async with opened(tmp_path) as store:
        assert World(store).texts() == ["before", "after"]


async def test_everybody_who_waits_is_told(tmp_path: Path) -> None:
    """Also who waits for a version that another one was to replace."""
    async with opened(tmp_path) as store:
        world = World(store)
        with full(store):
            told = await asyncio.gather(*[world.put("ns/a", BIG) for _ in range(50)], return_exceptions=True)
        assert [type(one) for one in told] == [InternalError] * 50


async def test_what_failed_is_not_built_upon(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        world = World(store)
        kept = await world.put("ns/a", "kept")
        with full(store), pytest.raises(InternalError):
            await world.put("ns/a", BIG)
        latest = store.latest(world.bucket, "ns/a")
        assert latest is not None
        assert latest.revision == kept
        assert await world.put("ns/a", "next") > kept
        assert [event.change for event in store.events(world.bucket, "", 0)] == [Change.ADDED, Change.MODIFIED]


async def test_a_place_that_could_not_be_stored_is_stored_with_the_next_write(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        with full(store), pytest.raises(InternalError):
            await World(store).put("ns/a", BIG)
        await World(store).put("ns/b", "kept")
    async with opened(tmp_path) as store:
        assert World(store).texts() == ["kept"]


async def test_a_space_that_could_not_be_removed_is_removed_before_the_next_write(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        world, other = World(store), store.bucket("tenant", "test/things")
        await asyncio.gather(*[store.write(other, f"ns/{number}", Change.ADDED, b"{}") for number in range(5)])
        assert isinstance(store._writer, GroupWriter)
        store._writer._connection.execute("PRAGMA query_only=ON")
        with pytest.raises(InternalError):
            await store.delete_space("tenant")
        store._writer._connection.execute("PRAGMA query_only=OFF")
        await world.put("ns/a", "kept")
    async with opened(tmp_path) as store:
        assert store.spaces() == {"root"}
        assert store.count() == 1


async def test_a_server_is_ready_again_though_nobody_writes(server: Server, api: Api) -> None:
    big = {"metadata": {"name": "big"}, "data": {"text": BIG}}
    with full(server.store):
        answer = await api("POST", "/api/v1/namespaces/default/configmaps", big)
        assert (answer.status, answer.body["reason"]) == (500, "InternalError")
        assert (await api("GET", "/readyz")).status == 500
        assert (await api("GET", "/livez")).status == 200
    housekeeping = Housekeeping(server.store, SystemClock(), lambda: None)
    housekeeping.tidy()
    # By then the writer has come past the trial.
    await server.store.delete_space("nobody")
    assert (await api("GET", "/readyz")).status == 200


async def test_the_address_of_a_service_that_could_not_be_stored_is_free(server: Server, api: Api) -> None:
    service = {"metadata": {"name": "one"}, "spec": {"clusterIP": "10.96.7.7", "ports": [{"port": 80}]}}
    services = "/api/v1/namespaces/default/services"
    big = {"metadata": {"name": "one", "annotations": {"text": BIG}}, "spec": service["spec"]}
    with full(server.store):
        assert (await api("POST", services, big)).status == 500
    other = {"metadata": {"name": "two"}, "spec": service["spec"]}
    assert (await api("POST", services, other)).status == 201


async def test_what_could_not_be_stored_counts_towards_no_quota(server: Server, api: Api) -> None:
    quota = {"metadata": {"name": "one"}, "spec": {"hard": {"count/leases.coordination.k8s.io": "1"}}}
    assert (await api("POST", "/api/v1/namespaces/default/resourcequotas", quota)).status == 201
    await server.root.settled()
    leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    with full(server.store):
        assert (await api("POST", leases, {"metadata": {"name": "a", "annotations": {"text": BIG}}})).status == 500
    assert (await api("POST", leases, {"metadata": {"name": "b"}})).status == 201
    assert (await api("POST", leases, {"metadata": {"name": "c"}})).status == 403
