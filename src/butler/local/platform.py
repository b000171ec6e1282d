"""The whole platform in one process: API server, controllers, and stand-ins for everything that is simulated."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from butler import app
from butler.addons.model import Installer
from butler.api import KINDS
from butler.api.model import AGENT
from butler.api.shared import SYSTEM_NAMESPACE
from butler.controllers.addons.management_addon import Management
from butler.engines.helm.protocol import Cluster
from butler.product import PRODUCT
from butler.simulation import world as simulated
from butler.simulation.delays import REALISTIC, Delays
from butler.simulation.installer import RECORDING_NEEDS, RecordingInstaller
from kubekit.client import kubeconfig
from kubekit.client.protocol import Client
from kubekit.clock import Chance, Clock
from kubekit.runtime.endpoints import serving
from kubekit.runtime.manager import Manager, ManagerSettings
from kubekit.runtime.metrics import Metrics
from kubekit.runtime.reconciler import Reconciler
from kubekit.server.client import DirectClient
from kubekit.server.objects import user
from kubekit.server.serve.server import Server

from . import installers, system
from .home import ANY_PORT, LOOPBACK, Home
from .installation import install_definitions

CONTROLLERS = "butler-controller"
"""The account of Butler's own controllers."""
SIMULATION = "butler-simulation"
"""The account of the stand-ins."""
SIMULATION_NEEDS = (*simulated.WORKLOADS_NEED, *RECORDING_NEEDS)

GRACE = 5.0
"""Seconds for what is under way when the platform stops."""


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True, slots=True)
class Options:
    """How a platform runs."""

    port: int = ANY_PORT
    delays: Delays = REALISTIC
    """How long simulated things take."""
    wrap: simulated.Wrap | None = None
    """Goes around every client of a controller; for tests."""
    clock: Clock | None = None
    chance: Chance | None = None
    host: str = LOOPBACK
    record_addons: bool = True
    """Whether addons of simulated clusters are only written down, rather than small charts installed by Helm."""

    def wrapped(self, client: Client) -> Client:
        return client if self.wrap is None else self.wrap(client)

    def server(self, place: Home) -> Server:
        return Server(place.data, host=self.host, port=self.port, product=PRODUCT, clock=self.clock, chance=self.chance)

    def remarks(self, server: Server) -> tuple[str, ...]:
        """What becomes reachable that is not otherwise."""
        if is_loopback(self.host):
            return ()
        return (
            f"Other computers reach it at {server.url}: the platform's API and those of all its clusters.",
            "Whoever shows no certificate or token is refused; whoever has one of its kubeconfigs gets in.",
            "Only this computer reaches the health of the controllers. A start with --host 127.0.0.1 closes it again.",
        )

    def world(self, server: Server, place: Home) -> AbstractAsyncContextManager[simulated.World]:
        return simulated.world(server, place.datacentre, self.delays, self.wrapped, self.clock, self.chance)

    def helm(self, place: Home, client: Client) -> Installer | None:
        return installers.by_helm(place, client, self.clock)

    def manager(self, client: Client, settings: ManagerSettings) -> Manager:
        return Manager(self.wrapped(client), settings, clock=self.clock, chance=self.chance)


@dataclass(frozen=True, slots=True)
class Platform:
    """A platform that runs."""

    client: Client
    """The administrator's."""
    managers: tuple[Manager, ...]
    """Butler's controllers first."""
    url: str
    port: int | None = None
    """Of the embedded server, if there is one."""
    remarks: tuple[str, ...] = ()
    """What whoever started it should know."""

    @property
    def metrics(self) -> Metrics:
        return self.managers[0].metrics

    def alive(self) -> dict[str, str]:
        """Each thing that only a restart would mend, with what is wrong or nothing."""
        return _merged(manager.alive() for manager in self.managers)

    def ready(self) -> dict[str, str]:
        """Each thing that must hold for the platform to be of use, with what is wrong or nothing."""
        return _merged(manager.ready() for manager in self.managers)


def _merged(answers: Iterable[dict[str, str]]) -> dict[str, str]:
    """Both may follow the same kind: then the one with a problem counts."""
    merged: dict[str, str] = {}
    for answer in answers:
        for name, problem in answer.items():
            merged[name] = merged.get(name) or problem
    return merged


@asynccontextmanager
async def running(place: Home, options: Options) -> AsyncIterator[Platform]:
    """A platform on a data directory, for as long as the context lasts.

    Leaving it normally finishes what is under way; leaving it by an exception drops everything at once. Raises what
    `Server.start` raises."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(options.server(place))
        admin = DirectClient(server.root, agent=AGENT)
        await install_definitions(admin, (*KINDS, *simulated.ENGINE_KINDS))
        await system.install(admin, simulated=True)
        world = await stack.enter_async_context(options.world(server, place))
        controllers, simulation = (
            options.manager(DirectClient(server.root, _account(name), agent=AGENT), ManagerSettings(name, grace=GRACE))
            for name in (CONTROLLERS, SIMULATION)
        )
        providers = await app.cluster_providers(admin)
        helm = None if options.record_addons else options.helm(place, controllers.client)
        management = _management(server, simulation.client)
        installer = installers.for_simulation(helm)
        app.add_controllers(controllers, world.connect, world.surroundings, providers, installer, management=management)
        simulated.add_stand_ins(simulation, world, simulated.ENGINES)
        await system.grant(admin, CONTROLLERS, _reconcilers(controllers))
        await system.grant(admin, SIMULATION, _reconcilers(simulation), SIMULATION_NEEDS)
        await stack.enter_async_context(working((controllers, simulation)))
        yield Platform(admin, (controllers, simulation), server.url, server.port, options.remarks(server))


def _management(server: Server, client: Client) -> Management:
    """Nothing runs on the API of the platform itself."""
    return Management(Cluster(kubeconfig.load(server.kubeconfig), client), RecordingInstaller("the management cluster"))


def _reconcilers(manager: Manager) -> list[Reconciler[Any]]:
    return [controller.reconciler for controller in manager.controllers]


def _account(name: str) -> user.UserInfo:
    groups = user.authenticated(user.service_account_groups(SYSTEM_NAMESPACE))
    return user.UserInfo(user.service_account_name(SYSTEM_NAMESPACE, name), groups=groups)


@asynccontextmanager
async def working(managers: Collection[Manager]) -> AsyncIterator[None]:
    """Managers that run, all caches filled. If one of them fails, so does the context."""
    async with asyncio.TaskGroup() as group:
        for manager in managers:
            group.create_task(manager.run())
        for manager in managers:
            await manager.informers.synced()
        yield
        for manager in managers:
            manager.stop()


@asynccontextmanager
async def answering_health(platform: Platform) -> AsyncIterator[str]:
    """An address on this computer at which the platform's health can be asked."""
    async with serving(platform, "127.0.0.1", ANY_PORT) as port:
        yield f"http://127.0.0.1:{port}"
