"""Objects that own themselves or each other, and are deleted in the foreground: they go."""

from __future__ import annotations

import asyncio

import pytest

from kubekit.server.serve.server import Server
from tests.http_api import Api
from tests.server.wire import MAPS, MERGE_PATCH

FOREGROUND = {"propagationPolicy": "Foreground"}


async def own(api: Api, name: str, *owners: str, blocks: bool = True) -> None:
    """Let one object be owned by others."""
    uids = {owner: (await api("GET", f"{MAPS}/{owner}")).body["metadata"]["uid"] for owner in owners}
    references = [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": owner, "uid": uid, "blockOwnerDeletion": blocks}
        for owner, uid in uids.items()
    ]
    answer = await api("PATCH", f"{MAPS}/{name}", {"metadata": {"ownerReferences": references}}, MERGE_PATCH)
    assert answer.status == 200


async def make(api: Api, *names: str) -> None:
    for name in names:
        assert (await api("POST", MAPS, {"metadata": {"name": name}})).status == 201


async def left(server: Server, api: Api, *names: str) -> list[str]:
    await server.root.settled()
    return [name for name in names if (await api("GET", f"{MAPS}/{name}")).status == 200]


@pytest.mark.parametrize("blocks", [True, False])
async def test_an_object_that_owns_itself(server: Server, api: Api, blocks: bool) -> None:
    await make(api, "a")
    await own(api, "a", "a", blocks=blocks)
    assert await left(server, api, "a") == ["a"]
    assert (await api("DELETE", f"{MAPS}/a", FOREGROUND)).status == 200
    assert await left(server, api, "a") == []


async def test_one_that_also_has_another_owner_and_a_dependent(server: Server, api: Api) -> None:
    await make(api, "owner", "a", "dependent")
    await own(api, "a", "a", "owner")
    await own(api, "dependent", "a")
    assert (await api("DELETE", f"{MAPS}/a", FOREGROUND)).status == 200
    assert await left(server, api, "owner", "a", "dependent") == ["owner"]


@pytest.mark.parametrize("size", [2, 3, 7])
@pytest.mark.parametrize("deleted", ["one", "all"])
async def test_objects_that_own_each_other_in_a_circle(server: Server, api: Api, size: int, deleted: str) -> None:
    names = [f"m-{number}" for number in range(size)]
    await make(api, *names)
    for number, name in enumerate(names):
        await own(api, name, names[number - 1])
    chosen = names if deleted == "all" else names[:1]
    await asyncio.gather(*(api("DELETE", f"{MAPS}/{name}", FOREGROUND) for name in chosen))
    assert await left(server, api, *names) == []


async def test_two_circles_with_one_object_in_common(server: Server, api: Api) -> None:
    names = ["middle", "left", "right"]
    await make(api, *names)
    await own(api, "left", "middle")
    await own(api, "right", "middle")
    await own(api, "middle", "left", "right", "middle")
    await asyncio.gather(*(api("DELETE", f"{MAPS}/{name}", FOREGROUND) for name in names))
    assert await left(server, api, *names) == []


async def test_a_dependent_that_is_held_still_holds_its_owner(server: Server, api: Api) -> None:
    await make(api, "owner", "dependent")
    await own(api, "dependent", "owner")
    await api("PATCH", f"{MAPS}/dependent", {"metadata": {"finalizers": ["a.org/b"]}}, MERGE_PATCH)
    await api("DELETE", f"{MAPS}/owner", FOREGROUND)
    assert await left(server, api, "owner", "dependent") == ["owner", "dependent"]
    await api("PATCH", f"{MAPS}/dependent", {"metadata": {"finalizers": None}}, MERGE_PATCH)
    assert await left(server, api, "owner", "dependent") == []
