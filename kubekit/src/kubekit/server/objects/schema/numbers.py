"""Numbers against the bounds of a schema, with Go's mix of integer and floating-point arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .formats import enforced
from .values import INT64_MAX, INT64_MIN, go_float

_EXACT = 2**53 - 1
_NEARLY = 1e-9
_INT32_MAX = 2**31 - 1
_FLOAT32_LIMIT = (2 - 2**-24) * 2.0**127
"""From here on a number rounds to infinity."""


@dataclass(frozen=True, slots=True)
class NumberProblem:
    """What is wrong, with `%s` for the path; `bound` tells a value outside its bounds from a type that is too small."""

    text: str
    bound: bool
    value: float | None = None
    """What is shown instead of the number itself."""


def kind_and_format(source: Mapping[str, Any]) -> tuple[str, str]:
    """Type and format, when the type is unambiguous."""
    kind = source.get("type", "")
    if source.get("x-kubernetes-int-or-string") or kind not in ("integer", "number"):
        return "", ""
    return kind, enforced(source)


def is_whole(value: float) -> bool:
    """Whether Go takes a floating-point number for an integer."""
    if not -_EXACT <= value <= _EXACT:
        return False
    whole = int(value)
    if value == whole:
        return True
    return whole > 0 and (value - whole) / (value + whole) < _NEARLY


def is_integral(value: float) -> bool:
    """Whether a number, written out, reads as a 64-bit integer."""
    return value == value // 1 and INT64_MIN <= value <= INT64_MAX if abs(value) != float("inf") else False


def problems(source: Mapping[str, Any], value: float, kind: str, shape: str) -> Iterator[NumberProblem]:
    """Everything that is wrong with a number, in Kubernetes' order."""
    yield from _range("Checked", value, kind, shape)
    whole = isinstance(value, int) and INT64_MIN <= value <= INT64_MAX
    factor, low, high = source.get("multipleOf"), source.get("minimum"), source.get("maximum")
    if factor is not None:
        unfit = list(_range("MultipleOf", factor, kind, shape))
        yield from unfit
        yield from _multiple(value, factor, whole and not unfit)
    if low is not None:
        unfit = list(_range("Minimum boundary", low, kind, shape))
        yield from unfit
        yield from _minimum(value, low, bool(source.get("exclusiveMinimum")), whole and not unfit)
    if high is not None:
        unfit = list(_range("Maximum boundary", high, kind, shape))
        yield from unfit
        yield from _maximum(value, high, bool(source.get("exclusiveMaximum")), whole and not unfit)


def _range(what: str, value: float, kind: str, shape: str) -> Iterator[NumberProblem]:
    if kind == "integer":
        fits = is_integral(value) and (shape != "int32" or -_INT32_MAX - 1 <= value <= _INT32_MAX)
    else:
        fits = kind != "number" or shape != "float" or abs(value) < _FLOAT32_LIMIT
    if not fits:
        with_format = f"with format {shape}" if shape else "(default format)"
        yield NumberProblem(f"{what} value must be of type {kind} {with_format} in %s", bound=False)


def _shown(bound: float, whole: bool) -> str:
    return str(int(bound)) if whole else go_float(bound)


def _multiple(value: float, factor: float, whole: bool) -> Iterator[NumberProblem]:
    if whole:
        factor = int(factor)
    if factor <= 0:
        text = f"factor MultipleOf declared for %s must be positive: {_shown(factor, whole)}"
        yield NumberProblem(text, bound=True, value=factor)
        return
    quotient = 1 / factor * value if factor < 1 else value / factor
    if (value % factor != 0) if whole else not is_whole(quotient):
        yield NumberProblem(f"%s in body should be a multiple of {_shown(factor, whole)}", bound=True)


def _minimum(value: float, low: float, exclusive: bool, whole: bool) -> Iterator[NumberProblem]:
    limit = int(low) if whole else low
    if value < limit or (exclusive and value == limit):
        than = "greater than" if exclusive else "greater than or equal to"
        yield NumberProblem(f"%s in body should be {than} {_shown(low, whole)}", bound=True)


def _maximum(value: float, high: float, exclusive: bool, whole: bool) -> Iterator[NumberProblem]:
    limit = int(high) if whole else high
    if value > limit or (exclusive and value == limit):
        than = "less than" if exclusive else "less than or equal to"
        yield NumberProblem(f"%s in body should be {than} {_shown(high, whole)}", bound=True)
