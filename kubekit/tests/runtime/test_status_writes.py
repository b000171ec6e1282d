"""Conditions and statuses: what is written, and when."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec import structs

from kubekit.errors import InvalidConfiguration
from kubekit.model.resource import ObjectMeta
from kubekit.runtime import status_writes
from kubekit.runtime.conditions import RECONCILED, condition, merged, without
from kubekit.runtime.objects import status_of
from tests.runtime.world import Widget, WidgetSpec, WidgetStatus, paint

EARLIER = datetime(2030, 1, 1, tzinfo=UTC)
NOW = datetime(2030, 1, 2, tzinfo=UTC)


def a_widget(status: WidgetStatus | None = None, generation: int = 3) -> Widget:
    meta = ObjectMeta(name="a", namespace="default", generation=generation)
    return Widget(metadata=meta, spec=WidgetSpec(size=1), status=status or WidgetStatus())


def ready(value: bool, reason: str = "Because") -> Any:
    return structs.replace(condition("Ready", value, reason), last_transition_time=EARLIER)


def test_a_condition_whose_status_stays_keeps_its_time() -> None:
    new = merged((ready(True),), condition("Ready", True, "Another"))
    assert (new[0].reason, new[0].last_transition_time) == ("Another", EARLIER)


def test_a_condition_whose_status_changes_gets_its_time_when_written() -> None:
    new = merged((ready(True),), condition("Ready", False, "Because"))
    assert new[0].last_transition_time is None
    written = status_writes.after_success(
        a_widget(WidgetStatus(conditions=(ready(True),))), WidgetStatus(conditions=new), NOW
    )
    assert written["conditions"][0]["lastTransitionTime"] == "2030-01-02T00:00:00Z"


def test_the_order_of_conditions_is_stable() -> None:
    first, second = ready(True), condition("Progressing", False, "Done")
    assert [one.type for one in merged((first, second), condition("Degraded", False, "No"), first)] == [
        "Ready",
        "Progressing",
        "Degraded",
    ]
    old = a_widget(WidgetStatus(conditions=(first, second)))
    written = status_writes.after_success(old, WidgetStatus(conditions=(second, first)), NOW)
    assert [one["type"] for one in written["conditions"]] == ["Ready", "Progressing"]


def test_conditions_can_be_taken_away() -> None:
    assert without((ready(True),), "Ready") == ()


def test_a_time_alone_is_no_change() -> None:
    said = structs.replace(ready(True), observed_generation=3)
    old = a_widget(WidgetStatus(observed_generation=3, conditions=(said,)))
    new = WidgetStatus(conditions=(structs.replace(ready(True), last_transition_time=NOW),))
    assert status_writes.difference(status_of(old), status_writes.after_success(old, new, NOW)) == {}


def test_the_generation_is_noted() -> None:
    assert status_writes.after_success(a_widget(), WidgetStatus(parts=1), NOW)["observedGeneration"] == 3


def test_a_condition_says_of_which_generation_it_was_said() -> None:
    old = structs.replace(ready(True), observed_generation=2)
    told = merged((old,), condition("Painted", True, "Dry"))
    written = status_writes.after_success(a_widget(), WidgetStatus(conditions=told), NOW)
    assert [(one["type"], one["observedGeneration"]) for one in written["conditions"]] == [("Ready", 2), ("Painted", 3)]
    again = merged(told, condition("Ready", True, "Because"))
    assert (
        status_writes.after_success(a_widget(), WidgetStatus(conditions=again), NOW)["conditions"][0][
            "observedGeneration"
        ]
        == 3
    )


def test_a_failure_is_of_this_generation_and_what_was_said_before_is_not() -> None:
    before = a_widget(WidgetStatus(conditions=(structs.replace(ready(True), observed_generation=2),)))
    status = status_writes.after_failure(before, InvalidConfiguration("default/a", "spec.size", "too large"), NOW)
    assert status is not None
    assert [one["observedGeneration"] for one in status["conditions"]] == [2, 3]


@pytest.mark.parametrize(
    ("old", "new", "patch"),
    [
        ({}, {}, {}),
        ({"a": 1}, {"a": 1}, {}),
        ({"a": 1}, {"a": 2, "b": []}, {"a": 2, "b": []}),
        ({"a": 1, "b": 2}, {"b": 2}, {"a": None}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, {"a": {"c": 3}}),
        ({"a": {"b": 1}}, {"a": {}}, {"a": {"b": None}}),
        ({"a": [1, 2]}, {"a": [1]}, {"a": [1]}),
        ({"a": {"b": 1}}, {"a": 1}, {"a": 1}),
        ({}, {"a": None}, {"a": None}),
    ],
)
def test_only_what_differs_is_written(old: Any, new: Any, patch: Any) -> None:
    assert status_writes.difference(old, new) == patch


def test_a_failure_is_shown_and_the_rest_stays() -> None:
    error = InvalidConfiguration("default/a", "spec.size", "too large")
    status = status_writes.after_failure(a_widget(WidgetStatus(parts=2, conditions=(ready(True),))), error, NOW)
    assert status is not None
    assert status["parts"] == 2
    assert [(one["type"], one["status"]) for one in status["conditions"]] == [("Ready", "True"), (RECONCILED, "False")]
    assert status["conditions"][1]["reason"] == "InvalidConfiguration"
    assert status["conditions"][1]["message"] == "default/a: spec.size: too large"


def test_a_success_takes_the_failure_back() -> None:
    failed = structs.replace(condition(RECONCILED, False, "Bad", "no"), last_transition_time=EARLIER)
    old = a_widget(WidgetStatus(conditions=(failed,)))
    status = status_writes.after_success(old, old.status, NOW)
    assert (status["conditions"][0]["status"], status["conditions"][0]["message"]) == ("True", "")


def test_an_object_without_conditions_shows_no_failure() -> None:
    assert status_writes.after_failure(paint("matt", "red"), InvalidConfiguration("a", "b", "c"), NOW) is None


def test_plain_objects_have_statuses_too() -> None:
    obj = {"metadata": {"name": "a", "generation": 2}, "status": {"conditions": [], "a": 1}}
    assert status_writes.after_success(obj, {"a": 2}, NOW) == {"a": 2}
    status = status_writes.after_failure(obj, InvalidConfiguration("a", "b", "c"), NOW)
    assert status is not None
    assert status["conditions"][0]["type"] == RECONCILED


def test_what_flipped_is_news() -> None:
    old = {"conditions": [{"type": "A", "status": "True"}, {"type": "B", "status": "False"}]}
    new = {
        "conditions": [
            {"type": "A", "status": "False"},
            {"type": "B", "status": "False"},
            {"type": "C", "status": "False"},
            {"type": "D", "status": "True"},
        ]
    }
    assert [one["type"] for one in status_writes.flipped(old, new)] == ["A", "D"]
