"""ProviderConfig: whether it can be used, and by whom it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from msgspec import structs

from butler.api.cluster import TenantCluster
from butler.api.config import ButlerConfig
from butler.api.model import GROUP
from butler.api.network import NetworkPool
from butler.api.normalise import normalise
from butler.api.provider import CREDENTIALS_VALID, Capacity, LoadBalancerPolicy, ProviderConfig, ProviderConfigStatus
from butler.api.team import Team
from butler.errors import CredentialsInvalid, ProviderError
from butler.providers.contract import Check
from kubekit.errors import InvalidConfiguration
from kubekit.model.status import Condition
from kubekit.runtime.conditions import Truth, condition, merged, without
from kubekit.runtime.controller import Controller
from kubekit.runtime.informer import Informer
from kubekit.runtime.manager import Manager
from kubekit.runtime.objects import key, key_of
from kubekit.runtime.reconciler import Note, Outcome, Permission, Reconciler, Watch

from . import accounts as shared
from .accounts import Accounts, Busy
from .provider_users import REQUESTS, Choosing, asking, named, stored_users
from .requests import config_of

FINALIZER = f"{GROUP}/providerconfig"
READY, POOL_AVAILABLE, DELETING = "Ready", "PoolAvailable", "Deleting"

_PROBE = timedelta(minutes=5)
"""How often credentials are tried again; accounts without any are not."""
_PATIENCE = timedelta(hours=1)
"""When to look again whether a ProviderConfig is still used, if nothing happens before."""
_NODES_PER_TENANT = 5
"""Addresses for nodes that a cluster is reckoned with."""
_UNTRIED = condition(CREDENTIALS_VALID, "Unknown", "Pending", "The ProviderConfig has to be put right first.")
_EVENTS = {"PoolExhausted": "PoolsExhausted"}
"""Events that are called otherwise than the reason they tell of."""


def add_provider_configs(manager: Manager, accounts: Accounts) -> Controller:
    """Run the controller."""
    configs = ProviderConfigs(manager, accounts)
    configs.attended_by = controller = manager.add(configs)
    accounts.listen(configs.look_at)
    return controller


class ProviderConfigs(Reconciler[ProviderConfig]):
    """ProviderConfig → whether its account answers."""

    kind = ProviderConfig
    finalizer = FINALIZER
    tells_conditions = False
    permissions = (
        *shared.NEEDED,
        *(Permission(kind, ("get", "list", "watch")) for kind in (Team, ButlerConfig)),
    )

    def __init__(self, manager: Manager, accounts: Accounts) -> None:
        self._client, self._accounts = manager.client, accounts
        self._clock = accounts.surroundings.clock
        self.attended_by: Controller | None = None
        self._configs: Informer[ProviderConfig] = manager.informers.of(ProviderConfig)
        self._clusters: Informer[TenantCluster] = manager.informers.of(TenantCluster)
        self._requests: tuple[Informer[Any], ...] = tuple(manager.informers.of(kind) for kind in REQUESTS)
        self._pools: Informer[NetworkPool] = manager.informers.of(NetworkPool)
        teams: Informer[Team] = manager.informers.of(Team)
        platforms: Informer[ButlerConfig] = manager.informers.of(ButlerConfig)
        self._choosing = Choosing(self._configs.__contains__, teams.get, platforms.get)
        self.watches = (
            Watch(TenantCluster, self._of_cluster),
            *(Watch(kind, self._of_request, matters=config_of) for kind in REQUESTS),
            Watch(NetworkPool, self._of_pool, matters=lambda pool: pool.status.available_ips),
        )

    def look_at(self, name: str) -> None:
        """Something about the account is new."""
        if self.attended_by is not None:
            self.attended_by.queue.add(name)

    def _of_cluster(self, cluster: TenantCluster) -> Iterable[str]:
        """Only a ProviderConfig that waits for its end waits for clusters."""
        return [key_of(one) for one in self._configs if one.deleting and self._choosing.uses(cluster, one)]

    def _of_request(self, request: Any) -> Iterable[str]:
        """The same for requests."""
        config = self._configs.get(config_of(request))
        return [key_of(config)] if config is not None and config.deleting else []

    def _of_pool(self, pool: NetworkPool) -> Iterable[str]:
        return [key_of(one) for one in self._configs if pool.key in _pool_keys(one)]

    async def reconcile(self, obj: ProviderConfig) -> Outcome:
        config, is_tried = obj, False
        try:
            config = _normalised(obj)
            async with self._accounts.visit(config.key, config.key, self.look_at) as account:
                is_tried = True
                checks = await account.provider.check()
        except Busy as busy:
            return Outcome(again=busy.again)
        except InvalidConfiguration as error:
            return self._outcome(config, (_not_ready(error.reason, str(error)), _UNTRIED))
        except ProviderError as error:
            truth: Truth = "False" if isinstance(error, CredentialsInvalid) else "Unknown"
            tried = condition(CREDENTIALS_VALID, truth, error.reason, str(error))
            told = self._outcome(config, (_not_ready(error.reason, str(error)), tried), is_tried)
            return replace(told, error=error) if error.retryable else told
        return self._outcome(config, _verdict(config, checks), is_tried, _version(checks))

    def _outcome(
        self, config: ProviderConfig, found: tuple[Condition, Condition], is_tried: bool = False, version: str = ""
    ) -> Outcome:
        status, spec, (ready, credentials) = config.status, config.spec, found
        pools = self._pool_condition(config)
        conditions = status.conditions if pools else without(status.conditions, POOL_AVAILABLE)
        new = structs.replace(
            status,
            provider=spec.provider or spec.type,
            scope=spec.scope.type,
            network_mode=spec.network.mode,
            ready=ready.status == "True",
            validated=credentials.status == "True",
            provider_version=version or status.provider_version,
            capacity=self._capacity(config),
            conditions=merged(conditions, ready, credentials, *pools),
        )
        notes = tuple(
            Note(_EVENTS.get(one.reason, one.reason), one.message, "Warning")
            for one in (credentials, *pools)
            if one.status == "False"
        )
        if ready.status == "True" and not status.ready:
            notes = (*notes, Note(ready.reason, ready.message))
        again = _PROBE if spec.credentials_ref is not None else None
        return Outcome(self._timed(config, new) if is_tried else new, again, notes)

    def _timed(self, config: ProviderConfig, new: ProviderConfigStatus) -> ProviderConfigStatus:
        """The status with the time of the probe: of every one with a new result, and else once in a while, since many
        things bring a visit and each of these would be a write."""
        old, now = config.status, self._clock.now()
        is_news = (new.ready, new.validated, config.metadata.generation) != (
            old.ready, old.validated, old.observed_generation,
        )  # fmt: skip
        if not is_news and old.last_probe_time is not None and now - old.last_probe_time < _PROBE:
            return new
        validated = now if new.validated else old.last_validation_time
        return structs.replace(new, last_probe_time=now, last_validation_time=validated)

    def _pool_condition(self, config: ProviderConfig) -> tuple[Condition, ...]:
        if config.spec.network.mode != "ipam":
            return ()
        missing = [name for name in _pool_keys(config) if name not in self._pools]
        if missing or not _pool_keys(config):
            what = (
                f"There is no NetworkPool {missing[0]}." if missing else "spec.network.poolRefs names no NetworkPool."
            )
            return (condition(POOL_AVAILABLE, False, "ValidationFailed", what),)
        capacity = self._capacity(config)
        if capacity is None or not capacity.available_ips:
            return (condition(POOL_AVAILABLE, False, "PoolExhausted", "No NetworkPool has a free address left."),)
        return (condition(POOL_AVAILABLE, True, "PoolAvailable", "There are free addresses."),)

    def _capacity(self, config: ProviderConfig) -> Capacity | None:
        if config.spec.network.mode != "ipam":
            return None
        pools = [self._pools.get(name) for name in _pool_keys(config)]
        free = sum(pool.status.available_ips or 0 for pool in pools if pool is not None)
        policy = config.spec.network.load_balancer or LoadBalancerPolicy()
        return Capacity(available_ips=free, estimated_tenants=free // (_NODES_PER_TENANT + policy.default_pool_size))

    async def finalize(self, obj: ProviderConfig) -> Outcome:
        users = self._cached_users(obj) or await stored_users(self._client, obj)
        if not users:
            return Outcome()
        message = f"Used by {named(users)}; it goes when they are gone or have another provider."
        ending = condition(DELETING, True, "InUse", message)
        unusable = _not_ready("Deleting", "It is being deleted, so nothing new can use it.")
        status = structs.replace(obj.status, ready=False, conditions=merged(obj.status.conditions, unusable, ending))
        return Outcome(status, again=_PATIENCE)

    def _cached_users(self, config: ProviderConfig) -> list[str]:
        requests = [name for informer in self._requests for name in asking(config, informer)]
        return [*self._choosing.users(config, self._clusters), *requests]


def _normalised(obj: ProviderConfig) -> ProviderConfig:
    config = normalise(obj)
    if config.spec.scope.type == "team" and config.spec.scope.team_ref is None:
        raise InvalidConfiguration(
            f"ProviderConfig {obj.key}", "spec.scope.teamRef", "is missing; scope type team needs the team's name"
        )
    return config


def _pool_keys(config: ProviderConfig) -> tuple[str, ...]:
    return tuple(key(config.metadata.namespace, ref.name) for ref in config.spec.network.pool_refs)


def _not_ready(reason: str, message: str) -> Condition:
    return condition(READY, False, reason, message)


def _accepted(config: ProviderConfig) -> Condition:
    if config.spec.credentials_ref is None:
        return condition(CREDENTIALS_VALID, True, "Ready", "This provider needs no credentials.")
    return condition(CREDENTIALS_VALID, True, "Ready", "The provider accepts the credentials.")


def _verdict(config: ProviderConfig, checks: tuple[Check, ...]) -> tuple[Condition, Condition]:
    """Whether it can be used, and whether the credentials are good, given what was tried."""
    refused = next((one for one in checks if one.name == "credentials" and not one.passed), None)
    valid = condition(CREDENTIALS_VALID, False, "CredentialsInvalid", _told(refused)) if refused else _accepted(config)
    failed = [f"{one.name}: {_told(one)}" for one in checks if not one.passed]
    if failed:
        return _not_ready("ValidationFailed", "; ".join(failed)), valid
    return condition(READY, True, "Ready", "The provider can be used."), valid


def _told(check: Check) -> str:
    return f"{check.message} {check.remedy}".strip()


def _version(checks: tuple[Check, ...]) -> str:
    return next((one.value for one in checks if one.name == "version" and one.value), "")
