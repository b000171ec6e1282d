"""Lists: long ones, pages, selectors and moments in the past."""

from __future__ import annotations

from typing import Any

import pytest

from kubekit.server.objects.request import Target, WriteOptions
from kubekit.server.objects.user import UserInfo
from kubekit.server.pipeline import writes
from kubekit.server.serve.server import Server
from tests.http_api import Api

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"


async def fill(server: Server, count: int) -> list[str]:
    """ConfigMaps c0000, c0001, …: every third one with the label third=yes."""
    kind = server.root.kinds.at("", "v1", "configmaps")
    assert kind is not None
    names = [f"c{index:04}" for index in range(count)]
    for index, name in enumerate(names):
        labels = {"third": "yes"} if index % 3 == 0 else {}
        obj = {"metadata": {"name": name, "labels": labels}}
        await writes.create(server.root, Target(kind, "default"), obj, WriteOptions(UserInfo("test")))
    return names


async def test_a_list_longer_than_what_is_read_at_once_is_complete(server: Server, api: Api) -> None:
    names = await fill(server, 1203)
    answer = await api("GET", CONFIGMAPS)
    assert [item["metadata"]["name"] for item in answer.body["items"]] == [*names, "kube-root-ca.crt"]
    assert answer.body["kind"] == "ConfigMapList"
    assert int(answer.body["metadata"]["resourceVersion"]) == server.store.committed


@pytest.mark.parametrize("limit", [1, 7, 499, 500, 501, 1000, 1204, 5000])
async def test_pages_of_any_size_add_up_to_the_list(server: Server, api: Api, limit: int) -> None:
    names = [*await fill(server, 1203), "kube-root-ca.crt"]
    seen: list[str] = []
    token, pages = "", 0
    while pages < 5:
        answer = await api("GET", f"{CONFIGMAPS}?limit={limit}&continue={token}")
        page = [item["metadata"]["name"] for item in answer.body["items"]]
        assert page == names[len(seen) : len(seen) + limit]
        seen += page
        token, pages = answer.body["metadata"].get("continue", ""), pages + 1
        left = len(names) - len(seen)
        assert answer.body["metadata"].get("remainingItemCount", 0) == left
        assert bool(token) is (left > 0)
        if not token:
            break


@pytest.mark.parametrize("limit", [0, 1, 100, 401, 402])
async def test_a_selector_and_a_limit_work_together(server: Server, api: Api, limit: int) -> None:
    names = (await fill(server, 1203))[::3]
    seen: list[str] = []
    token = ""
    for _ in range(6):
        answer = await api("GET", f"{CONFIGMAPS}?labelSelector=third%3Dyes&limit={limit}&continue={token}")
        page = [item["metadata"]["name"] for item in answer.body["items"]]
        assert len(page) <= (limit or len(names))
        seen += page
        token = answer.body["metadata"].get("continue", "")
        if not token:
            break
    assert seen == names[: len(seen)]
    assert bool(token) is (len(seen) < len(names))


async def test_a_page_continues_in_the_moment_it_began(server: Server, api: Api) -> None:
    await fill(server, 20)
    first = await api("GET", f"{CONFIGMAPS}?limit=5")
    await api("DELETE", f"{CONFIGMAPS}/c0010")
    await api("PATCH", f"{CONFIGMAPS}/c0011", {"data": {"new": "x"}}, "application/merge-patch+json")
    token = first.body["metadata"]["continue"]
    rest = await api("GET", f"{CONFIGMAPS}?limit=50&continue={token}")
    by_name: dict[str, Any] = {item["metadata"]["name"]: item for item in rest.body["items"]}
    assert "c0010" in by_name
    assert "data" not in by_name["c0011"]
    assert rest.body["metadata"]["resourceVersion"] == first.body["metadata"]["resourceVersion"]


async def test_a_token_from_before_compaction_says_so_and_offers_a_new_one(server: Server, api: Api) -> None:
    await fill(server, 20)
    first = await api("GET", f"{CONFIGMAPS}?limit=5")
    await api("DELETE", f"{CONFIGMAPS}/c0010")
    await api("DELETE", f"{CONFIGMAPS}/c0012")
    server.store.compact(server.store.committed - 1)
    expired = await api("GET", f"{CONFIGMAPS}?limit=5&continue={first.body['metadata']['continue']}")
    assert (expired.status, expired.body["reason"]) == (410, "Expired")
    rest = await api("GET", f"{CONFIGMAPS}?limit=50&continue={expired.body['metadata']['continue']}")
    assert rest.body["items"][0]["metadata"]["name"] == "c0005"
