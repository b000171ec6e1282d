"""Rules of custom resources, with the texts kube-apiserver 1.36 answers with."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from kubekit.server.objects.cel import RuleSet, compile_rules
from kubekit.server.objects.schema.model import from_openapi

INTEGER = {"type": "integer"}
STRING = {"type": "string"}


def obj(properties: dict[str, Any], *rules: str | dict[str, Any], **more: Any) -> dict[str, Any]:
    return ruled({"type": "object", "properties": properties, **more}, *rules)


def ruled(schema: dict[str, Any], *rules: str | dict[str, Any]) -> dict[str, Any]:
    written = [{"rule": rule} if isinstance(rule, str) else rule for rule in rules]
    return {**schema, "x-kubernetes-validations": written} if written else schema


def map_list(items: dict[str, Any]) -> dict[str, Any]:
    keys = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    return {"type": "array", "items": items, **keys}


def rules_of(spec: dict[str, Any]) -> RuleSet:
    return compile_rules(from_openapi(obj({"spec": spec})))


def texts(spec: dict[str, Any], new: Any, old: Any = None) -> list[str]:
    """What a resource with this schema of its spec says about a spec, maybe in place of an old one."""
    before = None if old is None else {"spec": old}
    return [str(error) for error in rules_of(spec).validate({"spec": new}, before)]


def test_a_schema_without_rules_has_none() -> None:
    rules = rules_of(obj({"a": INTEGER}))
    assert not rules
    assert rules.validate({"spec": {"a": 1}}) == []


def test_the_parser_is_loaded_only_with_the_first_rule() -> None:
    program = """
import sys
from kubekit.server.objects.cel import compile_rules
from kubekit.server.objects.schema.model import from_openapi
rules = compile_rules(from_openapi({"type": "object", "x-kubernetes-validations": [{"rule": "true"}]}))
assert "cel_expr_python" not in sys.modules
rules.validate({})
assert "cel_expr_python" in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_rule_that_holds_says_nothing() -> None:
    assert texts(obj({"min": INTEGER, "n": INTEGER}, "self.min <= self.n"), {"min": 1, "n": 2}) == []


def test_a_failed_rule_is_named_when_it_has_no_message() -> None:
    spec = obj({"min": INTEGER, "n": INTEGER}, "self.min <= self.n")
    assert texts(spec, {"min": 3, "n": 2}) == ["spec: Invalid value: failed rule: self.min <= self.n"]


def test_a_message_is_shown_without_the_space_around_it() -> None:
    spec = obj({"n": INTEGER}, {"rule": "self.n < 10", "message": " too many "})
    assert texts(spec, {"n": 20}) == ["spec: Invalid value: too many"]


def test_only_simple_values_are_shown() -> None:
    spec = obj(
        {
            "n": ruled(INTEGER, "self > 3"),
            "s": ruled(STRING, "self.startsWith('a')"),
            "l": ruled({"type": "array", "items": INTEGER}, "self.size() < 2"),
            "f": ruled({"type": "number"}, "self > 1.5"),
        }
    )
    assert texts(spec, {"n": 1, "s": 'b"', "l": [1, 2], "f": 1}) == [
        "spec.n: Invalid value: 1: failed rule: self > 3",
        'spec.s: Invalid value: "b\\"": failed rule: self.startsWith(\'a\')',
        "spec.l: Invalid value: failed rule: self.size() < 2",
        "spec.f: Invalid value: 1: failed rule: self > 1.5",
    ]


def test_rules_apply_to_every_item_and_every_entry() -> None:
    item = obj({"a": INTEGER}, "self.a > 0")
    spec = obj({"l": {"type": "array", "items": item}, "m": {"type": "object", "additionalProperties": item}})
    assert texts(spec, {"l": [{"a": 1}, {"a": 0}], "m": {"x.y": {"a": 0}}}) == [
        "spec.l[1]: Invalid value: failed rule: self.a > 0",
        "spec.m[x.y]: Invalid value: failed rule: self.a > 0",
    ]


