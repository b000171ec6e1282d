"""Lists that are too long to be made at once: in parts, whole in every form, and others go on meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable
from typing import Any

import pytest

from kubekit.server.objects.request import ListOptions, WatchOptions
from kubekit.server.objects.resource import Resource
from kubekit.server.pipeline import reads
from kubekit.server.pipeline.watches import Watch
from kubekit.server.serve.server import Server
from kubekit.server.store.reading_turns import Turns
from tests.http_api import Api

SECRETS = "/api/v1/namespaces/default/secrets"
NAMES = [f"long-{number}" for number in range(6)]
TABLE, METADATA = (
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
)


@pytest.fixture
async def secrets(server: Server, api: Api) -> Resource:
    """There are more objects than fit into a part of a list."""
    for name in NAMES:
        secret = {"metadata": {"name": name}, "data": {"text": "eHh4" * 75_000}}
        assert (await api("POST", SECRETS, secret)).status == 201
    resource = server.root.kinds.at("", "v1", "secrets")
    assert resource is not None
    return resource


async def rounds_by_part(parts: AsyncIterable[Any], count: int) -> list[int]:
    """How often the event loop had gone round by the time of each part."""
    rounds, seen = 0, list[int]()

    async def go_round() -> None:
        nonlocal rounds
        while True:
            rounds += 1
            await asyncio.sleep(0)

    going = asyncio.ensure_future(go_round())
    async for _ in parts:
        seen.append(rounds)
        if len(seen) == count:
            break
    going.cancel()
    return seen


async def test_the_size_of_a_part_is_bounded(server: Server, secrets: Resource) -> None:
    parts = [part async for part in reads.parts(server.root, secrets, "default", ListOptions())]
    assert sum(len(part.values) for part in parts) == len(NAMES)
    assert max(len(part.values) for part in parts) <= 2


async def test_others_go_on_between_the_parts_of_a_list(server: Server, secrets: Resource) -> None:
    rounds = await rounds_by_part(reads.parts(server.root, secrets, "default", ListOptions()), 3)
    assert rounds == sorted(set(rounds))


async def test_others_go_on_while_a_watch_tells_what_is_there(server: Server, secrets: Resource) -> None:
    watch = Watch(server.root, server.hub, secrets, "default", WatchOptions(timeout=60))
    rounds = await rounds_by_part(watch.signals(), len(NAMES))
    assert rounds == sorted(set(rounds))


async def test_others_go_on_while_a_watch_tells_what_it_missed(server: Server, api: Api, secrets: Resource) -> None:
    began = (await api("GET", f"{SECRETS}/{NAMES[0]}")).body["metadata"]["resourceVersion"]
    watch = Watch(server.root, server.hub, secrets, "default", WatchOptions(resource_version=began, timeout=60))
    rounds = await rounds_by_part(watch.signals(), len(NAMES) - 1)
    assert rounds == sorted(set(rounds))


async def test_a_watch_is_ended_while_it_tells_what_is_there(server: Server, secrets: Resource) -> None:
    signals = Watch(server.root, server.hub, secrets, "default", WatchOptions(timeout=60)).signals()
    await anext(signals)
    server.hub.end()
    assert [batch async for batch in signals] == []


@pytest.mark.usefixtures("secrets")
async def test_a_table_of_a_long_list_is_whole(api: Api) -> None:
    table = (await api("GET", SECRETS, Accept=TABLE)).body
    assert [row["cells"][0] for row in table["rows"]] == NAMES
    one = (await api("GET", f"{SECRETS}/{NAMES[0]}", Accept=TABLE)).body
    assert table["columnDefinitions"] == one["columnDefinitions"]
    assert (table["kind"], table["apiVersion"], list(table["metadata"])) == (
        "Table", "meta.k8s.io/v1", ["resourceVersion"],
    )  # fmt: skip


@pytest.mark.usefixtures("secrets")
async def test_the_metadata_of_a_long_list_is_whole(api: Api) -> None:
    found = (await api("GET", f"{SECRETS}?limit=5", Accept=METADATA)).body
    assert [item["metadata"]["name"] for item in found["items"]] == NAMES[:5]
    assert (found["kind"], found["metadata"]["remainingItemCount"]) == ("PartialObjectMetadataList", 1)
    rest = (await api("GET", f"{SECRETS}?limit=5&continue={found['metadata']['continue']}", Accept=METADATA)).body
    assert [item["metadata"]["name"] for item in rest["items"]] == NAMES[5:]


@pytest.mark.usefixtures("secrets")
async def test_a_list_of_which_nothing_matches_is_as_empty_as_a_short_one(api: Api) -> None:
    selected = f"{SECRETS}?labelSelector=nobody%3Dhas"
    assert (await api("GET", selected, Accept=METADATA)).body["items"] is None
    assert (await api("GET", selected, Accept=TABLE)).body["rows"] == []
    assert (await api("GET", selected)).body["items"] == []


async def test_spaces_take_turns_however_much_one_of_them_asks_for() -> None:
    turns, order = Turns(), list[str]()

    async def read(space: str) -> None:
        await turns.take(space)
        order.append(space)

    await asyncio.gather(*[read("busy") for _ in range(4)], read("other"))
    assert order == ["busy", "other", "busy", "busy", "busy"]


async def test_nobody_waits_for_the_turn_of_one_who_has_gone() -> None:
    turns = Turns()
    gone, stays = asyncio.ensure_future(turns.take("a")), asyncio.ensure_future(turns.take("a"))
    await asyncio.sleep(0)
    gone.cancel()
    await stays
    assert gone.cancelled()
