"""Isolated APIs by the thousand: what one costs, how it comes, rests, goes, and what a crash leaves of it."""

from __future__ import annotations

import asyncio
import base64
import random
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from kubekit.client.protocol import Selection
from kubekit.clock import SystemChance
from kubekit.errors import NotFound, ServiceUnavailable
from kubekit.model.resource import Address
from kubekit.server.access.pki import Pki
from kubekit.server.client import DirectClient
from kubekit.server.pipeline.watches import Hub
from kubekit.server.serve.server import Server
from kubekit.server.spaces.kubernetes_service import Location
from kubekit.server.spaces.spaces import Spaces
from kubekit.server.store.store import Store
from tests.http_api import Api, admin_context
from tests.server.auth.world import TurnedClock
from tests.server.custom import USERS

CONFIG_MAPS = Address("", "v1", "ConfigMap", "configmaps", True)
NAMESPACES = Address("", "v1", "Namespace", "namespaces", False)
ACCOUNTS = Address("", "v1", "ServiceAccount", "serviceaccounts", True)
CRDS = Address("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False)


def config_map(name: str, **meta: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "default", **meta}}


def owned(name: str, owner: dict[str, Any]) -> dict[str, Any]:
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"]}
    return config_map(name, ownerReferences=[{**reference, "uid": owner["metadata"]["uid"]}])


async def tenant_api(server: Server, name: str) -> Api:
    """The API of a tenant as its own administrator; the caller closes its session."""
    config = yaml.safe_load(server.admin_kubeconfig(name))
    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=admin_context(config)))
    return Api(session, config["clusters"][0]["cluster"]["server"])


def rows_of(data: Path, query: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(data / "state.db")
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def files_in(directory: Path) -> set[str]:
    return {path.stem for path in directory.rglob("*")}


async def test_a_space_has_no_task_and_no_listener_of_its_own(server: Server) -> None:
    tasks, listeners = len(asyncio.all_tasks()), len(server.store._listeners)
    for index in range(5):
        await (await server.add_space(f"t{index}")).settled()
    assert len(asyncio.all_tasks()) == tasks
    assert len(server.store._listeners) == listeners


async def test_a_write_is_told_to_its_own_space_only(server: Server) -> None:
    one, other = await server.add_space("one"), await server.add_space("other")
    seen: list[str] = []
    one.see = lambda event, resource: seen.append(f"one {resource}")  # type: ignore[method-assign]
    other.see = lambda event, resource: seen.append(f"other {resource}")  # type: ignore[method-assign]
    await DirectClient(one).create(config_map("a"), CONFIG_MAPS)
    assert seen == ["one /configmaps"]


async def test_a_space_is_one_transaction(server: Server) -> None:
    commits: list[int] = []
    noted = server.store._writer._high_water  # type: ignore[attr-defined]
    noted.note = commits.append
    await server.add_space("demo")
    assert len(commits) == 1


async def test_a_stored_space_sleeps_until_somebody_asks_for_it(tmp_path: Path) -> None:
    async with Server(tmp_path) as server:
        for name in ("a", "b"):
            await server.add_space(name)
    async with Server(tmp_path) as again:
        assert again.spaces.awake == {"root"}
        assert set(again.spaces) == {"root", "a", "b"}
        tenant = await tenant_api(again, "a")
        assert (await tenant("GET", "/api/v1/namespaces/default")).status == 200
        assert again.spaces.awake == {"root", "a"}
        await tenant.session.close()


async def test_spaces_without_kinds_of_their_own_share_their_documents(server: Server) -> None:
    one, other = await server.add_space("one"), await server.add_space("other")
    assert one.discovery is other.discovery
    await DirectClient(one).create(USERS, CRDS)
    await one.settled()
    assert one.discovery is not other.discovery
    assert one.discovery.document("/apis/example.com") is not None
    assert other.discovery.document("/apis/example.com") is None


async def test_rights_are_looked_up_in_the_newest_roles_whenever_they_are_first_asked_for(server: Server) -> None:
    tenant_space = await server.add_space("demo")
    assert not tenant_space.rbac.is_loaded
    await DirectClient(tenant_space).create(config_map("a"), CONFIG_MAPS)
    assert not tenant_space.rbac.is_loaded
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=admin_context(yaml.safe_load(server.admin_kubeconfig("demo"))))
    ) as session:
        nobody = Api(session, f"{server.url}/clusters/demo", {"Impersonate-User": "nobody"})
        assert (await nobody("GET", "/version")).status == 200
        assert (await nobody("GET", "/api/v1/nodes")).status == 403
    assert tenant_space.rbac.is_loaded


async def test_asking_twice_at_once_makes_one(server: Server) -> None:
    made = await asyncio.gather(*(server.add_space("demo") for _ in range(5)))
    assert len({id(space) for space in made}) == 1
    assert len(server.store.keys(server.store.bucket("demo", "/namespaces"))) == 4


