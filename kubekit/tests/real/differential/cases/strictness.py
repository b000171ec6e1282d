"""Fields nobody knows, and fields said twice: refused, warned of, or ignored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.real.differential.differences import SHOWN
from tests.real.differential.kinds import GROUP, WIDGETS, widget
from tests.real.differential.steps import (
    APPLY,
    JSON_PATCH,
    STRATEGIC_PATCH,
    YAML,
    Step,
    apply,
    blamed,
    case,
    patch,
    post,
    put,
    quietly,
)
from tests.real.differential.vocabulary import DEPLOYMENTS, MAPS, config_map, container, deployment, template

_LEVELS = ("Strict", "Warn", "Ignore")
_UNKNOWN_MAP = config_map("a", {"nonsense": 1}, data={"k": "v"}, dato={"x": "y"})
_UNKNOWN_DEPLOYMENT = deployment(
    "a",
    replica=3,
    template={**template(), "spec": {"containers": [container(img="x", ports=[{"port": 1}])], "nonsense": {}}},
)
_UNKNOWN_WIDGET = widget(
    "a",
    {"nonsense": 1},
    spec={"colour": "red", "unknown": 1, "ports": [{"name": "x", "nr": 1}], "nested": {"deep": 1}},
    other=2,
)
_TWICE_MAP = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","name":"a"},"data":{"k":"1","k":"2"}}'
_TWICE_WIDGET = (
    f'{{"apiVersion":"{GROUP}/v1","kind":"Widget","metadata":{{"name":"a","name":"a"}},"spec":{{"size":3,"size":4}}}}'
)
_TWICE_YAML = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: one\n  k: two\n"


def _each(path: str, body: Any, **more: Any) -> tuple[Step, ...]:
    """At every level, the strict one first."""
    return tuple(post(f"{path}?dryRun=All&fieldValidation={level}", body, **more) for level in _LEVELS)


def _patches(path: str, body: Any, kind: str, strict: Any = None) -> tuple[Step, ...]:
    first, *others = (patch(f"{path}?dryRun=All&fieldValidation={level}", body, kind) for level in _LEVELS)
    return (replace(first, differs=strict or {}), *others)


_MIXED = {"strict": SHOWN}


CASES = (
    case("unknown fields of a built-in kind", *_each(MAPS, _UNKNOWN_MAP)),
    case("unknown fields deep inside", *_each(DEPLOYMENTS, _UNKNOWN_DEPLOYMENT)),
    case("unknown fields of a custom kind", *_each(WIDGETS, _UNKNOWN_WIDGET)),
    case("fields said twice", *_each(MAPS, _TWICE_MAP)),
    case("fields said twice, of a custom kind", *_each(WIDGETS, _TWICE_WIDGET)),
    case("fields said twice in YAML", *_each(MAPS, _TWICE_YAML, content_type=YAML)),
    case(
        "fields said twice in YAML, of a custom kind",
        *_each(
            WIDGETS,
            f"apiVersion: {GROUP}/v1\nkind: Widget\nmetadata: {{name: a}}\nspec:\n  size: 1\n  size: 2\n  zzz: 1\n",
            content_type=YAML,
        ),
    ),
    case(
        "fields in other letters",
        *_each(MAPS, config_map("a", Data={"k": "v"})),
        *_each(WIDGETS, widget("a", spec={"Colour": "red"})),
    ),
    case("without a level", post(f"{MAPS}?dryRun=All", _UNKNOWN_MAP), post(f"{WIDGETS}?dryRun=All", _UNKNOWN_WIDGET)),
    case(
        "an update",
        *quietly(post(MAPS, config_map("a"))),
        *[put(f"{MAPS}/a?fieldValidation={level}", _UNKNOWN_MAP) for level in _LEVELS],
    ),
    case(
        "an update of a custom object",
        *quietly(post(WIDGETS, widget("a"), save="a")),
        *[
            put(
                f"{WIDGETS}/a?dryRun=All&fieldValidation={level}",
                {**_UNKNOWN_WIDGET, "metadata": {"name": "a", "resourceVersion": "${a.metadata.resourceVersion}"}},
            )
            for level in _LEVELS
        ],
    ),
    case(
        "merge patches",
        *quietly(post(MAPS, config_map("a")), post(WIDGETS, widget("a"))),
        *_patches(f"{MAPS}/a", {"dato": 1, "metadata": {"nonsense": 2}}, "application/merge-patch+json"),
        *_patches(f"{WIDGETS}/a", {"spec": {"unknown": 1}}, "application/merge-patch+json"),
        *_patches(f"{MAPS}/a", '{"data":{"k":"1","k":"2"}}', "application/merge-patch+json", **_MIXED),
    ),
    case(
        "JSON patches",
        *quietly(post(MAPS, config_map("a")), post(WIDGETS, widget("a"))),
        *_patches(f"{MAPS}/a", [{"op": "add", "path": "/dato", "value": 1}], JSON_PATCH, **_MIXED),
        *_patches(f"{WIDGETS}/a", [{"op": "add", "path": "/spec/unknown", "value": 1}], JSON_PATCH),
        *_patches(f"{MAPS}/a", [{"op": "add", "path": "/metadata/labels", "value": {}, "unknown": 1}], JSON_PATCH),
    ),
    case(
        "strategic patches",
        *quietly(post(DEPLOYMENTS, deployment("a"))),
        *_patches(
            f"{DEPLOYMENTS}/a",
            {"spec": {"unknown": 1, "template": {"spec": {"containers": [{"name": "main", "img": 1}]}}}},
            STRATEGIC_PATCH,
        ),
    ),
    case(
        "apply",
        *blamed(
            *[
                apply(
                    f"{WIDGETS}/a",
                    widget("a", spec={"colour": "red"}, other=2),
                    options=f"dryRun=All&fieldValidation={level}",
                )
                for level in _LEVELS
            ],
            *[
                apply(f"{MAPS}/a", config_map("a", dato=1), options=f"dryRun=All&fieldValidation={level}")
                for level in _LEVELS
            ],
        ),
    ),
    case(
        "apply with fields said twice",
        *[
            patch(f"{MAPS}/a?fieldManager=m&dryRun=All&fieldValidation={level}", _TWICE_YAML, APPLY)
            for level in _LEVELS
        ],
        *[
            patch(
                f"{WIDGETS}/a?fieldManager=m&dryRun=All&fieldValidation={level}",
                f"apiVersion: {GROUP}/v1\nkind: Widget\nmetadata: {{name: a}}\nspec:\n  size: 1\n  size: 2\n",
                APPLY,
            )
            for level in _LEVELS
        ],
    ),
    case(
        "many unknown fields", *_each(MAPS, {**config_map("a"), **{f"unknown{number:02}": 1 for number in range(30)}})
    ),
    case(
        "unknown fields and a problem",
        *_each(MAPS, config_map("A", dato=1)),
        *_each(WIDGETS, widget("a", spec={"colour": "pink", "unknown": 1})),
    ),
    case(
        "a status with unknown fields",
        *quietly(post(WIDGETS, widget("a"), save="a")),
        *[
            put(
                f"{WIDGETS}/a/status?dryRun=All&fieldValidation={level}",
                widget("a", {"resourceVersion": "${a.metadata.resourceVersion}"}, status={"unknown": 1}),
            )
            for level in _LEVELS
        ],
    ),
)
