"""Schemas of custom kinds: what they refuse, fill in and leave out."""

from __future__ import annotations

from typing import Any

from tests.real.differential.kinds import GADGETS, OWN, WIDGETS, gadget, own, structure, thing, widget
from tests.real.differential.steps import JSON_PATCH, Step, case, get, patch, post, put, quietly


def _widget(**spec: Any) -> Step:
    return post(f"{WIDGETS}?dryRun=All", widget("a", spec=spec))


def _spec(schema: dict[str, Any]) -> tuple[Step, ...]:
    return own(structure(spec=schema))


def _thing(spec: Any, name: str = "a") -> Step:
    return post(OWN, thing(name, spec=spec))


_ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_TEXT = {"type": "string"}
_FORMATS = (
    "date", "email", "ipv4", "ipv6", "cidr", "uuid", "byte", "uri", "hostname", "mac", "duration", "password"
)  # fmt: skip

CASES = (
    case(
        "defaults",
        post(WIDGETS, widget("a", spec={})),
        post(WIDGETS, widget("b")),
        post(WIDGETS, widget("c", spec={"nested": {}, "ports": [{"name": "x"}]})),
        get(f"{WIDGETS}/c"),
    ),
    case(
        "defaults do not replace null where it may stand",
        _widget(size=None),
        _widget(maybe=None),
        _widget(nested=None),
        _widget(colour=None),
    ),
    case(
        "numbers",
        _widget(size=0),
        _widget(size=101),
        _widget(size="3"),
        _widget(size=1.5),
        _widget(size=3.0),
        _widget(ratio=0),
        _widget(ratio=0.75),
        _widget(ratio=1.5),
        _widget(ratio=-1),
    ),
    case(
        "texts",
        _widget(name="a"),
        _widget(name="a" * 11),
        _widget(name="UPPER"),
        _widget(name=5),
        _widget(colour="pink"),
        _widget(when="yesterday"),
        _widget(when="2020-01-01T00:00:00Z"),
        _widget(name="é" * 11),
    ),
    case(
        "lists as sets and maps",
        _widget(tags=["a", "a"]),
        _widget(ports=[{"name": "x"}, {"name": "x"}]),
        _widget(ports=[{"name": "x"}, {"name": "x", "protocol": "UDP"}]),
        _widget(ports=[{}]),
        _widget(ports="x"),
        _widget(ports=[3]),
        _widget(ports=[None]),
    ),
    case(
        "maps",
        _widget(labels={"a": 1}),
        _widget(labels={"a": None}),
        _widget(labels=[]),
        _widget(free={"a": {"b": [1, None]}}),
        _widget(free=3),
    ),
    case(
        "numbers or texts",
        _widget(amount=5),
        _widget(amount="5%"),
        _widget(amount=True),
        _widget(amount=5.5),
        _widget(amount=None),
    ),
    case(
        "unknown fields go",
        post(
            WIDGETS,
            widget(
                "a",
                spec={"colour": "red", "unknown": 1, "nested": {"unknown": {}}, "ports": [{"name": "x", "unknown": 1}]},
                unknown=3,
            ),
        ),
        get(f"{WIDGETS}/a"),
    ),
    case(
        "unknown fields stay without a schema",
        post(GADGETS, gadget("a", spec={"any": {"thing": 1}}, status={"x": 1})),
        patch(f"{GADGETS}/a", {"status": {"x": 2}}),
    ),
    case(
        "several problems at once",
        _widget(size=0, ratio=-1),
        _widget(ports=[{"name": "x", "number": 70000}, {"name": "y", "number": 80000}]),
    ),
    case(
        "required fields",
        *_spec({**structure(("a", "b"), a=_TEXT, b=_TEXT)}),
        _thing({}),
        _thing({"a": "x"}),
        _thing(None),
        post(OWN, thing("c")),
    ),
    case(
        "lengths of lists and maps",
        *_spec(
            structure(
                l={"type": "array", "minItems": 1, "maxItems": 2, "items": _TEXT},
                m={"type": "object", "minProperties": 1, "maxProperties": 2, "additionalProperties": _TEXT},
            )
        ),
        _thing({"l": []}),
        _thing({"l": ["a", "b", "c"]}),
        _thing({"m": {}}),
        _thing({"m": {"a": "", "b": "", "c": ""}}),
    ),
    case(
        "all of, any of, one of, not",
        *_spec(
            {
                **structure(a={"type": "integer"}, b={"type": "integer"}),
                "allOf": [{"properties": {"a": {"minimum": 2}}}],
                "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
                "not": {"required": ["a", "b"]},
            }
        ),
        _thing({}),
        _thing({"a": 1}),
        _thing({"a": 3, "b": 1}),
        _thing({"b": 1}, "b"),
    ),
    case(
        "exactly one of",
        *_spec({**structure(a=_TEXT, b=_TEXT), "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}),
        _thing({}),
        _thing({"a": "", "b": ""}),
        _thing({"a": "x"}),
    ),
    case(
        "formats",
        *_spec(structure(**{name.replace("-", ""): {"type": "string", "format": name} for name in _FORMATS})),
        *[_thing({name: "n ope"}) for name in _FORMATS],
    ),
    case(
        "formats of numbers",
        *_spec(
            structure(
                i={"type": "integer", "format": "int32"},
                l={"type": "integer", "format": "int64"},
                f={"type": "number", "format": "float"},
                d={"type": "number", "format": "double"},
            )
        ),
        _thing({"i": 2**31}),
        _thing({"i": -(2**31) - 1}),
        _thing({"l": 2**63}),
        _thing({"f": 1e39}),
        _thing({"i": 1, "l": 2**62, "f": 1.5, "d": 1e300}),
    ),
    case(
        "enumerations of other types",
        *_spec(
            structure(
                n={"type": "integer", "enum": [1, 2]},
                o={"type": "object", "enum": [{"a": 1}], "x-kubernetes-preserve-unknown-fields": True},
                t={"type": "string", "nullable": True, "enum": ["x", None]},
            )
        ),
        _thing({"n": 3}),
        _thing({"o": {"a": 2}}),
        _thing({"t": "y"}),
        _thing({"t": None}),
        _thing({"n": 1, "o": {"a": 1}}, "b"),
    ),
    case(
        "objects inside objects",
        *_spec(structure(embedded={**_ANY, "x-kubernetes-embedded-resource": True})),
        _thing({"embedded": {}}),
        _thing({"embedded": {"apiVersion": "v1", "kind": "X", "metadata": {"name": "A_B", "unknown": 1}}}),
        _thing({"embedded": {"apiVersion": "v1", "kind": "X", "metadata": {"name": "ok", "labels": {"a": 1}}}}),
        _thing({"embedded": {"apiVersion": "v1", "kind": "Con_fig", "spec": {"any": 1}}}),
        _thing({"embedded": {"apiVersion": "a/b/c", "kind": "X"}}),
    ),
    case(
        "metadata with a schema",
        *own({**structure(spec=_ANY, metadata=structure(name={"type": "string", "maxLength": 3, "pattern": "^a"}))}),
        post(OWN, thing("abcd", spec={})),
        post(OWN, thing("b")),
        post(OWN, thing("ab")),
    ),
    case(
        "multiples and exclusive bounds",
        *_spec(
            structure(
                m={"type": "integer", "multipleOf": 5},
                x={"type": "integer", "maximum": 10, "exclusiveMaximum": True},
                y={"type": "number", "minimum": 1.5, "exclusiveMinimum": True},
            )
        ),
        _thing({"m": 7}),
        _thing({"x": 10}),
        _thing({"y": 1.5}),
        _thing({"m": 10, "x": 9, "y": 1.6}),
    ),
    case(
        "defaults deep inside",
        *_spec(
            {
                **structure(
                    a={
                        **structure(
                            b={**_TEXT, "default": "x"},
                            c={"type": "array", "items": structure(d={"type": "integer", "default": 4})},
                        ),
                        "default": {},
                    },
                    e={"type": "object", "additionalProperties": structure(f={"type": "boolean", "default": True})},
                ),
                "default": {"e": {"k": {}}},
            }
        ),
        post(OWN, thing("a")),
        _thing({}, "b"),
        _thing({"a": {"c": [{}, {"d": 5}]}, "e": {"x": {}}}, "c"),
        _thing({"a": None}, "d"),
    ),
    case(
        "preserved islands in a pruned sea",
        *_spec(
            structure(
                a={**structure(known=structure(x=_TEXT)), "x-kubernetes-preserve-unknown-fields": True},
                l={"type": "array", "items": _ANY},
            )
        ),
        _thing({"a": {"other": 1, "known": {"x": "y", "z": 1}}, "l": [{"q": 1}], "gone": 1}),
        get(f"{OWN}/a"),
    ),
    case(
        "an invalid object stays when it is not touched",
        *quietly(post(WIDGETS, widget("a", spec={"colour": "red"}), save="a")),
        put(
            f"{WIDGETS}/a", widget("a", {"resourceVersion": "${a.metadata.resourceVersion}"}, spec={"colour": "mauve"})
        ),
        patch(f"{WIDGETS}/a", [{"op": "add", "path": "/spec/size", "value": 500}], JSON_PATCH),
    ),
    case(
        "values nobody expects",
        _widget(name="\u0000"),
        _widget(labels={"\u2028": "<&>"}),
        _widget(colour='quo"te'),
        _widget(free={"big": 12345678901234567890}),
        _widget(free={"float": 1e100, "exact": 0.1}),
    ),
)
