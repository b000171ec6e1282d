"""Providers by name: those that come with Butler, and those that others installed."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Any, cast

from butler.api.provider import ProviderConfig
from butler.api.shared import ProviderType
from kubekit.errors import InvalidConfiguration

from .contract import Provider, Surroundings, Templates
from .images import Images
from .loadbalancer import LoadBalancers

BUILT_IN: Mapping[str, str] = {
    "aws": "butler.providers.aws",
    "azure": "butler.providers.azure",
    "gcp": "butler.providers.gcp",
    "harvester": "butler.providers.harvester",
    "nutanix": "butler.providers.nutanix",
    "proxmox": "butler.providers.proxmox",
    "simulated": "butler.providers.simulated",
}
"""The package of each. `provider` in it has a function `connect`. Where they apply, `templates` has a class
`ClusterTemplates`, and `loadbalancer` and `images` have a function `connect` that takes the provider."""

ENTRY_POINTS = "butler.providers"
"""The group in which others name their package: `tinycloud = "butler_tinycloud"`."""

_WITHOUT_SECTION = ("local", "simulated")
"""Providers for which a ProviderConfig need not say anything more."""


def names() -> tuple[str, ...]:
    """Every provider there is; none is imported for it."""
    return tuple(sorted({*BUILT_IN, *(point.name for point in entry_points(group=ENTRY_POINTS))}))


def offers_clusters(name: str) -> bool:
    """Whether tenant clusters can have workers there. Raises InvalidConfiguration when there is no such provider."""
    return _has(name, "templates")


def templates(name: str) -> Templates:
    """The Cluster API objects of a provider. Raises InvalidConfiguration when there is none."""
    if not _has(name, "templates"):
        raise InvalidConfiguration(
            "ProviderConfig", "spec.provider", f"provider {name!r} makes machines, but no workers of tenant clusters"
        )
    return cast(Templates, _module(name, "templates").ClusterTemplates())


def connect(config: ProviderConfig, credentials: Mapping[str, str], surroundings: Surroundings) -> Provider:
    """The account that a ProviderConfig, normalised, stands for; asks nobody yet. Credentials have Butler's own names
    (`butler.api.credentials`). Raises InvalidConfiguration."""
    kind, subject = config.spec.provider, f"ProviderConfig {config.key}"
    assert kind is not None, "normalise() fills it in"
    if kind is not ProviderType.EXTERNAL:
        _package(kind.value)
    if getattr(config.spec, kind.value) is None and kind.value not in _WITHOUT_SECTION:
        raise InvalidConfiguration(subject, f"spec.{kind.value}", "is missing; it says how to reach the provider")
    return cast(Provider, _module(config.spec.infrastructure, "provider").connect(config, credentials, surroundings))


def load_balancers(name: str, provider: Provider) -> LoadBalancers | None:
    """The load balancers of an account; None where the infrastructure has none."""
    return cast(LoadBalancers, _module(name, "loadbalancer").connect(provider)) if _has(name, "loadbalancer") else None


def images(name: str, provider: Provider) -> Images | None:
    """The images of an account; None where there is nothing to bring them to."""
    return cast(Images, _module(name, "images").connect(provider)) if _has(name, "images") else None


def _package(name: str) -> str:
    package = BUILT_IN.get(name) or next((p.value for p in entry_points(group=ENTRY_POINTS) if p.name == name), "")
    if not package:
        known = ", ".join(names())
        raise InvalidConfiguration("ProviderConfig", "spec.provider", f"no provider {name!r}; there are: {known}")
    return package


def _has(name: str, part: str) -> bool:
    return find_spec(f"{_package(name)}.{part}") is not None


def _module(name: str, part: str) -> Any:
    package = _package(name)
    try:
        return importlib.import_module(f"{package}.{part}")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith(package):
            raise
        needed = f"provider {name!r} needs the Python package {error.name}, which is not installed"
        advice = f"; pip install 'butler-kaas[{name}]'" if name in BUILT_IN else ""
        raise InvalidConfiguration("ProviderConfig", "spec.provider", needed + advice) from error
