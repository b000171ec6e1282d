"""The `fieldPath` of a rule, such as `.spec.template` or `.labels['a.b']`."""

from __future__ import annotations

import re
from functools import lru_cache

from ..schema.model import ANYTHING, Schema

_QUOTED = re.compile(r"\['((?:[^'\\]|\\.)*)'\]")
_NAMED = re.compile(r"\.([^.\[\]]+)")
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "'": "'", "\\": "\\"}


def normalized(path: str, schema: Schema) -> str:
    """The path as error messages show it; empty when it is not one of the schema."""
    try:
        return _walk(path, schema)
    except ValueError:
        return ""


def is_valid(path: str, schema: Schema) -> bool:
    try:
        _walk(path, schema)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=256)
def _walk(path: str, schema: Schema) -> str:
    at, shown, here = 0, "", schema
    while at < len(path):
        quoted = _QUOTED.match(path, at)
        found = quoted or _NAMED.match(path, at)
        if not found:
            raise ValueError(f"expected [ or . but got: {path[at:]}")
        name = _unescaped(found[1]) if quoted else found[1]
        at = found.end()
        if here.properties:
            if name not in here.properties:
                raise ValueError("does not refer to a valid field")
            here, shown = here.properties[name], f"{shown}.{name}" if shown else name
        elif here.additional is not None and here.additional is not ANYTHING:
            here, shown = here.additional, f"{shown}[{name}]"
        else:
            raise ValueError("does not refer to a valid field")
    return shown


def _unescaped(text: str) -> str:
    def replace(found: re.Match[str]) -> str:
        if found[1] not in _ESCAPES:
            raise ValueError(f"invalid escape char {found[0]}")
        return _ESCAPES[found[1]]

    return re.sub(r"\\(.)", replace, text)
