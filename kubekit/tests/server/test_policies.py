"""ValidatingAdmissionPolicies: what they refuse, in which words, and what is wrong with them."""

from __future__ import annotations

from typing import Any

import pytest

from kubekit.server.serve.server import Server
from tests.http_api import Answered, Api
from tests.server.wire import MERGE_PATCH

Json = dict[str, Any]
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
MAPS = "/api/v1/namespaces/default/configmaps"
RULE: Json = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["CREATE", "UPDATE", "DELETE"],
    "resources": ["configmaps"],
}


def policy(*expressions: str | Json, match: Json | None = None, **spec: Any) -> Json:
    validations = [{"expression": one} if isinstance(one, str) else one for one in expressions]
    constraints = {"resourceRules": [RULE], **(match or {})}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "p.example.com"},
        "spec": {"matchConstraints": constraints, "validations": validations, **spec},
    }


async def enforce(api: Api, wanted: Json, **binding: Any) -> None:
    made = await api("POST", POLICIES, wanted)
    assert made.status == 201, made.body
    spec = {"policyName": "p.example.com", "validationActions": ["Deny"], **binding}
    bound = await api("POST", BINDINGS, {"metadata": {"name": "b.example.com"}, "spec": spec})
    assert bound.status == 201, bound.body


async def create(api: Api, name: str = "c", **fields: Any) -> Answered:
    return await api("POST", MAPS, {"metadata": {"name": name}, **fields})


DENIED = (
    "configmaps \"c\" is forbidden: ValidatingAdmissionPolicy 'p.example.com' with binding 'b.example.com' "
    "denied request: "
)


async def test_a_request_that_breaks_a_rule_is_refused(api: Api) -> None:
    await enforce(api, policy("object.metadata.name != 'c'"))
    refused = await create(api)
    message = DENIED + "failed expression: object.metadata.name != 'c'"
    assert (refused.status, refused.body["reason"], refused.body["message"]) == (422, "Invalid", message)
    assert refused.body["details"]["causes"] == [{"message": message.partition("forbidden: ")[2]}]
    assert (await create(api, "other")).status == 201


@pytest.mark.parametrize(
    ("validation", "said"),
    [
        ({"message": "no"}, "no"),
        ({"messageExpression": "'not ' + object.metadata.name"}, "not c"),
        ({"messageExpression": "object.metadata.nothing + ''", "message": "no"}, "no"),
        ({"messageExpression": "'two\\nlines'", "message": "no"}, "no"),
    ],
    ids=["fixed", "computed", "failing", "long"],
)
async def test_a_refusal_says_what_the_policy_wants_it_to(api: Api, validation: Json, said: str) -> None:
    await enforce(api, policy({"expression": "object == null", **validation}))
    assert (await create(api)).body["message"] == DENIED + said


async def test_a_refusal_may_have_another_reason(api: Api) -> None:
    await enforce(api, policy({"expression": "object == null", "reason": "Forbidden"}))
    refused = await create(api)
    assert (refused.status, refused.body["reason"]) == (403, "Forbidden")


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("object.data.x == '1'", "no such key: data"),
        ("variables.first == 1", 'composited variable "first" fails to evaluate: no such key: data'),
    ],
    ids=["expression", "variable"],
)
async def test_an_expression_that_fails_refuses_unless_failures_are_ignored(
    api: Api, expression: str, problem: str
) -> None:
    variables = [{"name": "first", "expression": "object.data.x"}]
    await enforce(api, policy(expression, variables=variables))
    text = f"expression '{expression}' resulted in error: {problem}"
    assert (await create(api)).body["message"] == DENIED + text
    await api("PATCH", f"{POLICIES}/p.example.com", {"spec": {"failurePolicy": "Ignore"}}, MERGE_PATCH)
    assert (await create(api)).status == 201


async def test_variables_build_on_each_other(api: Api) -> None:
    variables = [
        {"name": "size", "expression": "size(object.data)"},
        {"name": "isOdd", "expression": "variables.size % 2 == 1"},
    ]
    await enforce(api, policy("variables.isOdd", variables=variables))
    assert (await create(api, data={"a": "1"})).status == 201
    assert (await create(api, "d", data={"a": "1", "b": "2"})).status == 422


