"""Which addons a TenantCluster is to have: what it asks for, and what is filled in for what it leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from butler.api.cluster import TenantCluster
from butler.api.config import ButlerConfig
from butler.api.provider import ProviderConfig
from butler.api.team import ClusterDefaults

from . import clouds
from .builtin.platform import NETWORK
from .clouds import needs_cloud_controller
from .resolution import Reason, Wish

__all__ = ["needs_cloud_controller", "platform_wishes"]


@dataclass(frozen=True, slots=True)
class _Said:
    """What the cluster itself says of an addon."""

    name: str
    version: str | None = None
    values: Mapping[str, Any] | None = None
    reason: Reason = Reason.FILLED_IN


def platform_wishes(
    cluster: TenantCluster, defaults: ClusterDefaults, config: ButlerConfig | None, provider: ProviderConfig | None
) -> tuple[Wish, ...]:
    """Of a normalised cluster, with the defaults of its team and environment: what nodes need first, no addon twice.

    A version is that of the cluster, else that of the platform, else empty. Values of the team lie under those of the
    cluster."""
    versions = config.spec.default_addon_versions if config is not None else None
    wishes: dict[str, Wish] = {}
    for said in (*_wanted(cluster, provider), *(_Said(name) for name in defaults.default_addons)):
        platform = getattr(versions, said.name.replace("-", "_"), None) or ""
        layers = ((defaults.addon_values or {}).get(said.name), said.values)
        given = tuple(layer for layer in layers if layer)
        wish = Wish(said.name, said.version or platform, given, said.reason)
        wishes.setdefault(said.name, wish)
    return tuple(wishes.values())


def _wanted(cluster: TenantCluster, provider: ProviderConfig | None) -> Iterator[_Said]:
    addons = cluster.spec.addons
    yield replace(_said(NETWORK, addons.cni), reason=Reason.NEEDED)
    if controller := clouds.controller(cluster, provider):
        yield _Said(controller, reason=Reason.NEEDED)
    if addons.cert_manager is None or addons.cert_manager.enabled:
        yield _said("cert-manager", addons.cert_manager)
    if addons.storage is None or addons.storage.enabled:
        chosen = addons.storage.provider if addons.storage else None
        yield _said(chosen or clouds.storage(cluster, provider) or "longhorn", addons.storage)
    # Whoever asks for one by name gets it, and is told if it does not go with what the cloud does itself.
    if addons.load_balancer.enabled if addons.load_balancer else clouds.announces(provider):
        yield _said("metallb", addons.load_balancer)
    if addons.ingress is None or addons.ingress.enabled:
        yield _said((addons.ingress.provider if addons.ingress else None) or "traefik", addons.ingress)
    if addons.metrics_server is None or addons.metrics_server.enabled:
        yield _said("metrics-server", addons.metrics_server)


def _said(name: str, section: Any) -> _Said:
    """From a section of `spec.addons`; all of them have a version and values."""
    return _Said(name, section.version, section.values, Reason.ASKED) if section is not None else _Said(name)
