"""Metadata: decoding, names, labels, owners, and what an update may change."""

from __future__ import annotations

from typing import Any

import pytest

from kubekit.server.objects.object_metadata import (
    coerce_metadata,
    finalizer_warnings,
    validate_metadata,
    validate_metadata_update,
)
from kubekit.server.objects.schema.decoding import Malformed

SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
OWNER = {"apiVersion": "v1", "kind": "A", "name": "x", "uid": "u"}


def widget(metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata}


def created(metadata: dict[str, Any], name_rule: str = "subdomain", **options: Any) -> list[str]:
    return [str(one) for one in validate_metadata({"namespace": "d", **metadata}, True, name_rule, **options)]


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"name": 5}, "json: cannot unmarshal number into Go struct field ObjectMeta.name of type string"),
        ({"labels": {"a": 5}}, "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string"),
        (
            {"ownerReferences": "x"},
            "json: cannot unmarshal string into Go struct field ObjectMeta.ownerReferences of type []v1.OwnerReference",
        ),
        (
            {"generation": 1.5},
            "json: cannot unmarshal number 1.5 into Go struct field ObjectMeta.generation of type int64",
        ),
        ({"deletionTimestamp": "2024-13-01T00:00:00Z"}, 'parsing time "2024-13-01T00:00:00Z": month out of range'),
        ("x", "json: cannot unmarshal string into Go value of type v1.ObjectMeta"),
    ],
)
def test_malformed_metadata_is_refused_in_the_words_of_go(metadata: Any, message: str) -> None:
    with pytest.raises(Malformed) as refusal:
        coerce_metadata(widget(metadata))
    assert str(refusal.value) == message


def test_unknown_and_empty_metadata_leaves() -> None:
    obj = widget({"name": "n", "labels": {}, "nme": 1, "ownerReferences": [{**OWNER, "foo": 1}], "uid": None})
    assert coerce_metadata(obj) == ["metadata.nme", "metadata.ownerReferences[0].foo"]
    assert obj["metadata"] == {"name": "n", "ownerReferences": [OWNER]}


def test_missing_metadata_becomes_empty() -> None:
    obj = widget(None)
    assert coerce_metadata(obj) == []
    assert obj["metadata"] == {}


@pytest.mark.parametrize(
    ("rule", "name", "broken"),
    [
        ("subdomain", "A_b", SUBDOMAIN),
        ("subdomain", "a" * 254, "must be no more than 253 characters"),
        ("label", "a.b", "must not contain dots"),
        ("path-segment", "a/b", "may not contain '/'"),
        ("path-segment", "..", "may not be '..'"),
    ],
)
def test_a_name_follows_the_rule_of_its_kind(rule: str, name: str, broken: str) -> None:
    assert created({"name": name}, rule) == [f'metadata.name: Invalid value: "{name}": {broken}']


@pytest.mark.parametrize(("rule", "name"), [("label1035", "a-1"), ("subdomain", "a.b"), ("path-segment", "system:x")])
def test_a_good_name_is_accepted(rule: str, name: str) -> None:
    assert created({"name": name}, rule) == []


def test_a_generated_name_may_begin_with_a_dash_at_the_end() -> None:
    assert created({"name": "web-x", "generateName": "web-"}) == []
    assert created({"generateName": "Web"}) == [
        f'metadata.generateName: Invalid value: "Web": {SUBDOMAIN}',
        "metadata.name: Required value: name or generateName is required",
    ]


def test_a_namespace_stands_only_where_it_belongs() -> None:
    assert [str(one) for one in validate_metadata({"name": "n"}, True, "label")] == [
        "metadata.namespace: Required value"
    ]
    assert [str(one) for one in validate_metadata({"name": "n", "namespace": "d"}, False, "label")] == [
        "metadata.namespace: Forbidden: not allowed on this type"
    ]


def test_labels_and_annotations_are_checked() -> None:
    paths = [one.path for one in validate_metadata({"name": "n", "labels": {"a b": "$"}}, False, "label")]
    assert paths == ["metadata.labels", "metadata.labels"]
    assert created({"name": "n", "annotations": {"Example.com/A": "anything at all"}}) == []
    assert created({"name": "n", "annotations": {"a": "x" * 262144}}) == [
        "metadata.annotations: Too long: may not be more than 262144 bytes"
    ]


def test_owners_must_be_complete_and_only_one_controls() -> None:
    assert created({"name": "n", "ownerReferences": [{**OWNER, "uid": ""}]}) == [
        'metadata.ownerReferences.uid: Invalid value: "": must not be empty'
    ]
    two = [{**OWNER, "controller": True}, {**OWNER, "name": "y", "controller": True}]
    assert created({"name": "n", "ownerReferences": two})[0].endswith(
        'Only one reference can have Controller set to true. Found "true" in references for A/x and A/y'
    )


def test_built_in_kinds_want_finalizers_with_a_domain() -> None:
    assert created({"name": "n", "finalizers": ["mine"]}) == []
    detail = "name is neither a standard finalizer name nor is it fully qualified"
    assert created({"name": "n", "finalizers": ["orphan", "mine"]}, built_in=True) == [
        f'metadata.finalizers[1]: Invalid value: "mine": {detail}'
    ]
    assert finalizer_warnings({"finalizers": ["mine"]}) == [
        (
            'metadata.finalizers: "mine": prefer a domain-qualified finalizer name '
            "to avoid accidental conflicts with other finalizer writers"
        )
    ]


STORED = {"name": "n", "namespace": "d", "uid": "u", "resourceVersion": "1", "generation": 2}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"name": "m"}, 'metadata.name: Invalid value: "m": field is immutable'),
        ({"uid": "v"}, 'metadata.uid: Invalid value: "v": field is immutable'),
        (
            {"deletionTimestamp": "2020-01-01T00:00:00Z"},
            'metadata.deletionTimestamp: Invalid value: "2020-01-01T00:00:00Z": field is immutable',
        ),
        ({"generation": 1}, "metadata.generation: Invalid value: 1: must not be decremented"),
        ({"resourceVersion": ""}, 'metadata.resourceVersion: Invalid value: "": must be specified for an update'),
    ],
)
def test_an_update_does_not_change_identity(change: dict[str, Any], problem: str) -> None:
    found = {str(one) for one in validate_metadata_update({**STORED, **change}, STORED)}
    assert found == {problem}


def test_an_update_may_change_labels() -> None:
    assert validate_metadata_update({**STORED, "labels": {"a": "b"}}, STORED) == []


def test_an_object_on_its_way_out_gets_no_new_finalizers() -> None:
    old = {**STORED, "deletionTimestamp": "2020-01-01T00:00:00Z", "finalizers": ["a/b"]}
    found = {str(one) for one in validate_metadata_update({**old, "finalizers": ["a/b", "c/d"]}, old)}
    assert found == {
        (
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, "
            'found new finalizers []string{"c/d"}'
        )
    }
    assert validate_metadata_update({**old, "finalizers": []}, old) == []
