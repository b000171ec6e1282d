"""Clusters and surroundings for the tests of the TenantCluster controller."""

from __future__ import annotations

from typing import Any

import msgspec

from butler.api.cluster import TenantCluster
from butler.api.config import ButlerConfig
from butler.api.provider import ProviderConfig
from butler.api.team import Team
from butler.controllers.cluster.acceptance import accept
from butler.controllers.cluster.lookup import Snapshot
from butler.controllers.cluster.scope import Scope
from butler.local.catalogue import definitions

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


def surroundings(*objects: Any) -> Snapshot:
    """A world in which the given objects exist, beside a platform with a simulated provider and the catalogue."""
    sight = Snapshot()
    for one in (config(), provider(), *definitions(), *objects):
        sight.put(type(one), [one])
    return sight


def scope_of(wanted: TenantCluster, sight: Snapshot | None = None) -> Scope:
    sight = sight or surroundings()
    return Scope(accept(wanted, sight), INSIDE, sight)
