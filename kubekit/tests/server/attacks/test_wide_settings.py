"""What is wide long before somebody sends a small request: schemas, rights, selectors. Nobody waits for it."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from kubekit.testing.watchdog import watched
from tests.http_api import Api
from tests.server.attacks import payloads
from tests.server.attacks.payloads import KETTLES, ROLES
from tests.server.attacks.test_hostile_start import served
from tests.server.attacks.tries import let_others_have_turns
from tests.server.custom import definition
from tests.server.wire import APPLY, JSON, MAPS, MERGE_PATCH, YAML

pytestmark = pytest.mark.usefixtures("as_served")

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
RBAC = "rbac.authorization.k8s.io"


def wide(kind: str) -> dict[str, Any]:
    """The schema of a spec with thousands of parts."""
    if kind == "properties":
        named = {f"p{i}": {"type": "string", "pattern": f"^a{i}b*$"} for i in range(6000)}
        return {"type": "object", "properties": named}
    parts = [{"properties": {"x": {"pattern": f"a|b{number}"}}} for number in range(6000)]
    return {"type": "object", "properties": {"x": {"type": "string"}}, kind: parts}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("kind", ["properties", "allOf", "anyOf"])
async def test_nobody_waits_for_a_small_object_of_a_wide_kind(api: Api, kind: str) -> None:
    made = definition("kettles", "Kettle", "Namespaced")
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"] = {"spec": wide(kind)}
    async with watched():
        assert (await api("POST", CRDS, made)).status == 201
        while (await api("GET", KETTLES)).status == 404:
            pass
    kettle = {"apiVersion": "example.com/v1", "kind": "Kettle", "metadata": {"name": "a"}, "spec": {"x": "a"}}
    async with watched():
        assert (await api("POST", KETTLES, kettle)).status == 201
    async with watched():
        patch = json.dumps({"metadata": {"labels": {"a": "b"}}}).encode()
        assert (await api("PATCH", f"{KETTLES}/a", patch, MERGE_PATCH)).status == 200
    async with watched():
        applied = json.dumps({**kettle, "spec": {}}).encode()
        assert (await api("PATCH", f"{KETTLES}/a?fieldManager=me", applied, APPLY)).status == 200


async def grant_many(api: Api) -> None:
    """180,000 rules, each of its own, for one user."""
    reference = {"kind": "ClusterRole", "apiGroup": RBAC}
    subject = {"kind": "User", "name": "many", "apiGroup": RBAC}
    for number in range(60):
        rules = [{"apiGroups": ["a"], "resources": [f"b{number}-{i}"], "verbs": ["c"]} for i in range(3000)]
        role = {"metadata": {"name": f"r{number}"}, "rules": rules}
        binding = {
            "metadata": {"name": f"r{number}"},
            "roleRef": {**reference, "name": f"r{number}"},
            "subjects": [subject],
        }
        assert (await api("POST", ROLES, role)).status == 201
        assert (await api("POST", BINDINGS, binding)).status == 201


@pytest.mark.timeout(120)
async def test_nobody_waits_for_who_has_very_many_rights(api: Api) -> None:
    """Each request looks through all of them once, and again after any of them has changed."""
    assert (await api("GET", MAPS, Impersonate_User="many")).status == 403
    await grant_many(api)
    async with watched():
        for path in (MAPS, "/metrics", f"{MAPS}/a"):
            assert (await api("GET", path, Impersonate_User="many")).status == 403


@pytest.mark.timeout(120)
async def test_nobody_waits_for_very_many_rights_after_a_start(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await grant_many(api)
    async with served(tmp_path) as api:
        assert (await api("GET", MAPS)).status == 200
        async with watched():
            assert (await api("GET", MAPS, Impersonate_User="many")).status == 403


@pytest.mark.timeout(120)
@pytest.mark.parametrize("accept", [JSON, YAML, payloads.PROTOBUF], ids=["json", "yaml", "protobuf"])
async def test_nobody_waits_for_who_asks_for_all_of_very_many_rights(api: Api, accept: str) -> None:
    await grant_many(api)
    own = {"kind": "SelfSubjectRulesReview", "spec": {"namespace": "default"}}
    attributes = {"verb": "c", "group": "a", "resource": "b59-2999"}
    question = {"kind": "SubjectAccessReview", "spec": {"user": "many", "resourceAttributes": attributes}}
    path = REVIEWS.rpartition("/")[0]
    async with watched():
        answer = await api("POST", f"{path}/subjectaccessreviews", question)
        assert (answer.status, answer.body["status"]["allowed"]) == (201, True)

    async def ask_for_all() -> None:
        headers = {"Impersonate-User": "many", "Accept": accept, "Content-Type": JSON}
        url, length = f"{api.url}{path}/selfsubjectrulesreviews", 0
        async with api.session.post(url, data=BytesIO(json.dumps(own).encode()), headers=headers) as answered:
            assert answered.status == 201
            async for piece in answered.content.iter_any():
                length += len(piece)
        assert length > 180_000 * 10

    await let_others_have_turns(ask_for_all)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("kind", ["fieldSelector", "labelSelector"])
async def test_nobody_waits_for_a_question_about_a_long_selector(api: Api, kind: str) -> None:
    requirement = {"key": "a", "operator": "In", "values": ["b"]}
    selectors = ({"rawSelector": ",".join(["a=b"] * 200_000)}, {"requirements": [requirement] * 15_000})
    for selector in selectors:
        attributes = {"verb": "list", "resource": "pods", kind: selector}
        question = {"kind": "SelfSubjectAccessReview", "spec": {"resourceAttributes": attributes}}
        async with watched():
            assert (await api("POST", REVIEWS, question)).status == 201


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "query",
    [
        "labelSelector=" + ",".join(f"a{number}=b" for number in range(800)),
        "labelSelector=a in (" + ",".join(f"b{number}" for number in range(1500)) + ")",
        "fieldSelector=" + ",".join(["metadata.name!=a"] * 450),
    ],
    ids=["labels", "values", "fields"],
)
async def test_nobody_waits_for_a_long_selector_in_a_query(api: Api, query: str) -> None:
    for number in range(300):
        made = {"metadata": {"name": f"m{number}", "labels": {"a": "b"}}}
        assert (await api("POST", MAPS, made)).status == 201
    async with watched():
        assert (await api("GET", f"{MAPS}?{query.replace(' ', '%20')}")).status == 200


@pytest.mark.timeout(120)
async def test_nobody_waits_for_documents_about_a_wide_kind(api: Api) -> None:
    made = definition("kettles", "Kettle", "Namespaced")
    named = {f"p{i}": {"type": "string", "description": f"Part {i}."} for i in range(15_000)}
    spec = {"type": "object", "properties": named}
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"] = {"spec": spec}
    assert (await api("POST", CRDS, made)).status == 201
    while (await api("GET", KETTLES)).status == 404:
        pass
    old = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
    for path, accept in (
        ("/openapi/v3", JSON),
        ("/openapi/v3/apis/example.com/v1", JSON),
        ("/openapi/v2", JSON),
        ("/openapi/v2", old),
    ):
        for encoding in ("gzip", "identity"):
            async with watched():
                headers = {"Accept": accept, "Accept-Encoding": encoding}
                async with api.session.get(f"{api.url}{path}", headers=headers, auto_decompress=False) as answered:
                    length = 0
                    async for piece in answered.content.iter_any():
                        length += len(piece)
            assert answered.status == 200
            assert length > 100
