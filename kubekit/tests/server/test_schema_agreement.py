"""The fast validator and the walker must tell the same about every value."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from kubekit.server.objects.schema import quick_check
from kubekit.server.objects.schema.explanation import Walker

WORDS = st.sampled_from(["", "a", "ab", "abc", "x1", "é", "2024-01-31T00:00:00Z", "10.0.0.1", "long enough"])
NUMBERS = st.one_of(
    st.integers(-5, 5), st.sampled_from([2**31, 2**53, 2**63, -(2**63) - 1, 0.5, 1.0, -2.0, 3.25, 1e17, 1e300])
)
NAMES = st.sampled_from(["a", "b", "c"])
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=8,
)

TEXT_RULES = st.fixed_dictionaries(
    {},
    optional={
        "minLength": st.integers(0, 3),
        "maxLength": st.integers(0, 4),
        "pattern": st.sampled_from(["^a", "[0-9]$", "(?i)^AB?$", r"\bab\b", "^\\d", "(?m)^x"]),
        "enum": st.lists(WORDS, min_size=1, max_size=3),
        "format": st.sampled_from(["date-time", "ipv4", "byte", "unknown"]),
    },
)
NUMBER_RULES = st.fixed_dictionaries(
    {},
    optional={
        "minimum": st.sampled_from([-3, 0, 2, 1.5]),
        "maximum": st.sampled_from([-1, 0, 4, 2.5]),
        "exclusiveMinimum": st.booleans(),
        "exclusiveMaximum": st.booleans(),
        "multipleOf": st.sampled_from([1, 2, 3, 0.5]),
        "format": st.sampled_from(["int32", "int64", "float", "unknown"]),
        "enum": st.lists(st.integers(-2, 3), min_size=1, max_size=2),
    },
)
SIZES = {"minItems": st.integers(0, 2), "maxItems": st.integers(0, 3)}
COUNTS = {"minProperties": st.integers(0, 2), "maxProperties": st.integers(0, 3)}
ANY_RULE = st.one_of(
    TEXT_RULES,
    NUMBER_RULES,
    st.fixed_dictionaries({}, optional={**SIZES, **COUNTS, "required": st.lists(NAMES, max_size=2, unique=True)}),
)


def nested(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """A schema that looks at values only, as it may stand in alternatives."""
    alternatives = st.lists(inner, min_size=1, max_size=2)
    return st.one_of(
        inner,
        st.builds(lambda one, two: {**one, **two}, inner, st.fixed_dictionaries({}, optional={"not": inner})),
        st.fixed_dictionaries({}, optional={"anyOf": alternatives, "oneOf": alternatives, "allOf": alternatives}),
        st.fixed_dictionaries({"properties": st.dictionaries(NAMES, inner, max_size=2)}),
        st.fixed_dictionaries({"items": inner}),
    )


NESTED = st.recursive(ANY_RULE, nested, max_leaves=4)


def structural(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    members = st.dictionaries(NAMES, inner, min_size=1, max_size=3)
    objects = {**COUNTS, "required": st.lists(NAMES, max_size=2, unique=True), "nullable": st.booleans()}
    return st.one_of(
        st.fixed_dictionaries({"type": st.just("object"), "properties": members}, optional=objects),
        st.fixed_dictionaries({"type": st.just("object"), "additionalProperties": inner}, optional=objects),
        st.fixed_dictionaries({"type": st.just("array"), "items": inner}, optional=SIZES),
    )


def typed(kind: str, rules: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(lambda found, null: {"type": kind, "nullable": null, **found}, rules, st.booleans())


SCHEMAS = st.recursive(
    st.one_of(
        typed("string", TEXT_RULES),
        typed("integer", NUMBER_RULES),
        typed("number", NUMBER_RULES),
        st.just({"type": "boolean"}),
        st.just({"x-kubernetes-int-or-string": True}),
        st.just({"x-kubernetes-preserve-unknown-fields": True}),
        st.builds(lambda rule: {"type": "string", "allOf": [rule]}, NESTED),
        st.builds(lambda rule: {"x-kubernetes-int-or-string": True, "anyOf": [rule]}, NESTED),
        st.builds(lambda rule: {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "not": rule}, NESTED),
        st.builds(
            lambda one, two: {"type": "object", "additionalProperties": {"nullable": True}, "oneOf": [one, two]},
            NESTED,
            NESTED,
        ),
    ),
    structural,
    max_leaves=6,
)


@settings(max_examples=600, deadline=None)
@given(SCHEMAS, VALUES)
@example({"type": "number", "multipleOf": 1}, 1e17)
@example({"type": "number", "anyOf": [{"multipleOf": 2}]}, -1e17)
def test_a_quick_yes_is_never_contradicted(schema: dict[str, Any], value: Any) -> None:
    is_valid = quick_check.compiled(schema, root=False)
    if is_valid is not None and is_valid(value):
        assert Walker().problems(schema, value) == []


PLAIN = st.recursive(
    st.one_of(
        st.just({"type": "string", "minLength": 1}),
        st.just({"type": "string", "pattern": "^[a-z]+$"}),
        st.just({"type": "integer", "minimum": -2, "maximum": 4}),
        st.just({"type": "number"}),
        st.just({"type": "string", "nullable": True}),
        st.just({"type": "string", "enum": ["a", "ab"]}),
    ),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"type": st.just("object"), "additionalProperties": inner}),
        st.fixed_dictionaries({"type": st.just("array"), "items": inner}, optional=SIZES),
    ),
    max_leaves=4,
)


@settings(max_examples=300, deadline=None)
@given(PLAIN, VALUES)
def test_ordinary_schemas_need_no_second_look(schema: dict[str, Any], value: Any) -> None:
    is_valid = quick_check.compiled(schema, root=False)
    assert is_valid is not None
    if not has_huge_number(value):
        assert is_valid(value) == (not Walker().problems(schema, value))


def has_huge_number(value: Any) -> bool:
    """Numbers beyond 2**53 are left to the walker."""
    if isinstance(value, dict):
        return any(has_huge_number(member) for member in value.values())
    if isinstance(value, list):
        return any(has_huge_number(item) for item in value)
    return isinstance(value, (int, float)) and abs(value) >= 2**53
