"""ManagementAddon → an addon in the management cluster."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from butler.addons.errors import AddonRefused
from butler.addons.facts import Facts
from butler.addons.model import Addon, Installer
from butler.addons.resolution import Wish, resolve
from butler.api.addon import AddonDefinition, ManagementAddon, ManagementAddonStatus
from butler.api.model import AGENT
from butler.engines.helm.protocol import Cluster, Place
from butler.providers.contract import Surroundings
from kubekit.runtime.conditions import condition
from kubekit.runtime.informer import Informer
from kubekit.runtime.manager import Manager
from kubekit.runtime.reconciler import Outcome, Reconciler, Watch

from . import definitions, neighbours, residents
from . import status as pictures
from .belonging import missing_labels
from .removal import Removal, let_go, removal_of, take_out
from .residents import Resident
from .upkeep import Order, Upkeep

FINALIZER = "managementaddon.butler.butlerlabs.dev/finalizer"
_BY_DEFINITION = "definition"
_NOBODY = "nothing here installs addons into the management cluster"
_MANAGEMENT = Facts(name="management", version="", provider="", named={"cluster.name": "management"})


@dataclass(frozen=True, slots=True)
class Management:
    """The management cluster, and who brings addons there: not always the one who brings them to tenants."""

    cluster: Cluster
    installer: Installer


def add_management_addons(manager: Manager, management: Management | None, surroundings: Surroundings) -> None:
    """Have a manager run the controller, and its errands beside it. Where nobody installs into the management cluster,
    the objects say so."""
    addons = ManagementAddons(manager, management, surroundings)
    addons.upkeep.errands.wake = manager.add(addons).wake
    manager.accompany(addons.upkeep.errands.run)


class ManagementAddons(Reconciler[ManagementAddon]):
    """As TenantAddons are, without a cluster to wait for. What a definition depends on is waited for where another
    ManagementAddon brings it; otherwise whoever built the management cluster has seen to it."""

    kind = ManagementAddon
    finalizer = FINALIZER
    tells_conditions = False
    journal = logging.getLogger("butler.addons")

    def __init__(self, manager: Manager, management: Management | None, surroundings: Surroundings) -> None:
        self._client, self._management = manager.client, management
        installer = management.installer if management is not None else None
        self.upkeep = Upkeep(installer, surroundings.clock, surroundings.chance, manager.recorder)
        self._addons: Informer[ManagementAddon] = manager.informers.of(ManagementAddon)
        self._definitions: Informer[AddonDefinition] = manager.informers.of(AddonDefinition)
        self._addons.index(_BY_DEFINITION, _definition_of)
        self.watches = (
            Watch(ManagementAddon, self._beside, matters=neighbours.what_matters),
            Watch(AddonDefinition, self._by_definition, matters=lambda definition: definition.spec),
        )

    async def reconcile(self, obj: ManagementAddon) -> Outcome:
        definition = self._definitions.get(obj.spec.addon)
        if labels := missing_labels(obj, "", definition):
            change = {"metadata": {"resourceVersion": obj.metadata.resource_version, "labels": labels}}
            await self._client.patch(ManagementAddon, obj.metadata.name, change, manager=AGENT)
            return Outcome()
        status: ManagementAddonStatus = self.upkeep.news(obj)
        if obj.spec.paused:
            return self.upkeep.outcome(obj, pictures.changed(status, None, message="it is paused, and left as it is"))
        try:
            return await self._pursue(obj, status)
        except AddonRefused as refused:
            return self.upkeep.outcome(obj, pictures.refused(status, refused.reason, str(refused)))

    async def _pursue(self, obj: ManagementAddon, status: ManagementAddonStatus) -> Outcome:
        """Raises AddonRefused."""
        addon = self._addon(obj)
        me, others = self._resident(obj, addon.place), self._others(obj)
        brought = {one.definition for one in others}
        me = replace(me, needs=tuple(one for one in me.needs if one in brought))
        residents.check_conflicts(me, others)
        residents.check_cycles(me, others)
        unmet = residents.unmet(me, others)
        reason = "DependenciesNotMet" if unmet else "DependenciesMet"
        met = condition(pictures.DEPENDENCIES_MET, not unmet, reason, "; ".join(unmet))
        status = pictures.changed(status, None, met)
        if unmet and not self.upkeep.is_as_wanted(status, addon):
            return self._wait(obj, status, pictures.DEPENDENCIES_MET, met.reason, met.message)
        if not self.upkeep.is_possible:
            return self._wait(obj, status, pictures.READY, pictures.NO_INSTALLER, _NOBODY)
        order = Order(addon, self._reach, belongs_to_others=lambda place: residents.is_held(place, others))
        return await self.upkeep.pursue(obj, status, order)

    def _wait(self, obj: ManagementAddon, status: ManagementAddonStatus, *told: str) -> Outcome:
        self.upkeep.encourage(obj.key)
        return self.upkeep.outcome(obj, pictures.waiting(status, *told))

    async def finalize(self, obj: ManagementAddon) -> Outcome:
        place = pictures.place_of(obj.status)
        if place is None:
            return await let_go(self.upkeep, obj)
        removal = Removal(
            attempt=removal_of(place, obj.metadata.name, self._definitions.get(obj.spec.addon)),
            me=self._resident(obj, place),
            others=self._others(obj),
            reach=self._reach,
            hindrance=None if self.upkeep.is_possible else (pictures.NO_INSTALLER, _NOBODY),
        )
        return await take_out(self.upkeep, obj, removal)

    def _addon(self, obj: ManagementAddon) -> Addon:
        """Raises AddonRefused."""
        name, spec = obj.metadata.name, obj.spec
        definition = definitions.named(name, spec.addon, self._definitions.get)
        addon = resolve(Wish(name, spec.version or "", (spec.values or {},)), definition, _MANAGEMENT)
        place = Place(name, definition.spec.defaults.namespace or f"{name}-system")
        return replace(addon, release=replace(addon.release, place=place), depends_on=())

    async def _reach(self) -> Cluster:
        assert self._management is not None, "nothing is begun without a way"
        return self._management.cluster

    def _resident(self, obj: ManagementAddon, place: Place | None) -> Resident:
        return neighbours.of_management_addon(obj, self._definitions.get, place)

    def _others(self, obj: ManagementAddon) -> Sequence[Resident]:
        return [self._resident(one, pictures.place_of(one.status)) for one in self._addons if one.key != obj.key]

    def _beside(self, obj: ManagementAddon) -> Iterable[str]:
        return [one.key for one in self._addons if one.key != obj.key]

    def _by_definition(self, definition: AddonDefinition) -> Iterable[str]:
        return self._addons.keys_by(_BY_DEFINITION, definition.metadata.name)


def _definition_of(obj: ManagementAddon) -> Iterable[str]:
    return (obj.spec.addon,)
