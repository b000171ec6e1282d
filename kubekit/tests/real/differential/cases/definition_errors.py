"""What is wrong with CustomResourceDefinitions."""

from __future__ import annotations

from typing import Any

from tests.real.differential.conversations import DEFINITIONS
from tests.real.differential.kinds import TEXT, definition, structure
from tests.real.differential.steps import (
    Step,
    case,
    post,
)

_ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}

_GROUP = "$ns.example.org"


def _defined(schema: Any = None, **version: Any) -> Step:
    return post(DEFINITIONS, definition(_GROUP, "Thing", schema or {"type": "object"}, **version))


def _spec(**spec: Any) -> Step:
    return _defined(spec=spec)


def _schema(**spec: Any) -> Step:
    """Refused, one hopes."""
    return _defined(structure(spec={"type": "object", **spec}))


def _versions(*versions: dict[str, Any]) -> Step:
    return _spec(
        versions=[{"served": True, "storage": False, "schema": {"openAPIV3Schema": _ANY}, **one} for one in versions]
    )


CASES = (
    case(
        "names that do not fit",
        post(DEFINITIONS, {**definition(_GROUP, "Thing", _ANY), "metadata": {"name": "other"}}),
        _spec(names={"plural": "Things", "kind": "Thing"}),
        _spec(names={"plural": "things", "kind": "not a kind"}),
        _spec(names={"plural": "things", "kind": ""}),
        _spec(names={"plural": "things", "kind": "Thing", "shortNames": ["A B"], "categories": ["C D"]}),
        _spec(scope="Some"),
        _spec(group=""),
    ),
    case(
        "a group without a dot and one that is protected",
        post(DEFINITIONS, definition("plain", "Thing", _ANY)),
        post(DEFINITIONS, definition("$ns.k8s.io", "Thing", _ANY)),
        post(
            DEFINITIONS,
            {
                **definition("$ns.k8s.io", "Thing", _ANY),
                "metadata": {"name": "things.$ns.k8s.io", "annotations": {"api-approved.kubernetes.io": "nonsense"}},
            },
        ),
    ),
    case(
        "versions that make no sense",
        _spec(versions=[]),
        _versions({"name": "v1"}),
        _versions({"name": "v1", "storage": True}, {"name": "v1"}),
        _versions({"name": "v1", "storage": True}, {"name": "v2", "storage": True}),
        _versions({"name": "V_1", "storage": True}),
        _spec(versions=[{"name": "v1", "served": True, "storage": True}]),
    ),
    case(
        "schemas that are not structural",
        _schema(properties={"a": {}}),
        _schema(properties={"a": {"type": "nonsense"}}),
        _schema(properties={"a": {"properties": {"b": TEXT}}}),
        _schema(items=TEXT),
        _schema(properties={"l": {"type": "array"}}),
        _schema(properties={"a": {"type": "object", "properties": {"x": TEXT}, "additionalProperties": TEXT}}),
        _schema(allOf=[{"properties": {"b": {"type": "string"}}}]),
        _schema(anyOf=[{"description": "x", "default": {}}]),
        _defined({"type": "string"}),
    ),
    case(
        "schemas that say what they may not",
        _schema(properties={"a": {"type": "string", "$ref": "#/x"}}),
        _schema(properties={"a": {"type": "array", "uniqueItems": True, "items": TEXT}}),
        _schema(additionalProperties=False),
        _schema(properties={"a": {"type": "string", "pattern": "("}}),
        _schema(properties={"a": {"type": "integer", "minimum": 5, "maximum": 1}}),
        _schema(required=["a", "a"]),
        _schema(properties={"a": {"type": "string", "format": "nonsense"}}),
        _schema(properties={"a": {"type": "array", "items": [TEXT, TEXT]}}),
    ),
    case(
        "defaults that do not fit",
        _schema(properties={"a": {"type": "integer", "default": "x"}}),
        _schema(properties={"a": {"type": "string", "enum": ["x"], "default": "y"}}),
        _schema(properties={"a": {**structure(b=TEXT), "default": {"c": "x"}}}),
        _schema(properties={"a": {"type": "integer", "minimum": 5, "default": 1}}),
        _defined({**structure(metadata={**structure(name={**TEXT, "default": "x"})})}),
    ),
    case(
        "lists and maps that make no sense",
        _schema(properties={"l": {"type": "array", "items": TEXT, "x-kubernetes-list-type": "nonsense"}}),
        _schema(properties={"l": {"type": "array", "items": TEXT, "x-kubernetes-list-type": "map"}}),
        _schema(
            properties={
                "l": {
                    "type": "array",
                    "items": structure(a=TEXT),
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["b"],
                }
            }
        ),
        _schema(
            properties={
                "l": {
                    "type": "array",
                    "items": structure(a=TEXT),
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["a"],
                }
            }
        ),
        _schema(properties={"l": {"type": "array", "items": structure(a=TEXT), "x-kubernetes-list-type": "set"}}),
        _schema(properties={"l": {"type": "array", "items": TEXT, "x-kubernetes-list-map-keys": ["a"]}}),
        _schema(**{"x-kubernetes-map-type": "nonsense"}),
        _schema(properties={"a": {"type": "string", "x-kubernetes-list-type": "set"}}),
    ),
    case(
        "other marks that make no sense",
        _schema(**{"x-kubernetes-preserve-unknown-fields": False}),
        _schema(properties={"a": {"type": "string", "x-kubernetes-preserve-unknown-fields": True}}),
        _schema(properties={"a": {"type": "string", "x-kubernetes-int-or-string": True}}),
        _schema(properties={"a": {"type": "string", "x-kubernetes-embedded-resource": True}}),
        _schema(properties={"a": {"type": "object", "x-kubernetes-embedded-resource": True}}),
        _spec(preserveUnknownFields=True),
    ),
    case(
        "fields nobody knows in a schema",
        *[
            post(
                f"{DEFINITIONS}?dryRun=All&fieldValidation={level}",
                definition(
                    _GROUP,
                    "Thing",
                    structure(
                        spec={
                            "type": "object",
                            "nonsense": 1,
                            "properties": {"a": {"type": "string", "minimumLength": 3}},
                        }
                    ),
                ),
            )
            for level in ("Strict", "Warn", "Ignore")
        ],
    ),
    case(
        "subresources that make no sense",
        _defined(subresources={"scale": {}}),
        _defined(subresources={"scale": {"specReplicasPath": "spec.n", "statusReplicasPath": ".status.n"}}),
        _defined(subresources={"scale": {"specReplicasPath": ".status.n", "statusReplicasPath": ".status.n"}}),
        _defined(
            subresources={
                "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".spec.n", "labelSelectorPath": "x"}
            }
        ),
    ),
    case(
        "columns that make no sense",
        _defined(additionalPrinterColumns=[{"name": "", "type": "string", "jsonPath": ".x"}]),
        _defined(additionalPrinterColumns=[{"name": "A", "type": "nonsense", "jsonPath": ".x"}]),
        _defined(additionalPrinterColumns=[{"name": "A", "type": "string", "jsonPath": ""}]),
        _defined(additionalPrinterColumns=[{"name": "A", "type": "string", "jsonPath": ".x["}]),
        _defined(additionalPrinterColumns=[{"name": "A", "type": "string", "jsonPath": ".x", "format": "nonsense"}]),
    ),
    case(
        "selectable fields that make no sense",
        *[
            _defined(
                structure(spec=structure(a=TEXT, o=structure(b=TEXT), l={"type": "array", "items": TEXT})),
                selectableFields=[{"jsonPath": path} for path in paths],
            )
            for paths in (
                [".spec.none"],
                [".spec.o"],
                [".spec.l"],
                ["spec.a"],
                [".metadata.name"],
                [".spec.a", ".spec.a"],
                [""],
                [".spec.l[0]"],
            )
        ],
    ),
    case(
        "conversions that make no sense",
        _spec(conversion={"strategy": "Some"}),
        _spec(conversion={"strategy": "Webhook"}),
        _spec(conversion={"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"]}}),
        _spec(
            conversion={
                "strategy": "Webhook",
                "webhook": {"conversionReviewVersions": ["v9"], "clientConfig": {"url": "https://example.org/x"}},
            }
        ),
        _spec(conversion={"strategy": "None", "webhook": {"conversionReviewVersions": ["v1"]}}),
        _spec(
            conversion={
                "strategy": "Webhook",
                "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"url": "http://example.org"}},
            }
        ),
    ),
)
