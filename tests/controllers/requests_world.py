"""A world for requests to providers: an API in memory, the controllers on it, and a simulated data centre."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from butler.api.cluster import TenantCluster
from butler.api.config import ButlerConfig
from butler.api.machine import ImageSync, LoadBalancerRequest, MachineRequest
from butler.api.network import NetworkPool
from butler.api.provider import ProviderConfig
from butler.api.sections.simulated import SimulatedSection
from butler.api.team import Team
from butler.controllers.accounts import Accounts
from butler.controllers.image import add_images
from butler.controllers.loadbalancer import add_load_balancers
from butler.controllers.machine import add_machines
from butler.controllers.providerconfig import add_provider_configs
from butler.engines.core import Secret
from butler.errors import RateLimited
from butler.providers import registry
from butler.providers.contract import Provider, Surroundings
from butler.providers.simulated.datacentre import DataCentre
from butler.providers.simulated.faults import Trouble, by_chance
from butler.providers.simulated.provider import Simulated
from butler.providers.simulated.section import Knobs
from kubekit.client.protocol import Client
from kubekit.errors import NotFound
from kubekit.runtime.events import EVENT
from kubekit.runtime.manager import Manager, ManagerSettings
from kubekit.server.store.events import Event
from kubekit.testing.deterministic_loop import Loop
from kubekit.testing.memory import MemorySpace

SYSTEM = "butler-system"
R = TypeVar("R", MachineRequest, LoadBalancerRequest, ImageSync, ProviderConfig)


KINDS = (
    ProviderConfig, MachineRequest, LoadBalancerRequest, ImageSync, TenantCluster, Team, ButlerConfig, NetworkPool,
)  # fmt: skip


class World:
    """Everything in memory on a virtual clock. `crash` ends the controllers at once, `start` begins anew."""

    def __init__(self, loop: Loop, *namespaces: str) -> None:
        self._loop = loop
        self.space = MemorySpace(loop.clock, loop.chance, kinds=KINDS, namespaces=(SYSTEM, *namespaces))
        self.client = self.space.client()
        self.writes = 0
        self.space.store.listen(self._count)
        self.datacentre = DataCentre(clock=loop.clock, chance=loop.chance)
        self.surroundings = Surroundings(loop.clock, loop.chance, self.datacentre)
        self.only: tuple[str, ...] | None = None
        self.troubles: Callable[[int, str], Trouble] = lambda number, verb: Trouble.NONE
        self.credentials: Mapping[str, str] = {}
        self.before_connecting: Callable[[Mapping[str, str]], None] = lambda credentials: None
        self.instead: Callable[[], Provider] | None = None
        """Another provider for all accounts."""
        self.wrap: Callable[[Client], Client] = lambda client: client
        self.by_chance = False
        """Whether calls fail as often as the section of the account says."""
        self.verbs: list[str] = []
        self.refusals = 0
        self.connected: list[Provider] = []

    def start(self) -> None:
        self.manager = Manager(
            self.wrap(self.client), ManagerSettings(), clock=self._loop.clock, chance=self._loop.chance
        )
        accounts = Accounts(self.manager, self.surroundings, self._connect)
        add_provider_configs(self.manager, accounts)
        for add in (add_machines, add_load_balancers, add_images):
            add(self.manager, accounts, self.only)
        self._task = asyncio.create_task(self.manager.run())

    async def crash(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def end(self) -> None:
        await self.crash()
        self.datacentre.close()

    def _count(self, event: Event) -> None:
        self.writes += not self.space.store.names_of(event.bucket)[1].endswith("events")

    def _connect(self, config: ProviderConfig, credentials: Mapping[str, str], surroundings: Surroundings) -> Provider:
        self.credentials = credentials
        self.before_connecting(credentials)
        if self.instead is not None:
            return self.instead()
        if config.spec.infrastructure != "simulated":
            provider = registry.connect(config, credentials, surroundings)
        else:
            section = config.spec.simulated or SimulatedSection()
            provider = Simulated(self.datacentre, config.key, section, self._weather)
            self._count_refusals(provider)
        self.connected.append(provider)
        return provider

    def _count_refusals(self, provider: Simulated) -> None:
        ask = provider.desk.ask

        async def counted(*question: Any) -> Any:
            try:
                return await ask(*question)
            except RateLimited:
                self.refusals += 1
                raise

        provider.desk.ask = counted  # type: ignore[method-assign, assignment]

    def _weather(self, verb: str, knobs: Knobs) -> Trouble:
        if verb == "check":
            return Trouble.NONE
        self.verbs.append(verb)
        if self.by_chance:
            return by_chance(self.surroundings.chance)(verb, knobs)
        return self.troubles(len(self.verbs) - 1, verb)

    async def config(self, name: str = "lab", **spec: Any) -> None:
        wanted = {"metadata": {"name": name, "namespace": SYSTEM}, "spec": {"provider": "simulated", **spec}}
        await self.client.create(wanted, ProviderConfig.address)

    async def secret(self, name: str = "login", **data: str) -> None:
        wanted = {"metadata": {"name": name, "namespace": SYSTEM}, "stringData": data}
        await self.client.create(wanted, Secret.address)

    async def machine(self, name: str = "cp-0", config: str = "lab", **spec: Any) -> None:
        wanted = {
            "providerRef": {"name": config}, "machineName": name, "role": "control-plane",
            "cpu": 2, "memoryMB": 4096, "diskGB": 20, **spec,
        }  # fmt: skip
        meta = {"name": name, "namespace": SYSTEM}
        await self.client.create({"metadata": meta, "spec": wanted}, MachineRequest.address)

    async def now(self, kind: type[R], name: str) -> R:
        found: R = await self.client.get(kind, name, SYSTEM)
        return found

    async def request(self, name: str = "cp-0") -> MachineRequest:
        return await self.now(MachineRequest, name)

    async def exists(self, kind: type[R], name: str) -> bool:
        try:
            await self.now(kind, name)
        except NotFound:
            return False
        return True

    async def remove(self, kind: type[R], name: str) -> None:
        await self.client.delete(kind, name, SYSTEM)

    async def events(self, name: str) -> list[str]:
        listed = await self.client.list(EVENT)
        mine = [one for one in listed.items if one["involvedObject"]["name"] == name]
        return [one["reason"] for one in sorted(mine, key=lambda one: int(one["metadata"]["resourceVersion"]))]

    async def everything_said(self) -> str:
        """All that can be read of requests, ProviderConfigs and events, without their specs."""
        texts = [str(one) for one in (await self.client.list(EVENT)).items]
        for kind in (MachineRequest, LoadBalancerRequest, ImageSync, ProviderConfig):
            texts += [str(one.get("status")) for one in (await self.client.list(kind.address)).items]
        return "\n".join(texts)
