"""Providers by name: those that come with Butler, and those that others installed."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any, cast

from butler.errors import InvalidConfiguration

from .contract import Templates

BUILT_IN: Mapping[str, str] = {"simulated": "butler.providers.simulated"}
"""The package of each; `templates` in it has a class `ClusterTemplates`, `provider` a function `connect`."""

ENTRY_POINTS = "butler.providers"


def names() -> tuple[str, ...]:
    """Every provider there is."""
    return tuple(sorted({*BUILT_IN, *(point.name for point in entry_points(group=ENTRY_POINTS))}))


def templates(name: str) -> Templates:
    """The Cluster API objects of a provider. Raises InvalidConfiguration when there is no such provider."""
    return cast(Templates, _module(name, "templates").ClusterTemplates())


def _module(name: str, part: str) -> Any:
    package = BUILT_IN.get(name) or next((p.value for p in entry_points(group=ENTRY_POINTS) if p.name == name), "")
    if not package:
        known = ", ".join(names())
        raise InvalidConfiguration("ProviderConfig", "spec.provider", f"no provider {name!r}; there are: {known}")
    return importlib.import_module(f"{package}.{part}")
