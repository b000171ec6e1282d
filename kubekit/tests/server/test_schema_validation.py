"""Validation of custom resources: which values are refused, where, and in which words."""

from __future__ import annotations

from typing import Any

import pytest

from kubekit.server.objects.schema.model import from_openapi
from kubekit.server.objects.schema.validation import Validator


def field(source: dict[str, Any], value: Any) -> list[str]:
    """The problems of a spec with one field `x`."""
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"x": source}}}}
    found = Validator(from_openapi(schema)).validate({"apiVersion": "a/v1", "kind": "K", "spec": {"x": value}})
    return [str(problem) for problem in found]


TEXT = {"type": "string"}
CONDITIONS = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
    "items": {"type": "object", "required": ["type"], "properties": {"type": TEXT, "size": {"type": "integer"}}},
}


@pytest.mark.parametrize(
    ("source", "value", "problem"),
    [
        (
            {"type": "integer"},
            "3",
            'spec.x: Invalid value: "string": spec.x in body must be of type integer: "string"',
        ),
        (
            {"type": "integer", "format": "int32"},
            True,
            'spec.x: Invalid value: "": spec.x in body must be of type int32: ""',
        ),
        (
            {"type": "integer", "format": "int32"},
            2**40,
            '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.x',
        ),
        (TEXT, None, 'spec.x: Invalid value: "null": spec.x in body must be of type string: "null"'),
        (
            {"type": "string", "format": "date-time"},
            "soon",
            'spec.x: Invalid value: "soon": spec.x in body must be of type date-time: "soon"',
        ),
        (
            {"x-kubernetes-int-or-string": True},
            True,
            'spec.x: Invalid value: "boolean": spec.x in body must be of type integer,string: "boolean"',
        ),
        ({"type": "string", "enum": ["a", "b"]}, "c", 'spec.x: Unsupported value: "c": supported values: "a", "b"'),
        (
            {"type": "string", "nullable": True, "enum": ["a"]},
            None,
            'spec.x: Unsupported value: null: supported values: "a"',
        ),
        ({"type": "string", "maxLength": 2}, "abc", "spec.x: Too long: may not be more than 2 bytes"),
        (
            {"type": "string", "minLength": 2},
            "a",
            'spec.x: Invalid value: "a": spec.x in body should be at least 2 chars long',
        ),
        (
            {"type": "string", "pattern": "^a+$"},
            "b",
            "spec.x: Invalid value: \"b\": spec.x in body should match '^a+$'",
        ),
        (
            {"type": "integer", "minimum": 3, "exclusiveMinimum": True},
            3,
            "spec.x: Invalid value: 3: spec.x in body should be greater than 3",
        ),
        (
            {"type": "number", "maximum": 10},
            10.5,
            "spec.x: Invalid value: 10.5: spec.x in body should be less than or equal to 10",
        ),
        ({"type": "integer", "multipleOf": 3}, 4, "spec.x: Invalid value: 4: spec.x in body should be a multiple of 3"),
        (
            {"type": "array", "items": TEXT, "minItems": 1},
            [],
            "spec.x: Invalid value: 0: spec.x in body should have at least 1 items",
        ),
        ({"type": "array", "items": TEXT, "maxItems": 1}, ["a", "b"], "spec.x: Too many: 2: must have at most 1 item"),
        (
            {"type": "object", "additionalProperties": {"type": "integer"}},
            {"key": "a"},
            'spec.x.key: Invalid value: "string": spec.x.key in body must be of type integer: "string"',
        ),
        (
            {"type": "object", "required": ["a"], "properties": {"a": TEXT}},
            {},
            "spec.x.a: Required value",
        ),
        (
            {"type": "string", "not": {"enum": ["bad"]}},
            "bad",
            '<nil>: Invalid value: "": "spec.x" must not validate the schema (not)',
        ),
        (
            {"type": "array", "x-kubernetes-list-type": "set", "items": TEXT},
            ["a", "b", "a"],
            'spec.x[2]: Duplicate value: "a"',
        ),
        (CONDITIONS, [{"type": "A"}, {"type": "A", "size": 1}], 'spec.x[1]: Duplicate value: {"type":"A"}'),
    ],
)
def test_a_refusal_has_the_words_of_kubernetes(source: dict[str, Any], value: Any, problem: str) -> None:
    assert field(source, value) == [problem]


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ({"type": "integer"}, 1.0),
        ({"type": "number"}, 1),
        ({"type": "integer", "format": "int64"}, 2**62),
        ({"type": "string", "nullable": True}, None),
        ({"x-kubernetes-int-or-string": True}, "50%"),
        ({"type": "string", "maxLength": 2}, "éé"),
        ({"type": "string", "format": "date-time"}, "2024-02-29T23:59:59.5+02:00"),
        ({"type": "string", "format": "of-my-own"}, "anything"),
        ({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, {"a": {"b": [None]}}),
        (CONDITIONS, [{"type": "A"}, {"type": "B"}]),
    ],
)
def test_a_fitting_value_is_accepted(source: dict[str, Any], value: Any) -> None:
    assert field(source, value) == []


