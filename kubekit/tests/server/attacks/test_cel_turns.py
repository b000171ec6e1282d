"""Expressions that are dear one after the other: others have their turn in between."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from kubekit.testing.watchdog import slowness
from tests.http_api import Api
from tests.server.custom import definition

pytestmark = pytest.mark.usefixtures("as_served")

TURN = 0.1
"""Seconds of the processor that nobody else has."""
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MAPS = "/api/v1/namespaces/default/configmaps"
DEAR = "[1, 2, 3].all(x, lists.range(9000).all(y, x + y >= 0))"


class Turns:
    """Measures the longest time the event loop's thread worked without letting others go on."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def watch(self) -> None:
        while True:
            began = time.thread_time()
            await asyncio.sleep(0)
            self.longest = max(self.longest, time.thread_time() - began)


async def longest_turn(api: Api, path: str, body: Any, *statuses: int) -> tuple[float, Any]:
    """The least of a few tries, since others may be at work on the processor."""
    least, answer = float("inf"), None
    for _ in range(4):
        turns = Turns()
        watching = asyncio.create_task(turns.watch())
        answer = await api("POST", path, body)
        watching.cancel()
        assert answer.status in statuses, answer.body
        least = min(least, turns.longest)
        if least < TURN:
            break
    return least, answer.body if answer else None


@pytest.mark.timeout(60)
async def test_a_policy_of_many_dear_expressions_leaves_turns_to_others(api: Api) -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}
    spec: dict[str, Any] = {
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": DEAR}] * 100,
    }
    assert (await api("POST", POLICIES, {"metadata": {"name": "dear"}, "spec": spec})).status == 201
    binding = {"policyName": "dear", "validationActions": ["Deny"]}
    assert (await api("POST", BINDINGS, {"metadata": {"name": "dear"}, "spec": binding})).status == 201
    turn, body = await longest_turn(api, f"{MAPS}?dryRun=All", {"metadata": {"name": "m"}}, 422)
    assert "running out of cost budget, no further validation rules will be run" in body["message"]
    assert turn < TURN * slowness()


@pytest.mark.timeout(60)
async def test_a_kind_of_many_dear_rules_leaves_turns_to_others(api: Api) -> None:
    made = definition("kettles", "Kettle", "Namespaced")
    schema = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["x-kubernetes-validations"] = [{"rule": DEAR}] * 100
    assert (await api("POST", CRDS, made)).status == 201
    path = "/apis/example.com/v1/namespaces/default/kettles?dryRun=All"
    while (await api("GET", path)).status == 404:
        pass
    kettle = {"apiVersion": "example.com/v1", "kind": "Kettle", "metadata": {"name": "k"}}
    turn, body = await longest_turn(api, path, kettle, 422)
    assert "running out of cost budget, no further validation rules will be run" in body["message"]
    assert turn < TURN * slowness()


@pytest.mark.timeout(60)
async def test_a_definition_of_many_long_rules_leaves_turns_to_others(api: Api) -> None:
    made = definition("pots", "Pot", "Namespaced")
    schema = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["x-kubernetes-validations"] = [{"rule": " && ".join(["true"] * 1_200)}] * 100
    turn, _ = await longest_turn(api, f"{CRDS}?dryRun=All", made, 201)
    assert turn < TURN * slowness()
