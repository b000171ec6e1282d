"""Strategic merge patch of built-in kinds."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from kubekit.errors import ApiError, BadRequest, Unclassified
from kubekit.server.kinds.builtin.catalogue import schema_of
from kubekit.server.objects.patch.strategic import apply_strategic_patch

POD: dict[str, Any] = {
    "metadata": {"labels": {"a": "b"}, "finalizers": ["x/a", "x/b", "x/c"]},
    "spec": {
        "containers": [
            {"name": "c1", "image": "i1", "args": ["a", "b"], "env": [{"name": "A", "value": "1"}, {"name": "B"}]},
            {"name": "c2", "image": "i2"},
            {"name": "c3", "image": "i3"},
        ],
        "volumes": [{"name": "v1", "emptyDir": {}}, {"name": "v2", "configMap": {"name": "x"}}],
        "tolerations": [{"key": "k1"}],
    },
}


def patched(patch: Any) -> dict[str, Any]:
    before, asked = copy.deepcopy(POD), copy.deepcopy(patch)
    after = apply_strategic_patch(POD, patch, schema_of("", "v1", "Pod"))
    assert (before, asked) == (POD, patch)
    return after


def containers(*items: dict[str, Any], **directives: Any) -> list[dict[str, Any]]:
    after = patched({"spec": {"containers": list(items), **directives} if items else directives})
    found: list[dict[str, Any]] = after["spec"]["containers"]
    return found


def names(items: list[dict[str, Any]]) -> list[str]:
    return [item["name"] for item in items]


def finalizers(**patch: Any) -> Any:
    return patched({"metadata": patch})["metadata"].get("finalizers")


def test_an_item_is_merged_by_its_key_and_stays_in_place() -> None:
    found = containers({"name": "c2", "image": "new"})
    assert found == [POD["spec"]["containers"][0], {"name": "c2", "image": "new"}, POD["spec"]["containers"][2]]


def test_a_new_item_comes_first() -> None:
    assert names(containers({"name": "c9", "image": "i"})) == ["c9", "c1", "c2", "c3"]


def test_items_the_patch_does_not_name_keep_their_neighbours() -> None:
    assert names(containers({"name": "c3"}, {"name": "c9"}, {"name": "c1"})) == ["c2", "c3", "c9", "c1"]


def test_an_item_is_deleted_by_its_key() -> None:
    assert names(containers({"name": "c2", "$patch": "delete"})) == ["c1", "c3"]


def test_a_list_is_replaced_when_the_patch_says_so() -> None:
    assert containers({"$patch": "replace"}, {"name": "q"}) == [{"name": "q"}]


def test_lists_inside_items_are_merged_as_well() -> None:
    found = containers({"name": "c1", "env": [{"name": "A", "value": None}, {"name": "Z"}], "args": ["z"]})
    assert found[0]["env"] == [{"name": "A"}, {"name": "Z"}, {"name": "B"}]
    assert found[0]["args"] == ["z"]


def test_the_patch_may_set_the_order() -> None:
    order = {"$setElementOrder/containers": [{"name": "c3"}, {"name": "c1"}]}
    assert names(containers(**order)) == ["c2", "c3", "c1"]


def test_lists_of_plain_values_are_merged_and_pruned() -> None:
    assert finalizers(finalizers=["x/d"]) == ["x/d", "x/a", "x/b", "x/c"]
    assert finalizers(finalizers=["x/c", "x/a"]) == ["x/b", "x/c", "x/a"]
    assert finalizers(**{"$deleteFromPrimitiveList/finalizers": ["x/b"]}) == ["x/a", "x/c"]
    assert finalizers(finalizers=None) is None


def test_retained_keys_drop_all_others() -> None:
    change = {"name": "v2", "$retainKeys": ["name", "emptyDir"], "emptyDir": {}}
    assert patched({"spec": {"volumes": [change]}})["spec"]["volumes"][1] == {"name": "v2", "emptyDir": {}}


def test_maps_are_merged_replaced_or_emptied() -> None:
    assert patched({"metadata": {"labels": {"z": "y"}}})["metadata"]["labels"] == {"a": "b", "z": "y"}
    assert patched({"metadata": {"labels": {"$patch": "replace", "z": "y"}}})["metadata"]["labels"] == {"z": "y"}
    assert patched({"metadata": {"labels": {"$patch": "delete"}}})["metadata"]["labels"] == {}


def test_a_list_without_strategy_is_replaced() -> None:
    assert patched({"spec": {"tolerations": [{"key": "z"}]}})["spec"]["tolerations"] == [{"key": "z"}]


def test_new_parts_carry_neither_nulls_nor_directives() -> None:
    new = {"securityContext": {"runAsUser": None, "sysctls": [{"name": "a", "$patch": "delete"}, {"name": "b"}]}}
    assert patched({"spec": new})["spec"]["securityContext"] == {"sysctls": [{"name": "b"}]}


@pytest.mark.parametrize(
    ("patch", "kind", "message"),
    [
        ([1], BadRequest, "json: cannot unmarshal array into Go value of type map[string]interface {}"),
        ({"metadata": {"$retainKeys": "name"}}, BadRequest, "invalid patch format of retainKeys"),
        ({"metadata": {"$setElementOrder": ["a"]}}, BadRequest, "invalid patch format of setElementOrder list"),
        (
            {"metadata": {"labels": {"$patch": "merge", "a": "b"}}},
            Unclassified,
            "unknown patch type: merge in map: map[$patch:merge a:b]",
        ),
        (
            {"spec": {"containers": [{"image": "x"}]}},
            Unclassified,
            "map: map[image:x] does not contain declared merge key: name",
        ),
        (
            {"metadata": {"finalizers": ["x/a"], "$setElementOrder/finalizers": ["x/b"]}},
            Unclassified,
            "The order in patch list:\n[x/a]\n doesn't match $setElementOrder list:\n[x/b]\n",
        ),
    ],
)
def test_a_patch_that_makes_no_sense_is_refused(patch: Any, kind: type[ApiError], message: str) -> None:
    with pytest.raises(kind) as refusal:
        patched(patch)
    assert str(refusal.value) == message


def test_unchanged_parts_are_shared() -> None:
    assert patched({"metadata": {"labels": {"z": "y"}}})["spec"] is POD["spec"]
