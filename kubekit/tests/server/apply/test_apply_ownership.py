"""Who owns what after a create, an update or a patch."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from kubekit.server.objects.apply import keep_times, record_create, record_update
from tests.server.apply.world import (
    CONFIG_MAP,
    DEPLOYMENT,
    WIDE,
    Object,
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

CREATED: list[tuple[Object, Object]] = [
    ({"title": "a"}, {"f:title": {}}),
    ({"size": 1, "on": True, "either": "5%"}, {"f:either": {}, "f:on": {}, "f:size": {}}),
    ({"title": None}, {"f:title": {}}),
    ({"labels": {}}, {"f:labels": {}}),
    ({"labels": {"k": "v"}}, {"f:labels": {**DOT, "f:k": {}}}),
    ({"box": {"deep": {"x": "1"}}}, {"f:box": {**DOT, "f:deep": {**DOT, "f:x": {}}}}),
    ({"boxes": {"one": {"p": "1"}}}, {"f:boxes": {**DOT, "f:one": {**DOT, "f:p": {}}}}),
    ({"whole": {"k": "v"}}, {"f:whole": {}}),
    ({"list": ["a", "b"]}, {"f:list": {}}),
    ({"set": []}, {"f:set": {}}),
    ({"set": ["b", "a"]}, {"f:set": {**DOT, 'v:"a"': {}, 'v:"b"': {}}}),
    ({"numbers": [30, 4]}, {"f:numbers": {**DOT, "v:4": {}, "v:30": {}}}),
    (
        {"items": [{"name": "x", "v": "1"}]},
        {"f:items": {**DOT, 'k:{"name":"x"}': {**DOT, "f:name": {}, "f:v": {}}}},
    ),
    (
        {"ports": [{"port": 80}]},
        {"f:ports": {**DOT, 'k:{"port":80,"protocol":"TCP"}': {**DOT, "f:port": {}}}},
    ),
    (
        {"ports": [{"port": 80, "protocol": "UDP"}]},
        {"f:ports": {**DOT, 'k:{"port":80,"protocol":"UDP"}': {**DOT, "f:port": {}, "f:protocol": {}}}},
    ),
    ({"free": {"a": {"b": 1}, "c": [1]}}, {"f:free": {**DOT, "f:a": {**DOT, "f:b": {}}, "f:c": {}}}),
    (
        {"embedded": {"kind": "Pod", "metadata": {"name": "p", "finalizers": ["f"]}, "spec": 1}},
        {
            "f:embedded": {
                **DOT,
                "f:kind": {},
                "f:metadata": {**DOT, "f:finalizers": {**DOT, 'v:"f"': {}}, "f:name": {}},
                "f:spec": {},
            }
        },
    ),
    ({"items": [{"name": "<&>"}]}, {"f:items": {**DOT, 'k:{"name":"\\u003c\\u0026\\u003e"}': {**DOT, "f:name": {}}}}),
    ({"set": ["a", "a"]}, {"f:set": {**DOT, 'v:"a"': {}}}),
    ({"items": [{"name": "x", "v": "1"}, {"name": "x"}]}, {"f:items": {**DOT, 'k:{"name":"x"}': {}}}),
]


@pytest.mark.parametrize(("spec", "expected"), CREATED)
def test_a_creator_owns_all_it_wrote(spec: Object, expected: Object) -> None:
    assert owned(created("m", wide(**spec)), "m") == {**DOT, **expected}


def test_names_and_keys_are_in_the_order_of_kubernetes() -> None:
    ports = [{"port": port} for port in (443, 80, 9)]
    fields = owned(created("m", wide(title="a", ports=ports, box={"a": "1"})), "m")
    assert list(fields) == [".", "f:box", "f:ports", "f:title"]
    assert [key[2:11] for key in fields["f:ports"]][1:] == ['{"port":9', '{"port":8', '{"port":4']


def test_identity_and_type_belong_to_nobody() -> None:
    assert "managedFields" not in created("m", wide())["metadata"]


def test_labels_annotations_finalizers_and_owners_belong_to_their_writer() -> None:
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u"}
    metadata = {"labels": {"a": "b"}, "finalizers": ["x/y"], "ownerReferences": [reference], "generation": 3}
    assert entry(created("m", wide(metadata)), "m")["fieldsV1"] == {
        "f:metadata": {
            "f:finalizers": {**DOT, 'v:"x/y"': {}},
            "f:labels": {**DOT, "f:a": {}},
            "f:ownerReferences": {**DOT, 'k:{"uid":"u"}': {}},
        }
    }


def test_an_entry_says_who_how_and_when() -> None:
    assert entry(created("m", wide(title="a")), "m") == {
        "manager": "m",
        "operation": "Update",
        "apiVersion": "v1",
        "time": time(0),
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {**DOT, "f:title": {}}},
    }


def test_a_writer_without_a_name_is_unknown() -> None:
    assert owners(created("", wide(title="a"))) == [("unknown", "Update")]


def test_structs_that_go_holds_by_value_are_not_owned_themselves() -> None:
    container = {"name": "c", "image": "i", "ports": [{"containerPort": 80}]}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "strategy": {"type": "Recreate"}}
    obj = stored({"metadata": {"name": "d"}, "spec": {**spec, "template": template}})
    record_create(obj, DEPLOYMENT, writer("m", version="apps/v1"))
    port = {'k:{"containerPort":80,"protocol":"TCP"}': {**DOT, "f:containerPort": {}}}
    owned_container = {**DOT, "f:image": {}, "f:name": {}, "f:ports": {**DOT, **port}, "f:resources": {}}
    assert entry(obj, "m")["fieldsV1"] == {
        "f:spec": {
            "f:replicas": {},
            "f:selector": {},
            "f:strategy": {"f:type": {}},
            "f:template": {
                "f:metadata": {"f:labels": {**DOT, "f:a": {}}},
                "f:spec": {"f:containers": {'k:{"name":"c"}': owned_container}},
            },
        }
    }


def test_a_map_that_may_be_missing_is_owned_by_who_brought_it() -> None:
    obj = created("m", {"metadata": {"name": "c"}, "data": {"a": "1"}}, CONFIG_MAP)
    assert entry(obj, "m")["fieldsV1"] == {"f:data": {**DOT, "f:a": {}}}


CHANGED: list[tuple[Object, Object, Object, Object]] = [
    # before, after, what the creator keeps, what the updater owns
    ({"title": "a", "size": 1}, {"title": "b", "size": 1}, {**DOT, "f:size": {}}, {"f:title": {}}),
    ({"size": 1}, {"size": 1, "title": "b"}, {**DOT, "f:size": {}}, {"f:title": {}}),
    ({"list": ["a"]}, {"list": ["a", "b"]}, DOT, {"f:list": {}}),
    ({"whole": {"a": "1"}}, {"whole": {"a": "2"}}, DOT, {"f:whole": {}}),
    ({"set": ["a"]}, {"set": ["a", "b"]}, {**DOT, "f:set": {**DOT, 'v:"a"': {}}}, {"f:set": {'v:"b"': {}}}),
    (
        {"items": [{"name": "x", "v": "1"}]},
        {"items": [{"name": "x", "v": "2"}]},
        {**DOT, "f:items": {**DOT, 'k:{"name":"x"}': {**DOT, "f:name": {}}}},
        {"f:items": {'k:{"name":"x"}': {"f:v": {}}}},
    ),
    (
        {"items": [{"name": "x"}]},
        {"items": [{"name": "x"}, {"name": "y"}]},
        {**DOT, "f:items": {**DOT, 'k:{"name":"x"}': {**DOT, "f:name": {}}}},
        {"f:items": {'k:{"name":"y"}': {**DOT, "f:name": {}}}},
    ),
    (
        {"set": ["a", "a"]},
        {"set": ["a"]},
        {**DOT, "f:set": DOT},
        {"f:set": {'v:"a"': {}}},
    ),
    (
        {"free": {"a": 1}},
        {"free": {"a": True}},
        {**DOT, "f:free": DOT},
        {"f:free": {"f:a": {}}},
    ),
    (
        {"free": {"a": 1}},
        {"free": {"a": {"b": 1}}},
        {**DOT, "f:free": DOT},
        {"f:free": {"f:a": {**DOT, "f:b": {}}}},
    ),
    (
        {"free": {"a": {"b": 1}}},
        {"free": {"a": [1]}},
        {**DOT, "f:free": DOT},
        {"f:free": {"f:a": {}}},
    ),
    (
        {"labels": {"a": "1"}},
        {"labels": {"a": "1", "b": "2"}},
        {**DOT, "f:labels": {**DOT, "f:a": {}}},
        {"f:labels": {"f:b": {}}},
    ),
    ({"labels": {}}, {"labels": {"a": "1"}}, {**DOT, "f:labels": {}}, {"f:labels": {"f:a": {}}}),
    ({"title": "a"}, {"title": None}, DOT, {"f:title": {}}),
]


def _leafed(fields: Object) -> Object:
    """Wire form: a path with nothing below it is empty, whether or not it was written with a dot."""
    if fields == DOT:
        return {}
    return {key: _leafed(below) for key, below in fields.items()}


@pytest.mark.parametrize(("before", "after", "kept", "taken"), CHANGED)
def test_a_changed_field_moves_to_who_changed_it(before: Object, after: Object, kept: Object, taken: Object) -> None:
    obj = updated(created("old", wide(**before)), "new", wide(**after))
    assert owned(obj, "old") == _leafed(kept)
    assert owned(obj, "new") == taken


REMOVED: list[tuple[Object, Object, Object]] = [
    ({"title": "a", "size": 1}, {"size": 1}, {**DOT, "f:size": {}}),
    ({"set": ["a", "b"]}, {"set": ["a"]}, {**DOT, "f:set": {**DOT, 'v:"a"': {}}}),
    ({"size": 1, "labels": {"a": "1"}}, {"size": 1, "labels": {}}, {**DOT, "f:labels": {}, "f:size": {}}),
    ({"size": 1, "labels": {"a": "1"}}, {"size": 1, "labels": None}, {**DOT, "f:labels": {}, "f:size": {}}),
    ({"size": 1, "items": [{"name": "x"}]}, {"size": 1}, {**DOT, "f:size": {}}),
]


@pytest.mark.parametrize(("before", "after", "kept"), REMOVED)
def test_a_removed_field_belongs_to_nobody(before: Object, after: Object, kept: Object) -> None:
    obj = updated(created("old", wide(**before)), "new", wide(**after))
    assert owners(obj) == [("old", "Update")]
    assert owned(obj, "old") == kept
    assert entry(obj, "old")["time"] == time(0)


def test_an_update_that_changes_nothing_leaves_the_owners_alone() -> None:
    old = created("a", wide(title="a", items=[{"name": "x"}], free={"k": [1]}))
    assert updated(old, "b", wide(title="a", items=[{"name": "x"}], free={"k": [1]})) == old


def test_a_list_in_another_order_changes_no_owner() -> None:
    old = created("a", wide(set=["x", "y"]))
    assert updated(old, "b", wide(set=["y", "x"]))["metadata"] == old["metadata"]


def test_one_manager_has_one_entry_with_its_latest_time() -> None:
    obj = updated(created("m", wide(title="a")), "m", wide(title="a", size=1), second=5)
    assert owners(obj) == [("m", "Update")]
    assert entry(obj, "m")["time"] == time(5)
    assert owned(obj, "m") == {**DOT, "f:size": {}, "f:title": {}}


def test_another_version_or_subresource_is_another_entry() -> None:
    old = created("m", wide(title="a"))
    obj = updated(old, "m", {**wide(title="a"), "status": {"phase": "x"}}, subresource="status")
    assert obj["metadata"]["managedFields"][1] == {
        "manager": "m",
        "operation": "Update",
        "apiVersion": "v1",
        "time": time(1),
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:status": {**DOT, "f:phase": {}}},
        "subresource": "status",
    }
    obj = copied(old)
    obj["spec"]["size"] = 1
    record_update(obj, old, WIDE, writer("m", version="v2"))
    assert [one["apiVersion"] for one in obj["metadata"]["managedFields"]] == ["v1", "v2"]


def test_entries_of_versions_that_are_gone_are_dropped() -> None:
    old = created("m", wide(title="a"))
    obj = updated(old, "n", wide(title="a", size=1), versions=("v2",))
    assert owners(obj) == [("n", "Update")]


def test_what_the_endpoint_ignores_is_not_owned() -> None:
    obj = stored({**wide({"labels": {"a": "b"}}, title="a"), "status": {"phase": "x"}})
    record_create(obj, WIDE, writer("m"), reset=("status", "metadata.labels"))
    assert entry(obj, "m")["fieldsV1"] == {"f:spec": {**DOT, "f:title": {}}}


@pytest.mark.parametrize("wish", [[{}], [{"manager": ""}]])
def test_a_client_may_forget_all_owners(wish: list[Object]) -> None:
    obj = updated(created("m", wide(title="a")), "n", wide({"managedFields": wish}, title="b"))
    assert "managedFields" not in obj["metadata"]
    assert "managedFields" not in updated(obj, "n", wide(title="c"))["metadata"]


def test_an_empty_list_forgets_the_owners_of_built_in_kinds_only() -> None:
    data = {"metadata": {"name": "c", "managedFields": []}, "data": {"a": "1"}}
    old = created("m", {"metadata": {"name": "c"}, "data": {"a": "1"}}, CONFIG_MAP)
    assert "managedFields" not in updated(old, "n", data, CONFIG_MAP)["metadata"]
    old = created("m", wide(title="a"))
    assert owners(updated(old, "n", wide({"managedFields": []}, title="a"))) == [("m", "Update")]


def test_a_client_may_rename_an_owner() -> None:
    old = created("m", wide(title="a"))
    claimed = [{**entry(old, "m"), "manager": "renamed"}]
    assert owners(updated(old, "n", wide({"managedFields": claimed}, title="a"))) == [("renamed", "Update")]


CLAIMS: list[Object] = [
    {"operation": "Delete"},
    {"apiVersion": ""},
    {"fieldsType": "FieldsV2"},
    {"fieldsV1": {"nonsense": {}}},
    {"fieldsV1": {"k:[1]": {}}},
]


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_claim_that_makes_no_sense_is_ignored(claim: Object) -> None:
    old = created("m", wide(title="a"))
    claimed = [{**old["metadata"]["managedFields"][0], "manager": "n", **claim}]
    assert updated(old, "x", wide({"managedFields": claimed}, title="a"))["metadata"] == old["metadata"]


def test_a_claim_is_stored_in_the_form_of_this_server() -> None:
    old = created("m", wide(ports=[{"port": 80}]))
    key = 'k:{"protocol": "TCP", "port": 80.0}'
    claim = {"fieldsV1": {"f:spec": {"x:new": {}, "f:ports": {key: DOT}}}, "time": "2026-01-01T02:00:00+02:00"}
    claimed = [{**entry(old, "m"), **claim}]
    obj = updated(old, "x", wide({"managedFields": claimed}, ports=[{"port": 80}]))
    assert owned(obj, "m") == {"f:ports": {'k:{"port":80,"protocol":"TCP"}': {}}}
    assert entry(obj, "m")["time"] == time(0)


def test_a_subresource_cannot_change_the_owners() -> None:
    old = created("m", wide(title="a"))
    obj = {**wide({"managedFields": [{}]}, title="a"), "status": {"phase": "x"}}
    assert owners(updated(old, "n", obj, subresource="status")) == [("m", "Update"), ("n", "Update")]


def test_the_oldest_updaters_are_put_together_when_there_are_more_than_ten() -> None:
    labels: dict[str, Any] = {}
    obj = created("m0", wide(labels={"l0": "x"}, title="t"))
    for number in range(1, 13):
        labels = {f"l{one}": "x" for one in range(number + 1)}
        obj = updated(obj, f"m{number}", wide(labels=labels, title="t"), second=number)
    assert len(owners(obj)) == 10
    ancient = entry(obj, "ancient-changes")
    assert ancient["time"] == time(3)
    assert set(ancient["fieldsV1"]["f:spec"]["f:labels"]) == {".", "f:l0", "f:l1", "f:l2", "f:l3"}
    assert owners(obj)[1:] == [(f"m{number}", "Update") for number in range(4, 13)]


def test_what_became_atomic_is_owned_as_a_whole_at_the_next_write() -> None:
    old = created("m", wide(title="a", whole={"a": "1"}))
    entry(old, "m")["fieldsV1"]["f:spec"]["f:whole"] = {**DOT, "f:a": {}}
    assert owned(updated(old, "n", wide(title="a", whole={"a": "1"})), "m")["f:whole"] == {}


def test_an_object_that_does_not_fit_its_schema_has_no_owners() -> None:
    assert "managedFields" not in created("m", wide(items=["not a map"]))["metadata"]


def test_times_are_kept_when_nothing_else_is_new() -> None:
    old = created("m", wide(title="a"))
    obj = copied(old)
    entry(obj, "m")["time"] = time(9)
    keep_times(obj, old)
    assert obj == old
    obj["spec"]["title"] = "b"
    entry(obj, "m")["time"] = time(9)
    keep_times(obj, old)
    assert entry(obj, "m")["time"] == time(9)


_LONG = "x" * 100_000


@pytest.mark.parametrize(
    "spec",
    [
        lambda turn: {"labels": {f"{turn}-{index}": "x" for index in range(2000)}},
        lambda turn: {"free": {f"{turn}-{index}": {"a": "x"} for index in range(2000)}},
        lambda turn: {"free": {f"{turn}{_LONG}": "x"}},
        lambda turn: {"labels": {f"{turn}{_LONG}": "x"}},
        lambda turn: {"set": [f"{turn}{_LONG}"]},
        lambda turn: {"items": [{"name": f"{turn}{_LONG}"}]},
    ],
    ids=["many names", "many free names", "a long free name", "a long name", "a long member", "a long key"],
)
def test_what_is_remembered_of_large_objects_stays_small(spec: Callable[[int], Object]) -> None:
    created("m", wide(**spec(0)))
    tracemalloc.start()
    for turn in range(1, 51):
        created("m", wide(**spec(turn)))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 1_000_000
