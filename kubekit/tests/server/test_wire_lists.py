"""Lists and watches: which objects, as of when, and what is said about questions that make no sense."""

# ruff: noqa: E501 - a message in a table is easier to read on one line

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any
from urllib.parse import quote

from kubekit.server.serve.server import Server
from tests.http_api import Api
from tests.server.wire import MAPS, MERGE_PATCH, Row, check, config_map

INVALID = 'ListOptions.meta.k8s.io "" is invalid: '
NAME_RULE = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)


async def _six(api: Api) -> str:
    """Six objects; answers the version of the list of them."""
    for number in range(6):
        labels = {"i": str(number), "even": str(number % 2 == 0).lower(), "w": "x"}
        await api("POST", MAPS, config_map(f"l{number}", meta={"labels": labels}))
    return str((await api("GET", f"{MAPS}?labelSelector=w")).body["metadata"]["resourceVersion"])


async def _names(api: Api, query: str) -> str:
    answer = await api("GET", f"{MAPS}?{query}")
    assert answer.status == 200, answer.body
    return " ".join(item["metadata"]["name"] for item in answer.body["items"] if item["metadata"]["name"][0] == "l")


async def test_selectors_choose(api: Api) -> None:
    await _six(api)
    labels = {
        "i=1": "l1",
        "i==1": "l1",
        "i!=1,w=x": "l0 l2 l3 l4 l5",
        "i in (1,2)": "l1 l2",
        "i notin (1,2),w": "l0 l3 l4 l5",
        "i": "l0 l1 l2 l3 l4 l5",
        "!w": "",
        "i>3": "l4 l5",
        "i<2,w": "l0 l1",
        "even=true,i!=0": "l2 l4",
        "i in (1,,2)": "l1 l2",
        "i in ()": "",
    }
    fields = {
        "metadata.name=l1": "l1",
        "metadata.name==l2": "l2",
        "metadata.name!=l1": "l0 l2 l3 l4 l5",
        "metadata.name=l1,metadata.name=l2": "",
        "metadata.name=l1,": "l1",
        "metadata.namespace=default": "l0 l1 l2 l3 l4 l5",
    }
    assert {text: await _names(api, f"labelSelector={quote(text)}") for text in labels} == labels
    assert {text: await _names(api, f"fieldSelector={quote(text)}") for text in fields} == fields


async def test_selectors_that_are_none_are_refused(api: Api) -> None:
    cannot = "unable to parse requirement: "
    labels = {
        "=": "found '=', expected: !, identifier, or 'end of string'",
        ",": "found ',', expected: !, identifier, or 'end of string'",
        "(a)": "found '(', expected: !, identifier, or 'end of string'",
        "a b": f"{cannot}found 'b', expected: in, notin, =, ==, !=, gt, lt",
        "a=b=c": "found '=', expected: ',' or 'end of string'",
        "a,": "found '', expected: identifier after ','",
        "!": f"{cannot}found '', expected: identifier",
        "a in (b": f"{cannot}found '', expected: ',' or ')'",
        "a in (": f"{cannot}found '', expected: ',', ')' or identifier",
        "a notin": f"{cannot}found '' expected: '('",
        "a!in(b)": f"{cannot}found '!', expected: in, notin, =, ==, !=, gt, lt",
        "i>x": f"{cannot}values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
        "-a": f'{cannot}<nil>: Invalid value: "-a": {NAME_RULE}',
    }
    only = 'is not a known field selector: only "metadata.name", "metadata.namespace"'
    fields = {
        "spec.x=1": f'"spec.x" {only}',
        "=x": f'"" {only}',
        "metadata.name": "invalid selector: 'metadata.name'; can't understand 'metadata.name'",
    }
    await check(
        api,
        *(Row(f"GET {MAPS}?labelSelector={quote(text)}", 400, message) for text, message in labels.items()),
        *(Row(f"GET {MAPS}?fieldSelector={quote(text)}", 400, message) for text, message in fields.items()),
        Row("GET /api/v1/pods?fieldSelector=spec.foo%3D1", 400, "field label not supported: spec.foo"),
        Row("GET /api/v1/pods?fieldSelector=spec.nodeName%3D1", 200),
    )


