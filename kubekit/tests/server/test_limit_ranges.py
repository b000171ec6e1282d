"""LimitRanges give, and refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kubekit.errors import Forbidden
from kubekit.model.resource import Address
from kubekit.server.client import DirectClient
from kubekit.server.kinds.pods.totals import total
from kubekit.server.serve.server import Server
from tests.http_api import Answered, Api
from tests.server.wire import MERGE_PATCH, Row, check

CORE = "/api/v1/namespaces/default"
LIMIT_RANGES = Address("", "v1", "LimitRange", "limitranges", True)
PODS = Address("", "v1", "Pod", "pods", True)
LEAST, LITTLE = {"type": "Container", "min": {"cpu": "1"}}, {"cpu": "500m"}


async def limit(api: Api, kind: str = "Container", name: str = "r", **bounds: dict[str, str]) -> None:
    spec = {"limits": [{"type": kind, **bounds}]}
    made = await api("POST", f"{CORE}/limitranges", {"metadata": {"name": name}, "spec": spec})
    assert made.status == 201


def container(name: str = "c", **resources: dict[str, str]) -> dict[str, Any]:
    return {"name": name, "image": "i", "resources": resources}


async def run(api: Api, *containers: dict[str, Any]) -> Answered:
    return await api("POST", f"{CORE}/pods", {"metadata": {"name": "p"}, "spec": {"containers": [*containers]}})


async def test_a_container_gets_what_it_does_not_ask_for(api: Api) -> None:
    await limit(api, default={"cpu": "500m", "memory": "1Gi"}, defaultRequest={"cpu": "100m"})
    pod = (await run(api, container(requests={"memory": "1Mi"}), container("d", limits={"cpu": "1"}))).body
    first, second = (one["resources"] for one in pod["spec"]["containers"])
    assert first == {"requests": {"memory": "1Mi", "cpu": "100m"}, "limits": {"cpu": "500m", "memory": "1Gi"}}
    assert second["limits"] == {"cpu": "1", "memory": "1Gi"}
    assert pod["metadata"]["annotations"] == {
        "kubernetes.io/limit-ranger": (
            "LimitRanger plugin set: cpu request for container c; cpu, memory limit for container c; "
            "memory request for container d; memory limit for container d"
        )
    }


@pytest.mark.parametrize(
    ("bounds", "resources", "problem"),
    [
        ({"kind": "Pod", "min": {"cpu": "1"}}, {}, "minimum cpu usage per Pod is 1.  No request is specified"),
        (
            {"min": {"cpu": "1"}},
            {"requests": {"cpu": "500m"}},
            "minimum cpu usage per Container is 1, but request is 500m",
        ),
        (
            {"min": {"cpu": "1"}, "max": {"cpu": "2"}},
            {"requests": {"cpu": "1"}, "limits": {"cpu": "3"}},
            "maximum cpu usage per Container is 2, but limit is 3",
        ),
        (
            {"maxLimitRequestRatio": {"cpu": "2"}},
            {"requests": {"cpu": "100m"}, "limits": {"cpu": "250m"}},
            "cpu max limit to request ratio per Container is 2, but provided ratio is 2.500000",
        ),
        (
            {"maxLimitRequestRatio": {"cpu": "2"}},
            {"requests": {"cpu": "1"}},
            "cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0",
        ),
        (
            {"kind": "Pod", "min": {"cpu": "1"}, "max": {"memory": "1Gi"}},
            {},
            (
                "[minimum cpu usage per Pod is 1.  No request is specified, "
                "maximum memory usage per Pod is 1Gi.  No limit is specified]"
            ),
        ),
    ],
)
async def test_a_pod_outside_the_range_is_refused(
    api: Api, bounds: dict[str, Any], resources: dict[str, Any], problem: str
) -> None:
    await limit(api, **bounds)
    refused = await run(api, container(**resources))
    assert (refused.status, refused.body["message"]) == (403, f'pods "p" is forbidden: {problem}')


async def test_what_the_containers_of_a_pod_ask_for_is_added_up(api: Api) -> None:
    await limit(api, "Pod", max={"cpu": "2"})
    refused = await run(api, *(container(name, limits={"cpu": "1500m"}) for name in ("a", "b")))
    assert refused.body["message"] == 'pods "p" is forbidden: maximum cpu usage per Pod is 2, but limit is 3'


def test_containers_that_run_first_count_by_their_peak() -> None:
    sidecar = {**container(requests={"cpu": "1"}), "restartPolicy": "Always"}
    spec = {
        "initContainers": [sidecar, container(requests={"cpu": "4", "memory": "1Gi"})],
        "containers": [container(requests={"cpu": "2"}), container(requests={"memory": "3Gi"})],
        "overhead": {"cpu": "500m"},
    }
    assert {name: str(value) for name, value in total(spec, "requests").items()} == {"cpu": "5500m", "memory": "3Gi"}


async def test_a_pod_that_is_there_may_change_whatever_the_range_says(api: Api) -> None:
    await run(api, container(requests={"cpu": "9"}))
    await limit(api, max={"cpu": "1"})
    changed = await api("PATCH", f"{CORE}/pods/p", {"metadata": {"labels": {"a": "b"}}}, MERGE_PATCH)
    assert changed.status == 200


async def test_a_claim_stays_within_the_range(api: Api) -> None:
    await limit(api, "PersistentVolumeClaim", min={"storage": "1Mi"}, max={"storage": "1Gi"})
    claims, words = f"POST {CORE}/persistentvolumeclaims", 'persistentvolumeclaims "c" is forbidden: '

    def claim(size: str) -> dict[str, Any]:
        spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
        return {"metadata": {"name": "c"}, "spec": spec}

    much = "maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi"
    little = "minimum storage usage per PersistentVolumeClaim is 1Mi, but request is 1Ki"
    await check(
        api,
        Row(claims, 403, words + much, claim("2Gi")),
        Row(claims, 403, words + little, claim("1Ki")),
        Row(claims, 201, body=claim("1Gi")),
    )


async def test_a_range_holds_until_it_is_deleted(api: Api) -> None:
    await limit(api, min={"cpu": "1"})
    before = await run(api, container(requests=LITTLE))
    await api("DELETE", f"{CORE}/limitranges/r")
    assert (before.status, (await run(api, container(requests=LITTLE))).status) == (403, 201)


async def test_a_range_holds_after_a_restart(tmp_path: Path) -> None:
    bounds = {"metadata": {"name": "r", "namespace": "default"}, "spec": {"limits": [LEAST]}}
    pod = {"metadata": {"name": "p", "namespace": "default"}, "spec": {"containers": [container(requests=LITTLE)]}}
    async with Server(tmp_path) as server:
        await DirectClient(server.root).create(bounds, LIMIT_RANGES)
    async with Server(tmp_path) as again:
        with pytest.raises(Forbidden, match="minimum cpu usage per Container is 1"):
            await DirectClient(again.root).create(pod, PODS)


async def test_the_classes_of_the_system_stay(api: Api) -> None:
    path = "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical"
    refused = await api("DELETE", path)
    assert refused.body["message"].endswith("this is a system priority class and cannot be deleted")
