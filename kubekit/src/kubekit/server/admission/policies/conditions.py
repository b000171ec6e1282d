"""Match conditions of webhooks and policies: whether a request concerns them at all."""

from __future__ import annotations

from kubekit.model.resource import Object
from kubekit.server.objects.cel.admission_types import Types, Values
from kubekit.server.objects.cel.formulas import Formula
from kubekit.server.objects.cel.language.budget import PER_CONDITIONS, Budget, OutOfBudget
from kubekit.server.objects.cel.language.typesystem import BOOL
from kubekit.server.objects.cel.language.values import CelError
from kubekit.server.objects.long_work import aside


class ConditionFailed(Exception):
    """A condition cannot be evaluated, and whoever has it does not say to ignore that."""


class Conditions:
    """Those of a webhook, or of the spec of a policy: all must hold."""

    def __init__(self, holder: Object, types: Types) -> None:
        self._texts = [one["expression"] for one in holder.get("matchConditions") or ()]
        self._types, self._fails_closed = types, holder.get("failurePolicy", "Fail") == "Fail"
        self._formulas: list[Formula] | None = None

    def __bool__(self) -> bool:
        return bool(self._texts)

    async def prepare(self) -> None:
        """Compile them, the first time."""
        if self._formulas is None:
            self._formulas = await aside(self._texts, self._compiled)

    def _compiled(self) -> list[Formula]:
        return [Formula(text, self._types, BOOL) for text in self._texts]

    def hold(self, values: Values) -> bool:
        """One that is false decides, and only then one that fails. They are prepared by now. Raises ConditionFailed."""
        budget, problems = Budget(PER_CONDITIONS), list[str]()
        for formula in self._formulas or ():
            try:
                if formula.evaluate(values, budget) is False:
                    return False
            except OutOfBudget as error:
                problems = [str(error)]
                break
            except CelError as error:
                problems.append(str(error))
        if problems and self._fails_closed:
            raise ConditionFailed(problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")
        return not problems
