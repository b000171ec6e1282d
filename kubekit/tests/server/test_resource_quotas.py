"""ResourceQuotas are counted, shown and kept to."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from kubekit.errors import Forbidden
from kubekit.model.resource import Address
from kubekit.server.client import DirectClient
from kubekit.server.kinds.platform.usage import counted_resource, is_in_scope, left_unsaid, usage
from kubekit.server.serve.server import Server
from tests.http_api import Api
from tests.server.wire import MERGE_PATCH, Row, check

CORE = "/api/v1/namespaces/default"
SECRETS = f"{CORE}/secrets"
QUOTAS = Address("", "v1", "ResourceQuota", "resourcequotas", True)
SECRET = Address("", "v1", "Secret", "secrets", True)


async def allow(server: Server, api: Api, name: str = "q", **hard: str) -> None:
    made = await api("POST", f"{CORE}/resourcequotas", {"metadata": {"name": name}, "spec": {"hard": hard}})
    assert made.status == 201
    await server.root.settled()


async def used(server: Server, api: Api, name: str = "q") -> dict[str, str]:
    await server.root.settled()
    found: dict[str, str] = (await api("GET", f"{CORE}/resourcequotas/{name}")).body["status"]["used"]
    return found


def named(name: str, **members: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, **members}


def pod(name: str = "p", **resources: dict[str, str]) -> dict[str, Any]:
    return named(name, spec={"containers": [{"name": "c", "image": "i", "resources": resources}]})


def service(name: str, kind: str) -> dict[str, Any]:
    return named(name, spec={"type": kind, "ports": [{"port": 80}]})


async def test_there_is_no_more_of_a_kind_than_a_quota_allows(server: Server, api: Api) -> None:
    await allow(server, api, secrets="1")
    exceeded = 'secrets "b" is forbidden: exceeded quota: q, requested: secrets=1, used: secrets=1, limited: secrets=1'
    await check(
        api,
        Row(f"POST {SECRETS}", 201, body=named("a")),
        Row(f"POST {SECRETS}", 403, exceeded, named("b")),
        Row(f"POST {SECRETS}?dryRun=All", 403, exceeded, named("b")),
        Row(f"DELETE {SECRETS}/a", 200),
        Row(f"POST {SECRETS}?dryRun=All", 201, body=named("b")),
        Row(f"POST {SECRETS}", 201, body=named("b")),
    )


async def test_the_status_says_what_is_used(server: Server, api: Api) -> None:
    await api("POST", SECRETS, named("a"))
    await allow(server, api, **{"secrets": "5", "count/deployments.apps": "2"})
    assert await used(server, api) == {"secrets": "1", "count/deployments.apps": "0"}
    await api("DELETE", f"{SECRETS}/a")
    assert (await used(server, api))["secrets"] == "0"


async def test_those_who_ask_at_once_do_not_get_more_together(server: Server, api: Api) -> None:
    await allow(server, api, secrets="3")
    answers = await asyncio.gather(*(api("POST", SECRETS, named(f"s-{number}")) for number in range(8)))
    assert sorted(answer.status for answer in answers) == [201] * 3 + [403] * 5


async def test_what_is_refused_for_another_reason_uses_nothing(server: Server, api: Api) -> None:
    await allow(server, api, secrets="2")
    await check(
        api,
        Row(f"POST {SECRETS}", 201, body=named("a")),
        Row(f"POST {SECRETS}", 409, 'secrets "a" already exists', named("a")),
        Row(f"POST {SECRETS}", 201, body=named("b")),
    )


async def test_the_requests_of_pods_are_added_up(server: Server, api: Api) -> None:
    await allow(server, api, **{"requests.cpu": "1", "limits.memory": "1Gi", "pods": "2"})
    much = pod("b", requests={"cpu": "600m"}, limits={"memory": "2Gi"})
    exceeded = (
        'pods "b" is forbidden: exceeded quota: q, requested: limits.memory=2Gi,requests.cpu=600m, '
        "used: limits.memory=100Mi,requests.cpu=500m, limited: limits.memory=1Gi,requests.cpu=1"
    )
    silent = 'pods "c" is forbidden: failed quota: q: must specify limits.memory for: c; requests.cpu for: c'
    await check(
        api,
        Row(f"POST {CORE}/pods", 201, body=pod("a", requests={"cpu": "500m"}, limits={"memory": "100Mi"})),
        Row(f"POST {CORE}/pods", 403, exceeded, much),
        Row(f"POST {CORE}/pods", 403, silent, pod("c")),
    )


async def test_a_pod_that_has_ended_uses_nothing(server: Server, api: Api) -> None:
    await allow(server, api, **{"pods": "1", "count/pods": "5"})
    await api("POST", f"{CORE}/pods", pod())
    await api("PATCH", f"{CORE}/pods/p/status", {"status": {"phase": "Succeeded"}}, MERGE_PATCH)
    assert await used(server, api) == {"pods": "0", "count/pods": "1"}


async def test_a_service_may_not_become_what_there_may_not_be(server: Server, api: Api) -> None:
    await allow(server, api, **{"services.loadbalancers": "0", "services": "5"})
    await api("POST", f"{CORE}/services", service("s", "ClusterIP"))
    refused = await api("PATCH", f"{CORE}/services/s", {"spec": {"type": "LoadBalancer"}}, MERGE_PATCH)
    assert "requested: services.loadbalancers=1, used: services.loadbalancers=0" in refused.body["message"]


async def test_a_quota_that_grows_allows_more(server: Server, api: Api) -> None:
    await allow(server, api, secrets="0")
    await api("PATCH", f"{CORE}/resourcequotas/q", {"spec": {"hard": {"secrets": "1"}}}, MERGE_PATCH)
    await server.root.settled()
    assert (await api("POST", SECRETS, named("a"))).status == 201


async def test_a_quota_holds_in_its_namespace_only(server: Server, api: Api) -> None:
    await allow(server, api, secrets="0")
    assert (await api("POST", "/api/v1/namespaces/kube-public/secrets", named("a"))).status == 201


async def test_a_quota_holds_after_a_restart(tmp_path: Path) -> None:
    secret = {"metadata": {"name": "a", "namespace": "default"}}
    quota = {"metadata": {"name": "q", "namespace": "default"}, "spec": {"hard": {"secrets": "1"}}}
    async with Server(tmp_path) as server:
        client = DirectClient(server.root)
        await client.create(secret, SECRET)
        await client.create(quota, QUOTAS)
        await server.root.settled()
    async with Server(tmp_path) as again:
        with pytest.raises(Forbidden, match="used: secrets=1"):
            await DirectClient(again.root).create({"metadata": {**secret["metadata"], "name": "b"}}, SECRET)


@pytest.mark.parametrize(
    ("name", "resource"),
    [
        ("pods", "/pods"),
        ("limits.cpu", "/pods"),
        ("requests.example.org/gpu", "/pods"),
        ("requests.hugepages-2Mi", "/pods"),
        ("requests.storage", "/persistentvolumeclaims"),
        ("gold.storageclass.storage.k8s.io/requests.storage", "/persistentvolumeclaims"),
        ("services.nodeports", "/services"),
        ("configmaps", "/configmaps"),
        ("count/configmaps", "/configmaps"),
        ("count/things.example.org", "example.org/things"),
        ("gold.deviceclass.resource.k8s.io/devices", "resource.k8s.io/resourceclaims"),
        ("nonsense", ""),
    ],
)
def test_a_name_in_a_quota_counts_objects_of_a_kind(name: str, resource: str) -> None:
    assert counted_resource(name) == resource


def test_a_claim_counts_for_its_class_too() -> None:
    spec = {"storageClassName": "gold", "resources": {"requests": {"storage": "1Gi"}}}
    found = usage("/persistentvolumeclaims", {"metadata": {}, "spec": spec})
    assert {name: str(value) for name, value in found.items()} == {
        "count/persistentvolumeclaims": "1",
        "persistentvolumeclaims": "1",
        "requests.storage": "1Gi",
        "gold.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
        "gold.storageclass.storage.k8s.io/requests.storage": "1Gi",
    }


def test_a_claim_for_devices_counts_for_their_classes() -> None:
    requests = [
        {"name": "a", "exactly": {"deviceClassName": "gold", "allocationMode": "ExactCount", "count": 2}},
        {"name": "b", "exactly": {"deviceClassName": "iron", "allocationMode": "All"}},
        {"name": "c", "firstAvailable": [{"deviceClassName": "gold", "count": 3}, {"deviceClassName": "gold"}]},
    ]
    found = usage("resource.k8s.io/resourceclaims", {"spec": {"devices": {"requests": requests}}})
    assert {name.partition(".")[0]: str(value) for name, value in found.items() if "deviceclass" in name} == {
        "gold": "5",
        "iron": "32",
    }


ELSEWHERE = {"requiredDuringSchedulingIgnoredDuringExecution": [{"namespaces": ["a"]}]}


@pytest.mark.parametrize(
    ("quota", "members", "holds"),
    [
        ({"scopes": ["BestEffort"]}, {}, True),
        ({"scopes": ["NotBestEffort"]}, {}, False),
        ({"scopes": ["Terminating"]}, {"activeDeadlineSeconds": 5}, True),
        ({"scopes": ["Terminating", "NotBestEffort"]}, {"activeDeadlineSeconds": 5}, False),
        ({"scopes": ["NotTerminating"]}, {"activeDeadlineSeconds": 5}, False),
        ({"scopes": ["PriorityClass"]}, {}, False),
        ({"scopes": ["CrossNamespacePodAffinity"]}, {"affinity": {"podAntiAffinity": ELSEWHERE}}, True),
        ({"scopes": ["CrossNamespacePodAffinity"]}, {}, False),
        ({"scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "NotIn"}]}}, {}, True),
    ],
)
def test_a_quota_with_scopes_counts_only_what_is_in_them(
    quota: dict[str, Any], members: dict[str, Any], holds: bool
) -> None:
    spec = {"containers": [{"name": "c"}], **members}
    assert is_in_scope(quota, "/pods", {"spec": spec}) is holds


@pytest.mark.parametrize(
    ("operator", "named_class", "holds"),
    [
        ("In", "high", True),
        ("In", "", False),
        ("NotIn", "high", False),
        ("Exists", "low", True),
        ("DoesNotExist", "low", False),
    ],
)
def test_a_quota_for_priorities_counts_pods_of_theirs(operator: str, named_class: str, holds: bool) -> None:
    selector = {"matchExpressions": [{"scopeName": "PriorityClass", "operator": operator, "values": ["high"]}]}
    found = is_in_scope({"scopeSelector": selector}, "/pods", {"spec": {"priorityClassName": named_class}})
    assert found is holds


def test_every_container_has_to_say_what_is_limited() -> None:
    spec = {"containers": [{"name": "b"}, {"name": "a"}], "initContainers": [{"name": "i"}]}
    assert left_unsaid(["cpu", "pods", "limits.memory"], {"spec": spec}) == "cpu for: a,b,i; limits.memory for: a,b,i"


def test_a_pod_that_says_it_as_a_whole_has_said_enough() -> None:
    spec = {"containers": [{"name": "b"}], "resources": {"requests": {"cpu": "1"}}}
    assert left_unsaid(["cpu"], {"spec": spec}) == ""
