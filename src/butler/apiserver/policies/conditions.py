"""Match conditions of webhooks and policies: whether a request concerns them at all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..cel.expression import Expression
from ..cel.typesystem import BOOL
from ..cel.values import CelError
from ..resources import Object
from .environment import Types, Unusable, Values, compiled


class ConditionFailed(Exception):
    """A condition cannot be evaluated, and whoever has it does not say to ignore that."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """All of them must hold; each is compiled when it is first needed."""

    texts: tuple[str, ...]
    types: Types
    fails_closed: bool
    _compiled: list[Expression | Unusable] = field(default_factory=list)

    def hold(self, values: Values) -> bool:
        """One that is false decides; else one that fails. Raises ConditionFailed."""
        if not self.texts:
            return True
        if not self._compiled:
            self._compiled.extend(usable(text, self.types) for text in self.texts)
        problems: list[str] = []
        for expression in self._compiled:
            try:
                if evaluated(expression, values) is False:
                    return False
            except CelError as error:
                problems.append(str(error))
        if problems and self.fails_closed:
            raise ConditionFailed(problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")
        return not problems


def conditions_of(holder: Object, types: Types) -> Conditions:
    """Those of a webhook, or of the spec of a policy."""
    texts = tuple(one["expression"] for one in holder.get("matchConditions") or ())
    return Conditions(texts, types, holder.get("failurePolicy", "Fail") == "Fail")


def usable(text: str, types: Types, wanted: Iterable[object] = (BOOL,)) -> Expression | Unusable:
    """The expression, or why there is none."""
    try:
        return compiled(text, types, *wanted)  # type: ignore[arg-type]
    except Unusable as unusable_:
        return unusable_


def evaluated(expression: Expression | Unusable, values: Values) -> object:
    """The result. Raises CelError with what the real server says of it."""
    if isinstance(expression, Unusable):
        raise CelError(f"compilation error: {expression}")
    try:
        return expression.evaluate(**values)
    except CelError as error:
        raise CelError(f"expression '{expression.text}' resulted in error: {error}") from None
