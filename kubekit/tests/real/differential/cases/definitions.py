"""CustomResourceDefinitions: their life, and what is wrong with them."""

from __future__ import annotations

from typing import Any

from tests.real.differential.answers import Answer
from tests.real.differential.conversations import DEFINITIONS
from tests.real.differential.differences import VERSIONS_APART
from tests.real.differential.kinds import NUMBER, OWN, TEXT, definition, own, structure, thing
from tests.real.differential.steps import (
    Step,
    apply,
    case,
    condition,
    delete,
    get,
    gone,
    patch,
    post,
    put,
    quietly,
    status,
)

_NAME = "things.$ns.example.org"

_HERE = f"{DEFINITIONS}/{_NAME}"

_ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}

_GROUP = "$ns.example.org"


def _defined(schema: Any = None, **version: Any) -> Step:
    return post(DEFINITIONS, definition(_GROUP, "Thing", schema or {"type": "object"}, **version))


def _is_in_progress(answer: Answer) -> bool:
    return any(one["reason"] == "InstanceDeletionInProgress" for one in answer.at("status.conditions") or ())


_TWO_VERSIONS = [
    {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": structure(spec=structure(a=TEXT))}},
    {
        "name": "v2",
        "served": True,
        "storage": False,
        "schema": {"openAPIV3Schema": structure(spec=structure(a=TEXT, b={**NUMBER, "default": 3}))},
    },
]

_LOST = {"body.metadata.managedFields": VERSIONS_APART}

_V2 = "/apis/$ns.example.org/v2/namespaces/$ns/things"


CASES = (
    case(
        "a definition through its life",
        post(DEFINITIONS, definition(_GROUP, "Thing", structure(spec=structure(a=TEXT)))),
        get(_HERE, until=condition("Established", "True")),
        get(OWN, until=status(200)),
        get("/apis/$ns.example.org", until=status(200)),
        get("/apis/$ns.example.org/v1"),
        post(OWN, thing("a", spec={"a": "x"})),
        delete(_HERE),
        get(_HERE, until=gone),
        get(OWN, until=gone),
    ),
    case(
        "defaults of a definition",
        post(
            DEFINITIONS,
            {
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": {"name": _NAME},
                "spec": {
                    "group": _GROUP,
                    "scope": "Namespaced",
                    "names": {"plural": "things", "kind": "Thing"},
                    "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": _ANY}}],
                },
            },
        ),
    ),
    case(
        "two versions of one object",
        *own({"type": "object"}, spec={"versions": _TWO_VERSIONS}),
        get(_V2, until=status(200), is_shown=False),
        post(OWN, thing("a", spec={"a": "x", "b": 9})),
        get(f"{_V2}/a"),
        post(_V2, {**thing("b", spec={"a": "y"}), "apiVersion": "$ns.example.org/v2"}),
        get(f"{OWN}/b"),
        patch(f"{_V2}/a", {"spec": {"b": 7}}, differs=_LOST),
        get(f"{OWN}/a", differs=_LOST),
        get(_V2, differs={"body.items.0.metadata.managedFields": VERSIONS_APART}),
        post(OWN, {**thing("c"), "apiVersion": "$ns.example.org/v2"}),
    ),
    case(
        "applied in two versions",
        *own({"type": "object"}, spec={"versions": _TWO_VERSIONS}),
        get(_V2, until=status(200), is_shown=False),
        apply(f"{OWN}/a", thing("a", spec={"a": "x"})),
        apply(
            f"{_V2}/a",
            {**thing("a", spec={"a": "y", "b": 1}), "apiVersion": "$ns.example.org/v2"},
            differs={"answer": VERSIONS_APART},
        ),
    ),
    case(
        "versions that come and go",
        *own({"type": "object"}, spec={"versions": _TWO_VERSIONS}),
        *quietly(post(OWN, thing("a", spec={"a": "x"}))),
        patch(_HERE, {"spec": {"versions": [{**_TWO_VERSIONS[0], "served": False}, _TWO_VERSIONS[1]]}}, is_shown=False),
        get(OWN, until=gone),
        get(f"{_V2}/a"),
        patch(
            _HERE,
            {"spec": {"versions": [{**_TWO_VERSIONS[0], "storage": False}, {**_TWO_VERSIONS[1], "storage": True}]}},
            is_shown=False,
        ),
        get(_HERE, until=lambda answer: answer.at("status.storedVersions") == ["v1", "v2"]),
        patch(_HERE, {"spec": {"versions": [_TWO_VERSIONS[1] | {"storage": True}]}}),
        patch(f"{_HERE}/status", {"status": {"storedVersions": ["v2"]}}),
    ),
    case(
        "what stays of a definition",
        *own(structure(spec=_ANY)),
        patch(_HERE, {"spec": {"scope": "Cluster"}}),
        patch(_HERE, {"spec": {"group": "other.example.org"}}),
        patch(_HERE, {"spec": {"names": {"kind": "Other"}}}),
        patch(_HERE, {"spec": {"names": {"plural": "others"}}}),
        get(OWN),
    ),
    case(
        "names that are taken",
        *own(structure(spec=_ANY)),
        post(
            DEFINITIONS,
            {
                **definition(_GROUP, "Other", _ANY),
                "spec": {**definition(_GROUP, "Other", _ANY)["spec"], "names": {"plural": "others", "kind": "Thing"}},
            },
            is_shown=False,
        ),
        get(
            f"{DEFINITIONS}/others.$ns.example.org",
            until=condition("NamesAccepted", "False"),
            ignore=("body.metadata.managedFields",),
        ),
        delete(f"{DEFINITIONS}/others.$ns.example.org", is_shown=False),
    ),
    case(
        "deprecated versions warn",
        *own({"type": "object"}, deprecated=True),
        get(f"{OWN}/none"),
        post(OWN, thing("a")),
        get(OWN),
        delete(f"{OWN}/a"),
    ),
    case(
        "deprecated versions warn in their own words",
        *own({"type": "object"}, deprecated=True, deprecationWarning="use another"),
        get(f"{OWN}/none"),
        _defined(deprecationWarning="x"),
        _defined(deprecated=True, deprecationWarning=""),
    ),
    case(
        "a definition that goes takes its objects along",
        *own(structure(spec=_ANY)),
        *quietly(
            post(OWN, thing("a")), post(OWN, {**thing("b"), "metadata": {"name": "b", "finalizers": ["example.org/x"]}})
        ),
        delete(_HERE),
        get(f"{OWN}/a", until=gone),
        get(f"{OWN}/b", until=lambda answer: bool(answer.at("metadata.deletionTimestamp"))),
        post(OWN, thing("c")),
        get(_HERE, until=_is_in_progress, ignore=("body.metadata.managedFields",)),
        patch(f"{OWN}/b", {"metadata": {"finalizers": None}}, is_shown=False),
        get(_HERE, until=gone),
    ),
    case(
        "a schema that changes",
        *own(structure(spec=structure(a=TEXT, b=TEXT))),
        *quietly(post(OWN, thing("a", spec={"a": "x", "b": "y"}))),
        patch(
            _HERE,
            {
                "spec": {
                    "versions": [
                        {
                            "name": "v1",
                            "served": True,
                            "storage": True,
                            "schema": {
                                "openAPIV3Schema": structure(spec=structure(a=TEXT, c={**NUMBER, "default": 5}))
                            },
                        }
                    ]
                }
            },
            is_shown=False,
        ),
        get(f"{OWN}/a", until=lambda answer: answer.at("spec.c") == 5),
        patch(f"{OWN}/a", {"spec": {"a": "z"}}),
    ),
    case(
        "the status of a definition",
        *own(structure(spec=_ANY)),
        get(f"{_HERE}/status", is_shown=False),
        patch(_HERE, {"status": {"storedVersions": ["v9"]}}, is_shown=False),
        get(_HERE),
        put(f"{_HERE}/status", {**definition(_GROUP, "Thing", _ANY), "metadata": {"name": _NAME}}),
    ),
    case(
        "a kind for the whole cluster",
        *quietly(
            _defined(structure(spec=_ANY), spec={"scope": "Cluster"}),
            get("/apis/$ns.example.org/v1/things", until=status(200)),
        ),
        post("/apis/$ns.example.org/v1/things", thing("a")),
        get("/apis/$ns.example.org/v1/things"),
        post(OWN, thing("b")),
        get(OWN),
        get("/apis/$ns.example.org/v1/things/a"),
        post("/apis/$ns.example.org/v1/things", {**thing("c"), "metadata": {"name": "c", "namespace": "$ns"}}),
        delete("/apis/$ns.example.org/v1/things"),
    ),
)
