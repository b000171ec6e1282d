"""What must hold for the numbers of a custom object that can be scaled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from butler.errors import FieldError, FieldProblem

from .patch.wording import go_text
from .resources import Object, Scale

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


def scale_problems(scale: Scale, obj: Object) -> Iterator[FieldError]:
    """Replicas are counts, and the selector is text; what is not there is fine."""
    yield from _count_problems(obj, scale.spec_replicas)
    yield from _count_problems(obj, scale.status_replicas)
    if scale.label_selector:
        try:
            _found(obj, scale.label_selector, str, "string")
        except _WrongType as error:
            yield FieldError(FieldProblem.INVALID, scale.label_selector, str(error), "")


def _count_problems(obj: Object, path: str) -> Iterator[FieldError]:
    try:
        count = _found(obj, path, int, "int64")
    except _WrongType as error:
        yield FieldError(FieldProblem.INVALID, path, str(error), 0)
        return
    if count is not None and count < 0:
        yield FieldError(FieldProblem.INVALID, path, "should be a non-negative integer", count)
    elif count is not None and count > _MOST:
        yield FieldError(FieldProblem.INVALID, path, f"should be less than or equal to {_MOST}", count)


def _found(obj: Object, path: str, wanted: type, name: str) -> Any:
    """The value at a path, or None. Raises _WrongType."""
    names = path.removeprefix(".").split(".")
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


def _wrong(names: list[str], value: Any, wanted: str) -> _WrongType:
    shown, kind = go_text(value), _GO_TYPES[type(value)]
    return _WrongType(f".{'.'.join(names)} accessor error: {shown} is of the type {kind}, expected {wanted}")