async def test_expressions_see_the_request_the_namespace_and_what_was_there(api: Api) -> None:
    expressions = (
        "request.operation != 'UPDATE' || oldObject.data.k != object.data.k",
        "request.userInfo.groups.exists(one, one == 'system:masters')",
        "request.resource.resource == 'configmaps' && request.namespace == 'default' && !request.dryRun",
        "namespaceObject.metadata.labels['kubernetes.io/metadata.name'] == 'default'",
        "request.operation != 'DELETE' || oldObject.data.k == '2'",
    )
    await enforce(api, policy(*expressions))
    assert (await create(api, data={"k": "1"})).status == 201
    assert (await api("DELETE", f"{MAPS}/c")).status == 422
    same = await api("PATCH", f"{MAPS}/c", {"metadata": {"labels": {"a": "b"}}}, MERGE_PATCH)
    assert same.body["message"] == f"{DENIED}failed expression: {expressions[0]}"
    assert (await api("PATCH", f"{MAPS}/c", {"data": {"k": "2"}}, MERGE_PATCH)).status == 200
    assert (await api("DELETE", f"{MAPS}/c")).status == 200


async def test_expressions_may_ask_for_rights(api: Api) -> None:
    account = "authorizer.serviceAccount('default', 'default')"
    await enforce(
        api,
        policy(
            "authorizer.group('').resource('pods').namespace('default').check('delete').allowed()",
            "authorizer.requestResource.check('get').allowed() && authorizer.path('/metrics').check('get').allowed()",
            f"!{account}.group('').resource('secrets').check('get').allowed()",
        ),
    )
    assert (await create(api)).status == 201


async def test_a_policy_is_only_about_what_matches(api: Api) -> None:
    match = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}},
        "objectSelector": {"matchLabels": {"watched": "yes"}},
        "excludeResourceRules": [{**RULE, "resourceNames": ["spared"]}],
    }
    conditions = [{"name": "not-me", "expression": "object.metadata.name != 'me'"}]
    await enforce(api, policy("object == null", match=match, matchConditions=conditions))
    watched = {"labels": {"watched": "yes"}}
    assert (await create(api, "unwatched")).status == 201
    assert (await create(api, metadata={"name": "spared", **watched})).status == 201
    assert (await create(api, metadata={"name": "me", **watched})).status == 201
    elsewhere = await api("POST", MAPS.replace("default", "kube-public"), {"metadata": {"name": "c", **watched}})
    assert elsewhere.status == 201
    assert (await create(api, metadata={"name": "c", **watched})).status == 422


async def test_a_policy_without_a_binding_does_nothing(api: Api) -> None:
    await api("POST", POLICIES, policy("object == null"))
    assert (await create(api)).status == 201


async def test_a_binding_may_warn_instead(api: Api) -> None:
    await enforce(api, policy({"expression": "object == null", "message": "no"}), validationActions=["Warn", "Audit"])
    made = await create(api)
    assert made.status == 201
    text = "Validation failed for ValidatingAdmissionPolicy 'p.example.com' with binding 'b.example.com': no"
    assert made.headers["Warning"] == f'299 - "{text}"'


async def test_parameters_come_from_the_object_a_binding_names(api: Api) -> None:
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    await create(api, "limits", data={"most": "1"})
    reference = {"name": "limits", "namespace": "default", "parameterNotFoundAction": "Deny"}
    limited = policy("size(object.data) <= int(params.data.most)", paramKind=kind)
    await enforce(api, limited, paramRef=reference)
    assert (await create(api, data={"a": "", "b": ""})).status == 422
    assert (await create(api, data={"a": ""})).status == 201


