"""Built-in kinds: warnings of what is valid but odd, and what is not kept."""

from __future__ import annotations

from typing import Any

import pytest

from kubekit.server.kinds.pods.defaults import pull_policy
from tests.http_api import Api
from tests.server.builtin_golden import Kind
from tests.server.wire import APPLY, warnings

APPS = "/apis/apps/v1/namespaces/default"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
SERVICES = "/api/v1/namespaces/default/services"


def template(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}


def remarks(api_version: str, kind: str, **parts: Any) -> list[str]:
    one = Kind(api_version, kind)
    return one.behaviour.warnings(one.created({"metadata": {}, **parts}), None)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (
            {"externalIPs": ["1.2.3.4"]},
            ["spec.externalIPs is deprecated and may no longer be implemented in some clusters"],
        ),
        (
            {"clusterIP": "None", "sessionAffinity": "ClientIP"},
            ["spec.SessionAffinity is ignored for headless services"],
        ),
        ({"externalName": "a.org"}, ['spec.externalName is ignored when spec.type is not "ExternalName"']),
        (
            {"trafficDistribution": "PreferClose"},
            ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'],
        ),
        ({}, []),
    ],
    ids=["external", "headless", "named", "near", "plain"],
)
def test_a_service_says_what_is_ignored(spec: dict[str, Any], told: list[str]) -> None:
    assert remarks("v1", "Service", spec={"ports": [{"port": 80}], **spec}) == told


def test_a_template_says_what_will_not_work() -> None:
    spec = {
        "selector": {"matchLabels": {"app": "a"}},
        "template": template(terminationGracePeriodSeconds=-1, volumes=[{"name": "v", "rbd": {"monitors": ["m"]}}]),
    }
    assert remarks("apps/v1", "Deployment", spec=spec) == [
        "spec.template.spec.volumes[0].rbd: deprecated in v1.28, non-functional in v1.31+",
        (
            "spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be "
            "treated as 1"
        ),
    ]


async def test_a_name_that_is_no_label_is_remarked_on_once(api: Api) -> None:
    spec = {"selector": {"matchLabels": {"app": "a"}}, "template": template()}
    made = await api("POST", f"{APPS}/deployments", {"metadata": {"name": "a.b"}, "spec": spec})
    (told,) = warnings(made)
    assert told.startswith("metadata.name: this is used in Pod names and hostnames, which can result in surprising")
    changed = await api("PATCH", f"{APPS}/deployments/a.b", {"spec": {"replicas": 3}}, "application/merge-patch+json")
    assert warnings(changed) == []


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("reg.org:5000/team/nginx", "Always"),
        ("Reg.org/nginx", "Always"),
        ("nginx:1", "IfNotPresent"),
        (f"nginx@sha256:{'a' * 64}", "IfNotPresent"),
        ("NGINX", "IfNotPresent"),
        ("team/NGINX", "IfNotPresent"),
        ("a/../b", "IfNotPresent"),
        ("", "IfNotPresent"),
    ],
)
def test_only_images_that_can_be_named_are_pulled_always(image: str, policy: str) -> None:
    assert pull_policy(image) == policy


async def test_a_field_of_a_feature_that_is_off_is_owned_but_not_kept(api: Api) -> None:
    made = await api("POST", LEASES, {"metadata": {"name": "l"}, "spec": {"strategy": "x", "holderIdentity": "me"}})
    assert made.body["spec"] == {"holderIdentity": "me"}
    owned = made.body["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]
    assert owned == {"f:holderIdentity": {}, "f:strategy": {}}


async def test_the_data_of_a_revision_is_owned_as_a_whole(api: Api) -> None:
    revision = {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {"name": "r"}, "revision": 1}
    made = await api(
        "PATCH", f"{APPS}/controllerrevisions/r?fieldManager=me", {**revision, "data": {"a": {"b": 1}}}, APPLY
    )
    assert made.body["metadata"]["managedFields"][0]["fieldsV1"] == {"f:data": {}, "f:revision": {}}


async def test_a_pod_that_may_not_be_scheduled_yet_says_since_when(api: Api) -> None:
    spec = {"containers": [{"name": "c", "image": "i"}], "schedulingGates": [{"name": "example.org/wait"}]}
    made = await api("POST", PODS, {"metadata": {"name": "p"}, "spec": spec})
    assert made.body["status"]["conditions"][0]["lastTransitionTime"] == made.body["metadata"]["creationTimestamp"]


async def test_an_address_nobody_has_is_spoken_of_only_when_all_else_is_well(api: Api) -> None:
    spec = {"ports": [{"port": 80}], "clusterIP": "1.2.3.4"}
    refused = await api("POST", SERVICES, {"metadata": {"name": "s"}, "spec": spec})
    assert refused.body["message"].endswith(
        "failed to allocate IP 1.2.3.4: the provided network does not match the current range"
    )
    worse = await api("POST", SERVICES, {"metadata": {"name": "s"}, "spec": {**spec, "sessionAffinity": "Some"}})
    assert "failed to allocate" not in worse.body["message"]


async def test_a_dry_run_does_not_mind_a_version(api: Api) -> None:
    tried = await api("POST", f"{MAPS}?dryRun=All", {"metadata": {"name": "m", "resourceVersion": "5"}})
    assert tried.status == 201
