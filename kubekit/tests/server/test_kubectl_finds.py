"""What comparing kubectl on kube-apiserver and here found, each in its smallest form."""

# ruff: noqa: E501 - a message in a table is easier to read on one line

from __future__ import annotations

from typing import Any

import pytest

from tests.http_api import Api
from tests.server.wire import MERGE_PATCH, Row, check

PODS = "/api/v1/namespaces/default/pods"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
CONTAINERS = [{"name": "c", "image": "i"}]


async def test_a_job_keeps_the_selector_that_was_generated(api: Api) -> None:
    job = {
        "metadata": {"name": "j"},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": CONTAINERS}}},
    }
    await api("POST", JOBS, job)
    other = {"spec": {"selector": {"matchLabels": {"a": "b"}}}}
    refused = await api("PATCH", f"{JOBS}/j", other, MERGE_PATCH)
    problems = [cause["message"].rpartition(": ")[2] for cause in refused.body["details"]["causes"]]
    assert problems == [
        "`selector` not auto-generated",
        "`selector` does not match template `labels`",
        # Once for the job and once for its spec.
        "`selector` does not match template `labels`",
        "field is immutable",
    ]


async def test_a_selector_is_shown_in_order(api: Api) -> None:
    template = {"metadata": {"labels": {"z": "1"}}, "spec": {"containers": CONTAINERS}}
    spec = {"selector": {"matchLabels": {"z": "1"}}, "template": template}
    await api("POST", "/apis/apps/v1/namespaces/default/daemonsets", {"metadata": {"name": "d"}, "spec": spec})
    other = {"spec": {"selector": {"matchLabels": {"a": "b"}}}}
    refused = await api("PATCH", "/apis/apps/v1/namespaces/default/daemonsets/d", other, MERGE_PATCH)
    assert '{"matchLabels":{"a":"b","z":"1"}}: field is immutable' in refused.body["message"]


@pytest.mark.parametrize(
    ("query", "status", "message"),
    [
        ("tailLines=x", 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
        ("limitBytes=9223372036854775808", 400, 'strconv.ParseInt: parsing "9223372036854775808": value out of range'),
        ("sinceTime=x", 400, 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'),
        ("tailLines=-1", 422, 'PodLogOptions "p" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0'),
        ("sinceSeconds=0", 422, 'PodLogOptions "p" is invalid: sinceSeconds: Invalid value: 0: must be greater than 0'),
        ("sinceSeconds=0&sinceTime=2026-01-01T00:00:00Z", 422, 'PodLogOptions "p" is invalid: []: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified'),
        ("stream=All", 422, 'PodLogOptions "p" is invalid: stream: Forbidden: may not be specified'),
    ],
)  # fmt: skip
async def test_a_log_that_nobody_could_give_is_refused(api: Api, query: str, status: int, message: str) -> None:
    await check(api, Row(f"GET {PODS}/p/log?{query}", status, message))


async def test_a_log_is_asked_for_in_a_way_that_makes_sense(api: Api) -> None:
    pod: dict[str, Any] = {"metadata": {"name": "p"}, "spec": {"containers": CONTAINERS}}
    query = "tailLines=0&limitBytes=1&sinceSeconds=1&follow=maybe"
    await check(api, Row(f"POST {PODS}", 201, body=pod), Row(f"GET {PODS}/p/log?{query}", 204))


async def test_slices_of_devices_are_found_by_driver_and_node(api: Api) -> None:
    slices = "GET /apis/resource.k8s.io/v1/resourceslices?fieldSelector="
    other = "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: spec.pool"
    await check(api, Row(f"{slices}spec.driver%3Da,spec.nodeName%3Db", 200), Row(f"{slices}spec.pool%3Da", 400, other))


async def test_the_classes_of_the_system_say_what_they_are_for(api: Api) -> None:
    classes = (await api("GET", "/apis/scheduling.k8s.io/v1/priorityclasses")).body["items"]
    assert [one["description"].partition(" that ")[0] for one in classes] == ["Used for system critical pods"] * 2
