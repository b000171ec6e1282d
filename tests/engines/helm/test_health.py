"""How a release is doing is told by its objects."""

from __future__ import annotations

from typing import Any

import pytest

from butler.engines.helm.objects.health import has_health, unready
from butler.engines.helm.objects.live import Found
from butler.engines.helm.objects.manifest import ref_of
from butler.engines.helm.protocol import Unready
from butler.engines.helm.redaction import Redaction
from kubekit.model.resource import Address
from tests.engines.helm import charts
from tests.engines.helm.world import DEPLOYMENT, World


def judged(kind: str, status: dict[str, Any], api: str = "apps/v1", **spec: Any) -> Unready | None:
    obj = {"apiVersion": api, "kind": kind, "metadata": {"name": "x", "generation": 2}, "spec": spec, "status": status}
    assert has_health(obj)
    return unready(Found(ref_of(obj), obj, Address.of(api, kind), obj), Redaction({"token": "s3cret"}))


def problem(kind: str, status: dict[str, Any], api: str = "apps/v1", **spec: Any) -> str | None:
    found = judged(kind, status, api, **spec)
    return None if found is None else f"{found.message}{' !' if found.failed else ''}"


def condition(kind: str, status: str, **more: str) -> dict[str, Any]:
    return {"conditions": [{"type": kind, "status": status, **more}]}


SEEN = {"observedGeneration": 2}
ROLLED_OUT = {**SEEN, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2, "readyReplicas": 2}
STUCK = condition("Progressing", "False", reason="ProgressDeadlineExceeded", message="no quota")
ON_NODES = {**SEEN, "desiredNumberScheduled": 3, "updatedNumberScheduled": 3, "numberAvailable": 3}


@pytest.mark.parametrize(
    ("kind", "status", "expected"),
    [
        ("Deployment", ROLLED_OUT, None),
        ("Deployment", {}, "its controller has not seen the newest change yet"),
        ("Deployment", {**ROLLED_OUT, "observedGeneration": 1}, "its controller has not seen the newest change yet"),
        ("Deployment", {**ROLLED_OUT, "updatedReplicas": 1}, "1 of 2 updated"),
        ("Deployment", {**ROLLED_OUT, "availableReplicas": 0}, "0 of 2 available"),
        ("Deployment", {**ROLLED_OUT, "replicas": 3}, "1 old pods are still there"),
        ("Deployment", {**ROLLED_OUT, **STUCK}, "does not get on: no quota !"),
        ("StatefulSet", ROLLED_OUT, None),
        ("StatefulSet", {**ROLLED_OUT, "readyReplicas": 1}, "1 of 2 ready"),
        ("StatefulSet", {**ROLLED_OUT, "updatedReplicas": 1}, "1 of 2 updated"),
        ("DaemonSet", ON_NODES, None),
        ("DaemonSet", SEEN, "no node is fit for it"),
        ("DaemonSet", {**ON_NODES, "numberAvailable": 1}, "1 of 3 available"),
        ("ReplicaSet", {**ROLLED_OUT, "readyReplicas": 1}, "1 of 2 ready"),
    ],
)
def test_workloads_say_what_they_lack(kind: str, status: dict[str, Any], expected: str | None) -> None:
    assert problem(kind, status, replicas=2) == expected


@pytest.mark.parametrize(
    ("api", "kind", "status", "expected"),
    [
        ("batch/v1", "Job", {}, "is not complete"),
        ("batch/v1", "Job", condition("Complete", "True"), None),
        ("batch/v1", "Job", condition("Failed", "True", message="it broke"), "failed: it broke !"),
        ("v1", "PersistentVolumeClaim", {"phase": "Bound"}, None),
        ("v1", "PersistentVolumeClaim", {}, "is Pending, not Bound"),
        ("v1", "PersistentVolumeClaim", {"phase": "Lost"}, "is Lost, not Bound !"),
        ("v1", "Pod", {"phase": "Failed"}, "failed !"),
        ("v1", "Pod", {"phase": "Running", **condition("Ready", "True")}, None),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition", condition("Established", "True"), None),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition", {}, "is not Established"),
        (
            "apiextensions.k8s.io/v1", "CustomResourceDefinition",
            condition("NamesAccepted", "False", message="taken"), "is not NamesAccepted: taken !",
        ),
        ("apiregistration.k8s.io/v1", "APIService", condition("Available", "True"), None),
        (
            "apiregistration.k8s.io/v1", "APIService",
            condition("Available", "False", message="no endpoints"), "is not Available: no endpoints",
        ),
        ("example.com/v1", "Thing", {}, None),
        ("example.com/v1", "Thing", {"observedGeneration": 1}, "its controller has not seen the newest change yet"),
        ("example.com/v1", "Thing", condition("Ready", "True"), None),
        ("example.com/v1", "Thing", condition("Ready", "False", message="uses s3cret"), "is not Ready: uses ***"),
        ("example.com/v1", "Thing", condition("Stalled", "True", reason="Broken"), "is stalled: Broken !"),
    ],
)  # fmt: skip
def test_others_say_it_in_conditions_and_phases(
    api: str, kind: str, status: dict[str, Any], expected: str | None
) -> None:
    assert problem(kind, status, api) == expected


def test_a_service_waits_for_its_load_balancer() -> None:
    assert problem("Service", {}, "v1", type="LoadBalancer") == "has no address of a load balancer"
    assert problem("Service", {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}, "v1", type="LoadBalancer") is None
    assert problem("Service", {}, "v1", type="ClusterIP") is None


@pytest.mark.parametrize("kind", ["ConfigMap", "Secret", "ServiceAccount"])
def test_what_has_nothing_to_say_is_not_asked(kind: str) -> None:
    assert not has_health({"apiVersion": "v1", "kind": kind})


async def test_helms_word_is_not_enough(world: World) -> None:
    world.chart = charts.folder(world.folder / "source", more=charts.WHOLE)
    assert (await world.deploy()).record.status == "deployed"
    found = await world.helm.health(world.cluster, world.place)
    assert [str(one) for one in found] == ["Deployment addons/web: its controller has not seen the newest change yet"]


async def test_a_release_that_is_not_there_is_not_healthy(world: World) -> None:
    assert [str(one) for one in await world.helm.health(world.cluster, world.place)] == [
        "release addons/web: is missing"
    ]


async def test_a_release_waits_for_its_workloads(world: World, workloads: object) -> None:
    world.chart = charts.folder(world.folder / "source", more=charts.WHOLE)
    await world.deploy({"replicas": 2}, wait=True)
    assert await world.helm.health(world.cluster, world.place) == ()
    assert (await world.get(DEPLOYMENT, "web") or {})["status"]["readyReplicas"] == 2


@pytest.mark.parametrize(
    ("kind", "status", "expected"),
    [("DaemonSet", SEEN, True), ("DaemonSet", {}, False), ("DaemonSet", {**ON_NODES, "numberAvailable": 1}, False),
     ("Deployment", SEEN, False)],
)  # fmt: skip
def test_what_only_lacks_nodes_says_so(kind: str, status: dict[str, Any], expected: bool) -> None:
    found = judged(kind, status)
    assert found is not None
    assert found.nodeless is expected
