"""A world for addons: an API in memory, the controllers on it, and an installer that keeps everything in memory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from butler.addons.model import Addon, AddonState, Keeper, Seen
from butler.api.addon import AddonDefinition, ManagementAddon, TenantAddon, TenantAddonPhase, TenantAddonStatus
from butler.api.cluster import TenantCluster
from butler.api.config import ButlerConfig
from butler.api.provider import ProviderConfig
from butler.api.team import Team
from butler.controllers.addons.management_addon import Management, add_management_addons
from butler.controllers.addons.tenant_addon import add_tenant_addons
from butler.engines.core import Secret
from butler.engines.helm.protocol import Cluster, Place
from butler.engines.tenants import Tenants
from butler.providers.contract import Surroundings
from kubekit.client import config as connection
from kubekit.client.config import Config
from kubekit.client.protocol import Client
from kubekit.errors import NotFound
from kubekit.runtime.events import EVENT
from kubekit.runtime.manager import Manager, ManagerSettings
from kubekit.server.store.events import Event
from kubekit.testing.deterministic_loop import Loop
from kubekit.testing.memory import MemorySpace

TEAM, INSIDE, NAME = "team-web", "shop-0f3c2a11", "shop"
HOST, PORT = "10.0.0.9", 6443
KINDS = (TenantAddon, ManagementAddon, AddonDefinition, TenantCluster, Team, ButlerConfig, ProviderConfig)
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace"}
MINUTE, HOUR = 60, 3600


@dataclass
class Installed:
    """A release as the installer keeps it."""

    addon: Addon
    revision: int = 1
    drifted: str = ""


@dataclass
class Shelf:
    """`butler.addons.model.Installer` in memory. Whatever is set here comes true for the addon of that name."""

    releases: dict[Place, Installed] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    """Verbs with names, in order."""
    servers: list[str] = field(default_factory=list)
    """Which clusters they were sent to."""
    takes: dict[str, float] = field(default_factory=dict)
    fails: dict[str, str] = field(default_factory=dict)
    rolls_back: set[str] = field(default_factory=set)
    busy: set[str] = field(default_factory=set)
    """Whose releases somebody else is changing."""
    states: dict[str, AddonState] = field(default_factory=dict)
    keepers: dict[str, Keeper] = field(default_factory=dict)
    raises: Exception | None = None
    given_up: int = 0

    async def install(self, cluster: Cluster, addons: Sequence[Addon]) -> tuple[Seen, ...]:
        return tuple([await self._install(cluster, addon) for addon in addons])

    async def _install(self, cluster: Cluster, addon: Addon) -> Seen:
        await self._begin("install", addon.name, cluster)
        if addon.name in self.keepers:
            return Seen(addon.name, "9.9.9", self._state(addon), keeper=self.keepers[addon.name], revision=1)
        before = self.releases.get(addon.place)
        if addon.name in self.busy:
            return Seen(addon.name, "", AddonState.INSTALLING, "somebody else is at it", reason="Busy", outdated=True)
        if addon.name in self.fails:
            state, text = AddonState.FAILED, self.fails[addon.name]
            if before is not None and addon.name in self.rolls_back:
                return Seen(addon.name, before.addon.version, state, text, revision=before.revision, rolled_back=True)
            return Seen(addon.name, addon.version, state, text, revision=1, release_status="failed")
        self.releases[addon.place] = Installed(addon, before.revision + 1 if before is not None else 1)
        return self._seen(addon)

    async def look(self, cluster: Cluster, addons: Sequence[Addon], *, repair: bool) -> tuple[Seen, ...]:
        return tuple([await self._look(cluster, addon, repair) for addon in addons])

    async def _look(self, cluster: Cluster, addon: Addon, repair: bool) -> Seen:
        await self._begin("look", addon.name, cluster)
        if addon.name in self.keepers:
            return Seen(addon.name, "9.9.9", self._state(addon), keeper=self.keepers[addon.name], revision=1)
        found = self.releases.get(addon.place)
        if found is None:
            return Seen(addon.name, "", AddonState.FAILED, "its release is gone")
        if not found.drifted:
            return self._seen(found.addon)
        if not repair:
            return Seen(
                addon.name, addon.version, AddonState.DEGRADED, f"not as it should be: {found.drifted}", revision=1
            )
        self.calls.append(f"repair {addon.name}")
        repaired, found.drifted = found.drifted, ""
        # Nobody has taken in yet what was written.
        return Seen(addon.name, addon.version, AddonState.INSTALLING, revision=found.revision, repaired=repaired)

    async def remove(self, cluster: Cluster, place: Place, *, name: str = "", holds_volumes: bool = False) -> None:
        await self._begin("remove", place.name, cluster)
        if place.name in self.fails:
            raise RuntimeError(self.fails[place.name])
        self.releases.pop(place, None)

    async def _begin(self, verb: str, name: str, cluster: Cluster) -> None:
        self.calls.append(f"{verb} {name}")
        self.servers.append(cluster.config.cluster.server)
        try:
            await asyncio.sleep(self.takes.get(name, 0))
        except asyncio.CancelledError:
            self.given_up += 1
            raise
        if self.raises is not None:
            raise self.raises

    def _state(self, addon: Addon) -> AddonState:
        return self.states.get(addon.name, AddonState.HEALTHY)

    def _seen(self, addon: Addon) -> Seen:
        revision = self.releases[addon.place].revision
        return Seen(addon.name, addon.version, self._state(addon), revision=revision, release_status="deployed")

    def there(self) -> dict[str, str]:
        """Versions by name of the release."""
        return {place.name: one.addon.version for place, one in self.releases.items()}

    def values(self, name: str) -> dict[str, Any]:
        return dict(next(one.addon.release.values for place, one in self.releases.items() if place.name == name))


class World:
    """Everything in memory on a virtual clock. `crash` ends the controllers at once, `start` begins anew."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        namespaces = (TEAM, INSIDE, "butler-system", "default")
        self.space = MemorySpace(loop.clock, loop.chance, kinds=KINDS, namespaces=namespaces)
        self.client = self.space.client()
        self.shelf: Shelf | None = Shelf()
        self.manages = True
        self.writes = 0
        self.space.store.listen(self._count)

    @property
    def installer(self) -> Shelf:
        assert self.shelf is not None
        return self.shelf

    def start(self) -> None:
        clock, chance = self._loop.clock, self._loop.chance
        self.manager = Manager(self.client, ManagerSettings(), clock=clock, chance=chance)
        surroundings = Surroundings(clock, chance)
        cluster = Cluster(Config(connection.Cluster(server="https://management:6443")), self.client)
        management = Management(cluster, self.shelf) if self.manages and self.shelf is not None else None
        add_tenant_addons(self.manager, Tenants(self._connect), self.shelf, surroundings)
        add_management_addons(self.manager, management, surroundings)
        self._task = asyncio.create_task(self.manager.run())

    def _connect(self, config: Config) -> Client:
        return self.client

    async def crash(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    def _count(self, event: Event) -> None:
        self.writes += not self.space.store.names_of(event.bucket)[1].endswith("events")

    async def cluster(self, name: str = NAME, *, status: Any = None, **spec: Any) -> None:
        """One that runs, unless its status says otherwise."""
        await self.client.create({"metadata": {"name": name, "namespace": TEAM}, "spec": spec}, TenantCluster.address)
        await self.client.patch(TenantCluster, name, {"status": status or running()}, TEAM, subresource="status")
        secret = {"metadata": {"name": f"{name}-admin-kubeconfig", "namespace": INSIDE}, "stringData": KUBECONFIG}
        await self.client.create(secret, Secret.address)

    async def change_cluster(self, **status: Any) -> None:
        await self.client.patch(TenantCluster, NAME, {"status": status}, TEAM, subresource="status")

    async def define(self, name: str, *, defaults: Any = None, chart: Any = None, **spec: Any) -> None:
        source = {"repository": "https://charts.example.com", "name": name, "defaultVersion": "1.0.0", **(chart or {})}
        texts = {"displayName": name, "description": name, "category": "other"}
        wanted = {**texts, "chart": source, "defaults": defaults or {}, **spec}
        await self.client.create({"metadata": {"name": name}, "spec": wanted}, AddonDefinition.address)

    async def ask(self, addon: str, /, *, name: str = "", **spec: Any) -> None:
        """For an addon of the catalogue, or, without one, for a chart."""
        wanted = {"clusterRef": {"name": NAME}, **({"addon": addon} if addon else {}), **spec}
        meta = {"name": name or addon, "namespace": TEAM}
        await self.client.create({"metadata": meta, "spec": wanted}, TenantAddon.address)

    async def change(self, addon: str, **spec: Any) -> None:
        await self.client.patch(TenantAddon, addon, {"spec": spec}, TEAM)

    async def remove(self, addon: str) -> None:
        await self.client.delete(TenantAddon, addon, TEAM)

    async def secret(self, name: str, **data: str) -> None:
        await self.client.create({"metadata": {"name": name, "namespace": TEAM}, "stringData": data}, Secret.address)

    async def status(self, addon: str) -> TenantAddonStatus:
        found: TenantAddonStatus = (await self.client.get(TenantAddon, addon, TEAM)).status
        return found

    async def phase(self, addon: str) -> TenantAddonPhase | None:
        return (await self.status(addon)).phase

    async def reason(self, addon: str, condition: str = "Ready") -> str:
        found = (await self.status(addon)).condition(condition)
        return found.reason if found is not None else ""

    async def exists(self, addon: str) -> bool:
        try:
            await self.client.get(TenantAddon, addon, TEAM)
        except NotFound:
            return False
        return True

    async def events(self, name: str) -> list[str]:
        listed = await self.client.list(EVENT)
        mine = [one for one in listed.items if one["involvedObject"]["name"] == name]
        return [one["reason"] for one in sorted(mine, key=lambda one: int(one["metadata"]["resourceVersion"]))]

    async def everything_said(self) -> str:
        """All that can be read of addons and events, without their specs."""
        texts = [str(one) for one in (await self.client.list(EVENT)).items]
        for kind in (TenantAddon, ManagementAddon):
            texts += [str(one.get("status")) for one in (await self.client.list(kind.address)).items]
        return "\n".join(texts)


def running(*addons: Any, workers: int = 1, ready: int = 1) -> dict[str, Any]:
    """The status of a cluster that runs."""
    time = "2030-01-01T00:00:00Z"
    told = {"type": "ControlPlaneReady", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": time}
    return {
        "phase": "Running", "tenantNamespace": INSIDE, "controlPlaneEndpoint": f"{HOST}:{PORT}",
        "kubeconfigSecretRef": {"name": f"{NAME}-admin-kubeconfig"},
        "workerNodesDesired": workers, "workerNodesReady": ready, "conditions": [told],
        "observedState": {"kubernetesVersion": "v1.34.1", "addons": [platform(*one) for one in addons]},
    }  # fmt: skip


def platform(name: str, status: str = "Healthy") -> dict[str, Any]:
    return {"name": name, "version": "1.0.0", "status": status, "managedBy": "butler"}


KUBECONFIG = {
    "admin.conf": json.dumps(
        {
            "apiVersion": "v1", "kind": "Config", "current-context": "it",
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
            "clusters": [{"name": "it", "cluster": {"server": f"https://{HOST}:{PORT}"}}],
            "users": [{"name": "it", "user": {"token": "opensesame"}}],
        }
    )
}  # fmt: skip
