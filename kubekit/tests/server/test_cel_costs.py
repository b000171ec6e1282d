"""What rules are estimated to cost, and do cost: the estimates are those of kube-apiserver 1.36, to the unit."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from kubekit.server.objects.cel import CelError, check_rules
from kubekit.server.objects.cel.declared_types import Declarations
from kubekit.server.objects.cel.extents import extent_of
from kubekit.server.objects.cel.language.budget import PER_OBJECT, Budget
from kubekit.server.objects.cel.language.compilation import Compiled
from kubekit.server.objects.cel.rules import EXTENSION, Rule
from kubekit.server.objects.schema.model import from_openapi

TABLE: dict[str, Any] = json.loads((Path(__file__).parent / "cel_costs.json").read_text())
TEXT = {"type": "string"}
NUMBER = {"type": "integer"}


def compiled(source: dict[str, Any], rule: str) -> Compiled:
    schema = from_openapi(source)
    extent = extent_of(schema, is_resource=False)
    found = Rule({"rule": rule}, lambda: Declarations().of(schema, is_resource=False), extent).program
    assert found is not None
    return found


@pytest.mark.parametrize("case", TABLE["rules"], ids=lambda case: case["rule"])
def test_an_estimate_is_that_of_kubernetes(case: dict[str, Any]) -> None:
    assert compiled(TABLE["schema"], case["rule"]).cost == case["estimate"]


@pytest.mark.parametrize("case", TABLE["places"], ids=lambda case: case["rule"])
def test_an_estimate_depends_on_the_place(case: dict[str, Any]) -> None:
    extent = extent_of(from_openapi(case["schema"]), is_resource=False)
    assert extent is not None
    assert (compiled(case["schema"], case["rule"]).cost, extent.most_copies) == (case["estimate"], case["copies"])


@pytest.mark.parametrize("case", TABLE["rules"], ids=lambda case: case["rule"])
def test_an_evaluation_costs_no_less_than_in_kubernetes(case: dict[str, Any]) -> None:
    budget = Budget()
    with suppress(CelError):
        compiled(TABLE["schema"], case["rule"]).program.evaluate(budget, TABLE["value"], TABLE["value"])
    assert PER_OBJECT - budget.left >= case["cost"]


def problems(spec: dict[str, Any]) -> list[str]:
    return [str(one) for one in check_rules({"type": "object", "properties": {"spec": spec}}, "schema")]


def ruled(schema: dict[str, Any], *rules: dict[str, Any] | str) -> dict[str, Any]:
    return {**schema, EXTENSION: [{"rule": rule} if isinstance(rule, str) else rule for rule in rules]}


ADVICE = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings "
    "are declared)"
)
PLACE = f"schema.properties[spec].{EXTENSION}"


def test_a_rule_that_is_too_dear_is_refused() -> None:
    lists = {"type": "object", "properties": {"l": {"type": "array", "items": TEXT}}}
    whole, factor = "for entire OpenAPIv3 schema", f"exceeds budget by factor of more than 100x {ADVICE}"
    assert problems(ruled(lists, "self.l.all(x, self.l.all(y, x == y))")) == [
        f"{PLACE}[0].rule: Forbidden: estimated rule cost {factor}",
        f"{PLACE}[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit {whole}",
        f"schema: Forbidden: x-kubernetes-validations estimated rule cost total {whole} {factor}",
    ]


@pytest.mark.parametrize(
    ("items", "factor"), [(6_000_000, "1.200000x"), (10_000_000, "2.0x"), (2_000_000_000, "more than 100x")]
)
def test_the_factor_is_shown_as_kubernetes_shows_it(items: int, factor: str) -> None:
    schema = {"type": "array", "maxItems": items, "items": ruled(TEXT, "self == 'a'")}
    assert f"by factor of {factor} " in problems(schema)[0]


def test_limits_on_the_data_make_a_rule_cheap() -> None:
    item = {**TEXT, "maxLength": 30}
    lists = {"type": "object", "properties": {"l": {"type": "array", "maxItems": 50, "items": item}}}
    assert problems(ruled(lists, "self.l.all(x, self.l.all(y, x == y))")) == []


def test_a_rule_inside_lists_counts_as_often_as_there_may_be_items() -> None:
    item = ruled({"type": "object", "properties": {"a": NUMBER}}, "self.a > 1")
    few = {"type": "array", "maxItems": 100, "items": item}
    assert problems(few) == []
    assert problems({"type": "object", "maxProperties": 1_000, "additionalProperties": few}) == []
    many = problems({"type": "object", "maxProperties": 100_000, "additionalProperties": few})
    assert "estimated rule cost exceeds budget by factor of 3.0x" in many[0]


def test_a_message_may_be_too_dear() -> None:
    schema = {"type": "object", "properties": {"a": NUMBER, "t": {"type": "array", "items": TEXT}}}
    found = problems(ruled(schema, {"rule": "self.a > 1", "messageExpression": "self.t.map(x, x + x).join('')"}))
    assert found[0].startswith(
        f"{PLACE}[0].messageExpression: Forbidden: estimated messageExpression cost exceeds budget by factor of "
    )


def test_many_rules_may_be_too_dear_together() -> None:
    schema = ruled({**TEXT, "maxLength": 20_000_000}, *["self.startsWith(self)"] * 13)
    found = problems(schema)
    assert [one.partition(":")[0] for one in found] == [*(f"{PLACE}[{index}].rule" for index in range(4)), "schema"]
    assert found[-1].startswith("schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire")
