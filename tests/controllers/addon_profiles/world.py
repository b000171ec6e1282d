"""The controller of AddonProfiles on an API in memory; the test itself says what becomes of TenantAddons."""

from __future__ import annotations

from collections import Counter
from typing import Any

from butler.api import KINDS
from butler.api.addon import TenantAddon
from butler.api.addon_profile import AddonProfile, AddonProfileStatus
from butler.api.cluster import TenantCluster
from butler.controllers.addon_profiles.reconciler import AddonProfiles
from kubekit.model.resource import Address
from kubekit.runtime.events import EVENT
from kubekit.runtime.manager import Manager
from kubekit.server.store.events import Event
from kubekit.testing.memory import MemoryApi
from tests.controllers.addon_profiles.profiles import NAMESPACE


class World:
    """What a test sees and does."""

    def __init__(self, api: MemoryApi) -> None:
        self.api, self.client = api, api.client
        self.writes: Counter[str] = Counter()
        """How often objects of a kind were written, by anybody."""
        api.space.store.listen(self._count)
        self.manager: Manager | None = None

    async def start(self) -> None:
        await self.api.define(*KINDS)
        await self.api.namespace(NAMESPACE)
        await self.start_again()

    async def start_again(self) -> None:
        self.manager = await self.api.start(AddonProfiles)

    def _count(self, event: Event) -> None:
        self.writes[self.api.space.store.names_of(event.bucket)[1].rpartition("/")[2]] += 1

    async def cluster(self, name: str, phase: str = "Running", **labels: str) -> None:
        meta = {"name": name, "namespace": NAMESPACE, "labels": {"tier": "gold", **labels}}
        await self.client.create({"metadata": meta, "spec": {}}, TenantCluster.address)
        await self.becomes(name, phase)

    async def becomes(self, name: str, phase: str) -> None:
        change = {"status": {"phase": phase}}
        await self.client.patch(TenantCluster, name, change, NAMESPACE, subresource="status")

    async def profile(self, name: str = "base", **spec: Any) -> None:
        addons = [{"name": "certificates", "addon": "cert-manager", "version": "1.0.0"}]
        body = {"clusterSelector": {"matchLabels": {"tier": "gold"}}, "addons": addons, **spec}
        await self.client.create({"metadata": {"name": name}, "spec": body}, AddonProfile.address)

    async def change(self, name: str = "base", **spec: Any) -> None:
        await self.client.patch(AddonProfile, name, {"spec": spec})

    async def label(self, name: str, **labels: str | None) -> None:
        await self.client.patch(TenantCluster, name, {"metadata": {"labels": labels}}, NAMESPACE)

    async def tell(self, name: str, phase: str = "Installed") -> None:
        """Say what the controller of TenantAddons would."""
        live = await self.client.get(TenantAddon, name, NAMESPACE)
        status = {
            "phase": phase,
            "observedGeneration": live.metadata.generation,
            "installedVersion": live.spec.version or "1.0.0",
        }
        await self.client.patch(TenantAddon, name, {"status": status}, NAMESPACE, subresource="status")

    async def addons(self) -> dict[str, TenantAddon]:
        return {one.metadata.name: one for one in (await self.client.list(TenantAddon)).items}

    async def install_all(self) -> None:
        for name, one in (await self.addons()).items():
            if one.status.observed_generation != one.metadata.generation or one.status.phase != "Installed":
                await self.tell(name)

    async def roll_out(self) -> None:
        """Until nothing changes any more, with everything installed as soon as it is asked for."""
        before = -1
        while before != (before := self.writes.total()):
            await self.api.settle()
            await self.install_all()

    async def status(self, name: str = "base") -> AddonProfileStatus:
        found: AddonProfile = await self.client.get(AddonProfile, name)
        return found.status

    async def said(self, type: str, name: str = "base") -> tuple[str, str]:  # noqa: A002 -- its name
        found = (await self.status(name)).condition(type)
        assert found is not None
        return found.status, found.reason

    async def events(self, name: str = "base") -> list[tuple[str, str]]:
        """Types and reasons of all that was told of a profile, in order."""
        found = (await self.client.list(EVENT)).items
        mine = [one for one in found if one["involvedObject"]["name"] == name]
        mine.sort(key=lambda one: int(one["metadata"]["resourceVersion"]))
        return [(one["type"], one["reason"]) for one in mine]

    async def raw(self, kind: Address, name: str) -> dict[str, Any]:
        found: dict[str, Any] = await self.client.get(kind, name, NAMESPACE)
        return found
