"""The functions of Kubernetes' CEL environment."""

from __future__ import annotations

from functools import cache

from ..language.functions import Overload
from . import (
    authorization,
    conversions,
    formats,
    lists,
    network,
    optionals,
    quantities,
    standard,
    strings,
    urls,
    versions,
)

_MODULES = (
    standard,
    conversions,
    strings,
    lists,
    optionals,
    quantities,
    network,
    urls,
    formats,
    versions,
    authorization,
)


@cache
def catalogue() -> dict[str, tuple[Overload, ...]]:
    """Every function rules may call, by name."""
    found: dict[str, list[Overload]] = {}
    for module in _MODULES:
        for overload in module.overloads():
            found.setdefault(overload.name, []).append(overload)
    return {name: tuple(overloads) for name, overloads in found.items()}
