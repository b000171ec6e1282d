"""What is accepted with a warning, or otherwise than it was written."""

from __future__ import annotations

from typing import Any

from tests.real.differential.differences import FREE_FORM, TAINT, TOO_LARGE
from tests.real.differential.steps import Step, apply, case, get, patch, post, quietly
from tests.real.differential.vocabulary import (
    ACCOUNT_READY,
    CORE,
    DEPLOYMENTS,
    LEASES,
    MAPS,
    NODES,
    PODS,
    SERVICES,
    Json,
    config_map,
    container,
    deployment,
    lease,
    made,
    pod,
    service,
    template,
)

_APPS, _BATCH = "/apis/apps/v1/namespaces/$ns", "/apis/batch/v1/namespaces/$ns"
_JOB = {"template": {"spec": {"restartPolicy": "Never", "containers": [container()]}}}
_SIZE = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1500m"}}}
_IMAGES = (
    *("a", "a:latest", "a:1", "1Gi", "A", "a/B", "Reg.org/a", "reg.org:5000/a", "a b", "rel/../x", "localhost/a"),
    *("a--b", "a___b", "-a", "a:", "a/", "UPPER:latest", f"a@sha256:{'a' * 64}", f"a:latest@sha256:{'a' * 64}", "a@x"),
)


def _service(**spec: Any) -> Step:
    return post(f"{SERVICES}?dryRun=All", service("a", **spec))


def _claim(size: str) -> Step:
    spec = {**_SIZE, "resources": {"requests": {"storage": size}}}
    claim = made("v1", "PersistentVolumeClaim", "a", spec=spec)
    return post(f"{CORE}/persistentvolumeclaims?dryRun=All", claim, ignore=("body.metadata.finalizers",))


def _quota(**spec: Any) -> Step:
    return post(f"{CORE}/resourcequotas?dryRun=All", made("v1", "ResourceQuota", "a", spec=spec))


def _scoped(*expressions: Json, **hard: str) -> Step:
    return _quota(hard=hard or {"pods": "1"}, scopeSelector={"matchExpressions": list(expressions)})


def _revision(data: Any, manager: str = "one") -> Step:
    made_ = made("apps/v1", "ControllerRevision", "a", revision=1, data=data)
    return apply(f"{_APPS}/controllerrevisions/a", made_, manager)


