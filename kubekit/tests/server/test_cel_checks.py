"""Rules that a CustomResourceDefinition may not have, with the texts of kube-apiserver 1.36."""

from __future__ import annotations

from typing import Any

import pytest

from kubekit.server.objects.cel import check_rules

INTEGER = {"type": "integer"}
PROPERTIES = {
    "a": INTEGER,
    "s": {"type": "string"},
    "l": {"type": "array", "items": {"type": "string"}},
    "m": {"type": "object", "additionalProperties": INTEGER},
    "o": {"type": "object", "properties": {"p": INTEGER}},
    "u": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    "any": {"x-kubernetes-preserve-unknown-fields": True},
}


def problems(rule: str | dict[str, Any], properties: dict[str, Any] = PROPERTIES) -> list[str]:
    """What is wrong with a rule on an object; the place of the rule is left out of the texts."""
    written = {"rule": rule} if isinstance(rule, str) else rule
    schema = {"type": "object", "properties": properties, "x-kubernetes-validations": [written]}
    return [str(error).replace("schema.x-kubernetes-validations[0].", "") for error in check_rules(schema, "schema")]


def test_a_good_rule_has_no_problem() -> None:
    rule = {"rule": "self.a > 0", "message": "m", "messageExpression": "'a'", "reason": "FieldValueInvalid"}
    assert problems({**rule, "fieldPath": ".o.p"}) == []
    assert problems({"rule": "oldSelf.hasValue() || self.a > 0", "optionalOldSelf": True}) == []


def test_a_problem_shows_the_whole_rule_and_the_place_in_it() -> None:
    assert problems("self.foo > 1") == [
        (
            'rule: Invalid value: {"Rule":"self.foo \\u003e 1","Message":"","MessageExpression":"","Reason":null,'
            '"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field \'foo\'\n'
            " | self.foo > 1\n"
            " | ....^"
        )
    ]


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ("self.a", "cel expression must evaluate to a bool"),
        ("self.a ==", "compilation failed: ERROR: <input>:1:10: Syntax error: mismatched input '<EOF>'"),
        ("self.a == 'x'", "<input>:1:8: found no matching overload for '_==_' applied to '(int, string)'"),
        ("self.a == null", "<input>:1:8: found no matching overload for '_==_' applied to '(int, null)'"),
        ("self.a.b == 1", "<input>:1:7: type 'int' does not support field selection"),
        ("self.u.x == 1", "<input>:1:7: undefined field 'x'"),
        ("self.any == 1", "<input>:1:5: undefined field 'any'"),
        ("foo(self.a)", "<input>:1:4: undeclared reference to 'foo' (in container '')"),
        ("self.s.foo()", "<input>:1:11: undeclared reference to 'foo' (in container '')"),
        ("self.a.all(x, true)", "<input>:1:5: expression of type 'int' cannot be range of a comprehension"),
        ("self.m[1] == 1", "<input>:1:7: found no matching overload for '_[_]' applied to '(map(string, int), int)'"),
        ("self.a in [1, 'a']", "<input>:1:15: expected type 'int' but found 'string'"),
        ("self.s.matches('(')", "<input>:1:16: invalid matches argument"),
        ("has(self)", "<input>:1:5: invalid argument to has() macro"),
        ("self.`a` == 1", "<input>:1:6: unsupported syntax: '`'"),
        ("int('abc') > self.a", "program instantiation failed: type conversion error from 'string' to 'int'"),
        ("math.greatest(1, 2) == 2", "undeclared reference to 'math' (in container '')"),
    ],
)
def test_an_expression_has_to_make_sense(rule: str, problem: str) -> None:
    (text,) = problems(rule)
    assert text.startswith("rule: Invalid value: {")
    assert problem in text


def test_every_problem_of_an_expression_is_named() -> None:
    (text,) = problems("self.foo > self.bar && self.s > 1")
    assert [line for line in text.splitlines() if "ERROR" in line][1:] == [
        "ERROR: <input>:1:16: undefined field 'bar'",
        "ERROR: <input>:1:31: found no matching overload for '_>_' applied to '(string, int)'",
    ]


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ({"rule": ""}, "rule: Required value: rule is not specified"),
        ({"rule": " ", "message": "m"}, "rule: Required value: rule is not specified"),
        ({"message": "a\nb"}, 'message: Invalid value: "a\\nb": must not contain line breaks'),
        ({"message": "  "}, 'message: Invalid value: "  ": must be non-empty if specified'),
        ({"rule": "self.a\n> 1"}, "message: Required value: message must be specified if rule contains line breaks"),
        (
            {"messageExpression": " "},
            "messageExpression: Required value: messageExpression must be non-empty if specified",
        ),
        (
            {"reason": "Foo"},
            (
                'reason: Unsupported value: "Foo": supported values: "FieldValueDuplicate", "FieldValueForbidden", '
                '"FieldValueInvalid", "FieldValueRequired"'
            ),
        ),
        ({"fieldPath": ".nope"}, 'fieldPath: Invalid value: ".nope": must be a valid path'),
        ({"fieldPath": "a"}, 'fieldPath: Invalid value: "a": must be a valid path'),
        ({"fieldPath": ".l[0]"}, 'fieldPath: Invalid value: ".l[0]": must be a valid path'),
        (
            {"optionalOldSelf": True},
            "optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule",
        ),
    ],
)
def test_a_rule_has_to_be_written_well(rule: dict[str, Any], text: str) -> None:
    assert problems({"rule": "self.a > 1", **rule}) == [text]


def test_a_message_expression_has_to_make_a_string() -> None:
    (text,) = problems({"rule": "self.a > 1", "messageExpression": "self.a"})
    assert text.endswith("messageExpression must evaluate to a string")
    (text,) = problems({"rule": "self.a > 1", "messageExpression": "self.zz"})
    assert "messageExpression compilation failed: ERROR: <input>:1:5: undefined field 'zz'" in text


@pytest.mark.parametrize("list_type", ["atomic", "set"])
def test_an_item_that_has_no_key_has_no_old_value(list_type: str) -> None:
    item = {"type": "integer", "x-kubernetes-validations": [{"rule": "self > oldSelf"}]}
    schema = {"type": "array", "x-kubernetes-list-type": list_type, "items": item}
    (text,) = problems("true", {"l": schema})
    assert text == (
        'schema.properties[l].items.x-kubernetes-validations[0].rule: Invalid value: "self > oldSelf": '
        "oldSelf cannot be used on the uncorrelatable portion of the schema within schema.properties[l]"
    )


def test_an_item_with_a_key_may_be_compared_with_its_old_value() -> None:
    rule = {"x-kubernetes-validations": [{"rule": "self == oldSelf"}]}
    item = {"type": "object", "properties": {"k": {"type": "string"}}, **rule}
    keys = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    assert problems("true", {"l": {"type": "array", "items": item, **keys}}) == []


def test_a_rule_cannot_stand_where_anything_may_stand() -> None:
    anything = {"x-kubernetes-preserve-unknown-fields": True, "x-kubernetes-validations": [{"rule": "self == 1"}]}
    (text,) = problems("true", {"any": anything})
    assert text == (
        "schema.properties[any].x-kubernetes-validations: Internal error: internal error: failed to construct type "
        "information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations"
    )
