"""Answers of Prism Central that are errors, and what Butler makes of them."""

from __future__ import annotations

from typing import Any

import pytest

from butler.errors import (
    CapacityExhausted,
    CredentialsInvalid,
    MachineRejected,
    ProviderError,
    ProviderUnavailable,
    RateLimited,
)
from butler.providers.nutanix.errors import explain, judge, kind_of
from butler.providers.rest import Reply


def v3(reason: str, message: str, details: str = "") -> dict[str, Any]:
    said = {"reason": reason, "message": message, **({"details": details} if details else {})}
    return {"api_version": "3.1", "state": "ERROR", "message_list": [said]}


def v4(group: str, message: str) -> dict[str, Any]:
    return {"data": {"error": [{"code": "VMM-30303", "errorGroup": group, "message": message}]}}


INVALID = {
    "data": {
        "error": {
            "statusCode": 400,
            "error": "Bad Request",
            "validationErrorMessages": [{"attributePath": "/name", "message": "is too long", "location": "body"}],
        }
    }
}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, v3("AUTHENTICATION_REQUIRED", "Authentication required."), CredentialsInvalid),
        (403, v4("ACCESS_DENIED", "User has insufficient storage privileges"), CredentialsInvalid),
        (403, v3("OTHER", "insufficient storage privileges"), None),
        (400, v4("RATE_LIMIT_EXCEEDED", "slow down"), RateLimited),
        (400, v3("CONCURRENT_REQUESTS_NOT_ALLOWED", "Edit conflict: please retry change."), ProviderUnavailable),
        (412, v4("PRECONDITION", "it has changed"), ProviderUnavailable),
        (428, None, ProviderUnavailable),
        (422, v3("INTERNAL_ERROR", "NoHostResources: No host has enough available memory"), CapacityExhausted),
        (422, v3("INVALID_REQUEST", "quota exceeded for the project"), CapacityExhausted),
        (422, v3("INVALID_REQUEST", "subnet does not exist"), None),
        (500, "<html>", None),
    ],
)
def test_an_answer_is_judged_by_what_it_says(status: int, body: Any, kind: type[ProviderError] | None) -> None:
    assert judge(Reply(status, body)) is kind


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (v3("INVALID_REQUEST", "no such subnet", "uuid"), "no such subnet (uuid)"),
        (v4("VM_ERROR", "the VM is busy"), "VMM-30303 the VM is busy"),
        (INVALID, "/name is too long"),
        ({"data": {"error": {"error": "Bad Request"}}}, "Bad Request"),
        ({"data": None}, ""),
        (None, ""),
    ],
)
def test_an_answer_is_explained_in_its_own_words(body: Any, said: str) -> None:
    assert explain(Reply(400, body)) == said


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        ("NoHostResources: No host has enough available memory for VM", CapacityExhausted),
        ("kInvalidArgument Invalid Argument: boot type", MachineRejected),
        ("ACCESS_DENIED you may not", CredentialsInvalid),
        ("Timeout: the host did not answer", ProviderError),
    ],
)
def test_a_task_that_failed_is_judged_by_its_words(failure: str, kind: type[ProviderError]) -> None:
    assert kind_of(failure) is kind
