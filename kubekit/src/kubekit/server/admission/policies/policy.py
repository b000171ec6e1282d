"""One ValidatingAdmissionPolicy: what its expressions say of a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kubekit.clock import give_way
from kubekit.model.resource import Object
from kubekit.server.objects.cel.admission_types import Values, variables
from kubekit.server.objects.cel.formulas import Composed, Formula
from kubekit.server.objects.cel.language.budget import Budget, OutOfBudget
from kubekit.server.objects.cel.language.typesystem import BOOL, NULL, STRING, Type
from kubekit.server.objects.cel.language.values import CelError, Value
from kubekit.server.objects.cel.ruleset import MAX_MESSAGE_BYTES
from kubekit.server.objects.long_work import aside

from ..match import Match, match_of
from .conditions import ConditionFailed, Conditions

INVALID = "Invalid"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a policy is against a request."""

    message: str
    reason: str = INVALID


@dataclass(frozen=True, slots=True)
class _Validation:
    test: Formula
    words: Formula | None
    source: Object

    def refusal(self, values: Values, budget: Budget) -> Refusal | None:
        """Raises CelError and OutOfBudget."""
        if self.test.evaluate(values, budget) is True:
            return None
        return Refusal(self._message(values, budget), self.source.get("reason") or INVALID)

    def _message(self, values: Values, budget: Budget) -> str:
        """What the expression for it says, else the fixed message, else the expression that failed."""
        text = "" if self.words is None else _line(self.words, values, budget)
        fixed = str(self.source.get("message") or "").strip()
        return text or fixed or f"failed expression: {self.test.text.strip()}"


class Policy:
    """A policy, compiled when a request first concerns it."""

    def __init__(self, name: str, spec: Object, flaw: str = "") -> None:
        """`flaw` is why it cannot be used, where it was damaged after it was stored."""
        self.name, self.spec, self.flaw = name, spec, flaw
        self.match: Match = match_of(spec.get("matchConstraints") or {}, "resourceRules")
        self.param_kind: Object | None = spec.get("paramKind")
        self.fails_closed = spec.get("failurePolicy") != "Ignore"
        self._formulas: _Formulas | None = None

    async def refusals(self, values: Values) -> list[Refusal]:
        """What it has against a request. Others are looked after between two expressions."""
        if self._formulas is None:
            self._formulas = await aside(self.spec, _Formulas, self.spec)
            await self._formulas.conditions.prepare()
        formulas, budget = self._formulas, Budget()
        values = {**values, "variables": Composed(formulas.composed, values, budget)}
        try:
            if formulas.conditions and not formulas.conditions.hold({**values, "namespaceObject": None}):
                return []
        except ConditionFailed as error:
            return [Refusal(str(error))]
        found: list[Refusal | None] = []
        try:
            for validation in formulas.validations:
                found.append(self._judged(validation, values, budget))
                await _pause(budget)
            for annotation in formulas.annotations:
                found.append(self._noted(annotation, values, budget))
                await _pause(budget)
        except OutOfBudget as error:
            return [Refusal(str(error))] if self.fails_closed else []
        return [one for one in found if one is not None]

    def _judged(self, validation: _Validation, values: Values, budget: Budget) -> Refusal | None:
        try:
            return validation.refusal(values, budget)
        except CelError as error:
            return Refusal(str(error)) if self.fails_closed else None

    def _noted(self, annotation: Formula, values: Values, budget: Budget) -> Refusal | None:
        """There is no audit log to annotate; but an expression that fails refuses the request."""
        try:
            annotation.evaluate(values, budget)
        except CelError as error:
            return Refusal(str(error)) if self.fails_closed else None
        return None


class _Formulas:
    """Everything a policy evaluates."""

    def __init__(self, spec: Object) -> None:
        given: dict[str, Any] = {"has_params": bool(spec.get("paramKind"))}
        self.composed = composed_of(spec, given)
        given["composed"] = {name: formula.type for name, formula in self.composed.items()}
        types, words_types = variables(**given), variables(**given, has_authorizer=False)
        self.conditions = Conditions(spec, types)
        self.validations = [
            _Validation(
                Formula(one["expression"], types, BOOL),
                Formula(one["messageExpression"], words_types, STRING) if one.get("messageExpression") else None,
                one,
            )
            for one in spec.get("validations") or ()
        ]
        self.annotations = [
            Formula(one["valueExpression"], types, STRING, NULL) for one in spec.get("auditAnnotations") or ()
        ]


def composed_of(spec: Object, given: dict[str, Any]) -> dict[str, Formula]:
    """The variables of a policy, each of which may use those before it; `given` describes what else they see."""
    formulas: dict[str, Formula] = {}
    kinds: dict[str, Type] = {}
    for one in spec.get("variables") or ():
        formula = Formula(one["expression"], variables(**given, composed=kinds))
        formulas[one["name"]], kinds[one["name"]] = formula, formula.type
    return formulas


async def _pause(budget: Budget) -> None:
    if budget.left <= budget.pause_at:
        budget.pause()
        await give_way()


def _line(words: Formula, values: Values, budget: Budget) -> str:
    """The text an expression results in, unless it is not one short line."""
    try:
        text: Value = words.evaluate(values, budget)
    except CelError:
        return ""
    text = text.strip() if isinstance(text, str) else ""
    return "" if "\n" in text or len(text.encode()) > MAX_MESSAGE_BYTES else text
