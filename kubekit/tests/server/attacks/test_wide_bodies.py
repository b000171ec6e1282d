"""Bodies that are wide, or the same again and again: whatever becomes of them, nobody else waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from io import BytesIO

import aiohttp
import pytest
import yaml

from kubekit.server.serve.server import Server
from kubekit.testing.watchdog import LoopHeld, watched
from tests.http_api import Api, admin_context
from tests.server.attacks import payloads
from tests.server.attacks.payloads import KETTLES, Attack
from tests.server.custom import definition
from tests.server.wire import APPLY, JSON, MAPS, YAML

pytestmark = pytest.mark.usefixtures("as_served")

FAMILIES: tuple[Callable[[], Iterator[Attack]], ...] = (
    payloads.yaml_attacks,
    payloads.json_attacks,
    payloads.metadata_attacks,
    payloads.pod_attacks,
    payloads.patch_attacks,
    payloads.protobuf_attacks,
    payloads.role_attacks,
    payloads.made_attacks,
)
LONGEST_ANSWER = 13_000_000
"""Of a refusal: it may show what it refuses, but not again and again."""


async def sent(api: Api, attack: Attack) -> tuple[int, int]:
    """The status of the answer and its length."""
    headers = {"Content-Type": attack.content_type}
    async with api.session.request(
        attack.method, f"{api.url}{attack.path}", data=BytesIO(attack.body), headers=headers
    ) as it:
        return it.status, len(await it.read())


async def problem_of(api: Api, attack: Attack) -> str:
    """What an attack does every time that it should not do; nothing if all is well.

    More than once, since others may be at work on the processor, and on its caches."""
    for _ in range(3):
        problem = await _problem_of(api, attack)
        if not problem:
            break
    return problem


async def _problem_of(api: Api, attack: Attack) -> str:
    for path, body in attack.before:
        assert (await sent(api, Attack("", "POST", path, body)))[0] == 201
    try:
        async with watched():
            status, length = await sent(api, attack)
    except LoopHeld as error:
        return f"{attack.name}: {error}"
    finally:
        for path in (MAPS, payloads.PODS, payloads.ROLES, KETTLES):
            async with api.session.delete(f"{api.url}{path}/a?gracePeriodSeconds=0") as gone:
                await gone.read()
        finalized = Attack(
            "", "PATCH", f"{MAPS}/a", b'{"metadata":{"finalizers":null}}', "application/merge-patch+json"
        )
        await sent(api, finalized)
    if not 200 <= status < 500 or length > LONGEST_ANSWER:
        return f"{attack.name}: answered {status} with {length} bytes"
    return ""


@pytest.mark.timeout(240)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
async def test_nobody_waits_for_a_wide_body(api: Api, family: Callable[[], Iterator[Attack]]) -> None:
    problems = [await problem_of(api, attack) for attack in family()]
    assert [problem for problem in problems if problem] == []


@pytest.mark.timeout(240)
async def test_nobody_waits_for_a_wide_custom_resource(api: Api) -> None:
    made = definition("kettles", "Kettle", "Namespaced")
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"] = {"spec": payloads.SETS}
    assert (await api("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", made)).status == 201
    while (await api("GET", KETTLES)).status == 404:
        pass
    problems = [await problem_of(api, attack) for attack in payloads.custom_attacks()]
    assert [problem for problem in problems if problem] == []


@pytest.mark.timeout(60)
async def test_nobody_waits_for_the_writer_of_a_role_who_has_few_rights(api: Api) -> None:
    """Who is no administrator may grant only what they hold; it is found out without trying every combination."""
    words = [f"a{number}" for number in range(1000)]
    rules = [{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"], "verbs": ["create"]}]
    role = {"metadata": {"name": "writer"}, "rules": rules}
    subject = {"kind": "User", "name": "writer", "apiGroup": "rbac.authorization.k8s.io"}
    reference = {"kind": "ClusterRole", "name": "writer", "apiGroup": "rbac.authorization.k8s.io"}
    binding = {"metadata": {"name": "writer"}, "roleRef": reference, "subjects": [subject]}
    assert (await api("POST", payloads.ROLES, role)).status == 201
    assert (await api("POST", payloads.ROLES.replace("roles", "rolebindings"), binding)).status == 201
    cube = {"apiGroups": words, "resources": words, "verbs": words, "resourceNames": words}
    async with watched():
        answer = await api(
            "POST", payloads.ROLES, {"metadata": {"name": "a"}, "rules": [cube] * 2}, Impersonate_User="writer"
        )
    assert answer.status == 403
    assert answer.body["message"].count("APIGroups") <= 1000
    assert (
        await api("POST", payloads.ROLES, {"metadata": {"name": "b"}, "rules": rules}, Impersonate_User="writer")
    ).status == 201


@pytest.mark.timeout(60)
async def test_nobody_waits_for_columns_that_look_everywhere(api: Api) -> None:
    made = definition("kettles", "Kettle", "Namespaced")
    made["spec"]["versions"][0]["additionalPrinterColumns"] = [
        {"name": "All", "type": "string", "jsonPath": "." + "..x" * 30},
        {"name": "Any", "type": "string", "jsonPath": "...x"},
    ]
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert (await api("POST", crds, made)).status == 201
    deep = '{"x":' * 60 + "[" + payloads.same('{"x":[1]}', 200_000) + "]" + "}" * 60
    body = '{"apiVersion":"example.com/v1","kind":"Kettle","metadata":{"name":"a"},"spec":' + deep + "}"
    while (answer := await api("POST", KETTLES, body.encode())).status == 404:
        pass
    assert answer.status == 201
    async with watched():
        table = await api("GET", KETTLES, Accept="application/json;as=Table;v=v1;g=meta.k8s.io")
    assert (table.status, table.body["rows"][0]["cells"][0]) == (200, "a")


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("accept", "query"),
    [(YAML, ""), (payloads.PROTOBUF, ""), (JSON, "?pretty=true")],
    ids=["yaml", "protobuf", "pretty"],
)
async def test_nobody_waits_for_a_long_list_in_another_form(api: Api, accept: str, query: str) -> None:
    data = {f"k{number}": "text" for number in range(4000)}
    for number in range(12):
        assert (await api("POST", MAPS, {"metadata": {"name": f"m{number}"}, "data": data})).status == 201
    async with watched():
        answer = await api("GET", f"{MAPS}{query}", Accept=accept)
    assert answer.status == 200
    if accept == YAML:
        listed = yaml.load(answer.body, yaml.CSafeLoader)
        assert [item["metadata"]["name"] for item in listed["items"]][-12:] == sorted(f"m{i}" for i in range(12))
        assert (listed["kind"], listed["metadata"]["resourceVersion"].isdigit()) == ("ConfigMapList", True)


@pytest.mark.timeout(60)
async def test_warnings_are_no_more_than_kubernetes_sends(api: Api) -> None:
    body = payloads.config_map(payloads.numbered('"' + "k" * 300 + '%d":1', 100_000))
    answer = await api("POST", f"{MAPS}?fieldValidation=Warn", body)
    warnings = answer.headers.getall("Warning")
    assert answer.status == 201
    assert len(warnings) == 16
    assert all(len(warning) <= 256 + len('299 - ""') + 2 for warning in warnings)


@pytest.mark.timeout(60)
async def test_a_strict_reader_names_a_hundred_mistakes(api: Api) -> None:
    answer = await api(
        "POST", f"{MAPS}?fieldValidation=Strict", payloads.config_map(payloads.numbered('"k%d":1', 5000))
    )
    assert (answer.status, answer.body["message"].count("unknown field")) == (400, 100)


@pytest.mark.timeout(60)
async def test_other_spaces_take_turns_with_one_that_works_long(server: Server, api: Api) -> None:
    """While a body is read that takes seconds, small requests are answered."""
    big = payloads.in_yaml("{" + payloads.same("a: b", 800_000, ", ") + "}")
    config = yaml.safe_load(server.admin_kubeconfig())
    async with (
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=admin_context(config))) as other,
        watched(),
    ):
        slow = asyncio.ensure_future(sent(api, Attack("big", "PATCH", f"{MAPS}/a?fieldManager=me", big, APPLY)))
        answered = 0
        while not slow.done():
            async with other.get(f"{server.url}{MAPS}") as answer:
                assert answer.status == 200
                answered += 1
        await slow
    assert answered > 5
