"""What is wrong with workloads and what surrounds them, and which defaults they get."""

from __future__ import annotations

from typing import Any

from tests.real.differential.steps import Step, case, patch, post, put, quietly
from tests.real.differential.vocabulary import (
    DEPLOYMENTS,
    deployment,
    made,
    template,
)

_APPS = "/apis/apps/v1/namespaces/$ns"

_BATCH = "/apis/batch/v1/namespaces/$ns"

_POLICY = "/apis/policy/v1/namespaces/$ns"

_SCALING = "/apis/autoscaling/v2/namespaces/$ns"


def _deployment(**spec: Any) -> Step:
    return post(DEPLOYMENTS, deployment("a", **spec))


def _job(**spec: Any) -> Step:
    return post(
        f"{_BATCH}/jobs?dryRun=All",
        made("batch/v1", "Job", "a", spec={"template": template(restartPolicy="Never"), **spec}),
        ignore=("body.spec.template.metadata.labels", "body.metadata.labels"),
    )


def _cron(**spec: Any) -> Step:
    given = {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": template(restartPolicy="Never")}}, **spec}
    return post(f"{_BATCH}/cronjobs?dryRun=All", made("batch/v1", "CronJob", "a", spec=given))


def _autoscaler(**spec: Any) -> Step:
    given = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "maxReplicas": 3, **spec}
    return post(
        f"{_SCALING}/horizontalpodautoscalers?dryRun=All",
        made("autoscaling/v2", "HorizontalPodAutoscaler", "a", spec=given),
    )


CASES = (
    case("Deployment: defaults", _deployment()),
    case(
        "Deployment: selector and template",
        _deployment(selector=None),
        _deployment(selector={}),
        _deployment(selector={"matchLabels": {"app": "other"}}),
        _deployment(selector={"matchExpressions": [{"key": "app", "operator": "Some", "values": ["a"]}]}),
        _deployment(selector={"matchExpressions": [{"key": "app", "operator": "In"}]}),
        _deployment(template=None),
        _deployment(template=template(restartPolicy="Never")),
        _deployment(template=template(activeDeadlineSeconds=5)),
    ),
    case(
        "Deployment: numbers and strategy",
        _deployment(replicas=-1),
        _deployment(minReadySeconds=-1),
        _deployment(revisionHistoryLimit=-1),
        _deployment(progressDeadlineSeconds=0),
        _deployment(strategy={"type": "Some"}),
        _deployment(strategy={"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}),
        _deployment(strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}),
        _deployment(strategy={"rollingUpdate": {"maxSurge": "x%"}}),
        _deployment(strategy={"rollingUpdate": {"maxUnavailable": "101%"}}),
    ),
    case(
        "Deployment: the selector stays",
        *quietly(_deployment()),
        put(
            f"{DEPLOYMENTS}/a", deployment("a", selector={"matchLabels": {"app": "b"}}, template=template({"app": "b"}))
        ),
    ),
    case(
        "StatefulSet, DaemonSet, ReplicaSet: defaults",
        post(
            f"{_APPS}/statefulsets",
            made(
                "apps/v1",
                "StatefulSet",
                "a",
                spec={
                    "selector": {"matchLabels": {"app": "a"}},
                    "serviceName": "s",
                    "template": template(),
                    "volumeClaimTemplates": [
                        {
                            "metadata": {"name": "v"},
                            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
                        }
                    ],
                },
            ),
        ),
        post(
            f"{_APPS}/daemonsets",
            made("apps/v1", "DaemonSet", "a", spec={"selector": {"matchLabels": {"app": "a"}}, "template": template()}),
        ),
        post(
            f"{_APPS}/replicasets",
            made(
                "apps/v1", "ReplicaSet", "a", spec={"selector": {"matchLabels": {"app": "a"}}, "template": template()}
            ),
        ),
    ),
    case(
        "StatefulSet: what stays",
        *quietly(
            post(
                f"{_APPS}/statefulsets",
                made(
                    "apps/v1",
                    "StatefulSet",
                    "a",
                    spec={"selector": {"matchLabels": {"app": "a"}}, "serviceName": "s", "template": template()},
                ),
            )
        ),
        patch(f"{_APPS}/statefulsets/a", {"spec": {"serviceName": "t"}}),
        patch(f"{_APPS}/statefulsets/a", {"spec": {"replicas": 4}}),
        patch(f"{_APPS}/statefulsets/a", {"spec": {"podManagementPolicy": "Some"}}),
        patch(f"{_APPS}/statefulsets/a", {"spec": {"updateStrategy": {"type": "Some"}}}),
    ),
    case(
        "Job: defaults and rules",
        _job(),
        _job(completions=-1),
        _job(parallelism=-1),
        _job(backoffLimit=-1),
        _job(completionMode="Some"),
        _job(completionMode="Indexed"),
        _job(template=template()),
        _job(ttlSecondsAfterFinished=-1),
        _job(podReplacementPolicy="Some"),
        _job(managedBy="x"),
        _job(podFailurePolicy={"rules": []}),
    ),
    case(
        "CronJob: defaults and rules",
        _cron(),
        _cron(schedule=""),
        _cron(schedule="every day"),
        _cron(schedule="60 * * * *"),
        _cron(timeZone="Nowhere/At_all"),
        _cron(concurrencyPolicy="Some"),
        _cron(startingDeadlineSeconds=-1),
        _cron(successfulJobsHistoryLimit=-1),
        _cron(schedule="TZ=UTC * * * * *"),
        _cron(schedule="@hourly"),
    ),
    case(
        "HorizontalPodAutoscaler: rules",
        _autoscaler(),
        _autoscaler(maxReplicas=0),
        _autoscaler(minReplicas=5),
        _autoscaler(minReplicas=-1),
        _autoscaler(metrics=[{"type": "Resource"}]),
        _autoscaler(metrics=[{"type": "Some"}]),
        _autoscaler(
            metrics=[
                {
                    "type": "Resource",
                    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
                }
            ]
        ),
        _autoscaler(scaleTargetRef={}),
        _autoscaler(behavior={"scaleDown": {"policies": []}}),
    ),
    case(
        "PodDisruptionBudget: rules",
        *[
            post(f"{_POLICY}/poddisruptionbudgets?dryRun=All", made("policy/v1", "PodDisruptionBudget", "a", spec=spec))
            for spec in (
                {},
                {"minAvailable": 1, "maxUnavailable": 1},
                {"minAvailable": -1},
                {"minAvailable": "x"},
                {"maxUnavailable": "10%", "selector": {"matchLabels": {"a": "b"}}},
                {"unhealthyPodEvictionPolicy": "Some"},
            )
        ],
    ),
)
