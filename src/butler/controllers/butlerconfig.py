"""ButlerConfig: whether the settings of the platform hold, and how much there is on it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from msgspec import structs

from butler.api.cluster import TenantCluster
from butler.api.config import BUTLER_CONFIG_NAME, ButlerConfig
from butler.api.provider import ProviderConfig
from butler.api.shared import SYSTEM_NAMESPACE
from butler.api.team import Team
from kubekit.clock import Clock
from kubekit.model.status import Condition
from kubekit.runtime.conditions import condition, merged
from kubekit.runtime.controller import Controller
from kubekit.runtime.informer import Informer
from kubekit.runtime.manager import Manager
from kubekit.runtime.objects import key, key_of
from kubekit.runtime.reconciler import Outcome, Reconciler, Watch

READY = "Ready"
_PACE = timedelta(seconds=1)
"""How often at most other numbers are written: clusters may come by the thousand."""


def add_butler_configs(manager: Manager, clock: Clock) -> Controller:
    """Run the controller."""
    return manager.add(ButlerConfigs(manager, clock))


class ButlerConfigs(Reconciler[ButlerConfig]):
    """ButlerConfig → what its settings come to. Nothing is asked of the API: the caches know how much there is."""

    kind = ButlerConfig
    tells_conditions = False
    workers = 1

    def __init__(self, manager: Manager, clock: Clock) -> None:
        self._clock = clock
        self._configs: Informer[ButlerConfig] = manager.informers.of(ButlerConfig)
        self._teams: Informer[Team] = manager.informers.of(Team)
        self._clusters: Informer[TenantCluster] = manager.informers.of(TenantCluster)
        self._providers: Informer[ProviderConfig] = manager.informers.of(ProviderConfig)
        counted = (Team, TenantCluster, ProviderConfig)
        self.watches = tuple(Watch(kind, self._everyone, matters=_whether_there) for kind in counted)
        self._next_count = 0.0

    def _everyone(self, _: Any) -> Iterable[str]:
        return [key_of(one) for one in self._configs]

    async def reconcile(self, obj: ButlerConfig) -> Outcome:
        status = structs.replace(
            obj.status,
            tenancy_mode=obj.spec.multi_tenancy.mode.capitalize(),
            conditions=merged(obj.status.conditions, self._ready(obj)),
        )
        counted = structs.replace(status, team_count=len(self._teams), cluster_count=len(self._clusters))
        if counted == status or obj.metadata.name != BUTLER_CONFIG_NAME:
            return Outcome(status)
        now = self._clock.monotonic()
        if now < self._next_count:
            return Outcome(status, again=_PACE)
        self._next_count = now + _PACE.total_seconds()
        return Outcome(counted)

    def _ready(self, config: ButlerConfig) -> Condition:
        if config.metadata.name != BUTLER_CONFIG_NAME:
            message = f"Nobody reads it: the settings of the platform are in the ButlerConfig {BUTLER_CONFIG_NAME}."
            return condition(READY, False, "InvalidName", message)
        ref = config.spec.default_provider_config_ref
        if ref is not None and key(ref.namespace or SYSTEM_NAMESPACE, ref.name) not in self._providers:
            where = f"{ref.namespace or SYSTEM_NAMESPACE}/{ref.name}"
            message = f"There is no ProviderConfig {where}, which spec.defaultProviderConfigRef names."
            return condition(READY, False, "ProviderConfigNotFound", message)
        return condition(READY, True, "Ready", "The settings are in effect.")


def _whether_there(_: Any) -> None:
    """Of others it matters only that they come and go."""