async def test_a_space_nobody_waits_for_any_more_is_made_all_the_same(server: Server) -> None:
    await server.add_space("first")
    adding = asyncio.ensure_future(server.add_space("demo"))
    await asyncio.sleep(0)
    assert server.store.latest(server.store.bucket("demo", "space"), "space") is not None
    adding.cancel()
    await DirectClient(server.root).create(config_map("a"), CONFIG_MAPS)
    assert (await DirectClient(server.spaces["demo"]).get(NAMESPACES, "default"))["status"] == {"phase": "Active"}


async def test_a_removed_space_leaves_nothing_in_the_database(tmp_path: Path) -> None:
    async with Server(tmp_path) as server:
        before = {table: rows_of(tmp_path, f"SELECT count(*) FROM {table}") for table in ("objects", "owners")}
        client = DirectClient(await server.add_space("demo"))
        owner = await client.create(config_map("owner"), CONFIG_MAPS)
        await client.create(owned("owned", owner), CONFIG_MAPS)
        await client.patch(CONFIG_MAPS, "owner", {"data": {"a": "b"}}, "default")
        await client.create(config_map("gone"), CONFIG_MAPS)
        await client.delete(CONFIG_MAPS, "gone", "default")
        await server.spaces["demo"].settled()
        await server.remove_space("demo")
        await DirectClient(server.root).create(config_map("later"), CONFIG_MAPS)
        after = {table: rows_of(tmp_path, f"SELECT count(*) FROM {table}") for table in ("objects", "owners")}
        assert after == {"objects": [(before["objects"][0][0] + 1,)], "owners": before["owners"]}
        # What was deleted before is history, and goes with it.
        server.store.compact(server.store.committed)
    assert rows_of(tmp_path, "SELECT key FROM revisions WHERE bucket NOT IN (SELECT id FROM buckets)") == []
    assert rows_of(tmp_path, "SELECT resource FROM buckets WHERE space = 'demo'") == []
    assert files_in(tmp_path / "pki") == {"admin", "apiserver", "ca", "sa"}


async def test_numbers_of_removed_buckets_are_not_used_again(tmp_path: Path) -> None:
    async with Server(tmp_path) as server:
        await server.add_space("demo")
        used = server.store.buckets_of("demo")
        await server.remove_space("demo")
    async with Server(tmp_path) as again:
        await again.add_space("other")
        assert min(again.store.buckets_of("other")) > max(used)


async def test_watches_of_a_removed_space_end_cleanly(server: Server) -> None:
    await server.add_space("demo")
    tenant = await tenant_api(server, "demo")
    path = f"{tenant.url}/api/v1/namespaces/default/configmaps?watch=true"
    async with tenant.session.get(path) as answer, asyncio.timeout(60):
        await answer.content.readline()
        await server.remove_space("demo")
        assert await answer.content.read() == b""
    assert server.hub._watchers == {}
    assert (await tenant("GET", "/api/v1/namespaces")).status == 401
    await tenant.session.close()


async def test_who_holds_on_to_a_removed_space_is_told_that_it_is_gone(server: Server) -> None:
    client = DirectClient(await server.add_space("demo"))
    await server.remove_space("demo")
    with pytest.raises(ServiceUnavailable):
        await client.get(CONFIG_MAPS, "a", "default")
    with pytest.raises(ServiceUnavailable):
        await client.create(config_map("a"), CONFIG_MAPS)
    with pytest.raises(ServiceUnavailable):
        await client.list(CONFIG_MAPS)
    assert "demo" not in server.store.spaces()


async def test_a_write_that_is_under_way_is_finished_before_its_space_goes(server: Server) -> None:
    client = DirectClient(await server.add_space("demo"))
    writing = asyncio.ensure_future(client.create(config_map("a"), CONFIG_MAPS))
    await asyncio.sleep(0)
    await server.remove_space("demo")
    assert (await writing)["metadata"]["name"] == "a"
    assert server.store.spaces() == {"root"}


async def test_a_space_that_is_made_anew_has_nothing_in_common_with_the_old_one(server: Server) -> None:
    await server.add_space("demo")
    old = await tenant_api(server, "demo")
    before = (await old("GET", "/api/v1/namespaces/default")).body["metadata"]["uid"]
    await server.remove_space("demo")
    await server.add_space("demo")
    assert (await old("GET", "/api/v1/namespaces/default")).status == 401
    new = await tenant_api(server, "demo")
    assert (await new("GET", "/api/v1/namespaces/default")).body["metadata"]["uid"] != before
    for api in (old, new):
        await api.session.close()


async def test_removing_what_is_not_there_is_no_error_and_the_root_stays(server: Server) -> None:
    await server.remove_space("nowhere")
    with pytest.raises(ValueError, match="root"):
        await server.remove_space("root")
    assert (await DirectClient(server.root).get(NAMESPACES, "default"))["metadata"]["name"] == "default"


async def test_a_kubeconfig_stays_the_same_over_calls_and_restarts(tmp_path: Path) -> None:
    async with Server(tmp_path) as server:
        await server.add_space("demo")
        first = server.admin_kubeconfig("demo")
        assert server.admin_kubeconfig("demo") == first
    async with Server(tmp_path, port=server.port) as again:
        assert again.admin_kubeconfig("demo") == first


