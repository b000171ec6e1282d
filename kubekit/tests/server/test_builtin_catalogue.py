"""The built-in kinds: their names, their schemas, their OpenAPI."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from kubekit.server.kinds.builtin import catalogue, data
from kubekit.server.objects.resource import Resource
from kubekit.server.objects.schema.model import MISSING, Schema


def resource(qualified: str, version: str = "v1") -> Resource:
    [found] = [one for one in catalogue.resources() if one.qualified == qualified and one.version == version]
    return found


def member(schema: Schema, path: str) -> Schema:
    for name in path.split("."):
        inner = schema.items if name == "[]" else schema.child(name)
        assert inner is not None, path
        schema = inner
    return schema


def references(document: Any) -> Iterator[str]:
    if isinstance(document, dict):
        if isinstance(document.get("$ref"), str):
            yield document["$ref"].rpartition("/")[2]
        for value in document.values():
            yield from references(value)
    if isinstance(document, list):
        for value in document:
            yield from references(value)


def test_a_deployment_is_offered_as_kubernetes_offers_it() -> None:
    found = resource("deployments.apps")
    assert (found.api_version, found.kind, found.singular, found.list_kind) == (
        "apps/v1",
        "Deployment",
        "deployment",
        "DeploymentList",
    )
    assert (found.namespaced, found.short_names, found.categories) == (True, ("deploy",), ("all",))
    assert found.status
    assert found.scale is not None
    assert found.subresources == ()


def test_kinds_that_live_in_subresources_are_no_resources() -> None:
    kinds = {one.kind for one in catalogue.resources()}
    assert not kinds & {"Eviction", "TokenRequest", "Scale", "Status", "DeleteOptions"}
    assert {"eviction", "binding"} <= set(resource("pods").subresources)
    assert resource("serviceaccounts").subresources == ("token",)


def test_a_subresource_tells_the_kind_it_takes() -> None:
    facts = {one.name: one for one in catalogue.subresources("", "v1", "pods")}
    assert (facts["eviction"].api_version, facts["eviction"].kind) == ("policy/v1", "Eviction")
    assert facts["eviction"].verbs == ("create",)
    assert catalogue.subresources("", "v1", "nothings") == ()


def test_reviews_can_only_be_created() -> None:
    review = resource("subjectaccessreviews.authorization.k8s.io")
    assert (review.verbs, review.list_kind, review.namespaced) == (("create",), "", False)


def test_namespaces_cannot_be_deleted_as_a_collection() -> None:
    assert "deletecollection" not in resource("namespaces").verbs


def test_field_selectors_are_those_of_kubernetes() -> None:
    assert "spec.nodeName" in resource("pods").selectable_fields
    assert "involvedObject.name" in resource("events").selectable_fields
    assert "regarding.name" in resource("events.events.k8s.io").selectable_fields
    assert resource("deployments.apps").selectable_fields == ()


def test_each_call_gives_resources_of_its_own() -> None:
    first, second = catalogue.resources()[0], catalogue.resources()[0]
    assert first is not second
    assert first.schema is second.schema


def test_a_schema_knows_list_types_and_merge_keys() -> None:
    ports = member(resource("services").schema, "spec.ports")
    assert (ports.list_type, ports.list_keys) == ("map", ("port", "protocol"))
    assert (ports.patch_strategies, ports.patch_key) == (("merge",), "port")
    volumes = member(resource("pods").schema, "spec.volumes")
    assert volumes.patch_strategies == ("merge", "retainKeys")
    assert member(resource("services").schema, "spec.selector").map_type == "atomic"


def test_inlined_structs_stand_among_the_fields() -> None:
    volume = member(resource("pods").schema, "spec.volumes.[]")
    assert {"name", "configMap", "emptyDir"} <= set(volume.properties)
    assert "volumeSource" not in volume.properties


def test_only_defaults_of_the_api_itself_are_defaults() -> None:
    pod = resource("pods").schema
    assert member(pod, "spec.containers.[].ports.[].protocol").default == "TCP"
    for path in ("metadata", "spec", "spec.containers.[].name", "spec.containers.[].resources"):
        assert member(pod, path).default is MISSING


def test_free_forms_keep_whatever_they_hold() -> None:
    assert member(resource("controllerrevisions.apps").schema, "data").preserve_unknown
    crd = resource("customresourcedefinitions.apiextensions.k8s.io").schema
    schema = member(crd, "spec.versions.[].schema.openAPIV3Schema")
    assert member(schema, "items").preserve_unknown
    assert member(schema, "properties.anything").properties.keys() == schema.properties.keys()
    assert member(resource("services").schema, "spec.ports.[].targetPort").int_or_string


def test_required_fields_are_required() -> None:
    assert member(resource("deployments.apps").schema, "spec").required == ("selector", "template")


def test_a_schema_that_was_never_read_can_be_copied() -> None:
    name = "io.k8s.api.core.v1.LocalObjectReference"
    assert copy.deepcopy(catalogue.definition(name)).properties.keys() == {"name"}


@pytest.mark.parametrize("name", ["io.k8s.api.core.v1.Nothing", "io.k8s.api.core.v1.VolumeSource"])
def test_there_is_no_schema_for_what_is_not_published(name: str) -> None:
    with pytest.raises(KeyError):
        catalogue.definition(name)


def test_there_is_no_schema_for_a_kind_that_is_not_served() -> None:
    with pytest.raises(KeyError):
        catalogue.schema_of("apps", "v1beta1", "Deployment")


def test_every_reference_leads_somewhere() -> None:
    published = catalogue.openapi_definitions()
    asked = {name for document in published.values() for name in references(document)}
    assert asked <= set(published)


def test_openapi_names_the_kinds_it_describes() -> None:
    published = catalogue.openapi_definitions()
    kinds = published["io.k8s.api.apps.v1.DeploymentList"]["x-kubernetes-group-version-kind"]
    assert kinds == [{"group": "apps", "kind": "DeploymentList", "version": "v1"}]
    options = published["io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"]["x-kubernetes-group-version-kind"]
    assert {"group": "apps", "kind": "DeleteOptions", "version": "v1"} in options
    assert "io.k8s.api.authorization.v1.SubjectAccessReviewList" not in published


def test_a_setting_beside_a_reference_does_not_hide_it() -> None:
    properties = catalogue.openapi_definitions()["io.k8s.api.core.v1.PodSpec"]["properties"]
    assert properties["resources"] == {"$ref": "#/components/schemas/io.k8s.api.core.v1.ResourceRequirements"}
    strategy = catalogue.openapi_definitions()["io.k8s.api.apps.v1.DeploymentSpec"]["properties"]["strategy"]
    assert strategy["allOf"] == [{"$ref": "#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy"}]
    assert strategy["x-kubernetes-patch-strategy"] == "retainKeys"


def test_field_numbers_are_unique_within_a_message() -> None:
    for name in data.contents()["definitions"]:
        numbers = [field.number for field in data.definition(name).fields]
        assert len(numbers) == len(set(numbers)), name
