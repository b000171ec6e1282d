"""Values as Go's `%v` shows them, which the messages about strategic patches use."""

from __future__ import annotations

import re
from typing import Any

from ..schema.values import go_float


def go_text(value: Any) -> str:
    """A value in Go's `%v`."""
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return go_float(value)
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{go_text(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(go_text(item) for item in value)}]"
    return str(value)


_UNFIT = re.compile(r"json: cannot unmarshal (\w+) into Go (?:struct field \S+|value) of type (\S+)")
_KINDS = {"object": "map", "array": "slice", "number": "int64"}
_ORDER, _TAKEN = "$setElementOrder/", ("$retainKeys", "$deleteFromPrimitiveList/")


def left_over(change: Any) -> Any:
    """What Kubernetes has left of a strategic patch when it is merged: without directives, and the lists they order."""
    if not isinstance(change, dict):
        return change
    ordered = {name.removeprefix(_ORDER) for name in change if name.startswith(_ORDER)}
    return {
        name: left_over(value)
        for name, value in change.items()
        if name not in ordered and not name.startswith((_ORDER, *_TAKEN))
    }


def restoring(problem: str) -> str:
    """What is said of a value that does not fit, in the words of the converter that reads merged objects."""
    found = _UNFIT.fullmatch(problem)
    if found is None:
        return problem
    kind, wanted = _KINDS.get(found[1], found[1]), found[2]
    if wanted.startswith("[]"):
        return f"cannot restore slice from {kind}"
    if wanted.startswith("map["):
        return f"cannot restore map from {kind}"
    if (kind, wanted) == ("int64", "string"):
        # Go could make a letter of a number, but does not want to.
        return "cannot convert int64 to string"
    return f"cannot restore struct from: {kind}" if "." in wanted else f"unrecognized type: {wanted}"


def go_type_name(value: Any) -> str:
    """The Go type of a decoded JSON value."""
    names = {bool: "bool", int: "int64", float: "float64", str: "string", dict: "map[string]interface {}"}
    return names.get(type(value), "[]interface {}" if isinstance(value, list) else "%!s(<nil>)")
