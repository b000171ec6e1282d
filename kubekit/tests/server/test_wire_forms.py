"""Kinds that are shown in two forms and stored in one."""

from __future__ import annotations

from typing import Any

from tests.http_api import Api
from tests.server.wire import MERGE_PATCH, Row, check

OLD_EVENTS = "/api/v1/namespaces/default/events"
NEW_EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
REGARDING = {"kind": "Pod", "name": "x", "namespace": "default"}


def plain(obj: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in obj.items() if name not in ("apiVersion", "kind", "metadata")}


async def test_an_event_of_the_core_group_is_one_of_the_other_group_too(api: Api) -> None:
    old = {
        "involvedObject": REGARDING,
        "reason": "R",
        "message": "M",
        "type": "Normal",
        "source": {"component": "c"},
        "count": 3,
    }
    times = {"firstTimestamp": "2020-01-01T00:00:00Z", "lastTimestamp": "2020-01-02T00:00:00Z"}
    await check(api, Row(f"POST {OLD_EVENTS}", 201, body={"metadata": {"name": "e"}, **old, **times}))
    shown = (await api("GET", f"{NEW_EVENTS}/e")).body
    assert (shown["apiVersion"], plain(shown)) == (
        "events.k8s.io/v1",
        {
            "regarding": REGARDING,
            "reason": "R",
            "note": "M",
            "type": "Normal",
            "eventTime": None,
            "deprecatedSource": {"component": "c"},
            "deprecatedFirstTimestamp": "2020-01-01T00:00:00Z",
            "deprecatedLastTimestamp": "2020-01-02T00:00:00Z",
            "deprecatedCount": 3,
        },
    )


async def test_an_event_of_the_other_group_is_one_of_the_core_group_too(api: Api) -> None:
    new = {
        "regarding": REGARDING,
        "reason": "R",
        "note": "N",
        "type": "Normal",
        "action": "A",
        "eventTime": "2020-01-01T00:00:00.123456Z",
    }
    who = {"reportingController": "x.io/c", "reportingInstance": "i"}
    series = {"count": 2, "lastObservedTime": "2020-01-01T00:00:01.000000Z"}
    await check(
        api,
        Row(f"POST {NEW_EVENTS}", 201, body={"metadata": {"name": "e"}, **new, **who}),
        Row(f"PATCH {NEW_EVENTS}/e", 200, body={"series": series}, content_type=MERGE_PATCH),
        Row(
            f"PATCH {NEW_EVENTS}/e",
            422,
            'Event "e" is invalid: message: Invalid value: "X": field is immutable',
            {"note": "X"},
            MERGE_PATCH,
        ),
        Row(f"PATCH {OLD_EVENTS}/e", 200, body={"message": "X"}, content_type=MERGE_PATCH),
    )
    shown = plain((await api("GET", f"{OLD_EVENTS}/e")).body)
    assert (shown["message"], shown["involvedObject"], shown["reportingComponent"], shown["series"]) == (
        "X",
        REGARDING,
        "x.io/c",
        series,
    )
    (seen,) = await api.watch(f"{NEW_EVENTS}?watch=1", 1)
    assert (seen["object"]["apiVersion"], seen["object"]["note"]) == ("events.k8s.io/v1", "X")
    listed = (await api("GET", f"{NEW_EVENTS}?fieldSelector=regarding.name%3Dx")).body["items"]
    assert [item["note"] for item in listed] == ["X"]
    await check(
        api, Row(f"DELETE {OLD_EVENTS}/e", 200), Row(f"GET {NEW_EVENTS}/e", 404, 'events.events.k8s.io "e" not found')
    )


SCALERS = "/apis/autoscaling/v{}/namespaces/default/horizontalpodautoscalers"
TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
BY_MEMORY = {
    "type": "Resource",
    "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}},
}


def by_cpu(percent: int) -> dict[str, Any]:
    return {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": percent}},
    }


async def test_an_autoscaler_of_the_first_version_is_one_of_the_second(api: Api) -> None:
    spec = {"scaleTargetRef": TARGET, "maxReplicas": 3, "targetCPUUtilizationPercentage": 50}
    await check(api, Row(f"POST {SCALERS.format(1)}", 201, body={"metadata": {"name": "h"}, "spec": spec}))
    shown = plain((await api("GET", f"{SCALERS.format(2)}/h")).body)
    assert shown["spec"] == {"scaleTargetRef": TARGET, "minReplicas": 1, "maxReplicas": 3, "metrics": [by_cpu(50)]}


async def test_the_first_version_of_an_autoscaler_keeps_the_rest_in_annotations(api: Api) -> None:
    spec = {
        "scaleTargetRef": TARGET,
        "maxReplicas": 3,
        "metrics": [BY_MEMORY, by_cpu(70)],
        "behavior": {"scaleDown": {"stabilizationWindowSeconds": 9}},
    }
    _, first = await check(
        api,
        Row(f"POST {SCALERS.format(2)}", 201, body={"metadata": {"name": "h"}, "spec": spec}),
        Row(f"PATCH {SCALERS.format(1)}/h", 200, body={"spec": {"maxReplicas": 9}}, content_type=MERGE_PATCH),
    )
    assert first.body["spec"]["targetCPUUtilizationPercentage"] == 70
    notes = first.body["metadata"]["annotations"]
    assert (
        notes["autoscaling.alpha.kubernetes.io/metrics"]
        == '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}}]'
    )
    second = (await api("GET", f"{SCALERS.format(2)}/h")).body
    assert "annotations" not in second["metadata"]
    assert (second["spec"]["maxReplicas"], second["spec"]["metrics"]) == (9, [BY_MEMORY, by_cpu(70)])
    assert second["spec"]["behavior"]["scaleDown"]["stabilizationWindowSeconds"] == 9
