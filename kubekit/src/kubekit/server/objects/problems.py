"""Short words for the refusals of built-in kinds, so that checks read as rules."""

from __future__ import annotations

import difflib
import json
from collections.abc import Hashable, Iterable
from itertools import takewhile
from typing import Any

from kubekit.errors import FieldError, FieldProblem

_COMPARED_LINES, _SHOWN_LINES = 2000, 100
"""Of longer texts only what follows the first difference is compared: to find the shortest one takes long."""
IMMUTABLE = "field is immutable"

Problems = list[FieldError]
"""What a check adds to: every refusal found so far, in the order the real server reports them."""


def required(path: str, detail: str = "") -> FieldError:
    return FieldError(FieldProblem.REQUIRED, path, detail)


def bad(path: str, value: Any, detail: str = "") -> FieldError:
    return FieldError(FieldProblem.INVALID, path, detail, value)


def forbidden(path: str, detail: str) -> FieldError:
    return FieldError(FieldProblem.FORBIDDEN, path, detail)


def duplicate(path: str, value: Any, detail: str = "") -> FieldError:
    return FieldError(FieldProblem.DUPLICATE, path, detail, value)


def missing(path: str, value: Any) -> FieldError:
    """A reference to something that is not there."""
    return FieldError(FieldProblem.NOT_FOUND, path, "", value)


def too_long(path: str, limit: int) -> FieldError:
    return FieldError(FieldProblem.TOO_LONG, path, f"may not be more than {limit} bytes")


def too_many(path: str, count: int, limit: int) -> FieldError:
    return FieldError(FieldProblem.TOO_MANY, path, f"must have at most {limit} items", count)


def refuse_each(found: Problems, path: str, value: Any, details: Iterable[str]) -> None:
    """One refusal of the same value for every rule it breaks."""
    found.extend(bad(path, value, detail) for detail in details)


def not_negative(found: Problems, holder: dict[str, Any], name: str, path: str) -> None:
    """A number that may be missing but not below zero; `path` is that of the holder."""
    value = holder.get(name)
    if value is not None and value < 0:
        place = f"{path}.{name}" if path else name
        found.append(bad(place, value, "must be greater than or equal to 0"))


def unchanged(found: Problems, path: str, value: Any, old: Any) -> None:
    if value != old:
        found.append(bad(path, value, IMMUTABLE))


def shown_changes(old: Any, new: Any) -> str:
    """What an update changes that it may not, as a unified diff; the real server shows one of its own structures."""
    before, after = (json.dumps(one, indent=1, sort_keys=True).splitlines() for one in (old, new))
    if len(before) + len(after) > _COMPARED_LINES:
        start = max(0, sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))) - 3)
        before, after = before[start : start + _SHOWN_LINES], after[start : start + _SHOWN_LINES]
    lines = difflib.unified_diff(before, after, lineterm="")
    return "".join(f"{line}\n" for line in list(lines)[2:])


def first_places(values: Iterable[Hashable]) -> dict[Any, int]:
    """Where each value stands first: whoever finds it elsewhere has found it again."""
    places: dict[Any, int] = {}
    for index, value in enumerate(values):
        places.setdefault(value, index)
    return places


def any_of(supported: Iterable[str]) -> tuple[str, ...]:
    """Supported values in the order error messages list them."""
    return tuple(sorted(supported))