async def test_versions_that_make_no_sense_are_refused(api: Api) -> None:
    version = await _six(api)
    needs_version = (
        "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"
    )
    not_for_lists = "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"
    number = 'strconv.ParseUint: parsing "abc": invalid syntax'
    await check(
        api,
        *(
            Row(f"GET {MAPS}?{query}", status, message)
            for query, status, message in (
                ("resourceVersionMatch=Exact", 422, f"{INVALID}{needs_version}"),
                (
                    "resourceVersion=0&resourceVersionMatch=Exact",
                    422,
                    f'{INVALID}resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
                ),
                (
                    "resourceVersion=1&resourceVersionMatch=Foo",
                    422,
                    f'{INVALID}resourceVersionMatch: Unsupported value: "Foo": supported values: "Exact", "NotOlderThan", ""',
                ),
                ("sendInitialEvents=true", 422, f"{INVALID}{not_for_lists}"),
                (
                    "resourceVersion=abc",
                    400,
                    f'invalid resource version: resourceVersion: Invalid value: "abc": {number}',
                ),
                ("resourceVersion=999999", 504, f"Timeout: Too large resource version: 999999, current: {version}"),
            )
        ),
    )


async def test_the_past_can_be_listed_until_it_is_forgotten(server: Server, api: Api) -> None:
    version = await _six(api)
    await api("DELETE", f"{MAPS}/l0")
    assert await _names(api, f"resourceVersion={version}&resourceVersionMatch=Exact") == "l0 l1 l2 l3 l4 l5"
    assert await _names(api, f"resourceVersion={version}&resourceVersionMatch=NotOlderThan") == "l1 l2 l3 l4 l5"
    await api("DELETE", f"{MAPS}/l1")
    server.store.compact(server.store.committed)
    gone = "The resourceVersion for the provided list is too old."
    await check(
        api, Row(f"GET {MAPS}?resourceVersion={version}&resourceVersionMatch=Exact", 410, gone, reason="Expired")
    )


async def test_pages_show_one_moment(server: Server, api: Api) -> None:
    await _six(api)
    first = (await api("GET", f"{MAPS}?limit=2&labelSelector=w")).body
    assert "remainingItemCount" not in first["metadata"]
    assert (await api("GET", f"{MAPS}?limit=2")).body["metadata"]["remainingItemCount"] == 5
    await api("POST", MAPS, config_map("l9", meta={"labels": {"w": "x"}}))
    await api("DELETE", f"{MAPS}/l4")
    token = quote(first["metadata"]["continue"])
    rest = (await api("GET", f"{MAPS}?labelSelector=w&continue={token}")).body
    assert [item["metadata"]["name"] for item in rest["items"]] == ["l2", "l3", "l4", "l5"]
    assert rest["metadata"] == {"resourceVersion": first["metadata"]["resourceVersion"]}
    assert await _names(api, "limit=2&resourceVersion=0&labelSelector=w") == "l0 l1 l2 l3 l5 l9"
    server.store.compact(server.store.committed)
    expired = await api("GET", f"{MAPS}?labelSelector=w&continue={token}")
    assert (expired.status, expired.body["reason"]) == (410, "Expired")
    go_on = quote(expired.body["metadata"]["continue"])
    assert await _names(api, f"labelSelector=w&continue={go_on}") == "l2 l3 l5 l9"


def _token(content: str) -> str:
    return base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")


async def test_forged_tokens_are_refused(api: Api) -> None:
    start = "invalid continue token: continue key is not valid: "
    forged = {
        "!!!": "illegal base64 data at input byte 0",
        _token("not json"): "invalid character 'o' in literal null (expecting 'u')",
        _token("[]"): "json: cannot unmarshal array into Go value of type storage.continueToken",
        _token(
            '{"v":"meta.k8s.io/v1","rv":"x","start":"a"}'
        ): "json: cannot unmarshal string into Go struct field continueToken.rv of type int64",
        _token(
            '{"v":"meta.k8s.io/v2","rv":1,"start":"a"}'
        ): "server does not recognize this encoded version meta.k8s.io/v2",
        _token(
            '{"v":"meta.k8s.io/v1","rv":0,"start":"a"}'
        ): "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
        _token('{"v":"meta.k8s.io/v1","rv":-1,"start":""}'): "encoded start key empty (version meta.k8s.io/v1)",
        _token('{"v":"meta.k8s.io/v1","rv":1,"start":"../../a"}'): "../../a",
    }
    await check(api, *(Row(f"GET {MAPS}?continue={token}", 400, f"{start}{why}") for token, why in forged.items()))


