"""OpenAPI of built-in and custom resources."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from kubekit.errors import NotAcceptable
from kubekit.server.kinds.builtin import catalogue
from kubekit.server.kinds.crds import CustomSchema
from kubekit.server.kinds.documents.document import Document
from kubekit.server.kinds.openapi import OpenApi
from kubekit.server.kinds.openapi.protobuf import swagger_message
from kubekit.server.objects.resource import Resource, Scale

SCHEMA = {
    "type": "object",
    "description": "A widget.",
    "properties": {
        "metadata": {"type": "object"},
        "spec": {
            "type": "object",
            "properties": {
                "colour": {"type": "string", "description": "Its colour."},
                "size": {"x-kubernetes-int-or-string": True},
                "maybe": {"type": "string", "nullable": True},
                "template": {"type": "object", "x-kubernetes-embedded-resource": True},
            },
        },
    },
}
META = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1"
PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"


class Shelf:
    """Resources on offer."""

    def __init__(self, *resources: Resource) -> None:
        self.resources = list(resources)
        self.version = 1

    def __iter__(self) -> Iterator[Resource]:
        return iter(self.resources)


def widgets(schema: dict[str, Any] | None = None, **more: Any) -> Resource:
    return Resource(
        "disc.example.com",
        "v1",
        "Widget",
        "widgets",
        CustomSchema(schema or SCHEMA),
        singular="widget",
        list_kind="WidgetList",
        is_custom=True,
        **more,
    )


def read(document: Document | None) -> Any:
    assert document is not None
    return json.loads(document.plain())


@pytest.fixture(scope="module")
def built_in() -> OpenApi:
    return OpenApi(Shelf(*catalogue.resources()))


def test_the_index_says_where_each_document_is(built_in: OpenApi) -> None:
    paths = read(built_in.index())["paths"]
    address = paths["apis/apps/v1"]["serverRelativeURL"]
    path, _, value = address.partition("?hash=")
    assert path == "/openapi/v3/apis/apps/v1"
    document = built_in.document("apis/apps/v1", value)
    assert document is not None
    assert document.etag == f'"{value}"'
    assert "immutable" in document.headers["Cache-Control"]
    assert "api/v1" in paths


def test_an_old_hash_leads_to_the_current_one(built_in: OpenApi) -> None:
    current = built_in.document("apis/apps/v1")
    document = built_in.document("apis/apps/v1", "OLD")
    assert current is not None
    assert document is not None
    assert document.status == 301
    assert document.headers["Location"] == f"?hash={current.etag.strip(chr(34))}"


def test_a_group_version_that_is_not_offered_has_no_document(built_in: OpenApi) -> None:
    assert built_in.document("apis/apps/v9") is None


def test_every_reference_leads_to_a_schema(built_in: OpenApi) -> None:
    document = read(built_in.document("api/v1"))
    schemas = document["components"]["schemas"]
    text = json.dumps(document)
    named = {part.partition('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert named
    assert named <= set(schemas)
    assert all(schemas[name] for name in named)


def test_kubectl_finds_out_that_patches_can_be_checked_and_tried(built_in: OpenApi) -> None:
    document = read(built_in.document("apis/apps/v1"))
    patch = document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"]
    assert patch["x-kubernetes-group-version-kind"] == {"group": "apps", "version": "v1", "kind": "Deployment"}
    assert {"dryRun", "fieldValidation"} <= {one["name"] for one in patch["parameters"] if one["in"] == "query"}
    assert patch["operationId"] == "patchAppsV1NamespacedDeployment"


def test_strategic_merge_finds_its_keys(built_in: OpenApi) -> None:
    schemas = read(built_in.document("apis/apps/v1"))["components"]["schemas"]
    containers = schemas["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"]
    assert containers["x-kubernetes-patch-strategy"] == "merge"
    assert containers["x-kubernetes-patch-merge-key"] == "name"


def test_a_custom_kind_is_published_with_what_every_object_has() -> None:
    api = OpenApi(Shelf(widgets(selectable_fields=("spec.colour",))))
    schemas = read(api.document("apis/disc.example.com/v1"))["components"]["schemas"]
    shown = schemas["com.example.disc.v1.Widget"]
    assert shown["description"] == "A widget."
    assert shown["x-kubernetes-group-version-kind"] == [
        {"group": "disc.example.com", "kind": "Widget", "version": "v1"}
    ]
    assert shown["x-kubernetes-selectable-fields"] == [{"fieldPath": "spec.colour"}]
    assert list(shown["properties"]) == ["apiVersion", "kind", "metadata", "spec"]
    assert shown["properties"]["metadata"]["allOf"] == [{"$ref": f"{META}.ObjectMeta"}]
    assert shown["properties"]["apiVersion"]["description"].startswith("APIVersion defines the versioned schema")
    spec = shown["properties"]["spec"]["properties"]
    assert spec["colour"] == {"type": "string", "description": "Its colour."}
    assert spec["size"] == {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}
    assert spec["template"]["required"] == ["kind", "apiVersion"]
    assert spec["template"]["properties"]["metadata"]["allOf"] == [{"$ref": f"{META}.ObjectMeta"}]
    items = schemas["com.example.disc.v1.WidgetList"]["properties"]["items"]
    assert items["items"] == {"$ref": "#/components/schemas/com.example.disc.v1.Widget"}


def test_subresources_have_paths() -> None:
    api = OpenApi(Shelf(widgets(status=True, scale=Scale(".spec.n", ".status.n"))))
    paths = read(api.document("apis/disc.example.com/v1"))["paths"]
    one = "/apis/disc.example.com/v1/namespaces/{namespace}/widgets/{name}"
    assert {one, f"{one}/status", f"{one}/scale", "/apis/disc.example.com/v1/widgets"} <= set(paths)
    scale = paths[f"{one}/scale"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert scale == {"$ref": "#/components/schemas/io.k8s.api.autoscaling.v1.Scale"}


def test_only_a_changed_schema_changes_the_hash() -> None:
    shelf = Shelf(widgets())
    api = OpenApi(shelf)
    first = api.document("apis/disc.example.com/v1")
    shelf.resources, shelf.version = [widgets()], 2
    second = api.document("apis/disc.example.com/v1")
    shelf.resources, shelf.version = [widgets({"type": "object"})], 3
    third = api.document("apis/disc.example.com/v1")
    assert first is not None
    assert second is not None
    assert third is not None
    assert first.etag == second.etag != third.etag


def test_protobuf_of_version_3_is_not_offered(built_in: OpenApi) -> None:
    with pytest.raises(NotAcceptable):
        built_in.document("api/v1", accept="application/com.github.proto-openapi.spec.v3@v1.0+protobuf")


def test_version_2_leaves_out_what_it_cannot_say() -> None:
    found = read(OpenApi(Shelf(widgets())).v2("application/json"))
    assert found["swagger"] == "2.0"
    shown = found["definitions"]["com.example.disc.v1.Widget"]
    described = shown["properties"]["metadata"]
    assert described["$ref"] == "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
    assert shown["properties"]["spec"]["properties"]["maybe"] == {}
    assert shown["properties"]["spec"]["properties"]["size"] == {"x-kubernetes-int-or-string": True}
    patch = found["paths"]["/apis/disc.example.com/v1/namespaces/{namespace}/widgets/{name}"]["patch"]
    assert patch["parameters"][0]["in"] == "body"
    assert "fieldValidation" in {one["name"] for one in patch["parameters"]}


def test_a_kind_with_unknown_fields_is_open_in_version_2() -> None:
    loose = {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"a": {"type": "string"}}}
    found = read(OpenApi(Shelf(widgets(loose))).v2())
    assert set(found["definitions"]["com.example.disc.v1.Widget"]) == {"type", "x-kubernetes-group-version-kind"}


def test_version_2_comes_as_protobuf_for_those_who_ask() -> None:
    document = OpenApi(Shelf(widgets())).v2(PROTOBUF)
    assert document.content_type == "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
    assert document.plain().startswith(b"\x0a\x032.0\x12")


def test_a_swagger_document_becomes_the_message_of_gnostic() -> None:
    document = {
        "swagger": "2.0",
        "definitions": {"A": {"type": "object", "required": ["b"], "maximum": 1.0, "x-k": {"a": 1}}},
    }
    schema = (
        b"\xb2\x01\x08\x0a\x06object"  # type
        b"\x9a\x01\x01b"  # required
        b"\x39\x00\x00\x00\x00\x00\x00\xf0\x3f"  # maximum
        b"\xfa\x01\x10\x0a\x03x-k\x12\x09\x12\x07" + b'{"a":1}'
    )
    named = b"\x0a\x01A\x12" + bytes([len(schema)]) + schema
    wrapped = b"\x0a" + bytes([len(named)]) + named
    assert swagger_message(document) == b"\x0a\x032.0" + b"\x4a" + bytes([len(wrapped)]) + wrapped
