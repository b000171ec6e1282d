"""What a client is told of the answers of admission webhooks."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from kubekit.server.serve.server import Server
from tests.http_api import Answered, Api
from tests.server.test_operators_habits import MAPS, install
from tests.server.webhook import Json, allowed, serving
from tests.server.wire import MERGE_PATCH

NAMED = 'admission webhook "tests.example.com" denied the request'
FAILED = 'Internal error occurred: failed calling webhook "tests.example.com": '


async def answer_to(api: Api, response: Json, kind: str = "Validating", **changed: Any) -> Answered:
    """What a client hears whose request a webhook answers like that."""

    def answer(review: Json) -> Json:
        return {**allowed(review), "response": {"uid": review["request"]["uid"], **response}}

    async with serving(answer) as hook:
        await install(api, kind, hook, **changed)
        return await api("POST", MAPS, {"metadata": {"name": "c"}})


async def test_a_refusal_without_any_word_is_a_bad_request_without_a_reason(api: Api) -> None:
    refused = await answer_to(api, {"allowed": False})
    assert refused.status == 400
    assert refused.body == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f"{NAMED} without explanation",
        "code": 400,
    }


@pytest.mark.parametrize(
    ("status", "code", "reason", "said"),
    [
        ({"message": "no"}, 400, None, ": no"),
        ({"reason": "NotFound"}, 400, "NotFound", ": NotFound"),
        ({"code": 403, "message": "no"}, 403, None, ": no"),
        ({"code": 200, "message": "no", "status": "Success"}, 400, None, ": no"),
        ({"code": 399}, 400, None, " without explanation"),
        ({"code": -5}, 400, None, " without explanation"),
        ({"code": 999}, 999, None, " without explanation"),
        ({"code": 1000}, 500, None, " without explanation"),
    ],
    ids=str,
)
async def test_a_refusal_has_the_code_of_the_webhook_if_that_is_one_of_an_error(
    api: Api, status: Json, code: int, reason: str | None, said: str
) -> None:
    refused = await answer_to(api, {"allowed": False, "status": status})
    assert (refused.status, refused.body["code"]) == (code, code)
    assert (refused.body["status"], refused.body.get("reason")) == ("Failure", reason)
    assert refused.body["message"] == NAMED + said


async def test_details_go_on_to_the_client_without_what_nobody_knows(api: Api) -> None:
    causes = [{"reason": "FieldValueInvalid", "message": "x", "field": "f"}]
    status = {"code": 422, "reason": "Invalid", "details": {"name": "c", "causes": causes, "strange": 1}}
    refused = await answer_to(api, {"allowed": False, "status": status}, "Mutating")
    assert (refused.body["reason"], refused.body["details"]) == ("Invalid", {"name": "c", "causes": causes})


@pytest.mark.parametrize(
    ("kind", "response", "problem"),
    [
        (
            "Validating",
            {"allowed": "no"},
            (
                "failed to call webhook: json: cannot unmarshal string into Go struct field "
                "AdmissionResponse.response.allowed of type bool"
            ),
        ),
        (
            "Validating",
            {"allowed": False, "status": {"code": "403"}},
            (
                "failed to call webhook: json: cannot unmarshal string into Go struct field "
                "Status.response.status.code of type int32"
            ),
        ),
        (
            "Validating",
            {"allowed": True, "patch": "W10=", "patchType": "JSONPatch"},
            "received invalid webhook response: validating webhook may not return response.patch",
        ),
        (
            "Mutating",
            {"allowed": True, "patch": "W10="},
            "received invalid webhook response: webhook returned response.patch but not response.patchType",
        ),
        (
            "Mutating",
            {"allowed": True, "patchType": "JSONPatch"},
            "received invalid webhook response: webhook returned response.patchType but not response.patch",
        ),
        (
            "Mutating",
            {"allowed": True, "patch": base64.b64encode(b"no").decode(), "patchType": "JSONPatch"},
            "received undecodable patch in webhook response: invalid character 'o' in literal null (expecting 'u')",
        ),
    ],
    ids=["allowed", "code", "patch", "no type", "no patch", "unreadable patch"],
)
async def test_an_answer_that_cannot_be_used_fails_the_request_unless_the_webhook_may_fail(
    api: Api, kind: str, response: Json, problem: str
) -> None:
    refused = await answer_to(api, response, kind)
    assert (refused.status, refused.body["message"]) == (500, FAILED + problem)
    await api("DELETE", f"/apis/admissionregistration.k8s.io/v1/{kind.lower()}webhookconfigurations/tests")
    assert (await answer_to(api, response, kind, failurePolicy="Ignore")).status == 201


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        (
            {"op": "add", "path": "/metadata/annotations/a~1b", "value": "c"},
            'add operation does not apply: doc is missing path: "/metadata/annotations/a~1b": missing value',
        ),
        (
            {"op": "remove", "path": "/data/none"},
            "error in remove for path: '/data/none': Unable to remove nonexistent key: none: missing value",
        ),
        (
            {"op": "replace", "path": "/none/x", "value": "y"},
            "replace operation does not apply: doc is missing path: /none/x: missing value",
        ),
        ({"op": "test", "path": "/data/k", "value": "w"}, "testing value /data/k failed: test failed"),
        (
            {"op": "move", "from": "/none/x", "path": "/data/x"},
            "move operation does not apply: doc is missing from path: /none/x: missing value",
        ),
        (
            {"op": "copy", "from": "/data/k", "path": "/none/x"},
            "copy operation does not apply: doc is missing destination path: /none/x: missing value",
        ),
        (
            {"op": "add", "path": "/metadata/finalizers/x", "value": "y"},
            (
                "error in add for path: '/metadata/finalizers/x': value was not a proper array index: 'x': "
                'strconv.Atoi: parsing "x": invalid syntax'
            ),
        ),
        (
            {"op": "remove", "path": "/metadata/finalizers/3"},
            (
                "error in remove for path: '/metadata/finalizers/3': Unable to access invalid index: 3: "
                "invalid index referenced"
            ),
        ),
        ({"op": "increment", "path": "/data/k"}, "Unexpected kind: increment"),
        ({"op": "add", "value": "x"}, "add operation failed to decode path: missing value"),
    ],
    ids=lambda value: value["op"] if isinstance(value, dict) else "",
)
async def test_the_author_of_a_webhook_is_told_why_its_patch_does_not_apply(
    api: Api, operation: Json, why: str
) -> None:
    given = {"metadata": {"name": "c", "finalizers": ["example.com/x"]}, "data": {"k": "v"}}
    async with serving(lambda review: allowed(review, [operation])) as hook:
        await install(api, "Mutating", hook)
        refused = await api("POST", MAPS, given)
    assert (refused.status, refused.body["message"]) == (500, f"Internal error occurred: {why}")


WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}}
MEDDLING: list[Json] = [
    {"op": "add", "path": "/metadata/generation", "value": 77},
    {"op": "add", "path": "/metadata/creationTimestamp", "value": "2001-01-01T00:00:00Z"},
    {"op": "add", "path": "/spec/by", "value": "webhook"},
    {"op": "add", "path": "/status", "value": {"by": "webhook"}},
]


async def define_widgets(api: Api, server: Server) -> None:
    """A kind with a status."""
    loose = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": loose, "status": loose}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema, "subresources": {"status": {}}}
    spec = {"group": "example.com", "scope": "Namespaced", "versions": [version]}
    names = {"plural": "widgets", "kind": "Widget", "singular": "widget"}
    definition = {"metadata": {"name": "widgets.example.com"}, "spec": {**spec, "names": names}}
    made = await api("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
    assert made.status == 201, made.body
    await server.root.settled()


def on(*resources: str, group: str = "example.com") -> Json:
    return {"apiGroups": [group], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": [*resources]}


async def test_a_webhook_changes_neither_the_age_nor_the_status_of_a_new_object(api: Api, server: Server) -> None:
    await define_widgets(api, server)
    async with serving(lambda review: allowed(review, MEDDLING)) as hook:
        await install(api, "Mutating", hook, rules=[on("widgets")])
        made = (await api("POST", WIDGETS, {**WIDGET, "spec": {}})).body
    assert (made["spec"], made["metadata"]["generation"]) == ({"by": "webhook"}, 1)
    assert "status" not in made
    assert not made["metadata"]["creationTimestamp"].startswith("2001")


async def test_a_webhook_changes_the_status_only_when_that_is_written(api: Api, server: Server) -> None:
    await define_widgets(api, server)
    await api("POST", WIDGETS, {**WIDGET, "spec": {"size": 1}})
    async with serving(lambda review: allowed(review, MEDDLING)) as hook:
        await install(api, "Mutating", hook, rules=[on("widgets", "widgets/status")])
        reported = (await api("PATCH", f"{WIDGETS}/a/status", {"status": {"ready": True}}, MERGE_PATCH)).body
        assert (reported["spec"], reported["status"]) == ({"size": 1}, {"by": "webhook"})
        assert reported["metadata"]["generation"] == 1
        changed = (await api("PATCH", f"{WIDGETS}/a", {"spec": {"size": 2}}, MERGE_PATCH)).body
        assert (changed["spec"], changed["metadata"]["generation"]) == ({"size": 2, "by": "webhook"}, 2)


@pytest.mark.parametrize(
    ("field", "value", "code", "said"),
    [
        (
            "namespace",
            "kube-system",
            400,
            "the namespace of the provided object does not match the namespace sent on the",
        ),
        ("resourceVersion", "1", 400, "resourceVersion should not be set on objects to be created"),
    ],
)
async def test_a_webhook_neither_moves_nor_versions_a_new_object(
    api: Api, field: str, value: str, code: int, said: str
) -> None:
    patch = [{"op": "add", "path": f"/metadata/{field}", "value": value}]
    async with serving(lambda review: allowed(review, patch)) as hook:
        await install(api, "Mutating", hook)
        refused = await api("POST", MAPS, {"metadata": {"name": "c"}})
    assert (refused.status, refused.body["message"].startswith(said)) == (code, True), refused.body


async def test_an_object_that_a_webhook_renames_is_found_under_its_new_name(api: Api) -> None:
    patch = [
        {"op": "replace", "path": "/metadata/name", "value": "renamed"},
        {"op": "replace", "path": "/metadata/uid", "value": "chosen"},
    ]
    async with serving(lambda review: allowed(review, patch)) as hook:
        await install(api, "Mutating", hook)
        await api("POST", MAPS, {"metadata": {"name": "c"}})
    assert (await api("GET", f"{MAPS}/c")).status == 404
    found = await api("GET", f"{MAPS}/renamed")
    assert (found.status, found.body["metadata"]["uid"] != "chosen") == (200, True)


async def test_a_webhook_that_answers_with_an_old_version_has_the_change_refused(api: Api) -> None:
    await api("POST", MAPS, {"metadata": {"name": "c"}})
    patch = [{"op": "replace", "path": "/metadata/resourceVersion", "value": "1"}]
    async with serving(lambda review: allowed(review, patch)) as hook:
        await install(api, "Mutating", hook)
        refused = await api("PATCH", f"{MAPS}/c", {"data": {"k": "v"}}, MERGE_PATCH)
    assert (refused.status, refused.body["reason"]) == (409, "Conflict")
