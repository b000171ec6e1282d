"""TenantAddon → an addon in a tenant's cluster."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from butler.addons import secret_values
from butler.addons.credentials import secrets_of
from butler.addons.errors import AddonRefused, ValuesMissing
from butler.addons.facts import running_facts
from butler.addons.model import Addon, Installer
from butler.addons.resolution import Wish, resolve
from butler.api.addon import AddonDefinition, TenantAddon, TenantAddonStatus
from butler.api.cluster import TenantCluster
from butler.api.config import BUTLER_CONFIG_NAME, ButlerConfig
from butler.api.model import AGENT, GROUP
from butler.api.normalise import normalise
from butler.api.provider import ProviderConfig
from butler.api.team import Team
from butler.engines.core import Secret
from butler.engines.helm.protocol import Cluster, Place
from butler.engines.tenants import Tenants
from butler.providers.contract import Surroundings
from kubekit.client.protocol import Selection
from kubekit.model.resource import Object
from kubekit.runtime.conditions import condition
from kubekit.runtime.informer import Informer
from kubekit.runtime.manager import Manager
from kubekit.runtime.objects import key
from kubekit.runtime.reconciler import Outcome, Permission, Reconciler, Watch

from ..cluster.kinds import SecretSeen
from ..cluster.settings import defaults_of
from . import cluster_access, definitions, neighbours, residents, team_limits
from . import status as pictures
from .belonging import missing_metadata
from .removal import Removal, let_go, removal_of, take_out
from .residents import Resident
from .upkeep import Order, Upkeep

FINALIZER = f"{GROUP}/tenantaddon"
_BY_CLUSTER, _BY_DEFINITION, _BY_SECRET, _BY_LOGIN = "cluster", "definition", "secret", "login"
_SECRETS = Selection(fields="type=Opaque")
"""Those that people write; of others, a change is noticed at the next visit."""
_LOOK_AGAIN = timedelta(minutes=10)
"""When to look again at what waits for something whose coming no watch tells."""


def add_tenant_addons(
    manager: Manager, tenants: Tenants, installer: Installer | None, surroundings: Surroundings
) -> None:
    """Have a manager run the controller, and its errands beside it."""
    addons = TenantAddons(manager, tenants, installer, surroundings)
    addons.upkeep.errands.wake = manager.add(addons).wake
    manager.accompany(addons.upkeep.errands.run)


class TenantAddons(Reconciler[TenantAddon]):
    """Finds out what is asked for and whether it may and can be; the rest is upkeep."""

    kind = TenantAddon
    finalizer = FINALIZER
    tells_conditions = False
    journal = logging.getLogger("butler.addons")
    permissions = (
        Permission(Secret, ("get",)),
        *(Permission(kind, ("get", "list", "watch")) for kind in (Team, ProviderConfig)),
    )

    def __init__(
        self, manager: Manager, tenants: Tenants, installer: Installer | None, surroundings: Surroundings
    ) -> None:
        self._client, self._tenants = manager.client, tenants
        self.upkeep = Upkeep(installer, surroundings.clock, surroundings.chance, manager.recorder)
        informers = manager.informers
        self._addons: Informer[TenantAddon] = informers.of(TenantAddon)
        self._clusters: Informer[TenantCluster] = informers.of(TenantCluster)
        self._definitions: Informer[AddonDefinition] = informers.of(AddonDefinition)
        self._platforms: Informer[ButlerConfig] = informers.of(ButlerConfig)
        self._teams: Informer[Team] = informers.of(Team)
        self._providers: Informer[ProviderConfig] = informers.of(ProviderConfig)
        self._addons.index(_BY_CLUSTER, _cluster_of)
        self._addons.index(_BY_DEFINITION, _definition_of)
        self._addons.index(_BY_SECRET, _secrets_of)
        self._addons.index(_BY_LOGIN, _login_of)
        self.watches = (
            Watch(TenantCluster, self._in_cluster, matters=cluster_access.what_matters),
            Watch(TenantAddon, self._beside, matters=neighbours.what_matters),
            Watch(AddonDefinition, self._by_definition, matters=lambda definition: definition.spec),
            Watch(SecretSeen, self._by_secret, _SECRETS, matters=lambda secret: secret.metadata.resource_version),
            Watch(ButlerConfig, self._everyone, matters=lambda config: config.spec.charts),
            Watch(Team, self._everyone, matters=lambda team: team.spec),
        )

    async def reconcile(self, obj: TenantAddon) -> Outcome:
        cluster = self._clusters.get(_cluster_key(obj))
        if cluster is None or cluster.deleting:
            return await self._homeless(obj, cluster)
        definition = self._definitions.get(obj.spec.addon) if obj.spec.addon else None
        if change := missing_metadata(obj, cluster, definition):
            await self._settle(obj, change)
            return Outcome()
        status: TenantAddonStatus = self.upkeep.news(obj)
        try:
            return await self._pursue(obj, status, cluster)
        except ValuesMissing as missing:
            waiting = pictures.waiting(status, pictures.READY, missing.reason, str(missing))
            return self.upkeep.outcome(obj, waiting, _LOOK_AGAIN)
        except residents.DependencyCycle as cycle:
            unmet = condition(pictures.DEPENDENCIES_MET, False, cycle.reason, str(cycle))
            return self.upkeep.outcome(obj, pictures.refused(status, cycle.reason, str(cycle), unmet))
        except AddonRefused as refused:
            return self.upkeep.outcome(obj, pictures.refused(status, refused.reason, str(refused)))

    async def _pursue(self, obj: TenantAddon, status: TenantAddonStatus, cluster: TenantCluster) -> Outcome:
        """Raises AddonRefused."""
        definition = self._permitted(obj, cluster)
        if hindrance := cluster_access.hindrance(cluster, for_nodes=definition.spec.for_nodes):
            message = f"TenantCluster {cluster.metadata.name}: {hindrance}"
            return self._wait(obj, status, pictures.CLUSTER_READY, "ClusterNotReady", message)
        addon = await self._addon(obj, definition, cluster)
        me, others = self._resident(obj, addon.place), self._others(obj, cluster)
        residents.check_conflicts(me, others)
        residents.check_cycles(me, others)
        reached = condition(pictures.CLUSTER_READY, True, "ClusterReady", "")
        unmet = residents.unmet(me, others)
        met = condition(pictures.DEPENDENCIES_MET, not unmet, *_told_of(unmet))
        status = pictures.changed(status, None, reached, met)
        if unmet and not self.upkeep.is_as_wanted(status, addon):
            return self._wait(obj, status, pictures.DEPENDENCIES_MET, met.reason, met.message)
        if not self.upkeep.is_possible:
            return self._wait(obj, status, pictures.READY, pictures.NO_INSTALLER, "nothing here installs addons")
        order = Order(
            addon,
            partial(self._reach, cluster),
            repairs=cluster.spec.management_policy.mode != "Observe",
            belongs_to_others=lambda place: residents.is_held(place, others),
        )
        return await self.upkeep.pursue(obj, status, order)

    def _wait(self, obj: TenantAddon, status: TenantAddonStatus, kind: str, reason: str, message: str) -> Outcome:
        self.upkeep.encourage(obj.key)
        return self.upkeep.outcome(obj, pictures.waiting(status, kind, reason, message))

    async def finalize(self, obj: TenantAddon) -> Outcome:
        cluster, place = self._clusters.get(_cluster_key(obj)), pictures.place_of(obj.status)
        if cluster is None or cluster.deleting or place is None:
            # The end of a cluster takes all with it.
            return await let_go(self.upkeep, obj)
        hindrance = cluster_access.hindrance(cluster, for_nodes=True)
        told = ("ClusterNotReady", f"TenantCluster {cluster.metadata.name}: {hindrance}") if hindrance else None
        removal = Removal(
            attempt=removal_of(place, _name_of(obj), self._definitions.get(obj.spec.addon or "")),
            me=self._resident(obj, place),
            others=self._others(obj, cluster),
            reach=partial(self._reach, cluster),
            hindrance=told if self.upkeep.is_possible else (pictures.NO_INSTALLER, "nothing here removes addons"),
        )
        return await take_out(self.upkeep, obj, removal)

    async def _homeless(self, obj: TenantAddon, cluster: TenantCluster | None) -> Outcome:
        await self.upkeep.forget(obj.key)
        name = obj.spec.cluster_ref.name
        reason, state = ("ClusterNotFound", "not there") if cluster is None else ("ClusterDeleting", "being deleted")
        return self.upkeep.outcome(obj, pictures.homeless(obj.status, reason, f"TenantCluster {name} is {state}"))

    def _permitted(self, obj: TenantAddon, cluster: TenantCluster) -> AddonDefinition:
        """What is asked for, if that may be. Raises AddonRefused."""
        found = definitions.definition_of(obj, self._definitions.get, self._platforms.get(BUTLER_CONFIG_NAME))
        team_limits.check(obj, self._team(cluster))
        return found

    def _team(self, cluster: TenantCluster) -> Team | None:
        team = self._teams.get(cluster.spec.team_ref.name) if cluster.spec.team_ref is not None else None
        return normalise(team) if team is not None else None

    async def _addon(self, obj: TenantAddon, definition: AddonDefinition, cluster: TenantCluster) -> Addon:
        """What it comes to. Raises AddonRefused."""
        meta, read = obj.metadata, secrets_of(self._client)
        secret = await secret_values.read(read, meta.name, obj.spec.values_from, meta.namespace)
        given = (defaults_of(cluster, self._team(cluster)).addon_values or {}).get(definition.metadata.name)
        of_team = given if obj.spec.addon else None
        wish = Wish(_name_of(obj), obj.spec.version, (of_team or {}, obj.spec.values or {}, *secret))
        made_with = cluster.status.provider_config_ref
        provider = self._providers.get(key(made_with.namespace, made_with.name)) if made_with is not None else None
        addon = resolve(wish, definition, running_facts(cluster, provider))
        # Whoever waits for others waits here: the installer is told of one at a time.
        return replace(addon, depends_on=())

    def _resident(self, obj: TenantAddon, place: Place | None) -> Resident:
        return neighbours.of_tenant_addon(obj, self._definitions.get, place)

    def _others(self, obj: TenantAddon, cluster: TenantCluster) -> Sequence[Resident]:
        """Everything else in the cluster."""
        asked = (one for one in self._addons.by(_BY_CLUSTER, _cluster_key(obj)) if one.key != obj.key)
        return [
            *neighbours.of_platform(cluster, self._definitions.get),
            *(self._resident(one, pictures.place_of(one.status)) for one in asked),
        ]

    async def _reach(self, cluster: TenantCluster) -> Cluster:
        return await cluster_access.reach(self._client, self._tenants, cluster)

    async def _settle(self, obj: TenantAddon, metadata: Object) -> None:
        meta = obj.metadata
        change = {"metadata": {"resourceVersion": meta.resource_version, **metadata}}
        await self._client.patch(TenantAddon, meta.name, change, meta.namespace, manager=AGENT)

    def _in_cluster(self, cluster: TenantCluster) -> Iterable[str]:
        return self._addons.keys_by(_BY_CLUSTER, cluster.key)

    def _beside(self, obj: TenantAddon) -> Iterable[str]:
        return [one for one in self._addons.keys_by(_BY_CLUSTER, _cluster_key(obj)) if one != obj.key]

    def _by_definition(self, definition: AddonDefinition) -> Iterable[str]:
        return self._addons.keys_by(_BY_DEFINITION, definition.metadata.name)

    def _by_secret(self, secret: SecretSeen) -> Iterable[str]:
        where = key(secret.metadata.namespace, secret.metadata.name)
        opened = self._addons.keys_by(_BY_LOGIN, where)
        for one in opened:
            self.upkeep.encourage(one)
        return [*self._addons.keys_by(_BY_SECRET, where), *opened]

    def _everyone(self, _: Any) -> Iterable[str]:
        return self._addons.keys()


def _name_of(obj: TenantAddon) -> str:
    """What the addon is called in its cluster."""
    return obj.spec.addon or obj.metadata.name


def _cluster_key(obj: TenantAddon) -> str:
    return key(obj.metadata.namespace, obj.spec.cluster_ref.name)


def _cluster_of(obj: TenantAddon) -> Iterable[str]:
    return (_cluster_key(obj),)


def _definition_of(obj: TenantAddon) -> Iterable[str]:
    return (obj.spec.addon,) if obj.spec.addon else ()


def _secrets_of(obj: TenantAddon) -> Iterable[str]:
    return [key(obj.metadata.namespace, one.secret_ref.name) for one in obj.spec.values_from]


def _login_of(obj: TenantAddon) -> Iterable[str]:
    """What opens the repository of a chart of its own: with another one, what failed is worth trying at once."""
    login = obj.spec.helm.credentials_ref if obj.spec.helm is not None else None
    return (key(obj.metadata.namespace, login.name),) if login is not None else ()


def _told_of(unmet: Sequence[str]) -> tuple[str, str]:
    return ("DependenciesNotMet", "; ".join(unmet)) if unmet else ("DependenciesMet", "")
