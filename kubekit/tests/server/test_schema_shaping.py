"""Pruning and defaulting: what the server takes away from an object and what it adds."""

from __future__ import annotations

from typing import Any

import pytest

from kubekit.server.objects.schema.decoding import Malformed
from kubekit.server.objects.schema.defaults import apply_defaults
from kubekit.server.objects.schema.model import Schema, from_openapi
from kubekit.server.objects.schema.pruning import prune

TEXT = {"type": "string"}
OBJECT = {"type": "object"}


def of(**properties: dict[str, Any]) -> Schema:
    return from_openapi({"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}})


def pruned(schema: Schema, spec: Any) -> tuple[Any, list[str]]:
    obj = {"apiVersion": "a/v1", "kind": "K", "metadata": {"name": "n"}, "spec": spec}
    unknown = prune(obj, schema)
    assert obj["metadata"] == {"name": "n"}
    return obj["spec"], unknown


def test_unknown_fields_leave_and_are_reported_in_order() -> None:
    schema = of(list={"type": "array", "items": {"type": "object", "properties": {"a": TEXT}}})
    spec, unknown = pruned(schema, {"z": 1, "list": [{"a": "x", "b": {"c": 1}}]})
    assert spec == {"list": [{"a": "x"}]}
    assert unknown == ["spec.list[0].b", "spec.z"]


FREE = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


@pytest.mark.parametrize("schema", [of(n={"type": "number"}), of(n={}), of(n={"x-kubernetes-int-or-string": True})])
def test_an_integer_of_more_than_64_bits_becomes_the_nearest_floating_point_number(schema: Schema) -> None:
    for given, kept in ((2**63 - 1, 2**63 - 1), (2**63, 2.0**63), (-(2**63) - 1, -(2.0**63)), (10**30, 1e30)):
        spec, _ = pruned(schema, {"n": given})
        assert (spec["n"], type(spec["n"])) == (kept, type(kept))


def test_so_do_those_of_which_no_schema_speaks() -> None:
    spec, _ = pruned(of(x=FREE), {"x": {"a": [2**64, {"b": 2**64}], "c": True}})
    assert repr(spec) == repr({"x": {"a": [2.0**64, {"b": 2.0**64}], "c": True}})


def test_an_object_without_declared_fields_loses_all() -> None:
    assert pruned(of(x=OBJECT), {"x": {"a": 1}}) == ({"x": {}}, ["spec.x.a"])


def test_what_is_preserved_stays_but_declared_parts_are_pruned() -> None:
    schema = of(
        x={
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": True,
            "properties": {"known": {"type": "object", "properties": {"a": TEXT}}},
        }
    )
    assert pruned(schema, {"x": {"free": {"b": None}, "known": {"a": "1", "b": 1}}}) == (
        {"x": {"free": {"b": None}, "known": {"a": "1"}}},
        ["spec.x.known.b"],
    )


def test_free_keys_do_not_make_their_values_free() -> None:
    schema = of(x={"type": "object", "additionalProperties": True})
    assert pruned(schema, {"x": {"a": {"b": 1}, "c": None}}) == ({"x": {"a": {}, "c": None}}, ["spec.x.a.b"])


def test_forbidden_keys_are_left_to_validation() -> None:
    assert pruned(of(x={"type": "object", "additionalProperties": False}), {"x": {"a": 1}}) == ({"x": {"a": 1}}, [])


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        (TEXT, False),
        ({"type": "string", "nullable": True}, True),
        ({"type": "string", "default": "d"}, True),
        ({"x-kubernetes-preserve-unknown-fields": True}, False),
    ],
)
def test_null_is_dropped_where_it_is_neither_allowed_nor_defaulted(source: dict[str, Any], kept: bool) -> None:
    spec, unknown = pruned(of(x=source), {"x": None})
    assert ("x" in spec, unknown) == (kept, [])


def test_an_embedded_object_keeps_its_identity_and_loses_unknown_metadata() -> None:
    schema = of(x={"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"spec": OBJECT}})
    inner = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "nme": 1, "labels": {}}, "more": 1}
    assert pruned(schema, {"x": inner}) == (
        {"x": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}},
        ["spec.x.more", "spec.x.metadata.nme"],
    )


def test_malformed_metadata_of_an_embedded_object_is_refused() -> None:
    schema = of(x={"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"spec": OBJECT}})
    with pytest.raises(Malformed) as refusal:
        pruned(schema, {"x": {"metadata": {"name": 5}}})
    assert str(refusal.value) == (
        'spec.x.metadata: Invalid value: {"name":5}: '
        "json: cannot unmarshal number into Go struct field ObjectMeta.name of type string"
    )


def defaulted(schema: Schema, spec: Any) -> Any:
    obj = {"spec": spec}
    apply_defaults(obj, schema)
    return obj["spec"]


def test_defaults_fill_what_is_missing_all_the_way_down() -> None:
    schema = of(x={"type": "object", "default": {}, "properties": {"y": {"type": "integer", "default": 5}}})
    assert defaulted(schema, {}) == {"x": {"y": 5}}
    assert defaulted(schema, {"x": {"y": 6}}) == {"x": {"y": 6}}


def test_null_is_defaulted_unless_it_is_allowed() -> None:
    plain, nullable = {"type": "string", "default": "d"}, {"type": "string", "default": "d", "nullable": True}
    assert defaulted(of(x=plain, y=nullable), {"x": None, "y": None}) == {"x": "d", "y": None}


def test_items_and_free_members_are_defaulted() -> None:
    below = {"type": "object", "properties": {"size": {"type": "integer", "default": 1}}}
    schema = of(
        list={"type": "array", "items": below},
        map={"type": "object", "additionalProperties": below},
        numbers={"type": "array", "items": {"type": "integer", "default": 4}},
    )
    assert defaulted(schema, {"list": [{}], "map": {"a": {}}, "numbers": [None, 1]}) == {
        "list": [{"size": 1}],
        "map": {"a": {"size": 1}},
        "numbers": [4, 1],
    }


def test_a_default_is_not_shared_between_objects() -> None:
    schema = of(x={"type": "object", "default": {"list": []}, "x-kubernetes-preserve-unknown-fields": True})
    defaulted(schema, {})["x"]["list"].append("mine")
    assert defaulted(schema, {}) == {"x": {"list": []}}
