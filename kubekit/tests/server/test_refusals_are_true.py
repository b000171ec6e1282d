"""What an answer is built upon is durable before the answer is told: whoever hears of it can see it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from kubekit.errors import AlreadyExists, Conflict, Forbidden, InternalError, NotFound
from kubekit.model.resource import Address, Object
from kubekit.server.client import DirectClient
from kubekit.server.serve.server import Server
from tests.http_api import Answered, Api
from tests.server.test_store_full import full

CONFIG_MAPS = Address("", "v1", "ConfigMap", "configmaps", namespaced=True)
NAMESPACES = Address("", "v1", "Namespace", "namespaces", namespaced=False)
QUOTAS = Address("", "v1", "ResourceQuota", "resourcequotas", namespaced=True)
WHERE = "/api/v1/namespaces"
BIG = "x" * 100_000


def config_map(name: str, namespace: str = "default", **more: Any) -> Object:
    return {"metadata": {"name": name, "namespace": namespace}, **more}


def namespace(name: str) -> Object:
    return {"metadata": {"name": name}}


@pytest.fixture
def client(server: Server) -> DirectClient:
    return DirectClient(server.root)


async def staged(write: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    """A write that is on its way to the disk, and has been for less than a round of the loop."""
    task = asyncio.ensure_future(write)
    await asyncio.sleep(0)
    assert not task.done()
    return task


async def test_who_hears_that_it_exists_can_get_it(client: DirectClient) -> None:
    first = await staged(client.create(config_map("a"), CONFIG_MAPS))
    with pytest.raises(AlreadyExists):
        await client.create(config_map("a"), CONFIG_MAPS)
    assert (await client.get(CONFIG_MAPS, "a", "default"))["metadata"]["name"] == "a"
    await first


async def test_of_many_who_create_the_same_over_http_all_can_get_it(api: Api) -> None:
    async def create_and_get() -> tuple[Answered, Answered]:
        created = await api("POST", f"{WHERE}/default/configmaps", {"metadata": {"name": "a"}})
        return created, await api("GET", f"{WHERE}/default/configmaps/a")

    answers = await asyncio.gather(*(create_and_get() for _ in range(20)))
    assert sorted(created.status for created, _ in answers) == [201] + [409] * 19
    assert {found.status for _, found in answers} == {200}


async def test_a_namespace_that_is_being_made_can_be_filled(client: DirectClient) -> None:
    made = await staged(client.create(namespace("team"), NAMESPACES))
    await client.create(config_map("a", "team"), CONFIG_MAPS)
    await made
    found = await client.get(CONFIG_MAPS, "a", "team")
    assert int(found["metadata"]["resourceVersion"]) > int(made.result()["metadata"]["resourceVersion"])


async def test_a_namespace_that_is_being_made_can_be_applied_into(client: DirectClient) -> None:
    made = await staged(client.create(namespace("team"), NAMESPACES))
    await client.apply(config_map("a", "team", data={"a": "b"}), CONFIG_MAPS, manager="somebody")
    await made


async def test_who_hears_that_a_namespace_exists_can_fill_it_over_http(api: Api) -> None:
    async def create_both(number: int) -> tuple[int, int]:
        made = await api("POST", WHERE, {"metadata": {"name": "team"}})
        filled = await api("POST", f"{WHERE}/team/configmaps", {"metadata": {"name": f"a-{number}"}})
        return made.status, filled.status

    answers = await asyncio.gather(*(create_both(number) for number in range(20)))
    assert sorted(made for made, _ in answers) == [201] + [409] * 19
    assert {filled for _, filled in answers} == {201}


async def test_a_namespace_that_is_about_to_go_takes_nothing_more(client: DirectClient) -> None:
    await client.create(namespace("team"), NAMESPACES)
    going = await staged(client.delete(NAMESPACES, "team"))
    with pytest.raises(Forbidden, match="because it is being terminated"):
        await client.create(config_map("late", "team"), CONFIG_MAPS)
    assert (await client.get(NAMESPACES, "team"))["status"]["phase"] == "Terminating"
    await going


async def test_nothing_is_left_of_a_namespace_that_went_while_something_large_was_looked_at(
    server: Server, client: DirectClient
) -> None:
    await client.create(namespace("team"), NAMESPACES)
    await server.root.settled()
    filling = [client.create(config_map(f"a-{i}", "team", data={"a": BIG}), CONFIG_MAPS) for i in range(3)]
    tasks = [await staged(one) for one in filling]
    await client.delete(NAMESPACES, "team")
    made = await asyncio.gather(*tasks, return_exceptions=True)
    assert {type(one) for one in made} <= {Forbidden, NotFound, dict}
    await server.root.settled()
    assert not server.root.store.keys(server.root.store.bucket("", "/configmaps"), "team/")


async def test_who_hears_that_it_is_gone_no_longer_sees_it(client: DirectClient) -> None:
    await client.create(config_map("a"), CONFIG_MAPS)
    going = await staged(client.delete(CONFIG_MAPS, "a", "default"))
    with pytest.raises(NotFound):
        await client.patch(CONFIG_MAPS, "a", {"data": {"a": "b"}}, "default")
    with pytest.raises(NotFound):
        await client.get(CONFIG_MAPS, "a", "default")
    await going


async def test_who_hears_of_a_conflict_gets_the_version_that_was_first(client: DirectClient) -> None:
    old = (await client.create(config_map("a"), CONFIG_MAPS))["metadata"]["resourceVersion"]
    changing = await staged(client.patch(CONFIG_MAPS, "a", {"data": {"by": "one"}}, "default"))
    with pytest.raises(Conflict):
        await client.patch(CONFIG_MAPS, "a", {"metadata": {"resourceVersion": old}, "data": {"by": "two"}}, "default")
    assert (await client.get(CONFIG_MAPS, "a", "default"))["data"] == {"by": "one"}
    await changing


async def test_who_wanted_what_another_one_has_just_written_can_get_it(client: DirectClient) -> None:
    await client.create(config_map("a"), CONFIG_MAPS)
    changing = await staged(client.patch(CONFIG_MAPS, "a", {"data": {"by": "one"}}, "default"))
    told = await client.patch(CONFIG_MAPS, "a", {"data": {"by": "one"}}, "default")
    assert await client.get(CONFIG_MAPS, "a", "default") == told
    await changing


async def test_who_deletes_what_is_being_deleted_sees_that_it_is(client: DirectClient) -> None:
    held = config_map("a")
    held["metadata"]["finalizers"] = ["example.com/held"]
    await client.create(held, CONFIG_MAPS)
    going = await staged(client.delete(CONFIG_MAPS, "a", "default"))
    await client.delete(CONFIG_MAPS, "a", "default")
    assert "deletionTimestamp" in (await client.get(CONFIG_MAPS, "a", "default"))["metadata"]
    await going


async def test_who_hears_that_a_quota_is_used_up_sees_by_what(server: Server, client: DirectClient) -> None:
    limit = {"metadata": {"name": "few", "namespace": "default"}, "spec": {"hard": {"count/configmaps": "2"}}}
    await client.create(limit, QUOTAS)
    await server.root.settled()
    taking = await staged(client.create(config_map("a"), CONFIG_MAPS))
    with pytest.raises(Forbidden, match="exceeded quota"):
        await client.create(config_map("b"), CONFIG_MAPS)
    assert await client.get(CONFIG_MAPS, "a", "default")
    await taking


async def test_nobody_hears_of_what_could_not_be_stored(server: Server, client: DirectClient) -> None:
    with full(server.root.store):
        first = await staged(client.create(config_map("a", data={"a": BIG[:30_000]}), CONFIG_MAPS))
        with pytest.raises(InternalError, match="could not be stored"):
            await client.create(config_map("a"), CONFIG_MAPS)
        with pytest.raises(InternalError):
            await first


async def test_who_goes_away_keeps_nobody_from_hearing(client: DirectClient) -> None:
    first = await staged(client.create(config_map("a"), CONFIG_MAPS))
    second = await staged(client.create(config_map("a"), CONFIG_MAPS))
    third = await staged(client.create(config_map("a"), CONFIG_MAPS))
    first.cancel()
    second.cancel()
    with pytest.raises(AlreadyExists):
        await third
    assert await client.get(CONFIG_MAPS, "a", "default")
