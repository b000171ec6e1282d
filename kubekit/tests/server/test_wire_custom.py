"""Custom resources over the wire."""

# ruff: noqa: E501 - a message in a table is easier to read on one line

from __future__ import annotations

from typing import Any

import pytest

from kubekit.server.serve.server import Server
from tests.http_api import Api
from tests.server.wire import APPLY, MERGE_PATCH, STRATEGIC_PATCH, Row, check
from tests.server.wire import warnings as warnings_of

GROUP = "wire.example.com"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = f"/apis/{GROUP}/v1/namespaces/default/widgets"
TYPE = {"apiVersion": f"{GROUP}/v1", "kind": "Widget"}
UNREADABLE = "the object provided is unrecognized (must be of type Widget): "
NOT_JUDGED = "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"
SPEC = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "minimum": 1, "maximum": 10},
        "mode": {"type": "string", "enum": ["a", "b"], "default": "a"},
        "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5},
        "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "replicas": {"type": "integer"},
        "fixed": {"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "is fixed"}]},
    },
    "x-kubernetes-validations": [{"rule": "self.size < 9 || self.mode == 'b'", "message": "big needs mode b"}],
}


def version(name: str, spec: dict[str, Any], **more: Any) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"spec": spec, "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
    return {"name": name, "served": True, "storage": name == "v1", "schema": {"openAPIV3Schema": schema}, **more}


DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"widgets.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
        "versions": [
            version(
                "v1",
                SPEC,
                subresources={
                    "status": {},
                    "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
                },
            ),
            version(
                "v2",
                {
                    "type": "object",
                    "properties": {"size": {"type": "integer"}, "extra": {"type": "string", "default": "x"}},
                },
            ),
        ],
    },
}


@pytest.fixture
async def defined(server: Server, api: Api) -> Api:
    assert (await api("POST", CRDS, DEFINITION)).status == 201
    await server.root.settled()
    return api


def widget(name: str = "a", /, **spec: Any) -> dict[str, Any]:
    return {**TYPE, "metadata": {"name": name}, "spec": {"size": 1, **spec}}


async def test_custom_resources_must_say_what_they_are(defined: Api) -> None:
    missing = "Object 'Kind' is missing in '{}'"
    await check(
        defined,
        Row(f"POST {WIDGETS}", 400, f"{UNREADABLE}{missing.format('{}')} ({{}})", "{}"),
        Row(f"POST {WIDGETS}", 400, f"{UNREADABLE}{missing.format('null')} (6e756c6c)", "null"),
        Row(
            f"POST {WIDGETS}",
            400,
            f"the API version in the data () does not match the expected API version ({GROUP}/v1)",
            {"kind": "Widget"},
        ),
        Row(
            f"POST {WIDGETS}",
            400,
            f"the API version in the data ({GROUP}/v2) does not match the expected API version ({GROUP}/v1)",
            {**widget(), "apiVersion": f"{GROUP}/v2"},
        ),
        Row(
            f"POST {WIDGETS}",
            422,
            f'Gadget.{GROUP} "a" is invalid: kind: Invalid value: "Gadget": must be Widget',
            {**widget(), "kind": "Gadget"},
        ),
        Row(
            f"POST {WIDGETS}",
            400,
            'Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string',
            {**TYPE, "metadata": {"name": 1}},
        ),
        Row(
            f"POST {WIDGETS}",
            415,
            "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
            "x",
            "application/vnd.kubernetes.protobuf",
        ),
    )


async def test_every_broken_rule_is_named(defined: Api) -> None:
    start = f'Widget.{GROUP} "a" is invalid: '
    rows: dict[str, dict[str, Any]] = {
        "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1": {"size": 0},
        f'[spec.size: Invalid value: "string": spec.size in body must be of type integer: "string", {NOT_JUDGED}]': {
            "size": "x"
        },
        f'[spec.mode: Unsupported value: "z": supported values: "a", "b", {NOT_JUDGED}]': {"mode": "z"},
        f"[spec.name: Too long: may not be more than 5 bytes, {NOT_JUDGED}]": {"name": "abcdef"},
        "spec.name: Invalid value: \"ABC\": spec.name in body should match '^[a-z]+$'": {"name": "ABC"},
        'spec.tags[1]: Duplicate value: "a"': {"tags": ["a", "a"]},
        "spec: Invalid value: big needs mode b": {"size": 9},
        "[spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10, spec: Invalid value: big needs mode b]": {
            "size": 11
        },
    }
    await check(
        defined, *(Row(f"POST {WIDGETS}", 422, f"{start}{message}", widget(**spec)) for message, spec in rows.items())
    )


