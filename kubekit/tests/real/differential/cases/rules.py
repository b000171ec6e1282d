"""CEL rules of custom kinds: when they hold, what they say, and what they cannot be."""

from __future__ import annotations

from typing import Any

from tests.real.differential.conversations import DEFINITIONS
from tests.real.differential.kinds import NUMBER, OWN, TEXT, definition, own, structure, thing
from tests.real.differential.steps import Step, case, get, has, patch, post, put, quietly


def _ruled(*rules: dict[str, Any] | str, **properties: Any) -> dict[str, Any]:
    """A schema whose spec has these properties and rules."""
    given = [rule if isinstance(rule, dict) else {"rule": rule} for rule in rules]
    return structure(spec={**structure(**properties), "x-kubernetes-validations": given})


def _thing(name: str = "a", /, **spec: Any) -> Step:
    return post(OWN, thing(name, spec=spec))


def _change(**spec: Any) -> Step:
    return patch(f"{OWN}/a", {"spec": spec})


def _refused(*rules: dict[str, Any] | str, **properties: Any) -> Step:
    return post(DEFINITIONS, definition("$ns.example.org", "Thing", _ruled(*rules, **properties)))


_LIST = {"type": "array", "maxItems": 10, "items": {**TEXT, "maxLength": 20}}
_MAP = {"type": "object", "maxProperties": 10, "additionalProperties": {**TEXT, "maxLength": 20}}
_SHORT = {**TEXT, "maxLength": 50}

