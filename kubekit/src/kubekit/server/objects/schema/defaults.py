"""Default values of a schema, filled in where an object says nothing."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from .model import MISSING, Schema
from .trails import Trail, trail
from .values import copy_json


def apply_defaults(value: Any, schema: Schema) -> None:
    """Fill in, in place, what is missing below `value`; null counts as missing where it is not allowed."""
    defaults = _defaults(schema)
    if defaults:
        _fill(value, defaults)


@lru_cache(maxsize=4096)
def _defaults(schema: Schema) -> Trail | None:
    # A default of null means "no default" in Kubernetes.
    return trail(schema, lambda node: node.default is not MISSING and node.default is not None)


def _fill(value: Any, defaults: Trail) -> None:
    if isinstance(value, dict):
        for name, below in defaults.members:
            if name not in value:
                if not below.found:
                    continue
                value[name] = _default(below)
            elif value[name] is None and below.found and not below.schema.nullable:
                value[name] = _default(below)
            if below.goes_on:
                _fill(value[name], below)
        if defaults.additional:
            for name in value.keys() - defaults.schema.properties.keys():
                value[name] = _filled(value[name], defaults.additional)
    elif isinstance(value, list) and defaults.items:
        for index, item in enumerate(value):
            value[index] = _filled(item, defaults.items)


def _filled(value: Any, below: Trail) -> Any:
    if value is None and below.found and not below.schema.nullable:
        value = _default(below)
    _fill(value, below)
    return value


def _default(below: Trail) -> Any:
    default = below.schema.default
    return copy_json(default) if isinstance(default, (dict, list)) else default
