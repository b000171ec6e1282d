"""Who uses a ProviderConfig."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from butler.api.cluster import TenantCluster
from butler.api.config import BUTLER_CONFIG_NAME, ButlerConfig
from butler.api.machine import ImageSync, LoadBalancerRequest, MachineRequest
from butler.api.provider import ProviderConfig
from butler.api.shared import SYSTEM_NAMESPACE, LocalRef, ProviderRef
from butler.api.team import Team
from kubekit.client.protocol import Client
from kubekit.model.resource import Resource
from kubekit.runtime.objects import key

from .cluster.acceptance import provider_candidates
from .requests import config_of

REQUESTS: tuple[type[Resource], ...] = (MachineRequest, LoadBalancerRequest, ImageSync)
_NAMED = 5
"""So many users are named."""


@dataclass(frozen=True, slots=True)
class Choosing:
    """What decides which ProviderConfig a cluster means."""

    exists: Callable[[str], bool]
    """Whether there is a ProviderConfig of a key."""
    team: Callable[[str], Team | None]
    platform: Callable[[str], ButlerConfig | None]

    def uses(self, cluster: TenantCluster, config: ProviderConfig) -> bool:
        """Whether this is the first there is of the ProviderConfigs a cluster may mean."""
        team = self.team(cluster.spec.team_ref.name) if cluster.spec.team_ref is not None else None
        meant = provider_candidates(cluster, team, self.platform(BUTLER_CONFIG_NAME))
        return next((place for ref in meant if self.exists(place := key(ref.namespace, ref.name))), "") == config.key

    def users(self, config: ProviderConfig, clusters: Iterable[TenantCluster]) -> list[str]:
        return sorted(f"TenantCluster {one.key}" for one in clusters if self.uses(one, config))


def asking(config: ProviderConfig, requests: Iterable[Any]) -> list[str]:
    """Those of the requests that are for this ProviderConfig."""
    return sorted(f"{one.kind} {one.key}" for one in requests if config_of(one) == config.key)


async def stored_users(client: Client, config: ProviderConfig) -> list[str]:
    """Everyone who uses it, by asking: a cache may not show yet what is there."""
    configs = {one.key for one in (await client.list(ProviderConfig)).items}
    teams = {one.metadata.name: one for one in (await client.list(Team)).items}
    platforms = {one.metadata.name: one for one in (await client.list(ButlerConfig)).items}
    choosing = Choosing(configs.__contains__, teams.get, platforms.get)
    users = choosing.users(config, (await client.list(TenantCluster)).items)
    for kind in REQUESTS:
        users += asking(config, (await client.list(kind)).items)
    return users


async def default_of(client: Client, config: ProviderConfig) -> list[str]:
    """Whose default it is, used or not."""
    if config.metadata.namespace != SYSTEM_NAMESPACE:
        return []
    name = config.metadata.name
    platforms = (await client.list(ButlerConfig)).items
    teams = (await client.list(Team)).items
    return [
        *(f"ButlerConfig {one.key}" for one in platforms if _named(one.spec.default_provider_config_ref) == name),
        *(f"Team {one.key}" for one in teams if _named(one.spec.provider_config_ref) == name),
    ]


def _named(ref: LocalRef | ProviderRef | None) -> str:
    return ref.name if ref is not None else ""


def named(users: list[str]) -> str:
    """The first of them, and how many more there are."""
    more = f" and {len(users) - _NAMED} more" if len(users) > _NAMED else ""
    return ", ".join(users[:_NAMED]) + more
