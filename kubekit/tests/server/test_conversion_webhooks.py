"""A custom kind in several versions that a webhook converts into each other, as Cluster API has them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from kubekit.server.serve.server import Server
from tests.http_api import Api
from tests.server.webhook import Answer, Json, Webhook, converted, serving
from tests.server.wire import APPLY, MERGE_PATCH

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
V1 = "/apis/example.com/v1/namespaces/default/hosts"
V2 = "/apis/example.com/v2/namespaces/default/hosts"


def swap(obj: Json, version: str) -> Json:
    """v1 has `spec.address` as `host:port`; v2 has both apart."""
    spec = dict(obj.get("spec") or {})
    if version == "v2" and "address" in spec:
        name, _, port = spec.pop("address").partition(":")
        spec |= {"name": name, "port": int(port)}
    elif version == "v1" and "name" in spec:
        spec["address"] = f"{spec.pop('name')}:{spec.pop('port', 0)}"
    return {**obj, "spec": spec}


def version(name: str, storage: bool, /, **fields: Json) -> Json:
    spec = {"type": "object", "properties": fields}
    schema = {"type": "object", "properties": {"spec": spec, "status": {"type": "object", "properties": {}}}}
    return {
        "name": name,
        "served": True,
        "storage": storage,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
        "selectableFields": [{"jsonPath": ".spec.color"}],
    }


def definition(client: Json | None, storage: str = "v2", **more: Json) -> Json:
    color = {"type": "string"}
    first = version("v1", storage == "v1", address={"type": "string"}, color=color, **more)
    second = version("v2", storage == "v2", name={"type": "string"}, port={"type": "integer"}, color=color, **more)
    conversion: Json = {"strategy": "None"}
    if client is not None:
        webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
        conversion = {"strategy": "Webhook", "webhook": webhook}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "hosts.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "hosts", "kind": "Host"},
            "versions": [first, second],
            "conversion": conversion,
        },
    }


def host(version: str, name: str = "h", /, **spec: Any) -> Json:
    return {"apiVersion": f"example.com/{version}", "kind": "Host", "metadata": {"name": name}, "spec": spec}


async def define(api: Api, server: Server, wanted: Json) -> None:
    """Create or replace the definition, and wait until it holds."""
    found = await api("GET", f"{DEFINITIONS}/hosts.example.com")
    if found.status == 404:
        answer = await api("POST", DEFINITIONS, wanted)
    else:
        meta = {"resourceVersion": found.body["metadata"]["resourceVersion"]}
        wanted = {**wanted, "metadata": {**wanted["metadata"], **meta}}
        answer = await api("PUT", f"{DEFINITIONS}/hosts.example.com", wanted)
    assert answer.status in (200, 201), answer.body
    await server.root.settled()


@pytest.fixture
async def hook() -> AsyncIterator[Webhook]:
    async with serving(lambda review: converted(review, swap)) as made:
        yield made


@pytest.fixture
async def hosts(api: Api, server: Server, hook: Webhook) -> Api:
    """The kind Host is served, stored in v2."""
    await define(api, server, definition(hook.client))
    return api


async def test_an_object_is_served_in_every_version_whatever_it_was_written_in(hosts: Api) -> None:
    made = await hosts("POST", V1, host("v1", address="a:80"))
    assert (made.status, made.body["apiVersion"], made.body["spec"]) == (201, "example.com/v1", {"address": "a:80"})
    found = await hosts("GET", f"{V2}/h")
    assert (found.body["apiVersion"], found.body["spec"]) == ("example.com/v2", {"name": "a", "port": 80})
    assert found.body["metadata"]["uid"] == made.body["metadata"]["uid"]
    await hosts("POST", V2, host("v2", "i", name="b", port=81))
    listed = await hosts("GET", V1)
    assert [one["spec"] for one in listed.body["items"]] == [{"address": "a:80"}, {"address": "b:81"}]


async def test_every_kind_of_change_works_in_either_version(hosts: Api) -> None:
    made = await hosts("POST", V2, host("v2", name="a", port=80))
    replacement = {**made.body, "apiVersion": "example.com/v1", "spec": {"address": "b:80"}}
    replaced = await hosts("PUT", f"{V1}/h", replacement)
    assert (replaced.body["spec"], replaced.body["metadata"]["generation"]) == ({"address": "b:80"}, 2)
    merged = await hosts("PATCH", f"{V1}/h", {"spec": {"address": "c:81"}}, MERGE_PATCH)
    assert merged.body["spec"] == {"address": "c:81"}
    applied = await hosts("PATCH", f"{V1}/h?fieldManager=me", host("v1", color="red"), APPLY)
    assert applied.body["spec"] == {"address": "c:81", "color": "red"}
    assert (await hosts("GET", f"{V2}/h")).body["spec"] == {"name": "c", "port": 81, "color": "red"}
    fresh = await hosts("PATCH", f"{V1}/new?fieldManager=me", host("v1", "new", address="d:1"), APPLY)
    assert (fresh.status, fresh.body["spec"]) == (201, {"address": "d:1"})
    gone = await hosts("DELETE", f"{V1}/h")
    assert gone.body["status"] == "Success"


async def test_nothing_is_asked_for_objects_in_the_version_they_are_stored_in(hosts: Api, hook: Webhook) -> None:
    await hosts("POST", V2, host("v2", name="a", port=80))
    await hosts("GET", V2)
    await hosts("PATCH", f"{V2}/h", {"spec": {"port": 81}}, MERGE_PATCH)
    assert hook.reviews == []


async def test_what_was_converted_once_is_remembered(hosts: Api, hook: Webhook) -> None:
    for number in range(3):
        await hosts("POST", V2, host("v2", f"h{number}", name="a", port=number))
    await hosts("GET", V1)
    await hosts("GET", f"{V1}/h1")
    await hosts("GET", V1)
    assert [len(review["request"]["objects"]) for review in hook.reviews] == [3]
    assert hook.reviews[0]["request"]["desiredAPIVersion"] == "example.com/v1"


async def test_a_watch_shows_its_own_version(hosts: Api) -> None:
    start = (await hosts("GET", V1)).body["metadata"]["resourceVersion"]
    await hosts("POST", V2, host("v2", name="a", port=80, color="red"))
    await hosts("PATCH", f"{V2}/h", {"spec": {"port": 81}}, MERGE_PATCH)
    await hosts("PATCH", f"{V2}/h", {"spec": {"color": "blue"}}, MERGE_PATCH)
    path = f"{V1}?watch=true&resourceVersion={start}&fieldSelector=spec.color%3Dred"
    events = await hosts.watch(path, 3)
    assert [(one["type"], one["object"]["spec"]["address"]) for one in events] == [
        ("ADDED", "a:80"),
        ("MODIFIED", "a:81"),
        ("DELETED", "a:81"),
    ]
    (first,) = await hosts.watch(f"{V1}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", 1)
    assert (first["object"]["apiVersion"], first["object"]["spec"]["address"]) == ("example.com/v1", "a:81")


async def test_metadata_and_tables_come_in_the_asked_version(hosts: Api) -> None:
    await hosts("POST", V2, host("v2", name="a", port=80))
    accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    listed = await hosts("GET", V1, Accept=accept)
    assert [one["metadata"]["name"] for one in listed.body["items"]] == ["h"]
    table = await hosts("GET", f"{V1}?includeObject=Object", Accept="application/json;as=Table;g=meta.k8s.io;v=v1")
    assert table.body["rows"][0]["object"]["spec"] == {"address": "a:80"}


async def test_a_status_is_written_through_another_version(hosts: Api) -> None:
    await hosts("POST", V2, host("v2", name="a", port=80))
    answer = await hosts("PATCH", f"{V1}/h/status", {"spec": {"address": "x:1"}, "status": {}}, MERGE_PATCH)
    assert (answer.status, answer.body["spec"], answer.body["status"]) == (200, {"address": "a:80"}, {})


async def test_only_labels_and_annotations_of_metadata_can_be_converted(api: Api, server: Server) -> None:
    def tamper(obj: Json, version: str) -> Json:
        meta = {**obj["metadata"], "labels": {"a": "b"}, "finalizers": ["x.y/z"], "generation": 99}
        return {**swap(obj, version), "metadata": meta}

    async with serving(lambda review: converted(review, tamper)) as hook:
        await define(api, server, definition(hook.client))
        await api("POST", V2, host("v2", name="a", port=80))
        meta = (await api("GET", f"{V1}/h")).body["metadata"]
        assert (meta["labels"], meta["generation"], "finalizers" in meta) == ({"a": "b"}, 1, False)


async def test_old_objects_are_converted_when_another_version_becomes_the_stored_one(
    api: Api, server: Server, hook: Webhook
) -> None:
    await define(api, server, definition(None, storage="v1"))
    await api("POST", V1, host("v1", address="a:80"))
    await define(api, server, definition(hook.client, storage="v2"))
    await api("POST", V2, host("v2", "new", name="b", port=81))
    assert [one["spec"] for one in (await api("GET", V2)).body["items"]] == [
        {"name": "a", "port": 80},
        {"name": "b", "port": 81},
    ]
    assert [one["spec"] for one in (await api("GET", V1)).body["items"]] == [{"address": "a:80"}, {"address": "b:81"}]
    stored = (await api("GET", f"{DEFINITIONS}/hosts.example.com")).body["status"]["storedVersions"]
    assert stored == ["v1", "v2"]


async def test_an_update_that_changes_nothing_migrates_the_object(api: Api, server: Server, hook: Webhook) -> None:
    await define(api, server, definition(None, storage="v1"))
    before = (await api("POST", V1, host("v1", address="a:80"))).body["metadata"]["resourceVersion"]
    await define(api, server, definition(hook.client, storage="v2"))
    same = await api("PUT", f"{V2}/h", (await api("GET", f"{V2}/h")).body)
    assert int(same.body["metadata"]["resourceVersion"]) > int(before)
    asked = len(hook.reviews)
    again = await api("PUT", f"{V2}/h", same.body)
    assert again.body["metadata"]["resourceVersion"] == same.body["metadata"]["resourceVersion"]
    assert len(hook.reviews) == asked


async def test_converted_objects_survive_a_restart(api: Api, server: Server, hook: Webhook) -> None:
    await define(api, server, definition(None, storage="v1"))
    await api("POST", V1, host("v1", address="a:80"))
    await define(api, server, definition(hook.client, storage="v2"))
    await api("POST", V2, host("v2", "new", name="b", port=81))
    again = Server(server.data, port=server.port)
    await server.stop()
    await again.start()
    try:
        found = await api("GET", V2)
        assert [one["spec"]["port"] for one in found.body["items"]] == [80, 81]
    finally:
        await again.stop()
        await server.start()


async def test_objects_get_the_defaults_that_came_after_them(api: Api, server: Server) -> None:
    await define(api, server, definition(None))
    await api("POST", V2, host("v2", name="a", port=80))
    await define(api, server, definition(None, zone={"type": "string", "default": "z"}))
    assert (await api("GET", f"{V2}/h")).body["spec"] == {"name": "a", "port": 80, "zone": "z"}
    assert [one["spec"]["zone"] for one in (await api("GET", V2)).body["items"]] == ["z"]


async def test_versions_without_a_webhook_differ_in_their_schema_only(api: Api, server: Server) -> None:
    await define(api, server, definition(None))
    await api("POST", V2, host("v2", name="a", port=80, color="red"))
    assert (await api("GET", f"{V1}/h")).body["spec"] == {"color": "red"}


UNUSABLE: dict[str, Answer] = {
    "failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got ": lambda review: b"{}",
    "failed: no response provided": lambda review: {**review, "request": {}},
    "failed: no way": lambda review: _answered(review, result={"status": "Failure", "message": "no way"}),
    "returned 0 objects, expected 1": lambda review: _answered(review, convertedObjects=[]),
    "returned invalid converted object at index 0: invalid groupVersion (expected example.com/v1, received exa": (
        lambda review: _answered(review, convertedObjects=review["request"]["objects"])
    ),
}


@pytest.mark.parametrize("problem", UNUSABLE)
async def test_a_webhook_that_does_not_convert_fails_the_request(api: Api, server: Server, problem: str) -> None:
    async with serving(UNUSABLE[problem]) as hook:
        await define(api, server, definition(hook.client))
        await api("POST", V2, host("v2", name="a", port=80))
        refused = await api("GET", f"{V1}/h")
        assert (refused.status, "reason" in refused.body) == (500, False)
        assert refused.body["message"].startswith(f"conversion webhook for example.com/v2, Kind=Host {problem}")
        assert (await api("GET", f"{V2}/h")).status == 200


def _answered(review: Json, **changed: Any) -> Json:
    good = converted(review, swap)
    return {**good, "response": {**good["response"], **changed}}


async def test_an_unreachable_webhook_is_named(api: Api, server: Server) -> None:
    await define(api, server, definition({"url": "https://127.0.0.1:1/convert"}))
    refused = await api("POST", V1, host("v1", address="a:80"))
    assert refused.body["message"] == (
        'conversion webhook for example.com/v1, Kind=Host failed: Post "https://127.0.0.1:1/convert?timeout=30s": '
        "dial tcp 127.0.0.1:1: connect: connection refused"
    )
    await api("POST", V2, host("v2", name="a", port=80))
    (event,) = await api.watch(f"{V1}?watch=true", 1)
    assert (event["type"], event["object"]["code"]) == ("ERROR", 500)


async def test_a_long_answer_is_read_to_its_end(api: Api, server: Server) -> None:
    async with serving(lambda review: converted(review, swap)) as hook:
        await define(api, server, definition(hook.client))
        long = host("v2", name="a", port=80)
        long["metadata"]["annotations"] = {"note": "x" * 200_000}
        assert (await api("POST", V2, long)).status == 201
        found = await api("GET", f"{V1}/h")
        assert len(json.dumps(found.body)) > 200_000
