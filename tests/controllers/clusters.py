"""Clusters and surroundings for the tests of the TenantCluster controller."""

from __future__ import annotations

from typing import Any

import msgspec

from butler.api.addon import AddonDefinition
from butler.api.cluster import TenantCluster
from butler.api.config import ButlerConfig
from butler.api.provider import ProviderConfig
from butler.api.team import Team
from butler.controllers.cluster.acceptance import accept
from butler.controllers.cluster.lookup import Snapshot
from butler.controllers.cluster.scope import Scope

UID = "0f3c2a11-7d55-4b6e-9e6d-000000000001"
INSIDE = "shop-0f3c2a11"


def cluster(name: str = "shop", *, status: dict[str, Any] | None = None, **spec: Any) -> TenantCluster:
    """A cluster as a person would write it."""
    return msgspec.convert(
        {
            "kind": "TenantCluster",
            "metadata": {
                "name": name,
                "namespace": spec.pop("namespace", "butler-tenants"),
                "generation": spec.pop("generation", 1),
                "uid": spec.pop("uid", UID),
                "labels": spec.pop("labels", {}),
                "creationTimestamp": spec.pop("created", "2026-01-01T00:00:00Z"),
            },
            "spec": spec,
            "status": status or {},
        },
        TenantCluster,
    )


def provider(name: str = "simulated", **spec: Any) -> ProviderConfig:
    return msgspec.convert(
        {
            "kind": "ProviderConfig",
            "metadata": {"name": name, "namespace": "butler-system"},
            "spec": {"provider": "simulated", **spec},
        },
        ProviderConfig,
    )


def config(**spec: Any) -> ButlerConfig:
    default = {"defaultProviderConfigRef": {"name": "simulated"}}
    return msgspec.convert(
        {"kind": "ButlerConfig", "metadata": {"name": "butler"}, "spec": {**default, **spec}}, ButlerConfig
    )


def team(name: str = "web", phase: str = "Ready", **spec: Any) -> Team:
    return msgspec.convert(
        {
            "kind": "Team",
            "metadata": {"name": name},
            "spec": spec,
            "status": {"phase": phase, "namespace": f"team-{name}"},
        },
        Team,
    )


def definition(name: str, version: str = "1.0.0", **spec: Any) -> AddonDefinition:
    chart = {"repository": "https://charts.example.com", "name": name, "defaultVersion": version}
    about = {"displayName": name, "description": name, "category": "other", "chart": chart, **spec}
    return msgspec.convert({"kind": "AddonDefinition", "metadata": {"name": name}, "spec": about}, AddonDefinition)


CATALOGUE = (
    definition("cilium", "1.17.0", category="cni", forNodes=True, defaults={"namespace": "kube-system"}),
    definition("cert-manager", "v1.16.2"),
    definition("longhorn", "1.7.2", category="storage"),
    definition("metallb", "0.14.9"),
    definition("traefik", "34.3.0", category="ingress"),
    definition("metrics-server", "3.12.2"),
)
LEAN: dict[str, Any] = {name: {"enabled": False} for name in ("storage", "loadBalancer", "metricsServer")}
"""For clusters with few addons: cilium, cert-manager and traefik."""


def surroundings(*objects: Any) -> Snapshot:
    """A world in which the given objects exist, beside a platform with a simulated provider and a catalogue."""
    sight = Snapshot()
    for one in (config(), provider(), *CATALOGUE, *objects):
        sight.put(type(one), [one])
    return sight


def scope_of(wanted: TenantCluster, sight: Snapshot | None = None) -> Scope:
    sight = sight or surroundings()
    return Scope(accept(wanted, sight), INSIDE, sight)
