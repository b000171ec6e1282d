"""What a client is told of the answers of admission webhooks."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.apiserver.test_operators_habits import MAPS, install
from tests.apiserver.webhook import Json, allowed, serving
from tests.conftest import Answered, Api

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
