"""Patterns that take exponential time on an engine that backtracks: nobody waits for them.

A test that hangs is ended by its time limit."""

from __future__ import annotations

from typing import Any

import pytest

from kubekit.server.objects.cel import CelError, Expression
from kubekit.server.objects.go import regex
from tests.http_api import Api
from tests.server.custom import definition

TEXT = "a" * 50_000 + "!"
PATTERNS = (
    "(a+)+$",
    "^(a|a)*$",
    "(a*)*b",
    r"\b(a+)+$",
    "(?m)^(a+)+$",
    "(?s)^(.*a){12}$",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "(a{1,30}){1,30}$",
    "(?i)^(A+)+$",
    r"\B(a|aa)+$",
    "(.*)*(.*)*(.*)*x",
)
OF_MANY_STATES = ("(a{1,30}){1,30}$",)
"""What a linear engine does with these takes long, too."""
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.timeout(20)
def test_no_pattern_of_a_schema_takes_long(pattern: str) -> None:
    assert regex.matcher(pattern)(TEXT) is False


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize(("call", "nothing"), [("matches", False), ("find", ""), ("findAll", [])])
@pytest.mark.timeout(20)
def test_no_pattern_of_a_rule_takes_long(pattern: str, call: str, nothing: Any) -> None:
    expression = Expression(f"x.{call}(y)", ("x", "y"))
    if pattern in OF_MANY_STATES:
        with pytest.raises(CelError, match="actual cost limit exceeded"):
            expression.evaluate(x=TEXT, y=pattern)
    else:
        assert expression.evaluate(x=TEXT, y=pattern) == nothing


@pytest.mark.timeout(60)
async def test_a_policy_with_such_a_pattern_stops_nobody(api: Api) -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}
    spec: dict[str, Any] = {
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": r"!object.data.all(k, object.data[k].matches('\\b(a+)+$'))"}],
    }
    policy = {"metadata": {"name": "slow.example.com"}, "spec": spec}
    binding = {"metadata": {"name": "slow"}, "spec": {"policyName": "slow.example.com", "validationActions": ["Deny"]}}
    assert (await api("POST", POLICIES, policy)).status == 201
    assert (await api("POST", BINDINGS, binding)).status == 201
    answer = await api("POST", MAPS, {"metadata": {"name": "slow"}, "data": {"a": TEXT}})
    assert answer.status == 201
    refused = await api("POST", MAPS, {"metadata": {"name": "match"}, "data": {"a": "aaa"}})
    assert refused.status == 422


@pytest.mark.timeout(60)
async def test_a_kind_with_such_a_pattern_stops_nobody(api: Api) -> None:
    made = definition("kettles", "Kettle", "Namespaced")
    schema = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["text"] = {"type": "string", "pattern": r"\b(a+)+$"}
    assert (await api("POST", CRDS, made)).status == 201
    path = "/apis/example.com/v1/namespaces/default/kettles"
    kettle = {"apiVersion": "example.com/v1", "kind": "Kettle", "metadata": {"name": "k"}, "text": TEXT}
    while (answer := await api("POST", path, kettle)).status == 404:
        pass
    assert answer.status == 422