CASES = (
    case(
        "a rule over two fields",
        *own(_ruled("self.a <= self.b", a=NUMBER, b=NUMBER)),
        _thing(a=2, b=1),
        _thing(a=1, b=1),
        _thing("x", a=1),
        _change(a=5),
    ),
    case(
        "messages, reasons and places",
        *own(
            _ruled(
                {
                    "rule": "self.a < 10",
                    "message": "a is too large",
                    "reason": "FieldValueForbidden",
                    "fieldPath": ".a",
                },
                {"rule": "self.a > 0", "messageExpression": "'a is ' + (self.a > -5 ? 'low' : 'very low')"},
                {"rule": "self.a != 5", "reason": "FieldValueDuplicate"},
                a=NUMBER,
            )
        ),
        _thing(a=11),
        _thing(a=0),
        _thing(a=5),
    ),
    case(
        "a message that cannot be made",
        *own(
            _ruled(
                {"rule": "self.a > 0", "messageExpression": "string(1 / self.a)"},
                {"rule": "self.a > 1", "messageExpression": "''", "message": "instead"},
                a=NUMBER,
            )
        ),
        _thing(a=0),
        _thing(a=1),
    ),
    case(
        "a rule that fails to evaluate",
        *own(_ruled("10 / self.a > 1", "self.l[5] == 'x'", a=NUMBER, l=_LIST)),
        _thing(a=0, l=["x"]),
        _thing(a=1, l=[]),
    ),
    case(
        "transition rules",
        *own(_ruled("self.a >= oldSelf.a", {"rule": "self.b == oldSelf.b", "message": "b stays"}, a=NUMBER, b=_SHORT)),
        _thing(a=3, b="x"),
        _change(a=2),
        _change(a=4),
        _change(b="y"),
        _change(b=None),
    ),
    case(
        "transition rules with an optional old value",
        *own(
            _ruled(
                {"rule": "oldSelf.hasValue() || self.a == 1", "optionalOldSelf": True, "message": "starts at one"},
                a=NUMBER,
            )
        ),
        _thing(a=2),
        _thing(a=1),
        _change(a=2),
    ),
    case(
        "rules on a field, an item and a value",
        *own(
            structure(
                spec=structure(
                    a={**NUMBER, "x-kubernetes-validations": [{"rule": "self % 2 == 0"}]},
                    l={**_LIST, "items": {**_SHORT, "x-kubernetes-validations": [{"rule": "self.startsWith('x')"}]}},
                    m={
                        **_MAP,
                        "additionalProperties": {**_SHORT, "x-kubernetes-validations": [{"rule": "size(self) > 1"}]},
                    },
                )
            )
        ),
        _thing(a=1),
        _thing(l=["x1", "y2"]),
        _thing(m={"k": "v", "o": "vv"}),
        _thing(a=2, l=["x"], m={"k": "vv"}),
    ),
    case(
        "transition rules in a list that is a map",
        *own(
            structure(
                spec=structure(
                    l={
                        "type": "array",
                        "maxItems": 5,
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["k"],
                        "items": {
                            **structure(("k",), k=_SHORT, v=NUMBER),
                            "x-kubernetes-validations": [{"rule": "self.v >= oldSelf.v", "message": "only up"}],
                        },
                    }
                )
            )
        ),
        _thing(l=[{"k": "a", "v": 1}, {"k": "b", "v": 5}]),
        _change(l=[{"k": "b", "v": 4}, {"k": "a", "v": 1}]),
        _change(l=[{"k": "b", "v": 6}, {"k": "c", "v": 0}]),
    ),
    case(
        "optional fields",
        *own(_ruled("!has(self.a) || self.a > 3", "self.?b.orValue(7) > 5", a=NUMBER, b=NUMBER)),
        _thing(),
        _thing("x", a=1),
        _thing("y", b=1),
    ),
    case(
        "the root rule sees the name",
        *own(
            {
                **structure(spec=structure(a=NUMBER)),
                "x-kubernetes-validations": [{"rule": "self.metadata.name.startsWith('a')", "message": "wrong name"}],
            }
        ),
        _thing("b"),
        _thing("a"),
    ),
    case(
        "functions",
        *own(
            _ruled(
                "self.s.matches('^[a-z]+$')",
                "self.s.lowerAscii() == self.s",
                "self.l.all(x, x in ['a', 'b'])",
                "self.l.exists_one(x, x == 'a')",
                "isQuantity(self.q) && quantity(self.q).isLessThan(quantity('2Gi'))",
                "duration(self.d) < duration('1h')",
                "isIP(self.i)",
                "url(self.u).getScheme() == 'https'",
                "self.s.split('x').size() == 1",
                s=_SHORT,
                l=_LIST,
                q=_SHORT,
                d={**_SHORT, "format": "duration"},
                i=_SHORT,
                u=_SHORT,
            )
        ),
        _thing(s="ok", l=["a"], q="1Gi", d="30m", i="10.0.0.1", u="https://x"),
        _thing("b", s="Ox1", l=["a", "a", "c"], q="3Gi", d="2h", i="x", u="http://x"),
    ),
    case(
        "ratcheting leaves old values be",
        *own(_ruled(a=NUMBER, b=NUMBER, s=_SHORT), subresources={"status": {}}),
        _thing(a=50, b=1, s="long enough"),
        get(f"{DEFINITIONS}/things.$ns.example.org", save="crd", is_shown=False),
        put(
            f"{DEFINITIONS}/things.$ns.example.org",
            {
                **definition(
                    "$ns.example.org",
                    "Thing",
                    _ruled("self.b < 10", a={**NUMBER, "maximum": 10}, b=NUMBER, s={**_SHORT, "maxLength": 3}),
                    subresources={"status": {}},
                ),
                "metadata": {"name": "things.$ns.example.org", "resourceVersion": "${crd.metadata.resourceVersion}"},
            },
            is_shown=False,
        ),
        patch(f"{OWN}/a?dryRun=All", {"spec": {"a": 51}}, until=lambda answer: answer.status == 422),
        _change(b=2),
        _change(a=49),
        _change(s="other text"),
        _change(b=11),
        _change(a=5, s="abc"),
    ),
    case(
        "a rule that does not compile",
        _refused("self.a >", a=NUMBER),
        _refused("self.none > 1", a=NUMBER),
        _refused("self.a == 'x'", a=NUMBER),
        _refused("self.a", a=NUMBER),
        _refused("nothing()", a=NUMBER),
        _refused("", a=NUMBER),
        _refused("true\nor false", a=NUMBER),
    ),
    case(
        "a rule with a bad message",
        _refused({"rule": "true", "message": ""}, a=NUMBER),
        _refused({"rule": "true", "message": "two\nlines"}, a=NUMBER),
        _refused({"rule": "true", "messageExpression": "1"}, a=NUMBER),
        _refused({"rule": "true", "messageExpression": "'x' +"}, a=NUMBER),
        _refused({"rule": "true", "reason": "Nonsense"}, a=NUMBER),
        _refused({"rule": "true", "fieldPath": ".none"}, a=NUMBER),
        _refused({"rule": "true", "fieldPath": "a"}, a=NUMBER),
        _refused({"rule": "true", "message": "x" * 2049}, a=NUMBER),
    ),
    case(
        "old values where there are none",
        post(
            DEFINITIONS,
            definition(
                "$ns.example.org",
                "Thing",
                structure(
                    spec=structure(
                        l={**_LIST, "items": {**_SHORT, "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}}
                    )
                ),
            ),
        ),
        _refused({"rule": "true", "optionalOldSelf": True}, a=NUMBER),
    ),
    case(
        "rules run on the status too",
        *own(
            {
                **structure(
                    spec=structure(a=NUMBER),
                    status=structure(b={**NUMBER, "x-kubernetes-validations": [{"rule": "self < 5"}]}),
                ),
                "x-kubernetes-validations": [
                    {
                        "rule": "!has(self.status) || !has(self.status.b) || self.status.b <= self.spec.a",
                        "message": "status beyond spec",
                    }
                ],
            },
            subresources={"status": {}},
        ),
        _thing(a=2),
        patch(f"{OWN}/a/status", {"status": {"b": 6}}),
        patch(f"{OWN}/a/status", {"status": {"b": 3}}),
        patch(f"{OWN}/a/status", {"status": {"b": 1}}),
        _change(a=0),
    ),
    case(
        "many rules fail in order",
        *own(
            _ruled(
                {"rule": "self.a > 10", "message": "one"},
                {"rule": "self.a > 20", "message": "two"},
                {"rule": "self.a > 30", "message": "three"},
                a=NUMBER,
            )
        ),
        _thing(a=1),
        _thing(a=25),
    ),
    case(
        "rules wait for the schema",
        *own(_ruled("self.a > 10", a={**NUMBER, "maximum": 5}, b=TEXT)),
        _thing(a=7),
        _thing(a=1),
        _thing(a="x"),
        _thing(a=1, b=5),
    ),
    case(
        "names that must be escaped",
        *own(
            structure(
                spec={
                    **structure(**{"a-b": NUMBER, "namespace": NUMBER, "x.y": NUMBER, "_": NUMBER}),
                    "x-kubernetes-validations": [
                        {"rule": "self.a__dash__b > 0"},
                        {"rule": "self.__namespace__ > 0"},
                        {"rule": "self.x__dot__y > 0"},
                    ],
                }
            )
        ),
        _thing("a", **{"a-b": 1, "namespace": 0, "x.y": 1}),
        _thing("a", **{"a-b": 0, "namespace": 1, "x.y": 0}),
    ),
    case(
        "rules see numbers or texts, and unknown fields",
        *own(
            _ruled(
                "type(self.n) == int ? self.n < 10 : self.n == '5%'",
                n={"x-kubernetes-int-or-string": True, "maxLength": 10},
            )
        ),
        _thing(n=5),
        _thing("b", n=50),
        _thing("c", n="5%"),
        _thing("d", n="6%"),
    ),
    case(
        "update through the status keeps transition rules",
        *own(_ruled("self.a == oldSelf.a", a=NUMBER), subresources={"status": {}}),
        *quietly(_thing(a=1)),
        _change(a=2),
        patch(f"{OWN}/a/status", {"metadata": {"labels": {"x": "y"}}}),
        get(f"{OWN}/a", until=has("spec.a", 1)),
    ),
)