def test_the_alternative_that_came_closest_explains_a_failed_choice() -> None:
    source = {
        "type": "object",
        "properties": {"a": TEXT, "b": TEXT},
        "oneOf": [{"required": ["a", "b"]}, {"required": ["a"], "properties": {"a": {"minLength": 3}}}],
    }
    assert field(source, {"a": "x"}) == [
        '<nil>: Invalid value: "": "spec.x" must validate one and only one schema (oneOf). Found none valid',
        'spec.x.a: Invalid value: "x": spec.x.a in body should be at least 3 chars long',
    ]


def test_all_of_reports_its_parts_and_then_itself() -> None:
    source = {"type": "object", "properties": {"a": TEXT}, "allOf": [{"required": ["a"]}]}
    assert field(source, {}) == [
        "spec.x.a: Required value",
        '<nil>: Invalid value: "": "spec.x" must validate all the schemas (allOf). None validated',
    ]


def test_a_status_is_shown_below_its_path() -> None:
    validator = Validator(from_openapi({"type": "object", "properties": {"phase": TEXT}}), root=False)
    assert [str(problem) for problem in validator.validate({"phase": 1}, "status")] == [
        'status.phase: Invalid value: "integer": phase in body must be of type string: "integer"'
    ]


def test_an_embedded_object_needs_to_say_what_it_is() -> None:
    source = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    version, kind, name = field(source, {"kind": "9", "metadata": {"name": "a/b"}})
    assert version == "spec.x.apiVersion: Required value"
    assert kind.startswith(
        'spec.x.kind: Invalid value: "9": may have mixed case, but should otherwise match: a DNS-1035'
    )
    assert name == "spec.x.metadata.name: Invalid value: \"a/b\": may not contain '/'"


class TestUpdates:
    """What was wrong before may stay, as long as it is not touched."""

    schema = from_openapi(
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "maxLength": 2},
                "note": TEXT,
                "set": {"type": "array", "x-kubernetes-list-type": "set", "items": TEXT},
                "plain": {"type": "array", "items": {"type": "string", "maxLength": 2}},
                "keyed": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["key"],
                    "items": {
                        "type": "object",
                        "properties": {"key": TEXT, "size": {"type": "integer", "maximum": 3}, "note": TEXT},
                    },
                },
            },
        }
    )

    def paths(self, new: dict[str, Any], old: dict[str, Any]) -> list[str]:
        return [problem.path for problem in Validator(self.schema).validate_update(new, old)]

    def test_an_untouched_field_is_forgiven(self) -> None:
        assert self.paths({"name": "long", "note": "new"}, {"name": "long"}) == []

    def test_a_changed_field_is_not(self) -> None:
        assert self.paths({"name": "longer"}, {"name": "long"}) == ["name"]

    def test_items_of_a_keyed_list_are_compared_by_key(self) -> None:
        old = {"keyed": [{"key": "a", "size": 9}, {"key": "b"}]}
        assert self.paths({"keyed": [{"key": "b"}, {"key": "a", "size": 9, "note": "n"}]}, old) == []
        assert self.paths({"keyed": [{"key": "a", "size": 8}]}, old) == ["keyed[0].size"]

    def test_a_plain_list_is_forgiven_only_as_a_whole(self) -> None:
        assert self.paths({"plain": ["long"]}, {"plain": ["long"]}) == []
        assert self.paths({"plain": ["long", "b"]}, {"plain": ["long"]}) == ["plain[0]"]

    def test_duplicates_that_were_there_may_stay(self) -> None:
        assert self.paths({"set": ["a", "a", "b"]}, {"set": ["a", "a"]}) == []
        assert self.paths({"set": ["a", "a"]}, {"set": ["a"]}) == ["set[1]"]
