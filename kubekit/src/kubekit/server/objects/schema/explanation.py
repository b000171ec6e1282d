"""Why a value does not fit its schema, in the words of kube-apiserver.

The slow half of validation: it visits everything, keeps Kubernetes' order and wording, and its verdict is the one
that counts. Values are JSON; `1.0` is an integer, as in Go, and numbers beyond 64 bits are floating point.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kubekit.errors import FieldError, FieldProblem, TooLarge, not_supported

from ..go.regex import GoRegexError, matcher
from . import numbers
from .correlation import NOTHING, Old
from .formats import enforced, string_check
from .values import INT64_MAX, go_json, go_quoted, in_key_order, json_equal, type_and_format

Source = Mapping[str, Any]

_MOST_CHECKS = 1_000_000
"""Of one object: it takes so many where each of many items is held against each of many alternatives."""
_MOST_PROBLEMS = 100
"""Of a list or a map, after which nobody wants to know of more."""


@dataclass(slots=True)
class Result:
    """Problems by their text, and how many checks went well: alternatives are ranked by that."""

    problems: dict[str, FieldError] = field(default_factory=dict)
    matched: int = 0

    def add(self, message: str, problem: FieldError) -> None:
        self.problems.setdefault(message, problem)

    def merge(self, other: Result) -> None:
        for message, problem in other.problems.items():
            self.problems.setdefault(message, problem)
        self.matched += other.matched


class Walker:
    """Checks values against schemas; `base` is the path of the outermost value, only shown, never part of a text."""

    def __init__(self, base: str = "") -> None:
        self._base, self._left = base, _MOST_CHECKS

    def problems(self, source: Source, value: Any, old: Old = NOTHING) -> list[FieldError]:
        """All problems of a value; those of parts that are as they were in `old` are forgiven."""
        return list(self._ratcheted(source, value, "", old).problems.values())

    def _ratcheted(self, source: Source, value: Any, path: str, old: Old) -> Result:
        result = self._check(source, value, path, old)
        if result.problems and old.unchanged(value):
            result.problems = {}
        return result

    def _check(self, source: Source, value: Any, path: str, old: Old) -> Result:
        """Every applicable check, in the order Kubernetes makes them."""
        self._left -= 1
        if self._left < 0:
            raise TooLarge(f"Request entity too large: limit is {_MOST_CHECKS} values and alternatives")
        result = Result()
        self._type(result, source, value, path)
        if value is None:
            self._enum(result, source, value, path)
            return result
        has_type = bool(_types(source)) or bool(enforced(source))
        result.matched += has_type
        self._alternatives(result, source, value, path)
        result.matched += 2  # the enum check counts as applied even when there is no enum
        if isinstance(value, str):
            self._string(result, source, value, path)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            self._number(result, source, value, path)
        elif isinstance(value, list):
            self._array(result, source, value, path, old)
        self._enum(result, source, value, path)
        if isinstance(value, dict):
            self._object(result, source, value, path, old)
            result.matched += 1
        result.matched += 1
        return result

    def _shown(self, path: str) -> str:
        path = path.removeprefix(".")
        if not path:
            return self._base or "<nil>"
        return f"{self._base}.{path}" if self._base else path

    def _invalid(self, result: Result, path: str, detail: str, value: Any) -> None:
        result.add(detail, FieldError(FieldProblem.INVALID, self._shown(path), detail, value))

    def _general(self, result: Result, message: str) -> None:
        """A problem that Kubernetes reports without a path of its own."""
        result.add(message, FieldError(FieldProblem.INVALID, self._base or "<nil>", message, ""))

    def _type(self, result: Result, source: Source, value: Any, path: str) -> None:
        expected, shape = _types(source), enforced(source)
        if value is None:
            if expected and not source.get("nullable"):
                self._wrong_type(result, path, ",".join(expected), "null")
            else:
                result.matched += 1
            return
        if not expected and not shape:
            return
        actual, actual_format = type_and_format(value)
        fits = actual in expected or _close_enough(expected, actual, value)
        if shape and not isinstance(value, (str, list)) and not fits and actual_format != shape:
            self._wrong_type(result, path, shape, actual_format)
        elif shape and isinstance(value, (str, list)) and not {"number", "integer"} & set(expected):
            result.matched += 1  # a formatted string; Kubernetes lets an array pass here too
        elif not fits:
            self._wrong_type(result, path, ",".join(expected), actual)
        else:
            result.matched += 1

    def _wrong_type(self, result: Result, path: str, expected: str, found: str) -> None:
        detail = f"{path} in body must be of type {expected}: {go_quoted(found)}"
        result.add(detail, FieldError(FieldProblem.TYPE_INVALID, self._shown(path), detail, found))

    def _enum(self, result: Result, source: Source, value: Any, path: str) -> None:
        allowed = source.get("enum")
        if not allowed or (isinstance(value, str) and value in allowed):
            return
        if not isinstance(value, str) and any(_is_enum_member(value, one) for one in allowed):
            return
        shown = [one if isinstance(one, str) else go_json(one) for one in allowed]
        message = f"{path} in body should be one of {shown}"
        result.add(message, not_supported(self._shown(path), in_key_order(value), shown))

    def _string(self, result: Result, source: Source, value: str, path: str) -> None:
        longest, shortest, pattern = source.get("maxLength"), source.get("minLength"), source.get("pattern")
        if longest is not None and len(value) > longest:
            detail = f"may not be more than {longest} {'byte' if longest == 1 else 'bytes'}"
            result.add(f"{path} too long", FieldError(FieldProblem.TOO_LONG, self._shown(path), detail))
        elif shortest is not None and len(value) < shortest:
            self._invalid(result, path, f"{path} in body should be at least {shortest} chars long", value)
        elif pattern and (why := _mismatch(pattern, value)):
            self._invalid(result, path, f"{path} in body should match '{why}'", value)
        shape = enforced(source)
        check = string_check(shape) if shape else None
        if check and not check(value):
            detail = f"{path} in body must be of type {shape}: {go_quoted(value)}"
            result.add(detail, FieldError(FieldProblem.TYPE_INVALID, self._shown(path), detail, value))
        result.matched += 1 + (check is not None)

    def _number(self, result: Result, source: Source, value: float, path: str) -> None:
        kind, shape = numbers.kind_and_format(source)
        for problem in numbers.problems(source, value, kind, shape):
            text = problem.text.replace("%s", path, 1)
            if problem.bound:
                self._invalid(result, path, text, value if problem.value is None else problem.value)
            else:
                self._general(result, text)
        result.matched += 2

    def _array(self, result: Result, source: Source, value: list[Any], path: str, old: Old) -> None:
        items, size = source.get("items"), len(value)
        if isinstance(items, Mapping):
            for index, item in enumerate(value):
                result.merge(self._ratcheted(items, item, f"{path}[{index}]", old.item(value, index)))
                if len(result.problems) > _MOST_PROBLEMS:
                    break
        fewest, most = source.get("minItems"), source.get("maxItems")
        if fewest is not None and size < fewest:
            self._invalid(result, path, f"{path} in body should have at least {fewest} items", size)
        if most is not None and size > most:
            self._too_many(result, path, size, most)
        if source.get("uniqueItems") and any(json_equal(one, two) for one, two in _pairs(value)):
            self._invalid(result, path, f"{path} in body shouldn't contain duplicates", "")
        result.matched += 2

    def _too_many(self, result: Result, path: str, size: int, most: int) -> None:
        detail = f"must have at most {most} {'item' if most == 1 else 'items'}"
        result.add(f"{path} too many", FieldError(FieldProblem.TOO_MANY, self._shown(path), detail, size))

    def _object(self, result: Result, source: Source, value: dict[str, Any], path: str, old: Old) -> None:
        fewest, most = source.get("minProperties"), source.get("maxProperties")
        if fewest is not None and len(value) < fewest:
            self._invalid(result, path, f"{path} in body should have at least {fewest} properties", len(value))
        if most is not None and len(value) > most:
            self._too_many(result, path, len(value), most)
        properties, additional = source.get("properties", {}), source.get("additionalProperties")
        for name in sorted(value):
            if name in properties or len(result.problems) > _MOST_PROBLEMS:
                continue
            if additional is False:
                self._invalid(result, path, f"{path}.{name} in body is a forbidden property", name)
            elif isinstance(additional, Mapping):
                result.merge(self._ratcheted(additional, value[name], f"{path}.{name}", old.member(value, name, path)))
        for name, below in properties.items():
            if name in value:
                inner = f"{path}.{name}" if path else name
                result.merge(self._ratcheted(below, value[name], inner, old.member(value, name, path)))
        for name in source.get("required", ()):
            if name not in value:
                problem = FieldError(FieldProblem.REQUIRED, self._shown(f"{path}.{name}"))
                result.add(f"{path}.{name} in body is required", problem)

    def _alternatives(self, result: Result, source: Source, value: Any, path: str) -> None:
        """What stands in alternatives is never forgiven by itself, only together with the value they are for."""
        inner = Result(matched=1)
        if source.get("anyOf"):
            self._any_of(inner, source["anyOf"], value, path)
        if source.get("oneOf"):
            self._one_of(inner, source["oneOf"], value, path)
        if source.get("allOf"):
            self._all_of(inner, source["allOf"], value, path)
        if "not" in source and not self._check(source["not"], value, path, NOTHING).problems:
            self._general(inner, f"{go_quoted(path)} must not validate the schema (not)")
        result.merge(inner)

    def _any_of(self, result: Result, sources: Sequence[Source], value: Any, path: str) -> None:
        best: Result | None = None
        for source in sources:
            found = self._check(source, value, path, NOTHING)
            if not found.problems:
                result.merge(found)
                return
            if best is None or found.matched > best.matched:
                best = found
        self._general(result, f"{go_quoted(path)} must validate at least one schema (anyOf)")
        if best:
            result.merge(best)

    def _one_of(self, result: Result, sources: Sequence[Source], value: Any, path: str) -> None:
        found = [self._check(source, value, path, NOTHING) for source in sources]
        valid = [one for one in found if not one.problems]
        if len(valid) == 1:
            result.merge(valid[0])
            return
        count = f"Found {len(valid)} valid alternatives" if valid else "Found none valid"
        self._general(result, f"{go_quoted(path)} must validate one and only one schema (oneOf). {count}")
        if not valid:
            result.merge(max(found, key=lambda one: one.matched))

    def _all_of(self, result: Result, sources: Sequence[Source], value: Any, path: str) -> None:
        found = [self._check(source, value, path, NOTHING) for source in sources]
        for one in found:
            result.merge(one)
        failed = sum(bool(one.problems) for one in found)
        if failed:
            note = ". None validated" if failed == len(found) else ""
            self._general(result, f"{go_quoted(path)} must validate all the schemas (allOf){note}")


def _types(source: Source) -> tuple[str, ...]:
    if source.get("x-kubernetes-int-or-string"):
        return ("integer", "string")
    kind = source.get("type")
    return (kind,) if kind else ()


def _close_enough(expected: tuple[str, ...], actual: str, value: Any) -> bool:
    """Integers are numbers, and numbers without a fraction are integers."""
    if actual == "integer":
        return "number" in expected
    return actual == "number" and "integer" in expected and numbers.is_whole(value)


def _is_enum_member(value: Any, allowed: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if number and isinstance(allowed, int) and not isinstance(allowed, bool) and abs(value) <= INT64_MAX:
        return int(value) == allowed  # Go converts to the type of the allowed value, which drops a fraction
    return value is not None and json_equal(value, allowed)


def _mismatch(pattern: str, value: str) -> str:
    """What the value should have matched; empty when it does."""
    try:
        return "" if matcher(pattern)(value) else pattern
    except GoRegexError as error:
        return f"{pattern}, but pattern is invalid: {error}"


def _pairs(values: list[Any]) -> Iterator[tuple[Any, Any]]:
    return ((values[one], values[two]) for two in range(len(values)) for one in range(two))
