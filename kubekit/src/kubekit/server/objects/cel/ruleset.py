"""All rules of a custom resource, evaluated on its objects."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from kubekit.errors import OMITTED, FieldError, FieldProblem

from ..schema.model import Schema
from .field_paths import normalized
from .language.budget import Budget, OutOfBudget, weight
from .language.values import NONE, CelError, CostExceeded, Optional, Value
from .ratcheting import UNRELATED, Relation, by_keys
from .rules import Rule, RuledNode, places

if TYPE_CHECKING:
    from .language.program import Program

MAX_MESSAGE_BYTES = 5 * 1024
_PROBLEMS = {
    "FieldValueForbidden": FieldProblem.FORBIDDEN,
    "FieldValueRequired": FieldProblem.REQUIRED,
    "FieldValueDuplicate": FieldProblem.DUPLICATE,
}
Warn = Callable[[str], None]


class RuleSet:
    """The rules of one schema; false when there are none."""

    def __init__(self, root: RuledNode | None) -> None:
        self._root = root

    def __bool__(self) -> bool:
        return self._root is not None

    def validate(self, new: Value, old: Value = None, path: str = "", warn: Warn | None = None) -> list[FieldError]:
        """What the rules refuse in an object that fits its schema; `old` is the object it replaces.

        A rule that fails on a part which has not changed refuses nothing; `warn` gets its text.
        """
        errors: list[FieldError] = []
        for _ in self.validation(errors, new, old, path, warn):
            pass
        return errors

    def validation(
        self, errors: list[FieldError], new: Value, old: Value = None, path: str = "", warn: Warn | None = None
    ) -> Iterator[None]:
        """The same in steps, for who has others to look after in between: none takes longer than one rule may."""
        if self._root is None or new is None:
            return
        evaluation = _Evaluation(errors, warn)
        relation = UNRELATED if old is None else Relation.of_objects(new, old, self._root.schema)
        try:
            yield from evaluation.visit(self._root, new, old, path, relation)
        except CostExceeded:
            # The error that says so is among the errors by then; no further rule may run.
            return


def compile_rules(schema: Schema) -> RuleSet:
    """The rules of a schema; each is compiled when it first has something to say about an object."""
    return RuleSet(places(schema))


class _Evaluation:
    """One walk along an object and the rules for it."""

    def __init__(self, errors: list[FieldError], warn: Warn | None) -> None:
        self.errors, self._warn = errors, warn
        self._budget = Budget()

    def visit(self, place: RuledNode, new: Value, old: Value, path: str, relation: Relation) -> Iterator[None]:
        if place.rules:
            yield from self._apply(place, new, old, path, relation)
        if isinstance(new, dict):
            before = old if isinstance(old, dict) else {}
            for key, inner in place.properties.items():
                value = new.get(key)
                if value is not None:
                    below = f"{path}.{key}" if path else key
                    yield from self.visit(inner, value, before.get(key), below, relation.member(key))
            if place.additional is not None:
                yield from self._visit_values(place.additional, new, before, path, relation)
        elif isinstance(new, list) and place.items is not None:
            find_old = by_keys(place.schema, old)
            for index, item in enumerate(new):
                if item is not None:
                    yield from self.visit(place.items, item, find_old(item), f"{path}[{index}]", relation.item(index))

    def _visit_values(
        self, place: RuledNode, new: dict[str, Any], old: dict[str, Any], path: str, relation: Relation
    ) -> Iterator[None]:
        for key, value in new.items():
            if value is not None:
                yield from self.visit(place, value, old.get(key), f"{path}[{key}]", relation.member(key))

    def _apply(self, place: RuledNode, new: Value, old: Value, path: str, relation: Relation) -> Iterator[None]:
        try:
            subject = _Subject(place, new, old, self._budget)
        except CostExceeded as error:
            self._refuse(place, path, _too_dear(error, place.rules[0]))
            raise
        for rule in place.rules:
            is_new = not rule.is_compiled
            compiled = rule.program
            if is_new:
                yield
            if compiled is None:
                if rule.error:
                    self._refuse(place, path, f"rule compile error: {rule.error}")
            elif not rule.uses_old or old is not None or rule.takes_optional_old:
                self._judge(rule, compiled.program, subject, path, relation)
                if self._budget.left <= self._budget.pause_at:
                    self._budget.pause()
                    yield

    def _refuse(self, place: RuledNode, path: str, problem: str) -> None:
        self.errors.append(FieldError(FieldProblem.INVALID, path or "<nil>", problem, place.schema.type))

    def _judge(self, rule: Rule, program: Program, subject: _Subject, path: str, relation: Relation) -> None:
        try:
            holds = program.evaluate(self._budget, subject.current, subject.previous(rule))
        except CelError as error:
            self._refuse(subject.place, path, _failure(str(error), rule))
            return
        except CostExceeded as error:
            self._refuse(subject.place, path, _too_dear(error, rule))
            raise
        if holds is True:
            return
        refused = self._field_error(rule, subject, path)
        if rule.uses_old or not relation.is_unchanged():
            self.errors.append(refused)
        elif self._warn is not None:
            self._warn(str(refused))

    def _field_error(self, rule: Rule, subject: _Subject, path: str) -> FieldError:
        below = normalized(str(rule.source.get("fieldPath") or ""), subject.place.schema)
        where = ".".join(filter(None, (path, below))) or "<nil>"
        value = OMITTED if subject.place.schema.type in ("object", "array") else subject.raw
        problem = _PROBLEMS.get(rule.source.get("reason") or "", FieldProblem.INVALID)
        detail = "" if problem is FieldProblem.DUPLICATE else self._message(rule, subject, where)
        return FieldError(problem, where, detail, value)

    def _message(self, rule: Rule, subject: _Subject, where: str) -> str:
        """What the expression for it says, else the fixed message, else the rule itself."""
        if rule.message is not None:
            try:
                text = rule.message.program.evaluate(self._budget, subject.current, subject.previous(rule)).strip()
            except CelError:
                text = ""
            except CostExceeded as error:
                self._refuse(subject.place, where, _unpaid(error, str(rule.source["messageExpression"])))
                raise
            if text and "\n" not in text and len(text.encode()) <= MAX_MESSAGE_BYTES:
                return str(text)
        message = str(rule.source.get("message") or "").strip()
        return message or f"failed rule: {rule.shown}"


class _Subject:
    """What the rules of one place are about: `self` and `oldSelf`, converted once."""

    def __init__(self, place: RuledNode, new: Value, old: Value, budget: Budget) -> None:
        kind = place.declare()
        convert = None if kind is None else kind.convert
        self.place, self.raw = place, new
        self.current, self._old = new, old
        if convert is not None:
            assert kind is not None
            budget.spend_on_one(kind.price * (weight(new) + weight(old)))
            try:
                self.current, self._old = convert(new), convert(old)
            except CelError:
                # The schema has refused the value already; no rule can add to that.
                self.current, self._old = new, old

    def previous(self, rule: Rule) -> Value:
        if not rule.takes_optional_old:
            return self._old
        return NONE if self._old is None else Optional(self._old)


def _too_dear(error: CostExceeded, rule: Rule) -> str:
    if isinstance(error, OutOfBudget):
        return str(error)
    return f"'{error}': no further validation rules will be run due to call cost exceeds limit for rule: {rule.shown}"


def _unpaid(error: CostExceeded, expression: str) -> str:
    if isinstance(error, OutOfBudget):
        return f"messageExpression evaluation {str(error).removeprefix('validation ')}"
    words = "no further validation rules will be run due to call cost exceeds limit for messageExpression"
    return f"{words}: {json.dumps(expression, ensure_ascii=False)}"


def _failure(problem: str, rule: Rule) -> str:
    if problem.startswith("no such overload"):
        words = "call arguments did not match a supported operator, function or macro signature for rule"
        return f"'{problem}': {words}: {rule.shown}"
    return f"{problem} evaluating rule: {rule.shown}"