async def test_unknown_fields_of_custom_resources_are_dropped_and_told(defined: Api) -> None:
    body = {**widget(bogus=1), "metadata": {"name": "a", "zip": 1}, "foo": 1}
    unknown = ['unknown field "metadata.zip"', 'unknown field "foo"', 'unknown field "spec.bogus"']
    refused = f'Widget in version "v1" cannot be handled as a Widget: strict decoding error: {", ".join(unknown)}'
    _, taken = await check(
        defined,
        Row(f"POST {WIDGETS}?fieldValidation=Strict", 400, refused, body),
        Row(f"POST {WIDGETS}", 201, body=body),
    )
    assert warnings_of(taken) == unknown
    assert taken.body["spec"] == {"size": 1, "mode": "a"}


async def test_updates_of_custom_resources_need_a_version(defined: Api) -> None:
    needed = (
        f'widgets.{GROUP} "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update'
    )
    made, *_ = await check(
        defined,
        Row(f"POST {WIDGETS}", 201, body=widget(fixed="x")),
        Row(f"PUT {WIDGETS}/a", 422, needed, widget()),
        Row(
            f"PATCH {WIDGETS}/a",
            422,
            f'Widget.{GROUP} "a" is invalid: spec.fixed: Invalid value: "y": is fixed',
            {"spec": {"fixed": "y"}},
            MERGE_PATCH,
        ),
        Row(
            f"PATCH {WIDGETS}/a",
            415,
            "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
            "{}",
            STRATEGIC_PATCH,
        ),
        Row(
            f"PUT {WIDGETS}/a/scale",
            422,
            f'Widget.{GROUP} "a" is invalid: .spec.replicas: Invalid value: -1: should be a non-negative integer',
            {"metadata": {"name": "a"}, "spec": {"replicas": -1}},
        ),
        Row(f"GET {WIDGETS}/a/nope", 404, f'widgets.{GROUP} "a" not found'),
        Row(f"DELETE {WIDGETS}/a/status", 405, f'delete is not supported on resources of kind "widgets.{GROUP}"'),
        Row(f"PUT {WIDGETS}", 400, "name must be provided", widget()),
        Row(f"POST /apis/{GROUP}/v1/widgets", 404, "404 page not found\n", widget()),
        Row(f"GET /apis/{GROUP}/v3/widgets", 404, "404 page not found\n"),
    )
    assert (made.body["metadata"]["generation"], "status" in made.body) == (1, False)


async def test_status_and_the_rest_are_changed_apart(defined: Api) -> None:
    await check(defined, Row(f"POST {WIDGETS}", 201, body={**widget(), "status": {"phase": "ignored"}}))
    change = {"spec": {"size": 5}, "status": {"phase": "new"}}
    by_status, by_spec = await check(
        defined,
        Row(f"PATCH {WIDGETS}/a/status", 200, body=change, content_type=MERGE_PATCH),
        Row(f"PATCH {WIDGETS}/a", 200, body={**change, "status": {"phase": "other"}}, content_type=MERGE_PATCH),
    )
    assert (by_status.body["spec"]["size"], by_status.body["status"], by_status.body["metadata"]["generation"]) == (
        1,
        {"phase": "new"},
        1,
    )
    assert (by_spec.body["spec"]["size"], by_spec.body["status"], by_spec.body["metadata"]["generation"]) == (
        5,
        {"phase": "new"},
        2,
    )