CASES = (
    case(
        "a number that is too large for its field",
        apply(f"{DEPLOYMENTS}/a", deployment("a", replicas=2**33), differs={"answer": TOO_LARGE}),
    ),
    case(
        "an unchanged patch of free-form data",
        *quietly(
            post(
                f"{_APPS}/controllerrevisions",
                made("apps/v1", "ControllerRevision", "a", revision=1, data={"b": 1, "a": 2}),
            )
        ),
        patch(f"{_APPS}/controllerrevisions/a", {"revision": 1}, differs={"answer": FREE_FORM}),
    ),
    case(
        "names that are no DNS labels",
        ACCOUNT_READY,
        post(PODS, pod("a.b")),
        post(DEPLOYMENTS, deployment("a.b")),
        patch(f"{DEPLOYMENTS}/a.b", {"spec": {"replicas": 3}}),
        post(f"{_BATCH}/jobs", made("batch/v1", "Job", "a.b", spec=_JOB)),
        post(
            f"{_BATCH}/cronjobs",
            made("batch/v1", "CronJob", "a.b", spec={"schedule": "* * * * *", "jobTemplate": {"spec": _JOB}}),
        ),
    ),
    case(
        "numbers that make little sense",
        post(
            f"{_APPS}/statefulsets",
            made(
                "apps/v1",
                "StatefulSet",
                "a",
                spec={
                    "serviceName": "x",
                    "revisionHistoryLimit": -1,
                    "selector": {"matchLabels": {"app": "a"}},
                    "template": template(terminationGracePeriodSeconds=-1),
                    "volumeClaimTemplates": [{"metadata": {"name": "v"}, "spec": _SIZE}],
                },
            ),
        ),
        post(
            DEPLOYMENTS,
            deployment(
                "a",
                template=template(
                    containers=[container(resources={"limits": {"memory": "1500m"}, "requests": {"memory": "100m"}})],
                    overhead={"memory": "100m"},
                ),
            ),
        ),
        *[_claim(size) for size in ("1.5", "100m", "500u", "1", "0.5Gi", "1e3", "0", "-1")],
    ),
    case(
        "a port that stands twice, and when it is told",
        post(
            DEPLOYMENTS, deployment("a", template=template(containers=[container(ports=[{"containerPort": 80}] * 2)]))
        ),
        patch(f"{DEPLOYMENTS}/a", {"metadata": {"labels": {"a": "b"}}}),
        patch(f"{DEPLOYMENTS}/a", {"metadata": {"annotations": {"a": "b"}}}),
        patch(f"{DEPLOYMENTS}/a", {"spec": {"replicas": 2}}),
    ),
    case(
        "fields of Services that are ignored",
        _service(externalIPs=["1.2.3.4"]),
        _service(clusterIP="None", externalIPs=["1.2.3.4"], sessionAffinity="ClientIP"),
        _service(type="ExternalName", externalName="a.org", externalIPs=["1.2.3.4"]),
        _service(externalName="a.org"),
        _service(trafficDistribution="PreferClose"),
        _service(trafficDistribution="Some"),
    ),
    case(
        "volumes that do nothing any more",
        ACCOUNT_READY,
        post(
            f"{PODS}?dryRun=All",
            pod(
                "a",
                volumes=[
                    {"name": "a", "rbd": {"monitors": ["x"], "image": "i"}},
                    {"name": "b", "glusterfs": {"endpoints": "e", "path": "p"}},
                    {"name": "c", "gitRepo": {"repository": "r"}},
                ],
            ),
            ignore=("body.spec.volumes.3", "body.spec.containers.0.volumeMounts"),
        ),
    ),
    case(
        "fields of features that are off",
        post(LEASES, lease("a", strategy="x", preferredHolder="y", holderIdentity="z")),
        get(f"{LEASES}/a"),
        patch(f"{LEASES}/a", {"spec": {"strategy": "z"}}),
        post(DEPLOYMENTS, deployment("a", template=template(schedulingGroup={"podGroupName": "g"}))),
    ),
    case(
        "which images are pulled again",
        ACCOUNT_READY,
        *[post(f"{PODS}?dryRun=All", pod("a", containers=[container(image=image)])) for image in _IMAGES],
    ),
    case(
        "data of a revision belongs to one",
        _revision({"a": {"b": 1}}),
        _revision({"a": {"c": 1}}),
        _revision({"a": {"c": 2}}, "two"),
    ),
    case(
        "networks of a Node in two spellings",
        *[
            post(
                f"{NODES}?dryRun=All",
                made("v1", "Node", "$ns", spec=spec),
                differs={"body.spec.taints": TAINT},
                ignore=("body.metadata.managedFields",),
            )
            for spec in (
                {"podCIDR": "10.0.0.0/24"},
                {"podCIDRs": ["10.0.0.0/24"]},
                {"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.1.0.0/24"]},
            )
        ],
        post(f"{NODES}?dryRun=All", made("v1", "Node", "$ns", spec={"podCIDR": "x", "podCIDRs": ["10.1.0.0/24"]})),
    ),
    case(
        "scopes of a ResourceQuota",
        _quota(hard={"pods": "1"}, scopes=["BestEffort"]),
        _quota(hard={"pods": "1", "cpu": "1", "secrets": "2"}, scopes=["BestEffort"]),
        _quota(hard={"cpu": "1"}, scopes=["Terminating", "NotTerminating", "Nonsense"]),
        _scoped({"scopeName": "PriorityClass", "operator": "In", "values": ["a"]}),
        _scoped({"scopeName": "PriorityClass", "operator": "In"}),
        _scoped({"scopeName": "PriorityClass", "operator": "Exists", "values": ["x"]}),
        _scoped({"scopeName": "BestEffort", "operator": "In", "values": ["x"]}),
        _scoped({"scopeName": "Nonsense", "operator": "Exists"}),
        _scoped({"scopeName": "PriorityClass", "operator": "Some"}),
        _scoped({"scopeName": "BestEffort", "operator": "Exists"}, secrets="1"),
        _scoped(
            {"scopeName": "BestEffort", "operator": "Exists"}, {"scopeName": "NotBestEffort", "operator": "Exists"}
        ),
    ),
    case(
        "addresses nobody has",
        post(SERVICES, service("a", clusterIP="1.2.3.4")),
        post(SERVICES, service("b", type="NodePort", ports=[{"port": 80, "nodePort": 80}])),
        _service(type="NodePort", ports=[{"port": 80, "nodePort": 80}]),
        *quietly(post(SERVICES, service("c"))),
        patch(f"{SERVICES}/c", {"spec": {"clusterIP": "1.2.3.4"}}),
    ),
    case(
        "a version for what is not there yet",
        post(
            f"{MAPS}?dryRun=All", config_map("a", {"resourceVersion": "5"}), ignore=("body.metadata.resourceVersion",)
        ),
    ),
)
