"""An expression on its own, as admission uses them: match conditions and policies."""

from __future__ import annotations

from .typesystem import BOOL, DYN, STRING
from .values import CelError, CostExceeded, Value


class Expression:
    """A compiled expression over variables of any type."""

    def __init__(self, text: str, variables: tuple[str, ...]) -> None:
        """Raises CompileError with the words of cel-go."""
        # The parser and the function library are loaded with the first expression.
        from .compiling import compile_text  # noqa: PLC0415 - loads the parser, which most kinds never need

        self.text, self.variables = text, variables
        self._compiled = compile_text(text, dict.fromkeys(variables, DYN))

    @property
    def names(self) -> frozenset[str]:
        """The variables the expression reads."""
        return self._compiled.names

    @property
    def may_be_bool(self) -> bool:
        return self._compiled.type in (BOOL, DYN)

    @property
    def may_be_string(self) -> bool:
        return self._compiled.type in (STRING, DYN)

    def evaluate(self, **values: Value) -> Value:
        """The result; variables that are not given are null. Raises CelError."""
        try:
            return self._compiled.program.evaluate(*(values.get(name) for name in self.variables))
        except CostExceeded as error:
            raise CelError(str(error)) from None