async def test_an_administrator_is_renewed_in_time_and_keeps_the_key(tmp_path: Path) -> None:
    clock, store = TurnedClock(), Store(None)
    pki = Pki(tmp_path, clock)
    pki.open()
    spaces = Spaces(store, Hub(store), pki, Location("192.0.2.7", 6443), clock, SystemChance())
    await spaces.add("demo")
    before = spaces.admin("demo")
    clock.turn(days=340)
    after = spaces.admin("demo")
    assert after.key == before.key
    assert after.certificate != before.certificate
    assert spaces.admin("demo") == after
    await asyncio.sleep(0)
    other = Spaces(store, Hub(store), pki, Location("192.0.2.7", 6443), clock, SystemChance())
    await other.open()
    assert other.admin("demo") == after
    for one in (spaces, other):
        await one.stop()


async def test_work_that_was_not_done_is_taken_up_at_the_next_start(tmp_path: Path) -> None:
    async with Server(tmp_path) as server:
        space = await server.add_space("demo")
        client = DirectClient(space)
        for name in ("ending", "fresh"):
            await client.create({"metadata": {"name": name}}, NAMESPACES)
        owner = await client.create(config_map("owner"), CONFIG_MAPS)
        waited_for = await client.create(config_map("waited-for"), CONFIG_MAPS)
        await client.create(owned("orphan", owner), CONFIG_MAPS)
        await client.create(owned("dependent", waited_for), CONFIG_MAPS)
        await space.settled()
        # From here on nobody works in the background, as if the server had been killed after each step.
        await space.stop()
        await client.delete(NAMESPACES, "ending")
        await client.create({"metadata": {"name": "bare"}}, NAMESPACES)
        await client.delete(CONFIG_MAPS, "owner", "default", propagation="Background")
        await client.delete(CONFIG_MAPS, "waited-for", "default", propagation="Foreground")
        await client.create(USERS, CRDS)
    async with Server(tmp_path) as again:
        assert again.spaces.awake == {"root", "demo"}
        await again.spaces["demo"].settled()
        client = DirectClient(again.spaces["demo"])
        left = (await client.list(CONFIG_MAPS, Selection(namespace="default"))).items
        assert [one["metadata"]["name"] for one in left] == ["kube-root-ca.crt"]
        with pytest.raises(NotFound):
            await client.get(NAMESPACES, "ending")
        assert (await client.get(ACCOUNTS, "default", "bare"))["metadata"]["name"] == "default"
        conditions = (await client.get(CRDS, USERS["metadata"]["name"]))["status"]["conditions"]
        assert ("Established", "True") in {(one["type"], one["status"]) for one in conditions}


_COMING_AND_GOING = """
import asyncio, sys
from pathlib import Path
from kubekit.server.serve.server import Server

async def main():
    async with Server(Path(sys.argv[1])) as server:
        print("ready", flush=True)
        for index in range(10_000):
            await server.add_space(f"t{index}")
            print("added", index, flush=True)
            if index >= 3:
                await server.remove_space(f"t{index - 3}")
                print("removed", index - 3, flush=True)

asyncio.run(main())
"""


@pytest.mark.timeout(400)
async def test_a_killed_server_leaves_whole_spaces_only(tmp_path: Path) -> None:
    chance = random.Random(20261115)
    places = [tmp_path / str(attempt) for attempt in range(4)]
    said = await asyncio.gather(*(_run_and_kill(data, chance.uniform(0, 0.05)) for data in places))
    for data, lines in zip(places, said, strict=True):
        added = {line.split()[1] for line in lines if line.startswith("added")}
        removed = {line.split()[1] for line in lines if line.startswith("removed")}
        assert len(removed) > 1
        async with Server(data) as server:
            counts = {name: len(_objects(server, name)) for name in server.spaces}
            assert len(set(counts.values())) == 1, counts
            there = {name.removeprefix("t") for name in counts if name != "root"}
            # The next one to go may have gone without a word.
            assert added - removed - {str(len(removed))} <= there
            assert not removed & there
            for name in there:
                kubeconfig = yaml.safe_load(server.admin_kubeconfig(f"t{name}"))
                assert base64.b64decode(kubeconfig["users"][0]["user"]["client-key-data"]).startswith(b"-----BEGIN")


def _objects(server: Server, space: str) -> list[str]:
    resources = [one for one in server.store.resources(space) if "/" in one]
    return [key for resource in resources for key in server.store.keys_in(space, resource)]


async def _run_and_kill(data: Path, delay: float) -> list[str]:
    """What a server that only makes and removes spaces said until it was killed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _COMING_AND_GOING, str(data), stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    said: list[str] = []
    while len(said) < 12:
        said.append((await process.stdout.readline()).decode())
    await asyncio.sleep(delay)
    process.kill()
    rest = await process.stdout.read()
    await process.wait()
    return [*said, *(line for line in rest.decode().splitlines(keepends=True) if line.endswith("\n"))]
