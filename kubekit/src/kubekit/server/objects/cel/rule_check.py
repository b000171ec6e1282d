"""What is wrong with the rules of a CustomResourceDefinition."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kubekit.errors import FieldError, FieldProblem, not_supported

from ..schema.model import Schema, from_openapi
from . import field_paths
from .language.sizes import times
from .rule_costs import Costs, multiplied
from .rules import EXTENSION, Rule, RuledNode, places

REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")


def check_rules(source: Mapping[str, Any], path: str) -> list[FieldError]:
    """The problems of the rules in a structural schema; `path` is where the schema stands.

    Rules are compiled only when nothing is wrong with how they are written.
    """
    schema = from_openapi(source)
    root = places(schema, is_estimated=True)
    if root is None:
        return []
    check = _Check()
    return check.visit(root, schema, _Where(path)) + check.costs.problems(path)


@dataclass(frozen=True, slots=True)
class _Where:
    """A place in the schema, and the nearest list around it whose items cannot be told apart."""

    path: str
    uncorrelated: str = ""
    copies: int | None = 1
    """How many of these there may be in an object; None when nothing limits that."""

    def below(self, part: str, schema: Schema) -> _Where:
        return replace(self, path=f"{self.path}.{part}", copies=multiplied(self.copies, schema))


class _Check:
    def __init__(self) -> None:
        self.costs = Costs()

    def visit(self, place: RuledNode, schema: Schema, where: _Where) -> list[FieldError]:
        problems: list[FieldError] = []
        if place.additional is not None:
            problems += self.visit(
                place.additional, place.additional.schema, where.below("additionalProperties", schema)
            )
        for name, inner in place.properties.items():
            problems += self.visit(inner, inner.schema, where.below(f"properties[{name}]", schema))
        if place.items is not None:
            problems += self.visit(place.items, place.items.schema, _items(schema, where))
        if place.rules and place.declare() is None:
            return [*problems, FieldError(FieldProblem.INTERNAL, f"{where.path}.{EXTENSION}", _UNSEEN)]
        rules = [(rule, f"{where.path}.{EXTENSION}[{index}]") for index, rule in enumerate(place.rules)]
        written = [problem for rule, at in rules for problem in _written(rule, at, schema)]
        if written or any(problem.path.endswith(_WRITTEN) for problem in problems):
            return problems + written
        copies = where.copies
        if copies is None:
            copies = place.extent.most_copies if place.extent is not None else 0
        return problems + [problem for rule, at in rules for problem in self._compiled(rule, at, where, copies)]

    def _compiled(self, rule: Rule, at: str, where: _Where, copies: int) -> list[FieldError]:
        """Problems of the expressions."""
        problems, shown = [], _shown(rule.source)
        if rule.program is not None:
            problems += self.costs.of_rule(f"{at}.rule", times(rule.program.cost, copies))
        if rule.error:
            problems.append(_invalid(f"{at}.rule", shown, rule.error))
        if rule.message_error:
            problems.append(_invalid(f"{at}.messageExpression", shown, rule.message_error))
        elif rule.message is not None:
            problems += self.costs.of_message(f"{at}.messageExpression", rule.message.cost)
        return problems + _old(rule, at, where)


_WRITTEN = (".message", ".reason", ".fieldPath")
_UNSEEN = (
    "internal error: failed to construct type information for x-kubernetes-validations rules: "
    "unable to convert structural schema to CEL declarations"
)


def _items(schema: Schema, where: _Where) -> _Where:
    inner = where.below("items", schema)
    return inner if schema.list_type == "map" else replace(inner, uncorrelated=where.path)


def _written(rule: Rule, at: str, schema: Schema) -> list[FieldError]:
    """Problems that need no understanding of the expression."""
    source, problems = rule.source, []
    message, expression = str(source.get("message") or ""), str(source.get("messageExpression") or "")
    if not rule.text.strip():
        problems.append(FieldError(FieldProblem.REQUIRED, f"{at}.rule", "rule is not specified"))
    elif message and not message.strip():
        problems.append(_invalid(f"{at}.message", message, "must be non-empty if specified"))
    elif _has_line_breaks(message.strip()):
        problems.append(_invalid(f"{at}.message", message, "must not contain line breaks"))
    elif _has_line_breaks(rule.text.strip()) and not message:
        words = "message must be specified if rule contains line breaks"
        problems.append(FieldError(FieldProblem.REQUIRED, f"{at}.message", words))
    if expression and not expression.strip():
        words = "messageExpression must be non-empty if specified"
        problems.append(FieldError(FieldProblem.REQUIRED, f"{at}.messageExpression", words))
    reason = source.get("reason")
    if reason is not None and reason not in REASONS:
        problems.append(not_supported(f"{at}.reason", reason, REASONS))
    return problems + _field_path(str(source.get("fieldPath") or ""), f"{at}.fieldPath", schema)


def _invalid(path: str, value: Any, problem: str) -> FieldError:
    return FieldError(FieldProblem.INVALID, path, problem, value)


def _has_line_breaks(text: str) -> bool:
    return re.search(r"[\n\r]", text) is not None


def _field_path(field_path: str, at: str, schema: Schema) -> list[FieldError]:
    problems = []
    if field_path and not field_path.strip():
        problems.append(_invalid(at, field_path, "must be non-empty if specified"))
    if _has_line_breaks(field_path):
        problems.append(_invalid(at, field_path, "must not contain line breaks"))
    if field_path and not field_paths.is_valid(field_path, schema):
        problems.append(_invalid(at, field_path, "must be a valid path"))
    return problems


def _old(rule: Rule, at: str, where: _Where) -> list[FieldError]:
    """Problems of comparisons with what was before."""
    problems = []
    uses_old, optional_old = rule.uses_old, rule.source.get("optionalOldSelf")
    if uses_old and where.uncorrelated:
        words = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {where.uncorrelated}"
        problems.append(_invalid(f"{at}.rule", rule.text, words))
    if not uses_old and optional_old is not None:
        words = "may not be set if oldSelf is not used in rule"
        problems.append(_invalid(f"{at}.optionalOldSelf", optional_old, words))
    return problems


_FIELDS = ("rule", "message", "messageExpression", "reason", "fieldPath", "optionalOldSelf")


def _shown(source: Mapping[str, Any]) -> dict[str, Any]:
    """A rule as the Kubernetes API shows it inside an error."""
    names = {"rule": "Rule", "message": "Message", "messageExpression": "MessageExpression", "reason": "Reason"}
    names |= {"fieldPath": "FieldPath", "optionalOldSelf": "OptionalOldSelf"}
    defaults = {"reason": None, "optionalOldSelf": None}
    return {names[name]: source.get(name, defaults.get(name, "")) for name in _FIELDS}
