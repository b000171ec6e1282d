"""A cluster, an installer, and addons that tests make up."""

from __future__ import annotations

import asyncio
import shutil
from collections import Counter
from collections.abc import Mapping
from contextlib import aclosing, suppress
from dataclasses import fields, replace
from datetime import timedelta
from typing import Any

from butler.addons.installer import HelmInstaller
from butler.addons.model import Addon, Seen
from butler.engines.helm.protocol import Cluster, Place, Release
from kubekit.client.protocol import Client, Selection
from kubekit.clock import SystemClock
from kubekit.errors import NotFound
from kubekit.model.resource import Address, Object
from kubekit.runtime.client_wrapper import Call, Go, WrappedClient
from tests.engines.helm import charts
from tests.engines.helm.world import World

JOB = Address.of("batch/v1", "Job")
NAMESPACE = Address.of("v1", "Namespace", namespaced=False)
_OF_THE_RELEASE = {one.name for one in fields(Release)} - {"credentials"}
FAILING = {"templates/fail.yaml": '{{ fail "no" }}'}


class Site:
    """`addon` makes one up, whose release is in the namespace addons."""

    def __init__(self, world: World) -> None:
        self.world, self.opening = world, dict[tuple[str, str], Mapping[str, bytes]]()
        self.installer = HelmInstaller(world.helm, self.read_secret, SystemClock())

    @property
    def cluster(self) -> Cluster:
        return self.world.cluster

    @property
    def runs(self) -> int:
        return self.world.helm.program.runs

    async def read_secret(self, namespace: str, name: str) -> Mapping[str, bytes]:
        if (namespace, name) not in self.opening:
            raise NotFound(f"{namespace}/{name}")
        return self.opening[namespace, name]

    def addon(
        self,
        name: str = "web",
        values: Mapping[str, Any] | None = None,
        *,
        more: Mapping[str, str] = charts.SMALL,
        version: str = "1.0.0",
        **said: Any,
    ) -> Addon:
        folder = self.world.folder / f"source-{name}-{version}"
        shutil.rmtree(folder, ignore_errors=True)
        chart = charts.folder(folder, name, version, more)
        release = Release(Place(name, "addons"), chart, values or {}, timeout=timedelta(seconds=20))
        changed = {one: said.pop(one) for one in list(said) if one in _OF_THE_RELEASE}
        return Addon(name, replace(release, **changed), **said)

    async def install(self, *addons: Addon) -> dict[str, Seen]:
        return {one.name: one for one in await self.installer.install(self.cluster, addons)}

    async def installed(self, addon: Addon) -> Seen:
        return (await self.install(addon))[addon.name]

    async def look(self, addon: Addon, *, repair: bool = False) -> Seen:
        (seen,) = await self.installer.look(self.cluster, [addon], repair=repair)
        return seen

    async def create(self, obj: Object, *, namespaced: bool = True) -> None:
        address = Address.of(obj["apiVersion"], obj["kind"], namespaced=namespaced)
        await self.cluster.client.create(obj, address)

    async def make_namespace(self, name: str = "addons", **labels: str) -> None:
        metadata = {"name": name, "labels": labels}
        await self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}, namespaced=False)

    async def appears(self, kind: Address, *names: str) -> None:
        """Wait until all of them are there at once."""
        missing = set(names)
        async with asyncio.timeout(30), aclosing(self.cluster.client.watch(kind, Selection("addons"))) as events:
            async for event in events:
                missing.discard((event.item or {}).get("metadata", {}).get("name", ""))
                if not missing:
                    return

    async def finish(self, name: str) -> None:
        """Let a Job be done."""
        job = await self.cluster.client.get(JOB, name, "addons")
        now = job["metadata"]["creationTimestamp"]
        true = {"status": "True", "lastProbeTime": now, "lastTransitionTime": now}
        status = {
            "active": 0, "ready": 0, "succeeded": 1, "startTime": now, "completionTime": now,
            "conditions": [{"type": "SuccessCriteriaMet", **true}, {"type": "Complete", **true}],
        }  # fmt: skip
        await self.cluster.client.patch(JOB, name, {"status": status}, "addons", subresource="status")

    async def is_there(self, kind: Address, name: str, namespace: str = "addons") -> bool:
        with suppress(NotFound):
            await self.cluster.client.get(kind, name, namespace if kind.namespaced else "")
            return True
        return False


class Counted(WrappedClient):
    """Counts requests by kind."""

    def __init__(self, inner: Client) -> None:
        super().__init__(inner)
        self.calls = Counter[str]()

    async def around(self, call: Call, go: Go) -> Any:
        self.calls[call.address.kind] += 1
        return await go()
