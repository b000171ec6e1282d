"""Large objects in watches, in every form: nobody else waits until a line of one is made."""

from __future__ import annotations

import asyncio
from io import BytesIO
from itertools import cycle

import aiohttp
import pytest

from tests.http_api import Api
from tests.server.attacks import payloads
from tests.server.attacks.tries import let_others_have_turns
from tests.server.wire import JSON, MAPS

pytestmark = pytest.mark.usefixtures("as_served")

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
SIZE = 1_000_000
"""Of an object that is stored with what is known of its fields."""


def large(text: str) -> bytes:
    return payloads.config_map(
        '"data":{' + payloads.numbered('"k%d":"' + text + '"', SIZE) + "}", ',"labels":{"a":"' + text + '"}'
    )


async def written(api: Api, method: str, path: str, text: str) -> None:
    headers = {"Content-Type": JSON}
    async with api.session.request(method, f"{api.url}{path}", data=BytesIO(large(text)), headers=headers) as answer:
        assert answer.status in (200, 201)
        await answer.read()


async def received(api: Api, query: str, accept: str, begun: asyncio.Event, least: int) -> None:
    """Watch until so many bytes have come."""
    url, length = f"{api.url}{MAPS}?watch=true&{query}", 0
    async with api.session.get(url, headers={"Accept": accept}, timeout=aiohttp.ClientTimeout(60)) as answer:
        assert answer.status == 200
        begun.set()
        async for piece in answer.content.iter_any():
            length += len(piece)
            if length >= least:
                return


@pytest.mark.timeout(120)
@pytest.mark.parametrize("query", ["", "labelSelector=a%3Db"], ids=["all", "selected"])
@pytest.mark.parametrize(
    ("accept", "least"),
    [
        (JSON, SIZE),
        (TABLE, 100),
        (f"{TABLE},{JSON}", 100),
        (METADATA, 100),
        (payloads.PROTOBUF, SIZE // 2),
    ],
    ids=["json", "table", "table or json", "metadata", "protobuf"],
)
async def test_nobody_waits_for_a_line_about_a_large_object(api: Api, accept: str, least: int, query: str) -> None:
    """Of one that is there, and of one that changes; three watch it."""
    await written(api, "POST", MAPS, "b")
    texts = cycle(("c", "b"))

    async def watch_three(since: str, change: str) -> None:
        begun = [asyncio.Event() for _ in range(3)]
        asked = [received(api, f"{query}&{since}".strip("&"), accept, one, least) for one in begun]
        watches = [asyncio.ensure_future(one) for one in asked]
        for one in begun:
            await one.wait()
        if change:
            await written(api, "PUT", f"{MAPS}/a", change)
        await asyncio.gather(*watches)

    async def watch_what_changes() -> None:
        version = (await api("GET", f"{MAPS}?limit=1")).body["metadata"]["resourceVersion"]
        await watch_three(f"resourceVersion={version}", next(texts))

    await let_others_have_turns(lambda: watch_three("", ""))
    await let_others_have_turns(watch_what_changes)
