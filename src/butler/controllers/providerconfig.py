"""ProviderConfig: whether it can be used, and by whom it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Protocol

from msgspec import structs

from butler.api.cluster import TenantCluster
from butler.api.config import BUTLER_CONFIG_NAME, ButlerConfig
from butler.api.credentials import canonical_keys
from butler.api.model import GROUP
from butler.api.normalise import normalise
from butler.api.provider import ProviderConfig
from butler.api.shared import SYSTEM_NAMESPACE, Condition, NsRef, SecretRef
from butler.api.team import Team
from butler.engines.core import Secret
from butler.errors import CredentialsInvalid, InvalidConfiguration, NotFound, ProviderError
from butler.providers import registry
from butler.providers.contract import Check, Provider, Surroundings
from butler.runtime.conditions import Truth, condition, merged
from butler.runtime.informer import Informer
from butler.runtime.manager import Manager
from butler.runtime.objects import key, key_of
from butler.runtime.reconciler import Outcome, Permission, Reconciler, Watch

FINALIZER = f"{GROUP}/providerconfig"
READY, CREDENTIALS_VALID, DELETING = "Ready", "CredentialsValid", "Deleting"

_PROBE = timedelta(minutes=5)
"""How often credentials are tried again; accounts without any are not."""
_PATIENCE = timedelta(hours=1)
"""When to look again whether a ProviderConfig is still used, if nothing happens before."""
_NAMED = 5
"""So many users are named."""
_UNTRIED = condition(CREDENTIALS_VALID, "Unknown", "NotTried", "The ProviderConfig has to be put right first.")


class Connect(Protocol):
    """As `registry.connect`."""

    def __call__(
        self, config: ProviderConfig, credentials: Mapping[str, str], surroundings: Surroundings, /
    ) -> Provider: ...


class ProviderConfigs(Reconciler[ProviderConfig]):
    """ProviderConfig → whether its account answers."""

    kind = ProviderConfig
    finalizer = FINALIZER
    permissions = (
        Permission(Secret, ("get",)),
        *(Permission(kind, ("get", "list", "watch")) for kind in (Team, ButlerConfig)),
    )

    def __init__(self, manager: Manager, surroundings: Surroundings, connect: Connect = registry.connect) -> None:
        self._client, self._surroundings, self._connect = manager.client, surroundings, connect
        self._configs: Informer[ProviderConfig] = manager.informers.of(ProviderConfig)
        self._clusters: Informer[TenantCluster] = manager.informers.of(TenantCluster)
        self._teams: Informer[Team] = manager.informers.of(Team)
        self._platform: Informer[ButlerConfig] = manager.informers.of(ButlerConfig)
        self.watches = (Watch(TenantCluster, self._of_cluster),)

    def _of_cluster(self, cluster: TenantCluster) -> Iterable[str]:
        """Only a ProviderConfig that waits for its end waits for clusters."""
        return [key_of(one) for one in self._configs if one.deleting and self._uses(cluster, one)]

    # -- whether it can be used -------------------------------------------------------------------------------

    async def reconcile(self, obj: ProviderConfig) -> Outcome:
        config = obj
        try:
            config = _normalised(obj)
            checks = await self._try(config, obj)
        except InvalidConfiguration as error:
            return Outcome(self._status(config, _not_ready(error.reason, str(error)), _UNTRIED))
        except ProviderError as error:
            truth: Truth = "False" if isinstance(error, CredentialsInvalid) else "Unknown"
            tried = condition(CREDENTIALS_VALID, truth, error.reason, str(error))
            status = self._status(config, _not_ready(error.reason, str(error)), tried)
            return Outcome(status, again=_again(config), error=error if error.retryable else None)
        return Outcome(self._status(config, _verdict(checks), _accepted(config)), again=_again(config))

    async def _try(self, config: ProviderConfig, obj: ProviderConfig) -> tuple[Check, ...]:
        """What the account says of itself. Raises InvalidConfiguration, ProviderError."""
        provider = self._connect(config, await self._credentials(config, obj), self._surroundings)
        try:
            return await provider.check()
        finally:
            await provider.close()

    async def _credentials(self, config: ProviderConfig, obj: ProviderConfig) -> dict[str, str]:
        ref, kind = config.spec.credentials_ref, config.spec.provider
        assert kind is not None, "normalise() fills it in"
        if ref is None:
            return {}
        places = _places(ref, obj)
        for namespace in places:
            try:
                secret = await self._client.get(Secret, ref.name, namespace)
            except NotFound:
                continue
            return canonical_keys(kind, {name: value.decode() for name, value in secret.data.items()}, ref.key)
        where = " or ".join(places)
        raise CredentialsInvalid(kind.value, "", f"there is no Secret {ref.name} in namespace {where}; create it")

    def _status(self, config: ProviderConfig, ready: Condition, credentials: Condition) -> object:
        status, now = config.status, self._surroundings.clock.now()
        validated = credentials.status == "True"
        is_news = validated and not status.validated
        return structs.replace(
            status,
            provider=config.spec.provider or config.spec.type,
            ready=ready.status == "True",
            validated=validated,
            last_probe_time=now if is_news else status.last_probe_time,
            last_validation_time=now if is_news else status.last_validation_time,
            conditions=merged(status.conditions, ready, credentials),
        )

    # -- whether it may go ------------------------------------------------------------------------------------

    async def finalize(self, obj: ProviderConfig) -> Outcome:
        users = self._users(obj, self._clusters) or self._users(obj, (await self._client.list(TenantCluster)).items)
        if not users:
            return Outcome()
        named = ", ".join(users[:_NAMED]) + (f" and {len(users) - _NAMED} more" if len(users) > _NAMED else "")
        message = f"Used by TenantCluster {named}; it goes when they are gone or have another provider."
        ending = condition(DELETING, True, "InUse", message)
        unusable = _not_ready("Deleting", "It is being deleted, so nothing new can use it.")
        status = structs.replace(obj.status, ready=False, conditions=merged(obj.status.conditions, unusable, ending))
        return Outcome(status, again=_PATIENCE)

    def _users(self, config: ProviderConfig, clusters: Iterable[TenantCluster]) -> list[str]:
        return sorted(one.key for one in clusters if self._uses(one, config))

    def _uses(self, cluster: TenantCluster, config: ProviderConfig) -> bool:
        """Whether this is the first there is of the ProviderConfigs a cluster may mean."""
        places = (key(ref.namespace, ref.name) for ref in cluster.provider_candidates() or self._defaults(cluster))
        return next((place for place in places if place in self._configs), "") == config.key

    def _defaults(self, cluster: TenantCluster) -> Iterable[NsRef]:
        """What a cluster means that names none: its team's, the platform's, the one called default."""
        team = self._teams.get(cluster.spec.team_ref.name) if cluster.spec.team_ref is not None else None
        if team is not None and team.spec.provider_config_ref is not None:
            yield NsRef(name=team.spec.provider_config_ref.name, namespace=SYSTEM_NAMESPACE)
        platform = self._platform.get(BUTLER_CONFIG_NAME)
        if platform is not None and (ref := platform.spec.default_provider_config_ref) is not None:
            yield NsRef(name=ref.name, namespace=ref.namespace or SYSTEM_NAMESPACE)
        yield NsRef(name="default", namespace=SYSTEM_NAMESPACE)


def _normalised(obj: ProviderConfig) -> ProviderConfig:
    config = normalise(obj)
    if config.spec.scope.type == "team" and config.spec.scope.team_ref is None:
        raise InvalidConfiguration(
            f"ProviderConfig {obj.key}", "spec.scope.teamRef", "is missing; scope type team needs the team's name"
        )
    return config


def _places(ref: SecretRef, obj: ProviderConfig) -> tuple[str, ...]:
    """Where the Secret may be: where the author says, or else beside the object, then in the system's namespace."""
    section = getattr(obj.spec, obj.spec.provider.value, None) if obj.spec.provider is not None else None
    written = obj.spec.credentials_ref or getattr(section, "credentials_ref", None)
    if written is not None and written.namespace:
        return (written.namespace,)
    return tuple(dict.fromkeys((ref.namespace or obj.metadata.namespace, SYSTEM_NAMESPACE)))


def _again(config: ProviderConfig) -> timedelta | None:
    return _PROBE if config.spec.credentials_ref is not None else None


def _not_ready(reason: str, message: str) -> Condition:
    return condition(READY, False, reason, message)


def _accepted(config: ProviderConfig) -> Condition:
    if config.spec.credentials_ref is None:
        return condition(CREDENTIALS_VALID, True, "NotNeeded", "This provider needs no credentials.")
    return condition(CREDENTIALS_VALID, True, "Accepted", "The provider accepts the credentials.")


def _verdict(checks: tuple[Check, ...]) -> Condition:
    failed = [f"{one.name}: {one.message} {one.remedy}".strip() for one in checks if not one.passed]
    if failed:
        return _not_ready("CheckFailed", "; ".join(failed))
    return condition(READY, True, "Ready", "The provider can be used.")
