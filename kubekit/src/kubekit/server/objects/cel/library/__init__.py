"""The functions of Kubernetes' CEL environment."""

from __future__ import annotations

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


def overloads() -> list[Overload]:
    return [overload for module in _MODULES for overload in module.overloads()]
