"""An expression on its own, as admission uses them: match conditions and policies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .language.budget import Budget, OutOfBudget
from .language.typesystem import DYN, Type
from .language.values import CelError, CostExceeded, Value


class Expression:
    """A compiled expression over variables, of any type unless one is given."""

    def __init__(self, text: str, variables: Iterable[str] | Mapping[str, Type]) -> None:
        """Raises CompileError with the words of cel-go."""
        # The parser and the function library are loaded with the first expression.
        from .language.compilation import compile_text  # noqa: PLC0415 - loads the parser, which most kinds never need

        types = variables if isinstance(variables, Mapping) else dict.fromkeys(variables, DYN)
        self.text, self.variables = text, tuple(types)
        self._compiled = compile_text(text, types)

    @property
    def names(self) -> frozenset[str]:
        """The variables the expression reads."""
        return self._compiled.names

    @property
    def type(self) -> Type:
        """What the expression results in."""
        return self._compiled.type

    def evaluate(self, budget: Budget | None = None, /, **values: Value) -> Value:
        """The result; variables that are not given are null. Raises CelError, and OutOfBudget when one is given."""
        shared = Budget() if budget is None else budget
        try:
            return self._compiled.program.evaluate(shared, *(values.get(name) for name in self.variables))
        except OutOfBudget:
            raise
        except CostExceeded as error:
            raise CelError(str(error)) from None