async def test_parameters_come_from_all_objects_a_binding_selects(api: Api) -> None:
    for name, banned in (("one", "a"), ("two", "b")):
        await create(api, metadata={"name": name, "labels": {"limits": "yes"}}, data={"banned": banned})
    reference = {"selector": {"matchLabels": {"limits": "yes"}}, "parameterNotFoundAction": "Allow"}
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    await enforce(api, policy("object.metadata.name != params.data.banned", paramKind=kind), paramRef=reference)
    assert [(await create(api, name)).status for name in ("a", "b", "c")] == [422, 422, 201]


async def test_missing_parameters_refuse_when_the_binding_says_so(api: Api) -> None:
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    reference = {"name": "limits", "parameterNotFoundAction": "Deny"}
    await enforce(api, policy("params != null", paramKind=kind), paramRef=reference)
    text = "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
    assert (await create(api)).body["message"] == DENIED + text


async def test_an_unknown_kind_of_parameters_refuses(api: Api) -> None:
    await enforce(api, policy("true", paramKind={"apiVersion": "example.com/v1", "kind": "Limit"}))
    refused = await create(api)
    assert refused.body["message"] == (
        "configmaps \"c\" is forbidden: ValidatingAdmissionPolicy 'p.example.com' denied request: failed to configure "
        "policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Limit'"
    )


async def test_policies_are_enforced_after_a_restart(server: Server, api: Api) -> None:
    await enforce(api, policy("object == null"))
    again = type(server.root.admission)(server.root, server.root.webhook_client, server.root.limits)
    for path, kind in ((POLICIES, "ValidatingAdmissionPolicy"), (BINDINGS, "ValidatingAdmissionPolicyBinding")):
        for row in server.root.store.rows(server.root.name, path.removeprefix("/apis/").replace("/v1", "")):
            again.policies.configure(kind, row.key, row.decode())
    maps = server.root.kinds.at("", "v1", "configmaps")
    assert maps is not None
    assert again.concerns(maps, "CREATE", "")


async def test_expressions_that_mistake_a_type_are_reported_in_the_status(server: Server, api: Api) -> None:
    rule = {**RULE, "apiGroups": ["apps"], "resources": ["deployments"]}
    wrong = {
        "expression": "object.spec.replicas > '1'",
        "messageExpression": "'got ' + object.spec.replicas + object.spec.maximum",
    }
    await api("POST", POLICIES, policy(wrong, "object.spec.replicas > 1", match={"resourceRules": [rule]}))
    await server.root.settled()
    made = (await api("GET", f"{POLICIES}/p.example.com")).body
    assert made["status"]["observedGeneration"] == 1
    first, second = made["status"]["typeChecking"]["expressionWarnings"]
    assert first == {
        "fieldRef": "spec.validations[0].expression",
        "warning": "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for "
        "'_>_' applied to '(int, string)'\n | object.spec.replicas > '1'\n | .....................^\n",
    }
    assert second["fieldRef"] == "spec.validations[0].messageExpression"
    assert "undefined field 'maximum'" in second["warning"]