async def _history(api: Api) -> tuple[str, str]:
    """An object that comes into a selection and one that leaves it; answers the versions before and in between."""
    start = (await api("GET", MAPS)).body["metadata"]["resourceVersion"]
    await api("POST", MAPS, config_map("w1", meta={"labels": {"w": "x"}}))
    await api("POST", MAPS, config_map("w2", meta={"labels": {"w": "x", "s": "1"}}))
    middle = (await api("PATCH", f"{MAPS}/w1", {"data": {"a": "2"}}, MERGE_PATCH)).body["metadata"]["resourceVersion"]
    await api("PATCH", f"{MAPS}/w1", {"metadata": {"labels": {"s": "1"}}}, MERGE_PATCH)
    await api("PATCH", f"{MAPS}/w2", {"metadata": {"labels": {"s": None}}}, MERGE_PATCH)
    await api("DELETE", f"{MAPS}/w2")
    return start, middle


async def _events(api: Api, query: str, count: int, **headers: str) -> list[dict[str, Any]]:
    """The first events of a watch, and proof that there is no further one waiting."""
    events: list[dict[str, Any]] = []
    async with asyncio.timeout(100), api.session.get(f"{api.url}{MAPS}?watch=1&{query}", headers=headers) as answer:
        assert answer.status == 200, await answer.read()
        while len(events) < count:
            events.append(json.loads(await answer.content.readline()))
        await api("POST", MAPS, config_map(f"last{count}", meta={"labels": {"w": "x", "s": "1"}}))
        last = json.loads(await answer.content.readline())
        await api("DELETE", f"{MAPS}/last{count}")
    assert last["object"]["metadata"].get("name", "last").startswith("last"), last
    return events


def _shown(events: list[dict[str, Any]]) -> str:
    return " ".join(f"{event['type'][0]}:{event['object']['metadata'].get('name', '')}" for event in events)


async def test_watches_tell_what_happened_since(api: Api) -> None:
    start, middle = await _history(api)
    seen = {
        f"resourceVersion={start}&labelSelector=w": "A:w1 A:w2 M:w1 M:w1 M:w2 D:w2",
        f"resourceVersion={middle}&labelSelector=w": "M:w1 M:w2 D:w2",
        f"resourceVersion={start}&labelSelector=s%3D1": "A:w2 A:w1 D:w2",
        "resourceVersion=0&labelSelector=w": "A:w1",
        "labelSelector=w": "A:w1",
    }
    assert {query: _shown(await _events(api, query, len(text.split()))) for query, text in seen.items()} == seen


async def test_an_object_that_leaves_a_selection_is_shown_as_it_was(api: Api) -> None:
    start, _ = await _history(api)
    *_, left = await _events(api, f"resourceVersion={start}&labelSelector=s%3D1", 3)
    assert left["object"]["metadata"]["labels"] == {"w": "x", "s": "1"}


async def test_a_watch_tells_where_the_beginning_ends(api: Api) -> None:
    _, middle = await _history(api)
    bookmarks = "allowWatchBookmarks=true&labelSelector=w"
    initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
    for query in (
        f"{initial}&{bookmarks}",
        f"{initial}&resourceVersion={middle}&{bookmarks}",
        f"resourceVersion=0&{bookmarks}",
        bookmarks,
    ):
        first, mark = await _events(api, query, 2)
        assert _shown([first, mark]) == "A:w1 B:"
        assert mark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        assert set(mark["object"]["metadata"]) == {"annotations", "resourceVersion"}
        assert (mark["object"]["kind"], mark["object"]["apiVersion"]) == ("ConfigMap", "v1")
    assert _shown(await _events(api, f"{initial}&labelSelector=w", 1)) == "A:w1"
    without = f"sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion={middle}&labelSelector=w"
    assert _shown(await _events(api, without, 3)) == "M:w1 M:w2 D:w2"