def test_rules_of_an_absent_or_null_part_are_not_asked() -> None:
    spec = obj({"o": obj({"a": INTEGER}, "self.a > 0", nullable=True)})
    assert texts(spec, {}) == []
    assert texts(spec, {"o": None}) == []


def test_the_root_shows_its_kind_and_name_and_has_no_path() -> None:
    rules = compile_rules(from_openapi(obj({}, "self.metadata.name == 'y'", "self.kind == 'Z'")))
    errors = rules.validate({"kind": "Z", "apiVersion": "v1", "metadata": {"name": "x"}})
    assert [str(error) for error in errors] == ["<nil>: Invalid value: failed rule: self.metadata.name == 'y'"]


def test_an_embedded_object_shows_its_kind_and_name() -> None:
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    spec = obj({"e": ruled(embedded, "self.kind == 'Foo'")})
    assert texts(spec, {"e": {"kind": "Foo"}}) == []
    assert texts(spec, {"e": {"kind": "Bar"}}) == ["spec.e: Invalid value: failed rule: self.kind == 'Foo'"]


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ({"reason": "FieldValueForbidden", "message": "no", "fieldPath": ".a"}, "spec.a: Forbidden: no"),
        ({"reason": "FieldValueRequired", "fieldPath": ".b.c"}, "spec.b.c: Required value: failed rule: self.a != 1"),
        ({"reason": "FieldValueDuplicate", "message": "not shown"}, "spec: Duplicate value"),
        ({"reason": "FieldValueInvalid", "message": "m"}, "spec: Invalid value: m"),
        ({"fieldPath": ".m['x.y']"}, "spec.m[x.y]: Invalid value: failed rule: self.a != 1"),
        ({"fieldPath": ".m.k"}, "spec.m[k]: Invalid value: failed rule: self.a != 1"),
    ],
)
def test_a_reason_and_a_path_shape_the_error(rule: dict[str, Any], text: str) -> None:
    properties = {"a": INTEGER, "b": obj({"c": STRING}), "m": {"type": "object", "additionalProperties": STRING}}
    assert texts(obj(properties, {"rule": "self.a != 1", **rule}), {"a": 1}) == [text]


@pytest.mark.parametrize(
    ("expression", "message", "text"),
    [
        ("'a is ' + string(self.a)", None, "a is 1"),
        ("'  trimmed '", None, "trimmed"),
        ("self.s", "fallback", "fallback"),
        ("' '", "fallback", "fallback"),
        ("'two\\nlines'", None, "failed rule: self.a != 1"),
    ],
)
def test_a_message_can_be_computed(expression: str, message: str | None, text: str) -> None:
    rule = {"rule": "self.a != 1", "messageExpression": expression, "message": message}
    assert texts(obj({"a": INTEGER, "s": STRING}, rule), {"a": 1}) == [f"spec: Invalid value: {text}"]


@pytest.mark.parametrize(
    ("rule", "value", "problem"),
    [
        ("self.o.p > 0", {}, "no such key: o evaluating rule: self.o.p > 0"),
        ("self.l[5] > 0", {"l": [1]}, "index out of bounds: 5 evaluating rule: self.l[5] > 0"),
        ("self.m['z'] > 0", {"m": {}}, "no such key: z evaluating rule: self.m['z'] > 0"),
        ("1 / self.a > 0", {"a": 0}, "division by zero evaluating rule: 1 / self.a > 0"),
        (
            "self.ios.startsWith('a')",
            {"ios": 5},
            (
                "'no such overload': call arguments did not match a supported operator, function or macro signature "
                "for rule: self.ios.startsWith('a')"
            ),
        ),
    ],
)
def test_a_rule_that_cannot_be_evaluated_refuses_the_object(rule: str, value: Any, problem: str) -> None:
    properties = {
        "a": INTEGER,
        "o": obj({"p": INTEGER}),
        "l": {"type": "array", "items": INTEGER},
        "m": {"type": "object", "additionalProperties": INTEGER},
        "ios": {"x-kubernetes-int-or-string": True},
    }
    assert texts(obj(properties, rule), value) == [f'spec: Invalid value: "object": {problem}']


