"""JSON Merge Patch."""

from __future__ import annotations

from typing import Any

import pytest

from kubekit.errors import BadRequest
from kubekit.server.objects.patch.merge_patch import apply_merge_patch


@pytest.mark.parametrize(
    ("obj", "patch", "result"),
    [
        ({"a": 1, "b": {"c": 2}}, {"b": {"c": None, "d": 3}}, {"a": 1, "b": {"d": 3}}),
        ({"a": 1}, {"a": None, "z": None}, {}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": 1}, {"a": {"b": None, "c": [{"d": None}, None]}}, {"a": {"c": [{}, None]}}),
        ({"a": {"b": 1}}, {"a": [{"c": None}]}, {"a": [{"c": None}]}),
        ({"a": {"b": 1}}, {"a": 5}, {"a": 5}),
        ({}, {}, {}),
    ],
)
def test_members_replace_members_and_null_removes_them(obj: Any, patch: Any, result: Any) -> None:
    assert apply_merge_patch(obj, patch) == result


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ([1], "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"),
        (5, "error decoding patch: json: cannot unmarshal number into Go value of type map[string]interface {}"),
        (None, "Invalid JSON Patch"),
    ],
)
def test_what_is_no_object_is_a_bad_request(patch: Any, message: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        apply_merge_patch({}, patch)
    assert str(refusal.value) == message


def test_neither_object_nor_patch_changes_and_the_rest_is_shared() -> None:
    obj, patch = {"a": {"b": 1}, "rest": {"x": 1}}, {"a": {"b": 2}}
    after = apply_merge_patch(obj, patch)
    assert (obj, patch) == ({"a": {"b": 1}, "rest": {"x": 1}}, {"a": {"b": 2}})
    assert after["rest"] is obj["rest"]
