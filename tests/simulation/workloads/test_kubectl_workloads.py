"""A stock kubectl finds a tenant with workloads as it finds any cluster."""

from __future__ import annotations

import json
from typing import Any

from tests.simulation.workloads.conftest import Tenant

CHECK = "--timeout=100s"


async def _items(tenant: Tenant, kind: str, *more: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = json.loads(await tenant.kubectl("get", kind, "-o", "json", *more))["items"]
    return items


async def test_a_deployment_is_rolled_out_scaled_changed_undone_exposed_and_deleted(tenant: Tenant) -> None:
    kubectl = tenant.kubectl
    await kubectl("create", "deployment", "web", "--image=nginx:1", "--replicas=3", "--port=80")
    assert "successfully rolled out" in await kubectl("rollout", "status", "deployment/web", CHECK)
    await kubectl("scale", "deployment/web", "--replicas=5")
    assert "successfully rolled out" in await kubectl("rollout", "status", "deployment/web", CHECK)
    assert len(await _items(tenant, "pods")) == 5
    await kubectl("set", "image", "deployment/web", "nginx=nginx:2")
    assert "successfully rolled out" in await kubectl("rollout", "status", "deployment/web", CHECK)
    await kubectl("rollout", "undo", "deployment/web")
    assert "successfully rolled out" in await kubectl("rollout", "status", "deployment/web", CHECK)
    running = [pod for pod in await _items(tenant, "pods") if "deletionTimestamp" not in pod["metadata"]]
    assert {pod["spec"]["containers"][0]["image"] for pod in running} == {"nginx:1"}
    await kubectl("expose", "deployment/web", "--name=front", "--port=80")
    await kubectl("wait", "--for=jsonpath={.endpoints[4].conditions.ready}=true", "endpointslice",
                  "-l", "kubernetes.io/service-name=front", CHECK)  # fmt: skip
    await kubectl("delete", "deployment", "web")
    await kubectl("wait", "--for=delete", "pod", "-l", "app=web", CHECK)
    assert await _items(tenant, "replicasets,pods") == []


async def test_what_happened_to_a_pod_is_told(tenant: Tenant) -> None:
    await tenant.kubectl("run", "web", "--image=nginx:1")
    await tenant.kubectl("wait", "--for=condition=Ready", "pod/web", CHECK)
    await tenant.told("Started")
    told = await tenant.kubectl("describe", "pod", "web")
    assert "butler.butlerlabs.dev/simulated: true" in told
    assert "default-scheduler  Successfully assigned default/web to node-" in told
    assert 'Container image "nginx:1" already present on machine' in told


async def test_a_simulated_pod_has_no_logs_and_says_so(tenant: Tenant) -> None:
    await tenant.kubectl("run", "web", "--image=nginx:1")
    await tenant.kubectl("wait", "--for=condition=Ready", "pod/web", CHECK)
    assert await tenant.kubectl("logs", "web") == "simulated pod: nothing runs, so there are no logs\n"
    assert "simulated pod: nothing runs" in await tenant.kubectl("exec", "web", "--", "ls", fails=True)


async def test_a_drained_node_gives_its_pods_to_the_other(tenant: Tenant) -> None:
    await tenant.kubectl("create", "deployment", "web", "--image=nginx:1", "--replicas=4")
    await tenant.kubectl("rollout", "status", "deployment/web", CHECK)
    assert "node/node-1 drained" in await tenant.kubectl("drain", "node-1", CHECK)
    await tenant.kubectl("rollout", "status", "deployment/web", CHECK)
    assert {pod["spec"]["nodeName"] for pod in await _items(tenant, "pods")} == {"node-2"}


async def test_a_job_completes(tenant: Tenant) -> None:
    await tenant.kubectl("create", "job", "sum", "--image=busybox")
    await tenant.kubectl("wait", "--for=condition=Complete", "job/sum", CHECK)
    assert "1/1" in await tenant.kubectl("get", "job", "sum")


async def test_furniture_comes_to_life_when_somebody_looks(tenant: Tenant) -> None:
    await tenant.kubectl("-n", "kube-system", "create", "deployment", "coredns", "--image=coredns:1", "--replicas=2")
    assert "successfully rolled out" in await tenant.kubectl(
        "-n", "kube-system", "rollout", "status", "deployment/coredns", CHECK
    )
