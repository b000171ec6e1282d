"""What a CustomResourceDefinition may not say in its schema."""

from __future__ import annotations

from typing import Any

import pytest

from kubekit.server.objects.schema.structural.rules import check_crd_schema

TEXT = {"type": "string"}
KEYED = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}


def problems(schema: dict[str, Any]) -> list[str]:
    return [str(problem) for problem in check_crd_schema(schema, "s")]


def of_field(source: dict[str, Any]) -> list[str]:
    """The problems of a schema with one field, shown without the way to it."""
    found = problems({"type": "object", "properties": {"x": source}})
    return [problem.removeprefix("s.properties[x]") for problem in found]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ({}, ".type: Required value: must not be empty for specified object fields"),
        ({"type": "array"}, ".items: Required value: must be specified"),
        (
            {"type": "object", "properties": {"a": TEXT}, "additionalProperties": TEXT},
            ".additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
        ),
        (
            {"type": "array", "items": TEXT, "uniqueItems": True},
            ".uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
        ),
        (
            {"type": "string", "pattern": "[a"},
            (
                '.pattern: Invalid value: "[a": must be a valid regular expression, but isn\'t: '
                "error parsing regexp: missing closing ]: `[a`"
            ),
        ),
        ({"type": "string", "$ref": "#/x"}, ".$ref: Forbidden: $ref is not supported"),
        (
            {"type": "string", "default": 5},
            '.default: Invalid value: "integer":  in body must be of type string: "integer"',
        ),
        (
            {"type": "object", "default": {"z": 1, "a": 2}, "properties": {"b": TEXT}},
            '.default: Invalid value: {"a":2,"z":1}: must not have unknown fields',
        ),
        (
            {**KEYED, "items": {"type": "object", "properties": {"k": TEXT}}},
            (
                ".items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, "
                "so it must have a default or be a required property"
            ),
        ),
        (
            {**KEYED, "items": {"type": "object"}},
            '.x-kubernetes-list-map-keys: Invalid value: ["k"]: entries must all be names of item properties',
        ),
        (
            {"type": "array", "items": TEXT, "x-kubernetes-list-type": "bag"},
            '.x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map"',
        ),
        (
            {"type": "string", "anyOf": [{"type": "string"}]},
            ".anyOf[0].type: Forbidden: must be empty to be structural",
        ),
        (
            {"type": "object", "x-kubernetes-embedded-resource": True},
            (
                ".properties: Required value: must not be empty if x-kubernetes-embedded-resource is true "
                "without x-kubernetes-preserve-unknown-fields"
            ),
        ),
    ],
)
def test_a_schema_that_is_not_structural_is_refused(source: dict[str, Any], problem: str) -> None:
    assert of_field(source) == [problem]


def test_what_a_rule_at_the_root_looks_at_must_be_declared() -> None:
    schema = {"type": "object", "properties": {"a": TEXT}, "anyOf": [{"properties": {"b": {"minLength": 1}}}]}
    assert problems(schema) == ["s.properties[b]: Required value: because it is defined in s.anyOf[0].properties[b]"]


def test_a_rule_further_down_may_look_at_what_is_not_declared() -> None:
    assert of_field({"type": "object", "oneOf": [{"properties": {"z": {"minLength": 1}}}]}) == []


def test_metadata_may_restrict_only_the_name() -> None:
    name = {"type": "string", "pattern": "^a"}
    allowed = {"type": "object", "properties": {"metadata": {"type": "object", "properties": {"name": name}}}}
    refused = {"type": "object", "properties": {"metadata": {"type": "object", "properties": {"labels": TEXT}}}}
    assert problems(allowed) == []
    assert problems(refused) == [
        (
            "s.properties[metadata]: Forbidden: must not specify anything other than name and generateName, "
            "but metadata is implicitly specified"
        )
    ]


def test_the_two_spellings_of_int_or_string_are_structural() -> None:
    either = [{"type": "integer"}, {"type": "string"}]
    assert of_field({"x-kubernetes-int-or-string": True, "anyOf": either}) == []
    assert of_field({"x-kubernetes-int-or-string": True, "allOf": [{"anyOf": either}, {"pattern": "^1"}]}) == []


def test_an_ordinary_schema_is_accepted() -> None:
    assert (
        problems(
            {
                "type": "object",
                "required": ["spec"],
                "properties": {
                    "spec": {"type": "object", "properties": {"size": {"type": "integer", "minimum": 1, "default": 3}}},
                    "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                },
            }
        )
        == []
    )
