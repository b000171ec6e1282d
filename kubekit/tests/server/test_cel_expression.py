"""Expressions of admission."""

from __future__ import annotations

import pytest

from kubekit.server.objects.cel import CelError, CompileError, Expression

VARIABLES = ("object", "oldObject", "request", "params", "namespaceObject")


def test_an_expression_reads_plain_objects() -> None:
    expression = Expression("object.metadata.labels['a.b'] == 'x' && request.operation in ['CREATE']", VARIABLES)
    pod = {"metadata": {"labels": {"a.b": "x"}}}
    assert expression.evaluate(object=pod, request={"operation": "CREATE"}) is True
    assert expression.evaluate(object=pod, request={"operation": "DELETE"}) is False


def test_an_absent_variable_is_null() -> None:
    assert Expression("oldObject == null", VARIABLES).evaluate(object={}) is True


def test_has_looks_for_a_key() -> None:
    expression = Expression("has(object.spec.replicas)", VARIABLES)
    assert expression.evaluate(object={"spec": {"replicas": 0}}) is True
    assert expression.evaluate(object={"spec": {}}) is False


def test_a_missing_key_is_an_error_unless_the_other_side_decides() -> None:
    with pytest.raises(CelError, match="no such key: spec"):
        Expression("object.spec.a > 1", VARIABLES).evaluate(object={})
    assert Expression("object.spec.a > 1 || true", VARIABLES).evaluate(object={}) is True


def test_the_variables_an_expression_reads_are_known() -> None:
    assert Expression("object.a == oldObject.a", VARIABLES).names == {"object", "oldObject"}
    assert Expression("[1].all(params, params > 0)", ("x",)).names == frozenset()


def test_an_unknown_variable_is_refused() -> None:
    with pytest.raises(CompileError, match="undeclared reference to 'authorizer'"):
        Expression("authorizer.group('').resource('pods').check('get').allowed()", VARIABLES)


def test_a_result_may_be_of_any_type() -> None:
    assert Expression("object.a.map(x, x + 1)", VARIABLES).evaluate(object={"a": [1, 2]}) == [2, 3]


def test_endless_work_is_an_error() -> None:
    numbers = "lists.range(1000)"
    expression = Expression(f"{numbers}.all(x, {numbers}.all(y, true))", VARIABLES)
    with pytest.raises(CelError, match="actual cost limit exceeded"):
        expression.evaluate()


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("^a$", "a\n", False),
        ("(?m)^a$", "b\na", True),
        ("[[:upper:]]", "a", False),
        ("[^[:space:]]", " ", False),
        (r"\pL", "é", True),
        (r"\PL", "é", False),
        (r"^\w+$", "é", False),
        (r"\Qa.b\E", "axb", False),
        (r"a\z", "ba", True),
        (r"\x{41}", "A", True),
        ("a(?i)b", "aB", True),
        ("(a(?i)b)c", "aBC", False),
        (r"(?P<name>x)", "x", True),
    ],
)
def test_patterns_are_those_of_go(pattern: str, text: str, matches: bool) -> None:
    assert Expression("a.matches(b)", ("a", "b")).evaluate(a=text, b=pattern) is matches


def test_patterns_know_the_whole_dialect_of_go() -> None:
    assert Expression("x.find('(?U)a+')", ("x",)).evaluate(x="aaa") == "a"
    assert Expression("x.matches(y)", ("x", "y")).evaluate(x="ω", y=r"\p{Greek}") is True
    with pytest.raises(CelError, match="error parsing regexp: missing closing"):
        Expression("x.matches(y)", ("x", "y")).evaluate(x="a", y="(a")
