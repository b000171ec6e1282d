"""What the rules of a CustomResourceDefinition may cost at most, and which of them are too dear."""

from __future__ import annotations

from kubekit.errors import FieldError, FieldProblem

from ..schema.model import Schema
from .language.sizes import plus, times

MOST_OF_ONE, MOST_OF_ALL = 10_000_000, 100_000_000
_NAMED = 4
"""So many of the dearest rules are named when all together are too dear."""
_ADVICE = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings "
    "are declared)"
)


class Costs:
    """Gathers the estimates for all rules of one schema."""

    def __init__(self) -> None:
        self._total = 0
        self._dear: list[tuple[str, int]] = []

    def of_rule(self, path: str, cost: int) -> list[FieldError]:
        return self._observed(path, cost, "estimated rule cost")

    def of_message(self, path: str, cost: int) -> list[FieldError]:
        return self._observed(path, cost, "estimated messageExpression cost")

    def _observed(self, path: str, cost: int, name: str) -> list[FieldError]:
        self._total = plus(self._total, cost)
        if cost >= MOST_OF_ALL // 100:
            self._dear.append((path, cost))
        return [_forbidden(path, _words(name, cost, MOST_OF_ONE))] if cost > MOST_OF_ONE else []

    def problems(self, path: str) -> list[FieldError]:
        """What is wrong with the sum."""
        if self._total <= MOST_OF_ALL:
            return []
        words = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
        dearest = sorted(self._dear, key=lambda one: one[1], reverse=True)[:_NAMED]
        name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
        total = _forbidden(path, _words(name, self._total, MOST_OF_ALL))
        return [*(_forbidden(where, words) for where, _ in dearest), total]


def _forbidden(path: str, words: str) -> FieldError:
    return FieldError(FieldProblem.FORBIDDEN, path, words)


def _words(name: str, cost: int, limit: int) -> str:
    factor = cost / limit
    if factor > 100:
        shown = "more than 100x"
    elif factor < 1.5:
        shown = f"{factor:f}x"
    else:
        shown = f"{factor:.1f}x"
    return f"{name} exceeds budget by factor of {shown} {_ADVICE}"


def multiplied(copies: int | None, schema: Schema) -> int | None:
    """How many there may be of what stands inside a list, map or object, of which there are so many."""
    source = schema.source
    if copies is None:
        return None
    if schema.type == "array":
        most = source.get("maxItems")
    elif schema.type == "object" and source.get("additionalProperties") is not None:
        most = source.get("maxProperties")
    else:
        most = 1
    return None if most is None else times(copies, max(most, 0))
