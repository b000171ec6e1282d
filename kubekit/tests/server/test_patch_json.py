"""JSON Patch, as kube-apiserver applies it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from kubekit.errors import BadRequest, Invalid, TooLarge
from kubekit.server.objects.patch.json_patch import MAX_OPERATIONS, apply_json_patch

OBJECT = {"data": {"x": "1", "a/b": "slash", "a~b": "tilde"}, "list": [{"n": 1}, {"n": 2}], "nothing": None}


def patched(*operations: dict[str, Any]) -> dict[str, Any]:
    before = copy.deepcopy(OBJECT)
    after = apply_json_patch(OBJECT, list(operations))
    assert before == OBJECT
    return after


def op(kind: str, path: str, **more: Any) -> dict[str, Any]:
    return {"op": kind, "path": path, **more}


@pytest.mark.parametrize(
    ("operation", "place", "value"),
    [
        (op("add", "/data/y", value="2"), "data", {**OBJECT["data"], "y": "2"}),  # type: ignore[dict-item]
        (op("replace", "/data/missing", value="2"), "data", {**OBJECT["data"], "missing": "2"}),  # type: ignore[dict-item]
        (op("add", "/data/x"), "data", {**OBJECT["data"], "x": None}),  # type: ignore[dict-item]
        (op("remove", "/data/a~1b"), "data", {"x": "1", "a~b": "tilde"}),
        (op("remove", "/data/a~0b"), "data", {"x": "1", "a/b": "slash"}),
        (op("add", "/list/0", value="new"), "list", ["new", {"n": 1}, {"n": 2}]),
        (op("add", "/list/-", value="new"), "list", [{"n": 1}, {"n": 2}, "new"]),
        (op("remove", "/list/-1"), "list", [{"n": 1}]),
        (op("replace", "/list/1/n", value=9), "list", [{"n": 1}, {"n": 9}]),
        (op("move", "/x", **{"from": "/data/x"}), "x", "1"),
        (op("copy", "/copied", **{"from": "/list/0"}), "copied", {"n": 1}),
        (op("test", "/list/0", value={"n": 1}), "list", OBJECT["list"]),
        (op("test", "/missing", value=None), "list", OBJECT["list"]),
    ],
)
def test_an_operation_changes_its_place(operation: dict[str, Any], place: str, value: Any) -> None:
    assert patched(operation)[place] == value


@pytest.mark.parametrize(
    "operation",
    [
        op("test", "/data/x", value="2"),
        op("test", "/list/0/n", value=1.0),
        op("remove", "/data/missing"),
        op("remove", "/list/2"),
        op("add", "/list/5", value=1),
        op("add", "/list/x", value=1),
        op("add", "/missing/x", value=1),
        op("add", "/nothing/x", value=1),
        op("add", "/data/x/y", value=1),
        op("add", "", value={}),
        op("replace", "", value=5),
        op("move", "/y", **{"from": "/data/missing"}),
        op("move", "/y"),
        op("spin", "/data/x"),
        {"op": "add", "value": 1},
        op("remove", "/list/" + "9" * 9000),
    ],
)
def test_an_operation_that_does_not_apply_is_refused_without_saying_why(operation: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as refusal:
        patched(operation)
    assert str(refusal.value) == "the server rejected our request due to an error in our request"


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({}, "json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
        ([5], "json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"),
        ([{"op": 5}], "json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string"),
    ],
)
def test_what_is_no_patch_is_a_bad_request(patch: Any, message: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        apply_json_patch(OBJECT, patch)
    assert str(refusal.value) == f"error decoding patch: {message}"


def test_too_many_operations_are_too_large() -> None:
    with pytest.raises(TooLarge, match="is 10000, got 10001"):
        apply_json_patch(OBJECT, [op("test", "/data/x", value="1")] * (MAX_OPERATIONS + 1))


def test_copies_cannot_pile_up() -> None:
    doubling = [op("copy", f"/c{index + 1}", **{"from": f"/c{index}"}) for index in range(4)]
    with pytest.raises(Invalid):
        apply_json_patch({"c0": "x" * 1_000_000}, doubling)


def test_a_copy_and_its_original_change_apart() -> None:
    after = patched(op("copy", "/other", **{"from": "/list"}), op("replace", "/other/0/n", value=7))
    assert (after["other"][0], after["list"][0]) == ({"n": 7}, {"n": 1})


def test_the_patch_stays_as_it_was_when_its_value_is_changed_further() -> None:
    patch = [op("add", "/new", value={"a": 1}), op("replace", "/new/a", value=2)]
    assert apply_json_patch({}, patch) == {"new": {"a": 2}}
    assert patch[0]["value"] == {"a": 1}


def test_unchanged_parts_are_shared() -> None:
    assert patched(op("replace", "/data/x", value="2"))["list"] is OBJECT["list"]


@pytest.mark.parametrize("kind", ["move", "copy"])
def test_what_is_moved_or_copied_is_shared_with_nobody(kind: str) -> None:
    after = patched(op(kind, "/there", **{"from": "/data"}))
    after["there"]["x"] = "changed"
    assert OBJECT["data"]["x"] == "1"  # type: ignore[index,call-overload]
