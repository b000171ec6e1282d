"""Providers by name: those that come with Butler, and those that others installed."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any, cast

from butler.api.provider import ProviderConfig
from butler.errors import InvalidConfiguration

from .contract import Provider, Surroundings, Templates

BUILT_IN: Mapping[str, str] = {"simulated": "butler.providers.simulated"}
"""The package of each; `templates` in it has a class `ClusterTemplates`, `provider` a function `connect`."""

ENTRY_POINTS = "butler.providers"

_WITHOUT_SECTION = ("local", "simulated")
"""Providers for which a ProviderConfig need not say anything more."""


def names() -> tuple[str, ...]:
    """Every provider there is."""
    return tuple(sorted({*BUILT_IN, *(point.name for point in entry_points(group=ENTRY_POINTS))}))


def templates(name: str) -> Templates:
    """The Cluster API objects of a provider. Raises InvalidConfiguration when there is no such provider."""
    return cast(Templates, _module(name, "templates").ClusterTemplates())


def connect(config: ProviderConfig, credentials: Mapping[str, str], surroundings: Surroundings) -> Provider:
    """The account that a ProviderConfig, normalised, stands for; asks nobody yet. Credentials have Butler's own names
    (`butler.api.credentials`). Raises InvalidConfiguration."""
    kind = config.spec.provider
    assert kind is not None, "normalise() fills it in"
    module = _module(kind.value, "provider")
    if getattr(config.spec, kind.value) is None and kind.value not in _WITHOUT_SECTION:
        raise InvalidConfiguration(
            f"ProviderConfig {config.key}", f"spec.{kind.value}", "is missing; it says how to reach the provider"
        )
    return cast(Provider, module.connect(config, credentials, surroundings))


def _module(name: str, part: str) -> Any:
    package = BUILT_IN.get(name) or next((p.value for p in entry_points(group=ENTRY_POINTS) if p.name == name), "")
    if not package:
        known = ", ".join(names())
        raise InvalidConfiguration("ProviderConfig", "spec.provider", f"no provider {name!r}; there are: {known}")
    return importlib.import_module(f"{package}.{part}")
