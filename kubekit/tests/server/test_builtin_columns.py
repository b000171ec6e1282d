"""The Tables of built-in kinds, compared with those of a real kube-apiserver."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kubekit.server.kinds.columns.columns import cells, columns_of
from tests.server.builtin_golden import RESOURCES, label, recorded

_AGES = {"Age", "Last Seen", "First Seen"}
_NOW = datetime(2026, 11, 15, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("kind", "expected"), recorded("columns"), ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_kind_has_the_columns_of_kubernetes(kind: str, expected: list[Any]) -> None:
    api_version, _, name = kind.partition(" ")
    columns = columns_of(RESOURCES[api_version, name])
    assert [[one.name, one.type, one.format, one.priority] for one in columns] == expected


@pytest.mark.parametrize("entry", recorded("rows"), ids=label)
def test_a_row_shows_what_kubernetes_shows(entry: Any) -> None:
    obj = entry["object"]
    resource = RESOURCES[obj["apiVersion"], obj["kind"]]
    row = cells(resource, obj, _NOW)
    names = [one.name for one in columns_of(resource)]
    without_ages = [None if name in _AGES else cell for name, cell in zip(names, row, strict=True)]
    shown = [re.sub(r"\(.* ago\)", "(AGE ago)", cell) if isinstance(cell, str) else cell for cell in without_ages]
    assert shown == entry["cells"]


def test_every_column_is_described() -> None:
    assert all(column.description for resource in RESOURCES.values() for column in columns_of(resource))


def test_an_age_counts_from_creation() -> None:
    created = (_NOW - timedelta(minutes=5, seconds=7)).isoformat().replace("+00:00", "Z")
    row = cells(RESOURCES["v1", "ConfigMap"], {"metadata": {"name": "a", "creationTimestamp": created}}, _NOW)
    assert row == ["a", 0, "5m7s"]


def test_an_object_without_anything_still_has_a_row() -> None:
    bare: dict[str, Any] = {"metadata": {"name": "a"}}
    for resource in RESOURCES.values():
        assert len(cells(resource, bare, _NOW)) == len(columns_of(resource))


def test_a_pod_on_its_way_out_is_terminating() -> None:
    pod = {"metadata": {"name": "a", "deletionTimestamp": "2026-11-15T11:00:00Z"}, "status": {"phase": "Running"}}
    assert cells(RESOURCES["v1", "Pod"], pod, _NOW)[2] == "Terminating"


def test_a_restart_says_when() -> None:
    ended = {"lastState": {"terminated": {"finishedAt": "2026-11-15T11:58:00Z"}}, "restartCount": 2}
    pod = {"metadata": {"name": "a"}, "status": {"containerStatuses": [ended]}}
    assert cells(RESOURCES["v1", "Pod"], pod, _NOW)[3] == "2 (2m ago)"


def test_a_finished_job_shows_how_long_it_took() -> None:
    times = {"startTime": "2026-11-15T11:00:00Z", "completionTime": "2026-11-15T11:05:30Z"}
    status = {**times, "succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]}
    job = {"metadata": {"name": "a"}, "spec": {"completions": 1}, "status": status}
    assert cells(RESOURCES["batch/v1", "Job"], job, _NOW)[1:4] == ["Complete", "1/1", "5m30s"]