async def test_what_is_applied_is_owned(defined: Api) -> None:
    path = f"{WIDGETS}/a?fieldManager="
    typed = f"failed to create typed patch object (/a; {GROUP}/v1, Kind=Widget): "
    await check(
        defined,
        Row(f"PATCH {path}one", 201, body=widget(size=2), content_type=APPLY),
        Row(
            f"PATCH {path}two",
            409,
            'Apply failed with 1 conflict: conflict with "one": .spec.size',
            widget(size=3),
            APPLY,
            reason="Conflict",
        ),
        Row(f"PATCH {path}two&force=true", 200, body=widget(size=3), content_type=APPLY),
        Row(f"PATCH {path}one", 400, f"{typed}.spec.bogus: field not declared in schema", widget(bogus=1), APPLY),
        Row(
            f"PATCH {path}one",
            400,
            f"{typed}.spec.size: expected numeric (int or float), got string",
            widget(size="x"),
            APPLY,
        ),
        Row(f"PATCH {path}one", 400, f"invalid object type: {GROUP}/v1, Kind=Foo", {**TYPE, "kind": "Foo"}, APPLY),
    )


async def test_unwise_finalizers_are_warned_of(defined: Api) -> None:
    body = {**widget(), "metadata": {"name": "a", "finalizers": ["x.io/fine", "unwise"]}}
    (answer,) = await check(defined, Row(f"POST {WIDGETS}", 201, body=body))
    assert warnings_of(answer) == [
        'metadata.finalizers: "unwise": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers'
    ]


async def test_versions_share_what_is_stored(defined: Api) -> None:
    """What is stored is completed by the schema of the version it is stored in, and shown by that of the one asked for."""
    second = WIDGETS.replace("/v1/", "/v2/")
    made, first, listed = await check(
        defined,
        Row(
            f"POST {second}",
            201,
            body={
                "apiVersion": f"{GROUP}/v2",
                "kind": "Widget",
                "metadata": {"name": "b"},
                "spec": {"size": 2, "extra": "y"},
            },
        ),
        Row(f"GET {WIDGETS}/b", 200),
        Row(f"GET {second}", 200),
    )
    assert (made.body["apiVersion"], made.body["spec"]) == (f"{GROUP}/v2", {"size": 2})
    assert (first.body["apiVersion"], first.body["spec"]) == (f"{GROUP}/v1", {"size": 2, "mode": "a"})
    assert [(item["apiVersion"], item["kind"]) for item in listed.body["items"]] == [(f"{GROUP}/v2", "Widget")]
    assert (listed.body["kind"], listed.body["metadata"]["continue"]) == ("WidgetList", "")


async def test_a_definition_that_ends_takes_no_new_objects_but_lets_the_old_ones_go(
    server: Server, defined: Api
) -> None:
    definition = f"{CRDS}/widgets.{GROUP}"
    body = {**widget(), "metadata": {"name": "a", "finalizers": ["x.io/a"]}}
    await check(defined, Row(f"POST {WIDGETS}", 201, body=body), Row(f"DELETE {definition}", 200))
    await server.root.settled()
    await check(
        defined,
        Row(
            f"POST {WIDGETS}",
            403,
            f'widgets.{GROUP} "b" is forbidden: create not allowed while custom resource definition is terminating',
            widget("b"),
        ),
        Row(f"PATCH {WIDGETS}/a", 200, body={"metadata": {"finalizers": None}}, content_type=MERGE_PATCH),
    )
    await server.root.settled()
    await check(
        defined,
        Row(f"GET {definition}", 404, f'customresourcedefinitions.apiextensions.k8s.io "widgets.{GROUP}" not found'),
        Row(f"GET {WIDGETS}", 404, "404 page not found\n"),
    )


async def test_names_are_taken_within_a_group_only(server: Server, api: Api) -> None:
    plain = version("v1", {"type": "object"})
    accepted: dict[str, str] = {}
    for plural, group in (("owls", "one.example.com"), ("owlets", "one.example.com"), ("owlets", "two.example.com")):
        names = {"plural": plural, "singular": plural[:-1], "kind": "Owl"}
        spec = {"group": group, "scope": "Namespaced", "names": names, "versions": [plain]}
        name = f"{plural}.{group}"
        assert (await api("POST", CRDS, {"metadata": {"name": name}, "spec": spec})).status == 201
        await server.root.settled()
        conditions = (await api("GET", f"{CRDS}/{name}")).body["status"]["conditions"]
        accepted[name] = next(one["status"] for one in conditions if one["type"] == "NamesAccepted")
    assert accepted == {
        "owls.one.example.com": "True",
        "owlets.one.example.com": "False",
        "owlets.two.example.com": "True",
    }
