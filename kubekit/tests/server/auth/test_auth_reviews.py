"""Questions about users and rights."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from kubekit.errors import ApiError, BadRequest
from kubekit.model.resource import Object
from kubekit.server.access import reviews
from kubekit.server.access.tokens import API_AUDIENCE, TokenRefused, Verified
from kubekit.server.objects.user import UserInfo
from tests.server.auth.world import binding, rbac_of, role, rule, user

BOB = UserInfo("bob", "u1", ("dev",), {"a": ("b",)})
RBAC = rbac_of(
    role("r", rule("list", "pods"), rule("get", urls="/foo")),
    binding("b", "r", user("bob")),
    binding("d", "gone", user("eve")),
)
LIST_PODS = {"verb": "list", "resource": "pods"}
GET_FOO = {"verb": "get", "path": "/foo"}


def asked(**spec: Any) -> Object:
    return {"metadata": {}, "spec": spec}


def about(request: Object) -> Object:
    status: Object = reviews.subject_access_review(request, RBAC)["status"]
    return status


def about_me(request: Object) -> Object:
    status: Object = reviews.self_subject_access_review(request, BOB, RBAC)["status"]
    return status


def locally(request: Object) -> Object:
    return reviews.local_subject_access_review(request, "apps", RBAC)


def test_one_is_told_who_one_is() -> None:
    review = reviews.self_subject_review(BOB, datetime(2026, 1, 1, tzinfo=UTC))
    assert review["metadata"] == {"creationTimestamp": "2026-01-01T00:00:00Z"}
    assert review["status"]["userInfo"] == {"username": "bob", "uid": "u1", "groups": ["dev"], "extra": {"a": ["b"]}}


def test_one_is_told_what_one_may() -> None:
    reason = 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to User "bob"'
    assert about_me(asked(resourceAttributes=LIST_PODS)) == {"allowed": True, "reason": reason}
    assert about_me(asked(nonResourceAttributes=GET_FOO)) == {"allowed": True, "reason": reason}
    assert about_me(asked(resourceAttributes={})) == {"allowed": False}


def test_one_may_ask_about_others() -> None:
    assert about(asked(user="bob", resourceAttributes=LIST_PODS))["allowed"]
    assert about(asked(groups=["system:masters"], resourceAttributes=LIST_PODS)) == {"allowed": True}
    assert about(asked(user="eve", resourceAttributes=LIST_PODS)) == {
        "allowed": False,
        "reason": 'RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found',
    }


def test_the_answer_repeats_the_question() -> None:
    question = asked(user="bob", resourceAttributes=LIST_PODS)
    answer = reviews.subject_access_review(question, RBAC)
    assert answer["spec"] == question["spec"]
    assert "status" not in question


def test_a_local_question_gets_its_namespace() -> None:
    answer = locally(asked(user="bob", resourceAttributes={**LIST_PODS, "namespace": "apps"}))
    assert answer["metadata"] == {"namespace": "apps"}
    assert answer["status"]["allowed"]


BOTH = {"resourceAttributes": LIST_PODS, "nonResourceAttributes": GET_FOO}
SELECTOR = "spec.resourceAttributes.fieldSelector"
WRONG = [
    (
        about,
        asked(resourceAttributes=LIST_PODS),
        'spec.user: Invalid value: "": at least one of user or group must be specified',
    ),
    (
        about_me,
        asked(),
        (
            "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes "
            "must be specified"
        ),
    ),
    (
        about_me,
        asked(**BOTH),
        (
            'spec.nonResourceAttributes: Invalid value: {"Path":"/foo","Verb":"get"}: cannot be specified in '
            "combination with resourceAttributes"
        ),
    ),
    (
        about_me,
        {"metadata": {"name": "x"}, "spec": {"resourceAttributes": LIST_PODS}},
        'metadata: Invalid value: {"name":"x"}: must be empty',
    ),
    (
        locally,
        asked(user="u", resourceAttributes=LIST_PODS),
        'spec.resourceAttributes.namespace: Invalid value: "": must match metadata.namespace',
    ),
    (
        locally,
        asked(user="u", nonResourceAttributes=GET_FOO),
        'spec.nonResourceAttributes: Invalid value: {"Path":"/foo","Verb":"get"}: disallowed on this kind of request',
    ),
    (
        about_me,
        asked(resourceAttributes={**LIST_PODS, "fieldSelector": {}}),
        (
            f"{SELECTOR}.requirements: Required value: when {SELECTOR} is specified, "
            "requirements or rawSelector is required"
        ),
    ),
    (
        about_me,
        asked(resourceAttributes={**LIST_PODS, "fieldSelector": {"requirements": [{"operator": "In"}]}}),
        (
            f"[{SELECTOR}.requirements[0].key: Required value: must be specified, "
            f"{SELECTOR}.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn']"
        ),
    ),
]


@pytest.mark.parametrize(("ask", "request_body", "problem"), WRONG)
def test_a_wrong_question_is_refused_in_the_words_of_kubernetes(ask: Any, request_body: Object, problem: str) -> None:
    with pytest.raises(ApiError) as refused:
        ask(request_body)
    assert refused.value.message == f'.authorization.k8s.io "" is invalid: {problem}'


def test_a_local_question_in_another_namespace_is_refused() -> None:
    with pytest.raises(BadRequest, match="does not match the namespace sent on the request"):
        locally({"metadata": {"namespace": "other"}, "spec": {"user": "u", "resourceAttributes": LIST_PODS}})


@pytest.mark.parametrize(
    ("selector", "problem"),
    [
        ({"rawSelector": "a=b"}, None),
        ({"rawSelector": "!!"}, "fieldSelector ignored due to parse error"),
        ({"requirements": [{"key": "a", "operator": "Exists"}]}, "fieldSelector ignored due to parse error"),
        (
            {"requirements": [{"key": "a", "operator": "In", "values": ["b"]}, {"key": "a", "operator": "New"}]},
            "fieldSelector partially ignored due to parse error",
        ),
    ],
)
def test_a_selector_that_is_not_understood_is_mentioned(selector: Object, problem: str | None) -> None:
    status = about_me(asked(resourceAttributes={**LIST_PODS, "fieldSelector": selector}))
    assert status["allowed"]
    assert status.get("evaluationError") == (problem and f"spec.resourceAttributes.{problem}")


def test_all_rules_can_be_listed() -> None:
    review = reviews.self_subject_rules_review(asked(namespace="apps"), BOB, RBAC)
    assert review["spec"] == {}
    assert review["status"] == {
        "resourceRules": [{"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]}],
        "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/foo"]}],
        "incomplete": False,
    }
    with pytest.raises(BadRequest, match="no namespace on request"):
        reviews.self_subject_rules_review(asked(), BOB, RBAC)


def test_a_list_of_rules_says_when_it_lacks_some() -> None:
    review = reviews.self_subject_rules_review(asked(namespace="apps"), UserInfo("eve"), RBAC)
    assert review["status"]["evaluationError"] == 'clusterrole.rbac.authorization.k8s.io "gone" not found'


def verify(token: str, audiences: Any) -> Verified:
    if token == "good":
        return Verified(BOB, tuple(audiences))
    raise TokenRefused("token has expired" if token == "old" else "")


def test_a_token_is_reviewed() -> None:
    assert reviews.token_review(asked(token="good"), verify)["status"] == {
        "authenticated": True,
        "user": BOB.wire(),
        "audiences": [API_AUDIENCE],
    }
    assert reviews.token_review(asked(token="good", audiences=["x"]), verify)["status"]["audiences"] == ["x"]


@pytest.mark.parametrize(
    ("token", "error"), [("bad", "invalid bearer token"), ("old", "[invalid bearer token, token has expired]")]
)
def test_a_bad_token_is_an_answer_and_not_an_error(token: str, error: str) -> None:
    assert reviews.token_review(asked(token=token), verify)["status"] == {"user": {}, "error": error}


def test_no_token_is_an_error() -> None:
    with pytest.raises(BadRequest, match="token is required for TokenReview in authentication"):
        reviews.token_review(asked(), verify)


def test_what_is_known_of_a_user_may_be_nothing() -> None:
    assert about(asked(user="bob", extra={"a": None}, resourceAttributes=LIST_PODS))["allowed"]
