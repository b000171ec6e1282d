"""Kinds of our own that many cases use, and how a case defines others."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.real.differential.conversations import DEFINITIONS
from tests.real.differential.sides import Side
from tests.real.differential.steps import JSON, Step, get, post, status

Json = dict[str, Any]
GROUP = "differential.example.org"
WIDGETS = f"/apis/{GROUP}/v1/namespaces/$ns/widgets"
GADGETS = f"/apis/{GROUP}/v1/namespaces/$ns/gadgets"

TEXT, NUMBER, FLAG = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}


def structure(required: tuple[str, ...] = (), /, **properties: Json) -> Json:
    made: Json = {"type": "object", "properties": properties}
    return {**made, "required": list(required)} if required else made


def definition(group: str, kind: str, schema: Json, **version: Any) -> Json:
    """A namespaced kind with one version; `version` are further fields of it, `spec` of the whole."""
    plural, more = f"{kind.lower()}s", version.pop("spec", {})
    one = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **version}
    names = {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "names": names, "scope": "Namespaced", "versions": [one], **more},
    }


def own(schema: Json, kind: str = "Thing", **version: Any) -> tuple[Step, ...]:
    """Define a kind for one case alone, and wait until it is served at `OWN`."""
    made = definition("$ns.example.org", kind, schema, **version)
    return (post(DEFINITIONS, made, is_shown=False), get(OWN, until=status(200), is_shown=False))


OWN = "/apis/$ns.example.org/v1/namespaces/$ns/things"


def thing(name: str, **fields: Any) -> Json:
    return {"apiVersion": "$ns.example.org/v1", "kind": "Thing", "metadata": {"name": name}, **fields}


def widget(name: str, meta: Json | None = None, **fields: Any) -> Json:
    metadata = {"name": name, **(meta or {})}
    return {"apiVersion": f"{GROUP}/v1", "kind": "Widget", "metadata": metadata, **fields}


def gadget(name: str, meta: Json | None = None, **fields: Any) -> Json:
    return {**widget(name, meta, **fields), "kind": "Gadget"}


_PORTS = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name", "protocol"],
    "items": structure(
        ("name",), name=TEXT, protocol={**TEXT, "default": "TCP"}, number={**NUMBER, "maximum": 65535}, note=TEXT
    ),
}
_WIDGET_SPEC = structure(
    size={**NUMBER, "minimum": 1, "maximum": 100, "default": 3},
    colour={**TEXT, "enum": ["red", "green", "blue"]},
    name={**TEXT, "minLength": 2, "maxLength": 10, "pattern": "^[a-z]+$"},
    replicas=NUMBER,
    ports=_PORTS,
    tags={"type": "array", "x-kubernetes-list-type": "set", "items": TEXT},
    steps={"type": "array", "items": structure(do=TEXT, times=NUMBER)},
    fixed={"type": "array", "x-kubernetes-list-type": "atomic", "items": TEXT},
    labels={"type": "object", "additionalProperties": TEXT},
    whole={**structure(one=TEXT, two=TEXT), "x-kubernetes-map-type": "atomic"},
    free={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    amount={"x-kubernetes-int-or-string": True},
    maybe={**TEXT, "nullable": True},
    nested=structure(mode={**TEXT, "default": "auto"}, depth={**NUMBER, "default": 1}, on=FLAG),
    when={**TEXT, "format": "date-time"},
    ratio={"type": "number", "minimum": 0, "exclusiveMinimum": True, "multipleOf": 0.5},
)
_WIDGET_STATUS = structure(
    phase=TEXT,
    replicas=NUMBER,
    selector=TEXT,
    conditions={
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "items": structure(("type", "status"), type=TEXT, status=TEXT, reason=TEXT, message=TEXT),
    },
)
_SCALE = {
    "specReplicasPath": ".spec.replicas",
    "statusReplicasPath": ".status.replicas",
    "labelSelectorPath": ".status.selector",
}
_COLUMNS = [
    {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "description": "How big it is."},
    {"name": "Colour", "type": "string", "jsonPath": ".spec.colour", "priority": 1},
    {"name": "Ready", "type": "string", "jsonPath": '.status.conditions[?(@.type=="Ready")].status'},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
]
WIDGET = definition(
    GROUP,
    "Widget",
    structure(spec=_WIDGET_SPEC, status=_WIDGET_STATUS),
    subresources={"status": {}, "scale": _SCALE},
    additionalPrinterColumns=_COLUMNS,
    selectableFields=[{"jsonPath": ".spec.colour"}],
)
"""With everything that a schema can ask for, status and scale."""

GADGET = definition(GROUP, "Gadget", {"type": "object", "x-kubernetes-preserve-unknown-fields": True})
"""Without a schema, status or scale."""


async def define(side: Side) -> None:
    """The kinds that cases share."""
    for one in (WIDGET, GADGET):
        await side.send(Step("POST", DEFINITIONS, one, {"Content-Type": JSON}))
        plural = one["spec"]["names"]["plural"]
        listing = Step("GET", f"/apis/{GROUP}/v1/{plural}")
        answer = await side.send(listing)
        while answer.status != 200:
            await asyncio.sleep(0.1)
            answer = await side.send(listing)
