"""Whatever expressions are stored, the server starts, serves everybody, and says of each what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from kubekit.server.access.pki import ROOT
from kubekit.server.serve.server import Server
from kubekit.server.store.changes import Change
from kubekit.server.store.store import Store
from tests.http_api import Api, admin_context
from tests.server.custom import definition

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
MAPS = "/api/v1/namespaces/default/configmaps"
KETTLES = "/apis/example.com/v1/namespaces/default/kettles"
PLACEHOLDER = "1 == 1"
STORED = (
    "apiextensions.k8s.io/customresourcedefinitions",
    "admissionregistration.k8s.io/validatingadmissionpolicies",
    "admissionregistration.k8s.io/validatingwebhookconfigurations",
)
HOSTILE = {
    "not closed": "self.x >",
    "no function": "no.such(1)",
    "no name": "nobody == 1",
    "no bool": "'text'",
    "a bad pattern": "'a'.matches('(')",
    "backtracking": "!('a' + 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!').matches('^(a+)+$')",
    "deep": "(" * 3_000 + "1" + ")" * 3_000,
    "long": "[" + "1, " * 40_000 + "1].size() > 1",
    "many": " && ".join(["true"] * 1_500),
    "endless": "lists.range(900000).all(x, lists.range(900000).all(y, x != y || x == y))",
    "large": "lists.range(900000).map(x, 'aaaaaaaaaaaaaaaa').join('aaaaaaaaaaaaaaaaa').size() > 1",
    "failing": "[1][5] == 1 || 1 / 0 == 1",
    "empty": " ",
    "null byte": "'\u0000' == 'a'",
}


@asynccontextmanager
async def served(data: Path) -> AsyncIterator[Api]:
    async with Server(data) as server, opened(server) as api:
        yield api


@asynccontextmanager
async def opened(server: Server, space: str = ROOT) -> AsyncIterator[Api]:
    """A server as the administrator of one of its APIs."""
    config = yaml.safe_load(server.admin_kubeconfig(space))
    connector = aiohttp.TCPConnector(ssl=admin_context(config), limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        yield Api(session, server.url)


async def furnish(api: Api) -> None:
    kind = definition("kettles", "Kettle", "Namespaced")
    schema = kind["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["size"] = {"type": "integer"}
    schema["x-kubernetes-validations"] = [{"rule": PLACEHOLDER}]
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}
    spec: dict[str, Any] = {
        "matchConstraints": {"resourceRules": [rule]},
        "matchConditions": [{"name": "any", "expression": PLACEHOLDER}],
        "variables": [{"name": "v", "expression": PLACEHOLDER}],
        "validations": [{"expression": PLACEHOLDER}, {"expression": "variables.v"}],
    }
    hook = {
        "name": "hook.example.com",
        "rules": [{**rule, "resources": ["secrets"]}],
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "matchConditions": [{"name": "any", "expression": PLACEHOLDER}],
        "failurePolicy": "Ignore",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    binding = {"policyName": "policy.example.com", "validationActions": ["Deny"]}
    for path, obj in (
        (CRDS, kind),
        (f"{REGISTRATION}/validatingadmissionpolicies", {"metadata": {"name": "policy.example.com"}, "spec": spec}),
        (f"{REGISTRATION}/validatingadmissionpolicybindings", {"metadata": {"name": "b"}, "spec": binding}),
        (f"{REGISTRATION}/validatingwebhookconfigurations", {"metadata": {"name": "hooks"}, "webhooks": [hook]}),
    ):
        answer = await api("POST", path, obj)
        assert answer.status == 201, answer.body


async def rewrite(data: Path, expression: str) -> None:
    """Put an expression where the harmless one was, as a version before this one may have left it."""
    store = Store(data / "state.db")
    changed = 0
    for space in store.spaces():
        for resource in STORED:
            for row in store.rows(space, resource):
                value = row.value.replace(json.dumps(PLACEHOLDER).encode(), json.dumps(expression).encode())
                changed += value != row.value
                await store.write(store.bucket(space, resource), row.key, Change.MODIFIED, value, previous=row)
    await store.close()
    assert changed == len(STORED)


@pytest.mark.parametrize("expression", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.timeout(60)
async def test_the_server_starts_and_serves(tmp_path: Path, expression: str) -> None:
    async with served(tmp_path) as api:
        await furnish(api)
    await rewrite(tmp_path, expression)
    for _ in range(2):
        async with served(tmp_path) as api:
            assert (await api("GET", "/readyz")).status == 200
            assert (await api("GET", MAPS)).status == 200
            assert (await api("POST", f"{MAPS}?dryRun=All", {"metadata": {"name": "m"}})).status in (201, 403, 422)
            kettle = {"apiVersion": "example.com/v1", "kind": "Kettle", "metadata": {"name": "k"}, "size": 1}
            assert (await api("POST", f"{KETTLES}?dryRun=All", kettle)).status in (201, 422)
            secret = {"metadata": {"name": "s"}}
            path = "/api/v1/namespaces/default/secrets?dryRun=All"
            assert (await api("POST", path, secret)).status == 201


@pytest.mark.timeout(60)
async def test_a_policy_for_countless_kinds_stops_nobody(tmp_path: Path) -> None:
    names = [f"n{number}" for number in range(1_000)]
    rule = {"apiGroups": names, "apiVersions": names, "operations": ["*"], "resources": names}
    spec = {"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": "1 == 1"}]}
    async with served(tmp_path) as api:
        policies = f"{REGISTRATION}/validatingadmissionpolicies"
        assert (await api("POST", policies, {"metadata": {"name": "p"}, "spec": spec})).status == 201
    async with served(tmp_path) as api:
        while "observedGeneration" not in ((await api("GET", f"{policies}/p")).body.get("status") or {}):
            pass
