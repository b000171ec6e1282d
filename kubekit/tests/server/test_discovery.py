"""Discovery of built-in and custom resources."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from kubekit.server.kinds.builtin import catalogue
from kubekit.server.kinds.documents.discovery import Discovery, version_info
from kubekit.server.objects.resource import Resource, Scale
from kubekit.server.objects.schema.model import ANYTHING

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


class Shelf:
    """Resources on offer."""

    def __init__(self, *resources: Resource) -> None:
        self.resources = list(resources)
        self.version = 1

    def __iter__(self) -> Iterator[Resource]:
        return iter(self.resources)

    def add(self, resource: Resource) -> None:
        self.resources.append(resource)
        self.version += 1


def widget(version: str = "v1", **more: Any) -> Resource:
    return Resource(
        "disc.example.com",
        version,
        "Widget",
        "widgets",
        ANYTHING,
        singular="widget",
        list_kind="WidgetList",
        storage_version="v1",
        is_custom=True,
        **more,
    )


@pytest.fixture(scope="module")
def built_in() -> Discovery:
    return Discovery(Shelf(*catalogue.resources()), "192.0.2.1:6443")


def read(discovery: Discovery, path: str, accept: str | None = None) -> Any:
    document = discovery.document(path, accept)
    assert document is not None
    return json.loads(document.body)


def test_the_core_group_has_its_versions_and_an_address(built_in: Discovery) -> None:
    assert read(built_in, "/api") == {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "192.0.2.1:6443"}],
    }


def test_groups_are_listed_in_the_order_of_kubernetes_and_custom_ones_last() -> None:
    shelf = Shelf(widget(), *catalogue.resources())
    groups = [group["name"] for group in read(Discovery(shelf), "/apis")["groups"]]
    assert groups[:3] == ["apiregistration.k8s.io", "apps", "events.k8s.io"]
    assert groups[-1] == "disc.example.com"
    assert groups.index("apiextensions.k8s.io") > groups.index("rbac.authorization.k8s.io")


def test_a_group_prefers_its_best_version(built_in: Discovery) -> None:
    assert read(built_in, "/apis/autoscaling") == {
        "kind": "APIGroup",
        "apiVersion": "v1",
        "name": "autoscaling",
        "versions": [
            {"groupVersion": "autoscaling/v2", "version": "v2"},
            {"groupVersion": "autoscaling/v1", "version": "v1"},
        ],
        "preferredVersion": {"groupVersion": "autoscaling/v2", "version": "v2"},
    }


def test_a_version_lists_resources_with_their_subresources(built_in: Discovery) -> None:
    listed = read(built_in, "/apis/apps/v1")
    assert (listed["kind"], listed["groupVersion"]) == ("APIResourceList", "apps/v1")
    entries = {entry["name"]: entry for entry in listed["resources"]}
    assert list(entries) == sorted(entries)
    assert entries["deployments"] == {
        "name": "deployments",
        "singularName": "deployment",
        "namespaced": True,
        "kind": "Deployment",
        "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        "shortNames": ["deploy"],
        "categories": ["all"],
        "storageVersionHash": "8aSe+NMegvE=",
    }
    assert entries["deployments/scale"] == {
        "name": "deployments/scale",
        "singularName": "",
        "namespaced": True,
        "group": "autoscaling",
        "version": "v1",
        "kind": "Scale",
        "verbs": ["get", "patch", "update"],
    }


def test_kinds_that_are_not_stored_have_no_storage_hash(built_in: Discovery) -> None:
    reviews = read(built_in, "/apis/authentication.k8s.io/v1")["resources"]
    assert all("storageVersionHash" not in entry for entry in reviews)


@pytest.mark.parametrize(
    ("path", "name", "digest"),
    [
        ("/api/v1", "configmaps", "qFsyl6wFWjQ="),
        ("/apis/autoscaling/v1", "horizontalpodautoscalers", "qwQve8ut294="),
        ("/apis/events.k8s.io/v1", "events", "r2yiGXH7wu8="),
        ("/apis/apiextensions.k8s.io/v1", "customresourcedefinitions", "jfWCUB31mvA="),
    ],
)
def test_the_storage_hash_is_that_of_kubernetes(built_in: Discovery, path: str, name: str, digest: str) -> None:
    entry = next(one for one in read(built_in, path)["resources"] if one["name"] == name)
    assert entry["storageVersionHash"] == digest


def test_aggregated_discovery_has_everything_in_one_document() -> None:
    scaled = widget(status=True, scale=Scale(".spec.replicas", ".status.replicas"), short_names=("wid",))
    found = read(Discovery(Shelf(scaled, widget("v1beta1"))), "/apis", AGGREGATED)
    assert (found["kind"], found["apiVersion"]) == ("APIGroupDiscoveryList", "apidiscovery.k8s.io/v2")
    (group,) = found["items"]
    assert group["metadata"] == {"name": "disc.example.com"}
    assert [(one["version"], one["freshness"]) for one in group["versions"]] == [
        ("v1", "Current"),
        ("v1beta1", "Current"),
    ]
    assert group["versions"][0]["resources"] == [
        {
            "resource": "widgets",
            "responseKind": {"group": "disc.example.com", "version": "v1", "kind": "Widget"},
            "scope": "Namespaced",
            "singularResource": "widget",
            "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
            "shortNames": ["wid"],
            "subresources": [
                {
                    "subresource": "status",
                    "responseKind": {"group": "disc.example.com", "version": "v1", "kind": "Widget"},
                    "verbs": ["get", "patch", "update"],
                },
                {
                    "subresource": "scale",
                    "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"},
                    "verbs": ["get", "patch", "update"],
                },
            ],
        }
    ]


def test_a_client_that_has_the_document_already_is_recognised(built_in: Discovery) -> None:
    document = built_in.document("/apis", AGGREGATED)
    assert document is not None
    assert document.headers["Cache-Control"] == "public"
    assert document.is_known(document.etag)
    assert not document.is_known('"other"')
    plain = built_in.document("/apis")
    assert plain is not None
    assert not plain.is_known("")


def test_a_new_resource_changes_the_documents() -> None:
    shelf = Shelf(*catalogue.resources())
    discovery = Discovery(shelf)
    before = discovery.document("/apis", AGGREGATED)
    assert discovery.document("/apis/disc.example.com/v1") is None
    shelf.add(widget())
    after = discovery.document("/apis", AGGREGATED)
    assert before is not None
    assert after is not None
    assert before.etag != after.etag
    assert discovery.document("/apis/disc.example.com/v1") is not None


@pytest.mark.parametrize("path", ["/apis/nope", "/apis/apps/v9", "/api/v2", "/apis/apps/v1/deployments", "/other"])
def test_nothing_else_is_there(built_in: Discovery, path: str) -> None:
    assert built_in.document(path) is None


def test_the_root_lists_paths(built_in: Discovery) -> None:
    paths = read(built_in, "/")["paths"]
    assert {"/api/v1", "/apis/apps", "/apis/apps/v1", "/openapi/v3", "/version"} <= set(paths)


def test_yaml_for_those_who_ask(built_in: Discovery) -> None:
    document = built_in.document("/api", "application/yaml")
    assert document is not None
    assert document.content_type == "application/yaml"
    assert document.body.startswith(b"kind: APIVersions\n")


def test_the_version_is_that_of_the_api_and_names_the_build() -> None:
    shown = version_info("example", "1.2.3")
    assert (shown["major"], shown["minor"]) == ("1", "36")
    assert shown["gitVersion"] == "v1.36.4+example.1.2.3"
