"""Lists and texts that were given, but say nothing: what is stored of them, and who owns them."""

from __future__ import annotations

from typing import Any

import pytest

from kubekit.server.serve.server import Server
from tests.http_api import Api
from tests.server.wire import APPLY, MERGE_PATCH

RBAC = "rbac.authorization.k8s.io/v1"
ROLES = f"/apis/{RBAC}/namespaces/default/roles"
INGRESSES = "/apis/networking.k8s.io/v1/namespaces/default/ingresses"
AUTOSCALERS = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def role(**more: Any) -> dict[str, Any]:
    return {"apiVersion": RBAC, "kind": "Role", "metadata": {"name": "r"}, **more}


def definition(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    names = {"plural": "things", "kind": "Thing", "shortNames": []}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **more}
    spec = {"group": "example.org", "scope": "Namespaced", "names": names, "versions": [version]}
    return {"metadata": {"name": "things.example.org"}, "spec": spec}


async def test_an_empty_required_list_is_owned_and_stored_as_none(api: Api) -> None:
    made = await api("POST", ROLES, role(rules=[]))
    assert made.body["rules"] is None
    assert made.body["metadata"]["managedFields"][0]["fieldsV1"] == {"f:rules": {}}


async def test_a_required_list_that_is_not_given_is_owned_by_nobody(api: Api) -> None:
    made = await api("POST", ROLES, role())
    assert made.body["rules"] is None
    assert "managedFields" not in made.body["metadata"]


async def test_writing_the_same_empty_list_again_changes_nothing(api: Api) -> None:
    made = await api("POST", f"{ROLES}?fieldManager=me", role(rules=[]))
    again = await api("PATCH", f"{ROLES}/r?fieldManager=me", {"rules": []}, MERGE_PATCH)
    assert again.body == made.body


async def test_applying_the_same_empty_list_again_changes_nothing(api: Api) -> None:
    made = await api("PATCH", f"{ROLES}/r?fieldManager=me", role(rules=[]), APPLY)
    again = await api("PATCH", f"{ROLES}/r?fieldManager=me", role(rules=[]), APPLY)
    assert (made.status, again.body) == (201, made.body)


@pytest.mark.parametrize(("given", "shown"), [({"rules": []}, "[]"), ({}, "null")], ids=["empty", "none"])
async def test_a_refusal_tells_an_empty_list_from_none(api: Api, given: dict[str, Any], shown: str) -> None:
    refused = await api("POST", INGRESSES, {"metadata": {"name": "i"}, "spec": given})
    assert f"spec: Invalid value: {shown}: either" in refused.body["message"]


async def test_an_empty_list_of_rules_beside_a_backend_is_left_out(api: Api) -> None:
    backend = {"service": {"name": "s", "port": {"number": 80}}}
    made = await api("POST", INGRESSES, {"metadata": {"name": "i"}, "spec": {"rules": [], "defaultBackend": backend}})
    assert made.body["spec"] == {"defaultBackend": backend}


async def test_scaling_policies_that_are_given_must_be_some(api: Api) -> None:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    spec = {"maxReplicas": 3, "scaleTargetRef": target, "behavior": {"scaleDown": {"policies": []}}}
    refused = await api("POST", AUTOSCALERS, {"metadata": {"name": "h"}, "spec": spec})
    assert refused.body["message"].endswith(
        "spec.behavior.scaleDown.policies: Required value: must specify at least one Policy"
    )


async def test_a_definition_keeps_nothing_empty(api: Api) -> None:
    rule = {"rule": "true", "message": "", "fieldPath": ""}
    text = {"type": "string", "description": "", "x-kubernetes-validations": [rule]}
    schema = {
        "type": "object",
        "required": [],
        "properties": {"a": text, "b": {"type": "array", "items": text}, "c": {"type": "object", "default": {}}},
    }
    made = await api("POST", CRDS, definition(schema, additionalPrinterColumns=[], deprecated=False))
    version = made.body["spec"]["versions"][0]
    kept = {"type": "string", "x-kubernetes-validations": [{"rule": "true"}]}
    inner = {"a": kept, "b": {"type": "array", "items": kept}, "c": {"type": "object", "default": {}}}
    assert version["schema"]["openAPIV3Schema"] == {"type": "object", "properties": inner}
    assert (version.keys() & {"additionalPrinterColumns", "deprecated"}, made.status) == (set(), 201)
    assert "shortNames" not in made.body["spec"]["names"]


async def test_null_among_the_choices_is_kept_and_never_chosen(api: Api, server: Server) -> None:
    choice = {"type": "string", "nullable": True, "enum": ["x", None]}
    made = await api("POST", CRDS, definition({"type": "object", "properties": {"a": choice}}))
    assert made.body["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["a"]["enum"] == ["x", None]
    await server.root.settled()
    thing = {"apiVersion": "example.org/v1", "kind": "Thing", "metadata": {"name": "t"}, "a": None}
    refused = await api("POST", "/apis/example.org/v1/namespaces/default/things", thing)
    assert refused.body["message"].endswith('a: Unsupported value: null: supported values: "x", "null"')
