"""What CEL rules may cost: by estimate when a kind is defined, and in truth when an object is judged."""

from __future__ import annotations

from typing import Any

from tests.real.differential.conversations import DEFINITIONS
from tests.real.differential.differences import LONG_EXPRESSION
from tests.real.differential.kinds import NUMBER, OWN, TEXT, definition, own, structure, thing
from tests.real.differential.steps import Step, case, post


def _ruled(schema: dict[str, Any], *rules: dict[str, Any] | str) -> dict[str, Any]:
    given = [rule if isinstance(rule, dict) else {"rule": rule} for rule in rules]
    return {**schema, "x-kubernetes-validations": given}


def _defined(schema: dict[str, Any], **how: Any) -> Step:
    """Whether a kind may have this schema of its spec; it is not kept."""
    made = definition("$ns.example.org", "Thing", structure(spec=schema))
    return post(f"{DEFINITIONS}?dryRun=All", made, **how)


def _list(items: dict[str, Any], most: int | None = None) -> dict[str, Any]:
    return {"type": "array", "items": items} | ({} if most is None else {"maxItems": most})


def _map(values: dict[str, Any], most: int | None = None) -> dict[str, Any]:
    made = {"type": "object", "additionalProperties": values}
    return made | ({} if most is None else {"maxProperties": most})


def _text(longest: int) -> dict[str, Any]:
    return {**TEXT, "maxLength": longest}


_ITEM = structure(("k",), k=_text(30), v=NUMBER, l=_list(_text(30), 20))
_OPEN = structure(t=TEXT, l=_list(TEXT), m=_map(TEXT), o=_list(structure(("k",), k=TEXT, v=NUMBER)), n=_list(NUMBER))

CASES = (
    case(
        "rules on data without limits",
        *(
            _defined(_ruled(_OPEN, rule))
            for rule in (
                "self.t == 'a'",
                "self.t.contains('abc')",
                "self.t.matches('^[a-z]+$')",
                "self.t.matches(self.t)",
                "self.l.all(x, x == 'a')",
                "self.l.all(x, x.contains('abc'))",
                "self.l.all(x, self.l.all(y, x == y))",
                "self.m.all(k, self.m[k] == 'a')",
                "self.m.all(k, self.m[k].matches('a'))",
                "self.o.all(x, x.v > 1)",
                "self.o.all(x, self.o.exists_one(y, y.v == x.v))",
                "self.n.sum() > 1",
                "self.n.sort() == self.n",
                "self.l.join(',') == 'a'",
                "self.t.replace('a', 'b').split(',').all(x, x.size() > 1)",
                "sets.contains(self.l, ['a'])",
                "self == oldSelf",
            )
        ),
    ),
    case(
        "rules that become too dear with the size of the data",
        *(
            _defined(_ruled(structure(l=_list(_text(30), most)), "self.l.all(x, self.l.all(y, x == y))"))
            for most in (100, 600, 900)
        ),
        *(
            _defined(_ruled(structure(t=_text(most)), "self.t.matches(self.t)"))
            for most in (1_000, 5_000, 10_000, 60_000)
        ),
        *(
            _defined(_ruled(structure(l=_list(_ITEM, most)), "self.l.all(x, x.l.all(y, y != x.k))"))
            for most in (100, 3_000, 30_000)
        ),
    ),
    case(
        "rules within lists and maps",
        *(_defined(_list(_ruled(structure(a=NUMBER), "self.a > 1"), most)) for most in (10, 10_000_000, None)),
        *(_defined(_map(_ruled(TEXT, "self.startsWith('a')"), most)) for most in (10, 10_000_000, None)),
        _defined(_list(_list(_ruled(structure(a=NUMBER), "self.a > 1"), 1_000), 5_000)),
        _defined(_list(_list(_ruled(_text(10), "self.matches('^a+$')")), 5_000)),
        _defined(_map(_list(_ruled(structure(("a", "b"), a=TEXT, b=NUMBER), "self.a == 'x'")))),
    ),
    case(
        "a rule that is long",
        _defined(_ruled(_text(10), f"self == '{'a' * 9_000}'")),
        _defined(_ruled(_text(10), f"self == '{'a' * 11_000}'"), differs={"answer": LONG_EXPRESSION}),
    ),
    case(
        "a message that is too dear",
        _defined(_ruled(_OPEN, {"rule": "self.n.size() > 1", "messageExpression": "self.l.map(x, x + x).join('')"})),
        _defined(_ruled(_OPEN, {"rule": "self.n.size() > 1", "messageExpression": "self.t + 'a'"})),
    ),
    case(
        "rules that are too dear together",
        _defined(_ruled(_text(20_000_000), *["self.startsWith(self)"] * 13)),
        _defined(_ruled(_text(20_000_000), *["self.startsWith(self)"] * 12)),
    ),
    case(
        "an object on which a rule is too dear",
        *own(
            structure(
                spec=_ruled(structure(n=_list(NUMBER, 2_000)), "self.n.all(x, self.n.all(y, x + y >= 0 || x < y))")
            )
        ),
        post(OWN, thing("few", spec={"n": [1, 2, 3]})),
        post(OWN, thing("many", spec={"n": list(range(1_900))})),
    ),
)
