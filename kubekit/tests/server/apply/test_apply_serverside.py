"""Server-side apply: merging, removing, conflicts, refusals."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubekit.errors import ApiError, BadRequest, Conflict, Unclassified
from kubekit.server.objects.apply import apply
from tests.server.apply.world import (
    CONFIG_MAP,
    DEPLOYMENT,
    WIDE,
    Object,
    applied,
    copied,
    created,
    entry,
    owned,
    owners,
    stored,
    time,
    updated,
    wide,
    writer,
)

DOT: Object = {".": {}}
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

SAID: list[tuple[Object, Object]] = [
    ({"title": "a", "size": None}, {"f:size": {}, "f:title": {}}),
    ({"labels": {}}, {"f:labels": {}}),
    ({"labels": {"k": "v"}}, {"f:labels": {"f:k": {}}}),
    ({"box": {"deep": {"x": "1"}}}, {"f:box": {"f:deep": {"f:x": {}}}}),
    ({"boxes": {"one": {"p": "1"}}}, {"f:boxes": {"f:one": {**DOT, "f:p": {}}}}),
    ({"whole": {"k": "v"}, "list": ["a"]}, {"f:list": {}, "f:whole": {}}),
    ({"title": "a", "set": []}, {"f:title": {}}),
    ({"set": ["b", "a"]}, {"f:set": {'v:"a"': {}, 'v:"b"': {}}}),
    ({"items": [{"name": "x"}]}, {"f:items": {'k:{"name":"x"}': {**DOT, "f:name": {}}}}),
    ({"ports": [{"port": 80}]}, {"f:ports": {'k:{"port":80,"protocol":"TCP"}': {**DOT, "f:port": {}}}}),
    ({"free": {"a": {"b": [1]}}}, {"f:free": {"f:a": {**DOT, "f:b": {}}}}),
    (
        {"embedded": {"kind": "P", "metadata": {"name": "n"}}},
        {"f:embedded": {"f:kind": {}, "f:metadata": {"f:name": {}}}},
    ),
]


@pytest.mark.parametrize(("spec", "expected"), SAID)
def test_an_applier_owns_the_leaves_and_items_it_speaks_of(spec: Object, expected: Object) -> None:
    obj = applied(None, "m", wide(**spec))
    assert owned(obj, "m") == expected
    assert obj["spec"] == spec


def test_applying_the_same_again_changes_nothing() -> None:
    config = wide({"labels": {"a": "b"}}, title="a", items=[{"name": "x", "v": "1"}], set=["s"], free={"k": {"l": 1}})
    live = applied(None, "m", config)
    assert applied(live, "m", config, second=9) == live


def test_the_result_shares_nothing_with_what_was_given() -> None:
    live, config = applied(None, "m", wide(box={"a": "1"})), wide(labels={"k": "v"})
    obj = applied(live, "n", config)
    obj["spec"]["box"]["a"] = obj["spec"]["labels"]["k"] = "changed"
    assert (live["spec"]["box"]["a"], config["spec"]["labels"]["k"]) == ("1", "v")


DROPPED: list[tuple[Object, Object, Object]] = [
    # applied first, applied then, what is left
    ({"title": "a", "size": 1}, {"size": 1}, {"size": 1}),
    ({"size": 1, "labels": {"a": "1", "b": "2"}}, {"size": 1, "labels": {"b": "2"}}, {"size": 1, "labels": {"b": "2"}}),
    ({"size": 1, "labels": {"a": "1"}}, {"size": 1}, {"size": 1}),
    ({"box": {"a": "1", "deep": {"x": "1"}}}, {"box": {"a": "1"}}, {"box": {"a": "1"}}),
    ({"set": ["a", "b"]}, {"set": ["b"]}, {"set": ["b"]}),
    ({"size": 1, "set": ["a"]}, {"size": 1}, {"size": 1}),
    ({"items": [{"name": "x"}, {"name": "y"}]}, {"items": [{"name": "y"}]}, {"items": [{"name": "y"}]}),
    ({"items": [{"name": "x", "v": "1"}]}, {"items": [{"name": "x"}]}, {"items": [{"name": "x"}]}),
    ({"size": 1, "whole": {"a": "1"}}, {"size": 1}, {"size": 1}),
    ({"boxes": {"a": {"p": "1"}, "b": {}}}, {"boxes": {"b": {}}}, {"boxes": {"b": {}}}),
    ({"free": {"a": {"b": 1, "c": 2}}}, {"free": {"a": {"c": 2}}}, {"free": {"a": {"c": 2}}}),
    ({"size": 1, "list": ["a"]}, {"size": 1, "list": ["b"]}, {"size": 1, "list": ["b"]}),
]


@pytest.mark.parametrize(("first", "then", "left"), DROPPED)
def test_what_the_applier_no_longer_wants_is_gone(first: Object, then: Object, left: Object) -> None:
    assert applied(applied(None, "m", wide(**first)), "m", wide(**then))["spec"] == left


@pytest.mark.parametrize(("first", "then", "left"), DROPPED)
def test_what_others_own_too_stays(first: Object, then: Object, left: Object) -> None:
    both = applied(applied(None, "m", wide(**first)), "n", wide(**first))
    obj = applied(both, "m", wide(**then), force=True)
    expected = first if left.get("list") is None else left
    assert obj["spec"] == expected


def test_a_list_whose_last_item_nobody_owns_is_null_when_others_own_parts_of_the_item() -> None:
    live = applied(None, "m", wide(size=1, items=[{"name": "x", "v": "1"}]))
    live = updated(live, "u", wide(size=1, items=[{"name": "x", "v": "1", "tags": {"k": "v"}}]))
    obj = applied(live, "m", wide(size=1))
    # Kubernetes does the same, and its validation then refuses the object.
    assert obj["spec"] == {"size": 1, "items": None}


def test_what_nobody_owns_is_left_alone() -> None:
    live = applied(None, "m", wide(title="a", labels={"k": "v"}))
    live["spec"]["size"] = 7
    assert applied(live, "m", wide(labels={"k": "v"}))["spec"] == {"size": 7, "labels": {"k": "v"}}


def test_an_empty_value_does_not_empty_what_is_there() -> None:
    live = created("u", wide(labels={"a": "1"}, set=["x"]))
    assert applied(live, "m", wide(labels={}, set=None))["spec"] == {"labels": {"a": "1"}, "set": ["x"]}


ORDERS: list[tuple[list[str], list[str], list[str]]] = [
    (["a", "b"], ["c"], ["a", "b", "c"]),
    (["a", "b", "c"], ["c", "a"], ["b", "c", "a"]),
    (["a", "b"], ["b", "x", "a"], ["b", "x", "a"]),
    (["a", "b", "c"], ["a", "x", "c"], ["a", "b", "x", "c"]),
    ([], ["b", "a"], ["b", "a"]),
    (["a", "b"], [], ["a", "b"]),
]


@pytest.mark.parametrize(("there", "wanted", "expected"), ORDERS)
def test_items_keep_their_places_and_the_applied_ones_their_order(
    there: list[str], wanted: list[str], expected: list[str]
) -> None:
    assert applied(created("u", wide(set=there)), "m", wide(set=wanted))["spec"]["set"] == expected


def test_an_item_is_found_by_a_key_it_leaves_to_the_default() -> None:
    live = created("u", wide(ports=[{"port": 80, "protocol": "TCP"}]))
    obj = applied(live, "m", wide(ports=[{"port": 80, "name": "web"}]))
    assert obj["spec"]["ports"] == [{"port": 80, "protocol": "TCP", "name": "web"}]


def test_duplicates_in_the_live_object_are_replaced_by_the_applied_item() -> None:
    live = created("u", wide(items=[{"name": "x", "v": "1"}, {"name": "y"}, {"name": "x", "v": "2"}]))
    obj = applied(live, "m", wide(items=[{"name": "x", "v": "3"}]), force=True)
    assert obj["spec"]["items"] == [{"name": "x", "v": "3"}, {"name": "y"}]


def test_equal_values_are_shared_without_conflict_or_time() -> None:
    live = applied(None, "m", wide(title="a"))
    obj = applied(live, "n", wide(title="a"))
    assert owners(obj) == [("n", "Apply"), ("m", "Apply")]
    assert owned(obj, "n") == owned(obj, "m") == {"f:title": {}}
    assert "time" not in entry(obj, "n")


def test_an_applier_and_an_updater_of_one_name_are_two_owners() -> None:
    obj = applied(created("m", wide(title="a")), "m", wide(title="a", size=1))
    assert owners(obj) == [("m", "Apply"), ("m", "Update")]


def test_a_conflict_names_the_manager_and_the_field() -> None:
    live = created("kubectl-client-side-apply", wide(size=1))
    with pytest.raises(Conflict) as refused:
        applied(live, "m", wide(size=2))
    message = 'conflict with "kubectl-client-side-apply" using v1'
    assert refused.value.status() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f"Apply failed with 1 conflict: {message}: .spec.size",
        "reason": "Conflict",
        "details": {"causes": [{"reason": "FieldManagerConflict", "message": message, "field": ".spec.size"}]},
        "code": 409,
    }


def test_several_conflicts_are_listed_by_manager() -> None:
    live = applied(created("u", wide(title="a", items=[{"name": "x", "v": "1"}])), "m", wide(set=["s"], size=1))
    live = updated(live, "s", {**live, "status": {"phase": "p"}}, subresource="status")
    config = {**wide(title="b", size=2, items=[{"name": "x", "v": "2"}]), "status": {"phase": "q"}}
    with pytest.raises(Conflict) as refused:
        applied(live, "n", config)
    assert refused.value.message == (
        'Apply failed with 4 conflicts: conflicts with "m":\n- .spec.size\n'
        'conflicts with "s" with subresource "status" using v1:\n- .status.phase\n'
        'conflicts with "u" using v1:\n- .spec.title\n- .spec.items[name="x"].v'
    )


def test_force_takes_the_field() -> None:
    obj = applied(created("u", wide(size=1, title="t")), "m", wide(size=2), force=True)
    assert (obj["spec"]["size"], owned(obj, "m"), owned(obj, "u")) == (2, {"f:size": {}}, {**DOT, "f:title": {}})


def test_a_change_of_the_applier_own_field_is_no_conflict() -> None:
    obj = applied(applied(None, "m", wide(size=1)), "m", wide(size=2), second=7)
    assert (obj["spec"]["size"], entry(obj, "m")["time"]) == (2, time(7))


def test_an_object_without_owners_gets_one_for_what_was_there_before() -> None:
    obj = applied(stored(wide(title="a")), "m", wide(size=1))
    assert owners(obj) == [("m", "Apply"), ("before-first-apply", "Update")]
    assert owned(obj, "before-first-apply") == {**DOT, "f:title": {}}


def test_what_the_endpoint_ignores_is_neither_owned_nor_in_conflict() -> None:
    live = updated(
        created("u", wide(title="a")), "s", {**wide(title="a"), "status": {"phase": "x"}}, subresource="status"
    )
    obj = applied(live, "m", {**wide(size=1), "status": {"phase": "y"}}, reset=("status",))
    assert entry(obj, "m")["fieldsV1"] == {"f:spec": {"f:size": {}}}


def test_an_applier_who_wants_nothing_more_has_no_entry() -> None:
    obj = applied(created("u", wide(title="a")), "m", wide(size=1))
    assert owners(applied(obj, "m", wide())) == [("u", "Update")]


def test_status_applied_through_its_subresource_is_an_entry_of_its_own() -> None:
    config = {**wide(), "status": {"phase": "x"}}
    obj = applied(applied(None, "m", wide(size=1)), "m", config, subresource="status", reset=("spec", "metadata"))
    assert [one.get("subresource") for one in obj["metadata"]["managedFields"]] == [None, "status"]
    assert obj["spec"] == {"size": 1}


def test_objects_kept_without_their_type_stay_so() -> None:
    live = {name: value for name, value in created("u", wide(title="a")).items() if name not in ("apiVersion", "kind")}
    assert set(applied(live, "m", wide(size=1))) == {"metadata", "spec"}


REFUSED: list[tuple[Object, str]] = [
    ({"foo": 1}, ".spec.foo: field not declared in schema"),
    ({"title": 1}, ".spec.title: expected string, got &value.valueUnstructured{Value:1}"),
    (
        {"title": {"a": None}},
        (
            ".spec.title: expected string, got "
            '&value.valueUnstructured{Value:map[string]interface {}{"a":interface {}(nil)}}'
        ),
    ),
    ({"size": "1"}, ".spec.size: expected numeric (int or float), got string"),
    ({"on": "yes"}, ".spec.on: expected boolean, got &{yes}"),
    ({"labels": ["x"]}, ".spec.labels: expected map, got &{[x]}"),
    ({"set": {"a": [1, None]}}, ".spec.set: expected list, got &{map[a:[1 <nil>]]}"),
    ({"ports": [{"port": 80}, {"port": 80}]}, '.spec.ports: duplicate entries for key [port=80,protocol="TCP"]'),
    ({"set": ["a", "a"]}, '.spec.set: duplicate entries for key [="a"]'),
    ({"items": [1]}, ".spec.items: element 0: associative list with keys may not have non-map elements"),
    ({"items": [None]}, ".spec.items: element 0: associative list with keys may not have a null element"),
    (
        {"items": [{"v": "1"}]},
        (
            '.spec.items: element 0: associative list with keys has an element that omits all key fields ["name"]'
            " (and doesn't have default values for any key fields)"
        ),
    ),
    ({"set": [None]}, ".spec.set: element 0: associative list without keys has an element that's an explicit null"),
    ({"set": [{}]}, ".spec.set: element 0: associative list without keys has an element that's a map type"),
    ({"set": [[]]}, ".spec.set: element 0: not supported: associative list with lists as elements"),
    ({"items": [{"name": "x", "w": 1}]}, '.spec.items[name="x"].w: field not declared in schema'),
    ({"list": ["a", 1]}, ".spec.list[1]: expected string, got &value.valueUnstructured{Value:1}"),
    (
        {"on": 1, "size": "x"},
        "errors:\n  .spec.on: expected boolean, got &{1}\n  .spec.size: expected numeric (int or float), got string",
    ),
]


@pytest.mark.parametrize(("spec", "problem"), REFUSED)
def test_a_configuration_that_does_not_fit_is_refused_with_its_place(spec: Object, problem: str) -> None:
    with pytest.raises(Unclassified) as refused:
        applied(None, "m", wide({"namespace": "n"}, **spec))
    assert refused.value.message == f"failed to create typed patch object (n/w; /v1, Kind=Wide): {problem}"
    assert "reason" not in refused.value.status()


@pytest.mark.parametrize("entries", [[], [{}], [{"manager": "m"}]])
def test_a_configuration_cannot_say_who_owns_what(entries: list[Object]) -> None:
    with pytest.raises(BadRequest, match=r"metadata\.managedFields must be nil"):
        applied(None, "m", wide({"managedFields": entries}))


@pytest.mark.parametrize("type_", [{"apiVersion": "v2"}, {"kind": "Other"}])
def test_a_configuration_of_another_type_is_refused(type_: Object) -> None:
    with pytest.raises(BadRequest, match=r"invalid object type: /v., Kind="):
        applied(created("u", wide(title="a")), "m", {**wide(title="a"), **type_})


def test_no_refusal_is_caused_by_a_missing_name_in_a_list_of_containers() -> None:
    template = {"spec": {"containers": [{"image": "i"}]}}
    config = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"template": template}}
    obj = apply(None, config, DEPLOYMENT, writer("m", version="apps/v1"), force=False)
    assert list(owned(obj, "m")["f:template"]["f:spec"]["f:containers"]) == ['k:{"name":""}']


def _with_last_applied(config: Object, **data: str) -> Object:
    text = json.dumps(config)
    return created("csa", config_map({"annotations": {LAST_APPLIED: text}}, **data), CONFIG_MAP)


def config_map(metadata: Object | None = None, **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", **(metadata or {})}, "data": data}


def test_kubectl_takes_over_what_client_side_apply_set() -> None:
    live = _with_last_applied(config_map(a="1"), a="1")
    obj = applied(live, "kubectl", config_map(a="2"), CONFIG_MAP)
    assert obj["data"] == {"a": "2"}
    assert json.loads(obj["metadata"]["annotations"][LAST_APPLIED]) == config_map(a="2")
    assert obj["metadata"]["annotations"][LAST_APPLIED].endswith("\n")


def test_kubectl_does_not_take_what_was_changed_since() -> None:
    live = _with_last_applied(config_map(a="1", b="1"), a="1", b="9")
    with pytest.raises(Conflict) as refused:
        applied(live, "kubectl", config_map(a="2", b="2"), CONFIG_MAP)
    assert refused.value.message == 'Apply failed with 1 conflict: conflict with "csa" using v1: .data.b'


def test_other_managers_neither_take_over_nor_touch_the_annotation() -> None:
    live = _with_last_applied(config_map(a="1"), a="1")
    with pytest.raises(Conflict):
        applied(live, "m", config_map(a="2"), CONFIG_MAP)
    annotations = applied(live, "m", config_map(b="2"), CONFIG_MAP)["metadata"]["annotations"]
    assert annotations == live["metadata"]["annotations"]


def test_the_annotation_goes_when_it_would_be_too_large() -> None:
    live = _with_last_applied(config_map(a="1"), a="1")
    obj = applied(live, "kubectl", config_map(a="1", big="x" * 300_000), CONFIG_MAP)
    assert obj["metadata"]["annotations"] == {}


@pytest.mark.parametrize("annotation", ["not json", "[]", '{"apiVersion":"v9"}', '{"apiVersion":"v1","foo":1}'])
def test_an_annotation_that_says_nothing_allows_nothing(annotation: str) -> None:
    live = created("csa", config_map({"annotations": {LAST_APPLIED: annotation}}, a="1"), CONFIG_MAP)
    with pytest.raises(ApiError):
        applied(live, "kubectl", config_map(a="2"), CONFIG_MAP)


def test_a_version_that_is_gone_loses_its_entries() -> None:
    live = applied(None, "m", wide(title="a"))
    live["metadata"]["managedFields"][0]["apiVersion"] = "v0"
    obj = apply(live, wide(size=1), WIDE, writer("n"), force=False, versions=("v1",))
    assert owners(obj) == [("n", "Apply")]


def test_nothing_given_is_changed() -> None:
    live, config = created("u", wide(title="a", items=[{"name": "x"}])), wide(title="b", items=[{"name": "y"}])
    before: tuple[Any, Any] = copied(live), copied(config)
    applied(live, "m", config, force=True)
    assert (live, config) == before