DURATION = {"type": "string", "format": "duration"}
DURATIONS = {"type": "array", "items": DURATION}
MOMENT = {"type": "string", "format": "date-time"}


@pytest.mark.parametrize(
    ("schema", "rule", "good", "bad"),
    [
        (MOMENT, "self.getFullYear() == 2020", "2020-01-01T00:00:00Z", "2019-01-01T00:00:00Z"),
        ({"type": "string", "format": "date"}, "self.getFullYear() == 2020", "2020-05-05", "2021-05-05"),
        (DURATION, "self < duration('1h')", "5m", "2 days"),
        (DURATIONS, "self.all(d, d < duration('1h'))", ["5m"], ["5m", "2h"]),
        ({"type": "string", "format": "byte"}, "self == b'abc'", "YWJj", "YQ=="),
        ({"type": "number"}, "self == 1.0", 1, 2),
        ({"type": "object", "additionalProperties": {"type": "number"}}, "self.x < 1.5", {"x": 1}, {"x": 2}),
        ({"x-kubernetes-int-or-string": True}, "type(self) == int ? self > 3 : self == 'x'", "x", 1),
    ],
)
def test_a_format_decides_what_rules_see(schema: dict[str, Any], rule: str, good: Any, bad: Any) -> None:
    spec = obj({"v": ruled(schema, rule)})
    assert texts(spec, {"v": good}) == []
    assert len(texts(spec, {"v": bad})) == 1


@pytest.mark.parametrize(
    ("name", "identifier"),
    [
        ("a-b", "a__dash__b"),
        ("a.b", "a__dot__b"),
        ("a/b", "a__slash__b"),
        ("a__b", "a__underscores__b"),
        ("namespace", "__namespace__"),
        ("if", "__if__"),
        ("a_b", "a_b"),
    ],
)
def test_names_that_are_no_identifiers_are_escaped(name: str, identifier: str) -> None:
    spec = obj({name: INTEGER}, f"self.{identifier} == 1")
    assert texts(spec, {name: 1}) == []
    assert len(texts(spec, {name: 2})) == 1


def test_null_counts_as_absent() -> None:
    spec = obj({"a": {"type": "integer", "nullable": True}}, "!has(self.a) || self.a > 0")
    assert texts(spec, {"a": None}) == []


def test_a_transition_rule_waits_for_an_old_value() -> None:
    spec = obj({"a": INTEGER}, {"rule": "self.a == oldSelf.a", "message": "a is immutable"})
    assert texts(spec, {"a": 1}) == []
    assert texts(spec, {"a": 2}, {"a": 1}) == ["spec: Invalid value: a is immutable"]


def test_items_are_compared_with_the_old_item_of_the_same_key() -> None:
    spec = obj({"l": map_list(obj({"k": STRING, "v": ruled(INTEGER, "self >= oldSelf")}))})
    old = {"l": [{"k": "x", "v": 3}, {"k": "y", "v": 5}]}
    new = {"l": [{"k": "y", "v": 4}, {"k": "x", "v": 3}, {"k": "new", "v": 0}]}
    assert texts(spec, new, old) == ["spec.l[0].v: Invalid value: 4: failed rule: self >= oldSelf"]


def test_a_rule_can_ask_whether_there_was_an_old_value() -> None:
    rule = {"rule": "oldSelf.hasValue() || self.a == 1", "optionalOldSelf": True, "message": "must start at 1"}
    spec = obj({"a": INTEGER}, rule)
    assert texts(spec, {"a": 2}) == ["spec: Invalid value: must start at 1"]
    assert texts(spec, {"a": 2}, {"a": 1}) == []