async def test_a_policy_without_mistakes_is_reported_as_checked(server: Server, api: Api) -> None:
    await api("POST", POLICIES, policy("object.data['a'] == 'b'"))
    await server.root.settled()
    assert (await api("GET", f"{POLICIES}/p.example.com")).body["status"]["typeChecking"] == {}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"validations": [{"expression": "object."}]},
            (
                'spec.validations[0].expression: Invalid value: "object.": compilation failed: ERROR: <input>:1:8: '
                "Syntax error: no viable alternative at input '.'\n | object.\n | .......^"
            ),
        ),
        (
            {"validations": [{"expression": "1"}]},
            'spec.validations[0].expression: Invalid value: "1": must evaluate to bool but got int',
        ),
        (
            {"validations": [{"expression": "object.spec"}]},
            'spec.validations[0].expression: Invalid value: "object.spec": must evaluate to bool but got dyn',
        ),
        (
            {"validations": [{"expression": "params == null"}]},
            (
                'spec.validations[0].expression: Invalid value: "params == null": compilation failed: ERROR: '
                "<input>:1:1: undeclared reference to 'params' (in container '')\n | params == null\n | ^"
            ),
        ),
        (
            {"validations": []},
            (
                "[spec.validations: Required value: validations or auditAnnotations must contain at least one item, "
                "spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item]"
            ),
        ),
        (
            {"matchConstraints": {"resourceRules": []}},
            "spec.matchConstraints.resourceRules: Required value",
        ),
        (
            {"matchConditions": [{"name": "a", "expression": "true"}, {"name": "a", "expression": "2"}]},
            (
                '[spec.matchConditions[1].expression: Invalid value: "2": must evaluate to bool but got int, '
                'spec.matchConditions[1].name: Duplicate value: "a"]'
            ),
        ),
        (
            {"variables": [{"name": "for", "expression": "1"}]},
            'spec.variables[0].name: Invalid value: "for": must be a valid CEL identifier',
        ),
        (
            {"auditAnnotations": [{"key": "k", "valueExpression": "1"}]},
            (
                'spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of '
                "[string null_type] but got int"
            ),
        ),
        (
            {"paramKind": {"apiVersion": "v1"}},
            "spec.paramKind.kind: Required value",
        ),
    ],
)
async def test_a_policy_that_cannot_work_is_refused(api: Api, changes: Json, problem: str) -> None:
    wanted = policy("true")
    wanted["spec"] |= changes
    refused = await api("POST", POLICIES, wanted)
    start = 'ValidatingAdmissionPolicy.admissionregistration.k8s.io "p.example.com" is invalid: '
    assert (refused.status, refused.body["message"]) == (422, start + problem)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"validationActions": []},
            "spec.validationActions: Required value: at least one validation action is required",
        ),
        (
            {"validationActions": ["Say"]},
            'spec.validationActions[0]: Unsupported value: "Say": supported values: "Audit", "Deny", "Warn"',
        ),
        ({"policyName": ""}, "spec.policyName: Required value"),
        (
            {"paramRef": {"parameterNotFoundAction": "Deny"}},
            "spec.paramRef: Required value: one of name or selector must be specified",
        ),
        ({"paramRef": {"name": "n"}}, "spec.paramRef.parameterNotFoundAction: Required value"),
    ],
)
async def test_a_binding_that_cannot_work_is_refused(api: Api, changes: Json, problem: str) -> None:
    spec = {"policyName": "p.example.com", "validationActions": ["Deny"], **changes}
    refused = await api("POST", BINDINGS, {"metadata": {"name": "b.example.com"}, "spec": spec})
    start = 'ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io "b.example.com" is invalid: '
    assert (refused.status, refused.body["message"]) == (422, start + problem)


def webhook(condition: str, **fields: Any) -> Json:
    hook = {
        "name": "w.example.com",
        "clientConfig": {"url": "https://127.0.0.1:1/nobody"},
        "rules": [RULE],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "matchConditions": [{"name": "one", "expression": condition}],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}},
        **fields,
    }
    return {"metadata": {"name": "w.example.com"}, "webhooks": [hook]}


HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


async def test_a_webhook_whose_condition_cannot_work_is_refused(api: Api) -> None:
    refused = await api("POST", HOOKS, webhook("1"))
    assert refused.body["message"] == (
        'ValidatingWebhookConfiguration.admissionregistration.k8s.io "w.example.com" is invalid: '
        'webhooks[0].matchConditions[0].expression: Invalid value: "1": must evaluate to bool but got int'
    )


async def test_a_webhook_whose_condition_fails_refuses_unless_failures_are_ignored(api: Api) -> None:
    await api("POST", HOOKS, webhook("object.data.x == '1'"))
    refused = await create(api)
    text = "expression 'object.data.x == '1'' resulted in error: no such key: data"
    assert (refused.status, refused.body["message"]) == (403, f'configmaps "c" is forbidden: {text}')
    await api("DELETE", f"{HOOKS}/w.example.com")
    await api("POST", HOOKS, webhook("object.data.x == '1'", failurePolicy="Ignore"))
    assert (await create(api)).status == 201


async def test_a_webhook_is_not_asked_when_the_user_may_go_without(api: Api) -> None:
    await api("POST", HOOKS, webhook("!authorizer.group('').resource('secrets').check('get').allowed()"))
    assert (await create(api)).status == 201