async def test_watches_that_make_no_sense_are_refused(server: Server, api: Api) -> None:
    start, _ = await _history(api)
    match = "resourceVersionMatch: Forbidden: "
    await check(
        api,
        *(
            Row(f"GET {MAPS}?watch=1&{query}", status, message)
            for query, status, message in (
                (
                    "sendInitialEvents=true",
                    422,
                    f"{INVALID}{match}sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
                ),
                (
                    "resourceVersionMatch=NotOlderThan",
                    422,
                    f"{INVALID}{match}resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
                ),
                ("continue=abc", 422, f"{INVALID}{match}resourceVersionMatch is forbidden when continue is provided"),
                (
                    "resourceVersion=abc",
                    400,
                    'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
                ),
                ("timeoutSeconds=abc", 400, 'strconv.ParseInt: parsing "abc": invalid syntax'),
                ("labelSelector=%3D", 400, "found '=', expected: !, identifier, or 'end of string'"),
            )
        ),
    )
    server.store.compact(server.store.committed)
    (gone,) = await api.watch(f"{MAPS}?watch=1&resourceVersion={start}", 1)
    assert (gone["type"], gone["object"]["code"], gone["object"]["reason"]) == ("ERROR", 410, "Expired")
    assert gone["object"]["message"] == f"too old resource version: {start} ({server.store.compacted})"


async def test_a_watch_from_the_future_waits_for_it(server: Server, api: Api) -> None:
    future = server.store.committed + 2
    async with asyncio.timeout(100), api.session.get(f"{api.url}{MAPS}?watch=1&resourceVersion={future}") as answer:
        for name in ("a", "b", "c"):
            await api("POST", MAPS, config_map(name))
        assert json.loads(await answer.content.readline())["object"]["metadata"]["name"] == "c"


async def test_a_watch_ends_when_its_time_is_over(api: Api) -> None:
    async with asyncio.timeout(100), api.session.get(f"{api.url}{MAPS}?watch=1&timeoutSeconds=1") as answer:
        lines = (await answer.read()).splitlines()
    assert [json.loads(line)["object"]["metadata"]["name"] for line in lines] == ["kube-root-ca.crt"]


async def test_watches_come_in_other_forms_too(api: Api) -> None:
    start, _ = await _history(api)
    meta = "v=v1;g=meta.k8s.io"
    query = f"resourceVersion={start}&labelSelector=w"
    partial = await _events(api, query, 6, Accept=f"application/json;as=PartialObjectMetadata;{meta}")
    assert {event["object"]["kind"] for event in partial} == {"PartialObjectMetadata"}
    tables = await _events(api, query, 6, Accept=f"application/json;as=Table;{meta}")
    assert [event["object"]["rows"][0]["cells"][:2] for event in tables[:3]] == [["w1", 0], ["w2", 0], ["w1", 1]]
    assert [bool(event["object"]["columnDefinitions"]) for event in tables] == [True] + [False] * 5


async def test_one_object_can_be_watched(api: Api) -> None:
    start, _ = await _history(api)
    path = f"/api/v1/watch/namespaces/default/configmaps/w1?resourceVersion={start}"
    assert _shown(await api.watch(path, 3)) == "A:w1 M:w1 M:w1"
    assert (await api("GET", f"{MAPS}/w1?watch=1")).body["kind"] == "ConfigMap"


async def test_a_watch_of_an_older_version_hears_of_changes_in_that_version(api: Api) -> None:
    path = "namespaces/default/horizontalpodautoscalers"
    scaler = {
        "apiVersion": "autoscaling/v1",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "maxReplicas": 3,
            "targetCPUUtilizationPercentage": 70,
        },
    }
    async with asyncio.timeout(100), api.session.get(f"{api.url}/apis/autoscaling/v1/{path}?watch=1") as answer:
        await api("POST", f"/apis/autoscaling/v1/{path}", scaler)
        added = json.loads(await answer.content.readline())["object"]
    assert (added["apiVersion"], added["spec"]["targetCPUUtilizationPercentage"]) == ("autoscaling/v1", 70)