def test_the_order_of_a_set_or_map_of_items_does_not_matter() -> None:
    times = {"type": "string", "format": "date-time"}
    spec = obj(
        {
            "set": {"type": "array", "items": STRING, "x-kubernetes-list-type": "set"},
            "items": map_list(obj({"k": STRING, "t": times})),
            "plain": {"type": "array", "items": STRING},
        },
        "self == oldSelf",
    )
    old = {"set": ["a", "b"], "items": [{"k": "a"}, {"k": "b", "t": "2020-01-01T00:00:00Z"}]}
    new = {"set": ["b", "a"], "items": [{"k": "b", "t": "2020-01-01T01:00:00+01:00"}, {"k": "a"}]}
    assert texts(spec, new, old) == []
    assert len(texts(spec, {**old, "set": ["a", "c"]}, old)) == 1
    assert len(texts(spec, {"plain": ["a", "b"]}, {"plain": ["b", "a"]})) == 1


def test_sets_and_maps_of_items_are_merged_when_added() -> None:
    a_set = {"type": "array", "items": STRING, "x-kubernetes-list-type": "set"}
    a_map = map_list(obj({"k": STRING, "v": INTEGER}))
    spec = obj(
        {"s": a_set, "t": a_set, "m": a_map, "n": a_map},
        "(self.s + self.t) == ['a', 'b', 'c']",
        "(self.m + self.m).size() == 2",
    )
    assert texts(spec, {"s": ["a", "b"], "t": ["b", "c"], "m": [{"k": "x"}, {"k": "y"}]}) == []


def test_a_failure_in_an_unchanged_part_only_warns() -> None:
    item = obj({"k": STRING, "v": INTEGER}, "self.v > 5")
    spec = obj({"a": INTEGER, "o": obj({"d": INTEGER}, "self.d > 5"), "l": map_list(item)})
    old = {"a": 1, "o": {"d": 1}, "l": [{"k": "x", "v": 1}, {"k": "y", "v": 1}]}
    new = {"a": 2, "o": {"d": 1}, "l": [{"k": "y", "v": 2}, {"k": "x", "v": 1}]}
    warnings: list[str] = []
    errors = rules_of(spec).validate({"spec": new}, {"spec": old}, warn=warnings.append)
    assert [str(error) for error in errors] == ["spec.l[0]: Invalid value: failed rule: self.v > 5"]
    assert warnings == [
        "spec.o: Invalid value: failed rule: self.d > 5",
        "spec.l[1]: Invalid value: failed rule: self.v > 5",
    ]


def test_an_item_of_a_plain_list_is_unchanged_only_with_its_list() -> None:
    spec = obj({"b": INTEGER, "l": {"type": "array", "items": obj({"v": INTEGER}, "self.v > 5")}})
    old = {"l": [{"v": 1}, {"v": 7}]}
    assert texts(spec, {**old, "b": 1}, old) == []
    assert texts(spec, {"l": [{"v": 1}, {"v": 8}]}, old) == ["spec.l[0]: Invalid value: failed rule: self.v > 5"]


def test_a_transition_rule_is_not_excused_by_an_unchanged_part() -> None:
    spec = obj({"a": INTEGER}, "self.a > oldSelf.a")
    assert len(texts(spec, {"a": 1}, {"a": 1})) == 1


def test_a_rule_with_too_many_steps_ends_the_validation() -> None:
    numbers = {"type": "array", "items": INTEGER}
    spec = obj({"l": numbers}, "self.l.all(x, self.l.all(y, x >= y || x < y))", "false")
    assert texts(spec, {"l": list(range(1000))}) == [
        (
            "spec: Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': no further validation "
            "rules will be run due to call cost exceeds limit for rule: self.l.all(x, self.l.all(y, x >= y || x < y))"
        )
    ]


def test_a_rule_that_does_not_compile_refuses_every_object() -> None:
    (text,) = texts(obj({"a": INTEGER}, "self.nope > 0"), {"a": 1})
    assert text.startswith(
        'spec: Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:5: '
    )


def test_evaluating_leaves_the_object_alone() -> None:
    spec = obj(
        {"s": {"type": "array", "items": STRING, "x-kubernetes-list-type": "set"}}, "(self.s + ['z']).size() > 0"
    )
    value = {"s": ["a"]}
    texts(spec, value)
    assert value == {"s": ["a"]}
