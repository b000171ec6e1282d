"""The expressions of admission, ready to be evaluated, with what the real server says when they fail."""

from __future__ import annotations

from collections.abc import Mapping

from .admission_types import Types, Values
from .expression import Expression
from .language.budget import Budget
from .language.typesystem import DYN, NULL, Type
from .language.values import CelError, CompileError, InstantiationError, Value


class Formula:
    """One expression; what is wrong with it stands in `problem`."""

    def __init__(self, text: str, types: Types, *wanted: Type) -> None:
        """`wanted` are the types it may result in, any if none is given."""
        self.text, self.problem = text, ""
        self.is_broken = False
        """Whether the expression is well-formed, yet cannot be run."""
        self._expression: Expression | None = None
        try:
            expression = Expression(text, types)
        except InstantiationError as error:
            self.problem, self.is_broken = f"program instantiation failed: {error}", True
        except CompileError as error:
            self.problem = f"compilation failed: {error}"
        else:
            self._expression = expression
            if wanted and expression.type not in wanted:
                self.problem = f"must evaluate to {_choice(wanted)} but got {expression.type}"

    @property
    def type(self) -> Type:
        return DYN if self._expression is None else self._expression.type

    def evaluate(self, values: Values, budget: Budget | None = None) -> Value:
        """Raises CelError, and OutOfBudget when a budget is given."""
        if self._expression is None or self.problem:
            raise CelError(f"compilation error: {self.problem}")
        try:
            return self._expression.evaluate(budget, **values)
        except CelError as error:
            raise CelError(f"expression '{self.text}' resulted in error: {error}") from None

    def evaluate_as_variable(self, name: str, values: Values, budget: Budget) -> Value:
        """Raises CelError and OutOfBudget."""
        if self._expression is None or self.problem:
            raise CelError(f'composited variable "{name}" fails to compile: {self.problem}')
        try:
            return self._expression.evaluate(budget, **values)
        except CelError as error:
            raise CelError(f'composited variable "{name}" fails to evaluate: {error}') from None


def _choice(wanted: tuple[Type, ...]) -> str:
    shown = ["null_type" if kind == NULL else str(kind) for kind in wanted]
    return shown[0] if len(shown) == 1 else f"one of [{' '.join(shown)}]"


class Composed:
    """The variables of a policy, each evaluated when it is first read."""

    def __init__(self, formulas: Mapping[str, Formula], values: Values, budget: Budget) -> None:
        self._formulas, self._budget = formulas, budget
        self._values = {**values, "variables": self}
        self._known: dict[str, Value] = {}

    def get(self, name: str) -> Value:
        """Raises CelError and OutOfBudget."""
        if name not in self._known:
            try:
                self._known[name] = self._formulas[name].evaluate_as_variable(name, self._values, self._budget)
            except CelError as error:
                self._known[name] = error
        found = self._known[name]
        if isinstance(found, CelError):
            raise found.with_traceback(None)
        return found
