"""What must hold for the numbers of a custom object that can be scaled."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from kubekit.errors import FieldError, FieldProblem
from kubekit.model.resource import Object
from kubekit.server.objects.patch.go_values import go_text
from kubekit.server.objects.resource import Scale

_MOST = 2**31 - 1
_GO_TYPES = {
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    list: "[]interface {}",
    dict: "map[string]interface {}",
    type(None): "<nil>",
}


class _WrongType(Exception):
    """A value on the way is not what it has to be."""


def scale_problems(scale: Scale, obj: Object) -> list[FieldError]:
    """Replicas are counts, and the selector is text; what is not there is fine."""
    problems = _count_problems(obj, scale.spec_replicas) + _count_problems(obj, scale.status_replicas)
    if scale.label_selector:
        try:
            _found(obj, _names(scale.label_selector), str, "string")
        except _WrongType as error:
            problems.append(FieldError(FieldProblem.INVALID, scale.label_selector, str(error), ""))
    return problems


def _count_problems(obj: Object, path: str) -> list[FieldError]:
    names = _names(path)
    try:
        count = _found(obj, names, int, "int64")
    except _WrongType as error:
        return [FieldError(FieldProblem.INVALID, path, str(error), 0)]
    if count is None or 0 <= count <= _MOST:
        return []
    detail = "should be a non-negative integer" if count < 0 else f"should be less than or equal to {_MOST}"
    return [FieldError(FieldProblem.INVALID, path, detail, count)]


def _found(obj: Object, names: tuple[str, ...], wanted: type, name: str) -> Any:
    """The value at a path, or None. Raises _WrongType."""
    value: Any = obj
    for index, part in enumerate(names):
        if not isinstance(value, dict):
            # Kubernetes names the member that it looked for in what is no object.
            raise _wrong(names[: index + 1], value, "map[string]interface{}")
        if part not in value:
            return None
        value = value[part]
    if type(value) is not wanted:
        raise _wrong(names, value, name)
    return value


@lru_cache(maxsize=1024)
def _names(path: str) -> tuple[str, ...]:
    return tuple(path.removeprefix(".").split("."))


def _wrong(names: tuple[str, ...], value: Any, wanted: str) -> _WrongType:
    shown, kind = go_text(value), _GO_TYPES[type(value)]
    return _WrongType(f".{'.'.join(names)} accessor error: {shown} is of the type {kind}, expected {wanted}")
