"""The official Python client, as its users write it: typed objects, patches, collections, rights."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client, utils, watch
from kubernetes.client.exceptions import ApiException

POD_TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {"containers": [{"name": "web", "image": "nginx:1"}, {"name": "log", "image": "log:1"}]},
}


@pytest.fixture
def apps(connection: client.ApiClient) -> client.AppsV1Api:
    return client.AppsV1Api(connection)


def deployment(name: str = "web", replicas: int = 1) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": POD_TEMPLATE},
    }


def test_a_config_map_lives_from_creation_to_deletion(core: client.CoreV1Api, team: str) -> None:
    wanted = client.V1ConfigMap(
        metadata=client.V1ObjectMeta(name="c", labels={"a": "b"}), data={"k": "v"}, binary_data={"b": "AAE="}
    )
    made = core.create_namespaced_config_map(team, wanted)
    assert (made.metadata.name, made.metadata.namespace, made.data) == ("c", team, {"k": "v"})
    assert made.metadata.uid
    assert made.metadata.creation_timestamp.tzinfo is not None
    made.data = {"k": "w"}
    replaced = core.replace_namespaced_config_map("c", team, made)
    assert int(replaced.metadata.resource_version) > int(made.metadata.resource_version)
    assert core.read_namespaced_config_map("c", team).data == {"k": "w"}
    assert [one.metadata.name for one in core.list_namespaced_config_map(team, label_selector="a=b").items] == ["c"]
    answer = core.delete_namespaced_config_map("c", team)
    assert (answer["status"], answer["details"]["name"]) == ("Success", "c")
    with pytest.raises(ApiException) as refused:
        core.read_namespaced_config_map("c", team)
    assert (refused.value.status, refused.value.reason) == (404, "Not Found")


def test_a_stale_replacement_is_a_conflict(core: client.CoreV1Api, team: str) -> None:
    made = core.create_namespaced_config_map(team, client.V1ConfigMap(metadata=client.V1ObjectMeta(name="c")))
    core.replace_namespaced_config_map("c", team, client.V1ConfigMap(metadata=made.metadata, data={"k": "1"}))
    with pytest.raises(ApiException) as refused:
        core.replace_namespaced_config_map("c", team, client.V1ConfigMap(metadata=made.metadata, data={"k": "2"}))
    assert refused.value.status == 409
    assert "the object has been modified" in str(refused.value.body)


def test_a_secret_takes_plain_strings_and_gives_base64(core: client.CoreV1Api, team: str) -> None:
    made = core.create_namespaced_secret(
        team, client.V1Secret(metadata=client.V1ObjectMeta(name="s"), string_data={"password": "open"})
    )
    assert (made.type, made.data, made.string_data) == ("Opaque", {"password": "b3Blbg=="}, None)


def test_a_deployment_comes_back_with_its_defaults(apps: client.AppsV1Api, team: str) -> None:
    made = apps.create_namespaced_deployment(team, deployment())
    spec = made.spec
    assert (spec.progress_deadline_seconds, spec.revision_history_limit) == (600, 10)
    assert spec.strategy.rolling_update.max_surge == "25%"
    assert spec.template.spec.containers[0].image_pull_policy == "IfNotPresent"
    assert made.metadata.generation == 1


def test_patches_of_every_kind_change_a_deployment(apps: client.AppsV1Api, team: str) -> None:
    apps.create_namespaced_deployment(team, deployment())
    image = {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "nginx:2"}]}}}}
    strategic = apps.patch_namespaced_deployment("web", team, image)
    assert [one.image for one in strategic.spec.template.spec.containers] == ["nginx:2", "log:1"]
    merged = apps.patch_namespaced_deployment(
        "web", team, {"metadata": {"labels": {"app": None, "tier": "x"}}}, _content_type="application/merge-patch+json"
    )
    assert merged.metadata.labels == {"tier": "x"}
    operations = [{"op": "test", "path": "/spec/replicas", "value": 1}, {"op": "remove", "path": "/metadata/labels"}]
    by_operations = apps.patch_namespaced_deployment("web", team, operations)
    assert by_operations.metadata.labels is None
    applied = apps.patch_namespaced_deployment(
        "web",
        team,
        {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"paused": True}},
        field_manager="tests",
        _content_type="application/apply-patch+yaml",
    )
    assert applied.spec.paused
    assert [one.operation for one in applied.metadata.managed_fields if one.manager == "tests"] == ["Apply"]


def test_scale_and_status_have_endpoints_of_their_own(apps: client.AppsV1Api, team: str) -> None:
    apps.create_namespaced_deployment(team, deployment())
    scaled = apps.patch_namespaced_deployment_scale("web", team, {"spec": {"replicas": 4}})
    assert (scaled.spec.replicas, scaled.status.selector) == (4, "app=web")
    found = apps.patch_namespaced_deployment_status("web", team, {"status": {"replicas": 3}, "spec": {"replicas": 9}})
    assert (found.spec.replicas, found.status.replicas) == (4, 3)


def test_jobs_cron_jobs_and_budgets_are_typed_too(connection: client.ApiClient, team: str) -> None:
    batch, policy = client.BatchV1Api(connection), client.PolicyV1Api(connection)
    template = {"spec": {**POD_TEMPLATE["spec"], "restartPolicy": "Never"}}
    job = batch.create_namespaced_job(team, {"metadata": {"name": "j"}, "spec": {"template": template}})
    assert job.spec.selector.match_labels == {"batch.kubernetes.io/controller-uid": job.metadata.uid}
    spec = {"schedule": "*/5 * * * *", "jobTemplate": {"spec": {"template": template}}}
    assert batch.create_namespaced_cron_job(team, {"metadata": {"name": "c"}, "spec": spec}).spec.suspend is False
    budget = policy.create_namespaced_pod_disruption_budget(
        team, {"metadata": {"name": "b"}, "spec": {"maxUnavailable": "50%", "selector": {}}}
    )
    assert budget.spec.max_unavailable == "50%"


def test_a_lease_keeps_its_microseconds(connection: client.ApiClient, team: str) -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    wanted = client.V1Lease(
        metadata=client.V1ObjectMeta(name="l"),
        spec=client.V1LeaseSpec(holder_identity="me", renew_time=moment, lease_duration_seconds=15),
    )
    leases = client.CoordinationV1Api(connection)
    assert leases.create_namespaced_lease(team, wanted).spec.renew_time == moment


def test_wrong_objects_are_refused_field_by_field(apps: client.AppsV1Api, team: str) -> None:
    broken = deployment("Web", replicas=-1)
    with pytest.raises(ApiException) as refused:
        apps.create_namespaced_deployment(team, broken)
    causes = yaml.safe_load(refused.value.body)["details"]["causes"]
    assert (refused.value.status, {cause["field"] for cause in causes}) == (422, {"metadata.name", "spec.replicas"})


def test_strict_validation_names_the_unknown_field(core: client.CoreV1Api, team: str) -> None:
    core.create_namespaced_config_map(team, {"metadata": {"name": "c"}})
    with pytest.raises(ApiException) as refused:
        core.patch_namespaced_config_map("c", team, {"dta": {}}, field_validation="Strict")
    assert refused.value.status == 422
    assert 'strict decoding error: unknown field \\"dta\\"' in refused.value.body


def test_a_dry_run_stores_nothing(core: client.CoreV1Api, team: str) -> None:
    core.create_namespaced_config_map(team, {"metadata": {"name": "c"}}, dry_run="All")
    assert not core.list_namespaced_config_map(team, field_selector="metadata.name=c").items


def test_a_list_comes_in_pages(core: client.CoreV1Api, team: str) -> None:
    for number in range(5):
        core.create_namespaced_config_map(team, {"metadata": {"name": f"c{number}", "labels": {"of": "five"}}})
    names: list[str] = []
    token = None
    while True:
        page = core.list_namespaced_config_map(team, label_selector="of=five", limit=2, _continue=token)
        names += [one.metadata.name for one in page.items]
        token = page.metadata.var_continue
        if not token:
            break
    assert names == ["c0", "c1", "c2", "c3", "c4"]


def test_a_collection_is_deleted_by_label(core: client.CoreV1Api, team: str) -> None:
    for name, color in (("a", "red"), ("b", "red"), ("c", "blue")):
        core.create_namespaced_config_map(team, {"metadata": {"name": name, "labels": {"color": color}}})
    core.delete_collection_namespaced_config_map(team, label_selector="color=red")
    assert [one.metadata.name for one in core.list_namespaced_config_map(team, label_selector="color").items] == ["c"]


def test_a_yaml_file_creates_all_it_holds(connection: client.ApiClient, team: str, tmp_path: Path) -> None:
    documents: list[dict[str, Any]] = [
        {"apiVersion": "v1", "kind": "Service", "spec": {"ports": [{"port": 80}], "selector": {"app": "web"}}},
        {"apiVersion": "apps/v1", "kind": "Deployment", **deployment()},
        {"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}}]},
    ]
    documents[0]["metadata"] = documents[2]["items"][0]["metadata"] = {"name": "from-file"}
    file = tmp_path / "all.yaml"
    file.write_text(yaml.safe_dump_all(documents))
    made = utils.create_from_yaml(connection, str(file), namespace=team)
    assert [one.kind for group in made for one in group] == ["Service", "Deployment", "ConfigMap"]
    with pytest.raises(utils.FailToCreateError) as refused:
        utils.create_from_yaml(connection, str(file), namespace=team)
    assert [error.status for error in refused.value.api_exceptions] == [409, 409, 409]


def widget_definition(group: str) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {"size": {"type": "integer", "default": 3, "maximum": 9}}},
            "status": {"type": "object", "properties": {"ready": {"type": "boolean"}, "size": {"type": "integer"}}},
        },
    }
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {
            "status": {},
            "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"},
        },
    }
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"widgets.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
    }


def establish(connection: client.ApiClient, definition: dict[str, Any]) -> None:
    """Create a definition and watch it until its kind is served."""
    api = client.ApiextensionsV1Api(connection)
    name = definition["metadata"]["name"]
    api.create_custom_resource_definition(definition)
    selector = f"metadata.name={name}"
    stream = watch.Watch().stream(api.list_custom_resource_definition, field_selector=selector, timeout_seconds=10)
    for event in stream:
        conditions = event["object"].status.conditions or ()
        if any(one.type == "Established" and one.status == "True" for one in conditions):
            return
    raise AssertionError(f"{name} was not established")


@pytest.fixture
def widgets(connection: client.ApiClient) -> Iterator[str]:
    """The group of a custom kind `Widget`."""
    group = f"w{uuid.uuid4().hex[:8]}.example.com"
    definition = widget_definition(group)
    establish(connection, definition)
    yield group
    client.ApiextensionsV1Api(connection).delete_custom_resource_definition(definition["metadata"]["name"])


def test_custom_objects_are_served_with_status_and_scale(connection: client.ApiClient, widgets: str, team: str) -> None:
    api = client.CustomObjectsApi(connection)
    place = (widgets, "v1", team, "widgets")
    body = {"apiVersion": f"{widgets}/v1", "kind": "Widget", "metadata": {"name": "w"}}
    made = api.create_namespaced_custom_object(*place, {**body, "spec": {}, "status": {"ready": True}})
    assert (made["spec"], "status" in made) == ({"size": 3}, False)
    assert api.patch_namespaced_custom_object(*place, "w", {"spec": {"size": 4}})["spec"] == {"size": 4}
    assert api.patch_namespaced_custom_object_status(*place, "w", {"status": {"size": 2}})["status"] == {"size": 2}
    scaled = api.patch_namespaced_custom_object_scale(*place, "w", {"spec": {"replicas": 5}})
    assert (scaled["kind"], scaled["spec"], scaled["status"]) == ("Scale", {"replicas": 5}, {"replicas": 2})
    with pytest.raises(ApiException) as refused:
        api.patch_namespaced_custom_object(*place, "w", {"spec": {"size": 10}})
    assert "should be less than or equal to 9" in refused.value.body
    assert [one["spec"] for one in api.list_namespaced_custom_object(*place)["items"]] == [{"size": 5}]
    assert api.list_cluster_custom_object(widgets, "v1", "widgets")["kind"] == "WidgetList"
    assert api.delete_namespaced_custom_object(*place, "w")["status"] == "Success"


def pod(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": {"app": "web"}}, "spec": POD_TEMPLATE["spec"]}


def test_an_eviction_deletes_the_pod_unless_a_budget_forbids_it(connection: client.ApiClient, team: str) -> None:
    core, policy = client.CoreV1Api(connection), client.PolicyV1Api(connection)
    core.create_namespaced_pod(team, pod("p"))
    budget = {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}}
    policy.create_namespaced_pod_disruption_budget(team, budget)
    ready = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    core.patch_namespaced_pod_status("p", team, ready)
    eviction = client.V1Eviction(metadata=client.V1ObjectMeta(name="p", namespace=team))
    with pytest.raises(ApiException) as refused:
        core.create_namespaced_pod_eviction("p", team, eviction)
    assert refused.value.status == 429
    policy.delete_namespaced_pod_disruption_budget("b", team)
    core.create_namespaced_pod_eviction("p", team, eviction)
    assert not core.list_namespaced_pod(team).items


def test_a_scheduler_binds_a_pod_by_either_endpoint(core: client.CoreV1Api, team: str) -> None:
    for name in ("old", "new"):
        core.create_namespaced_pod(team, pod(name))
    old, new = (
        client.V1Binding(metadata=client.V1ObjectMeta(name=name), target={"kind": "Node", "name": f"on-{name}"})
        for name in ("old", "new")
    )
    # The answer is a Status, which the client does not expect.
    core.create_namespaced_binding(team, old, _preload_content=False)
    core.create_namespaced_pod_binding("new", team, new, _preload_content=False)
    assert {one.spec.node_name for one in core.list_namespaced_pod(team).items} == {"on-old", "on-new"}


def test_the_server_says_who_it_is(connection: client.ApiClient) -> None:
    assert client.VersionApi(connection).get_code().git_version.startswith("v1.36.")
    groups = {group.name for group in client.ApisApi(connection).get_api_versions().groups}
    assert {"apps", "batch", "rbac.authorization.k8s.io", "apiextensions.k8s.io"} <= groups


def test_rights_are_given_by_roles_and_asked_by_reviews(connection: client.ApiClient, team: str) -> None:
    rights, reviews = client.RbacAuthorizationV1Api(connection), client.AuthorizationV1Api(connection)
    rules = [client.V1PolicyRule(api_groups=[""], resources=["secrets"], verbs=["get"])]
    rights.create_namespaced_role(team, client.V1Role(metadata=client.V1ObjectMeta(name="reader"), rules=rules))
    rights.create_namespaced_role_binding(
        team,
        client.V1RoleBinding(
            metadata=client.V1ObjectMeta(name="jane"),
            role_ref=client.V1RoleRef(api_group="rbac.authorization.k8s.io", kind="Role", name="reader"),
            subjects=[client.RbacV1Subject(kind="User", name="jane", api_group="rbac.authorization.k8s.io")],
        ),
    )
    allowed = {}
    for verb in ("get", "delete"):
        attributes = client.V1ResourceAttributes(namespace=team, verb=verb, resource="secrets")
        spec = client.V1SubjectAccessReviewSpec(user="jane", resource_attributes=attributes)
        review = reviews.create_subject_access_review(client.V1SubjectAccessReview(spec=spec))
        allowed[verb] = review.status.allowed
        mine = client.V1SelfSubjectAccessReviewSpec(resource_attributes=attributes)
        asked = reviews.create_self_subject_access_review(client.V1SelfSubjectAccessReview(spec=mine))
        assert asked.status.allowed
    assert allowed == {"get": True, "delete": False}
