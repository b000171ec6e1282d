"""Which controllers and which stand-ins make up a platform."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from weakref import WeakSet

from butler.api.cluster import TenantCluster
from butler.api.model import Resource
from butler.api.shared import IPRange
from butler.apiserver.server import Server
from butler.controllers.accounts import Accounts
from butler.controllers.cluster.reconciler import TenantClusters
from butler.controllers.image import add_images
from butler.controllers.loadbalancer import add_load_balancers
from butler.controllers.machine import add_machines
from butler.controllers.providerconfig import add_provider_configs
from butler.engines.capi import kinds as capi
from butler.engines.kamaji import kinds as kamaji
from butler.engines.tenants import Connect, Tenants, over_https
from butler.kube.client import Client
from butler.providers import registry
from butler.providers.contract import Surroundings
from butler.providers.simulated.datacentre import DataCentre
from butler.runtime.clock import Chance, Clock, SystemChance, SystemClock
from butler.runtime.manager import Manager
from butler.runtime.reconciler import Permission

from .delays import NONE, Delays
from .home import Place
from .installing import DEFINITION
from .standins import infrastructure_kinds as infrastructure
from .standins.capi import add_cluster_api
from .standins.infrastructure import add_infrastructure
from .standins.installer import RecordingInstaller
from .standins.kamaji import TenantControlPlanes
from .standins.kamaji_provider import KamajiControlPlanes
from .tenants import LocalConnect, TenantApis
from .workloads.activity import on_server
from .workloads.running import Workloads

Wrap = Callable[[Client], Client]

_PLACE = "tenant namespace"


@dataclass(frozen=True, slots=True)
class World:
    """What the stand-ins share."""

    server: Server
    tenants: TenantApis
    datacentre: DataCentre
    connect: Connect
    delays: Delays
    surroundings: Surroundings


@asynccontextmanager
async def world(
    server: Server, place: Place, delays: Delays, wrap: Wrap, clock: Clock | None, chance: Chance | None
) -> AsyncIterator[World]:
    """The simulated world on a server: tenants' APIs and a data centre."""
    clock, chance = clock or SystemClock(), chance or SystemChance()
    datacentre = DataCentre(place.datacentre, clock=clock, chance=chance, fast=delays == NONE)
    with closing(datacentre):
        async with connections() as others:
            reach = LocalConnect(server, clock=clock, others=others)
            surroundings = Surroundings(clock, chance, datacentre)
            tenants = TenantApis(server, wrap)
            yield World(server, tenants, datacentre, lambda content: wrap(reach(content)), delays, surroundings)


@asynccontextmanager
async def connections() -> AsyncIterator[Connect]:
    """Clients over HTTPS; those that nobody closed before are closed at the end."""
    made: WeakSet[Client] = WeakSet()

    def connect(content: bytes, /) -> Client:
        client = over_https(content)
        made.add(client)
        return client

    try:
        yield connect
    finally:
        for client in list(made):
            await client.close()


@dataclass(frozen=True, slots=True)
class Engine:
    """A program of others that Butler drives, and the stand-in for it."""

    name: str
    kinds: tuple[type[Resource], ...]
    stand_in: Callable[[Manager, World], None]
    is_imaginary: bool = False
    """Whether there is no such program: it exists only to be simulated."""


def _infrastructure(manager: Manager, world: World) -> None:
    add_infrastructure(manager, world.datacentre, world.connect, world.delays)


def _kamaji(manager: Manager, world: World) -> None:
    manager.add(TenantControlPlanes(manager, world.tenants, world.delays, world.surroundings.clock))


def _kamaji_provider(manager: Manager, world: World) -> None:
    manager.add(KamajiControlPlanes(manager))


def _cluster_api(manager: Manager, world: World) -> None:
    around = world.surroundings
    add_cluster_api(manager, world.connect, world.delays, clock=around.clock, chance=around.chance)


ENGINES = (
    Engine(
        "Cluster API",
        (
            capi.Cluster,
            capi.MachineDeployment,
            capi.MachineSet,
            capi.Machine,
            capi.KubeadmConfig,
            capi.KubeadmConfigTemplate,
        ),
        _cluster_api,
    ),
    Engine("Kamaji", (kamaji.TenantControlPlane,), _kamaji),
    Engine("Kamaji's Cluster API provider", (kamaji.KamajiControlPlane,), _kamaji_provider),
    Engine(
        "simulated infrastructure",
        (
            infrastructure.SimulatedCluster,
            infrastructure.SimulatedMachine,
            infrastructure.SimulatedMachineTemplate,
        ),
        _infrastructure,
        is_imaginary=True,
    ),
)
ENGINE_KINDS = tuple(kind for engine in ENGINES for kind in engine.kinds)


async def cluster_providers(client: Client) -> tuple[str, ...]:
    """The providers whose Cluster API kinds are installed: tenant clusters can have workers on these."""
    installed = {item["metadata"]["name"] for item in (await client.list(DEFINITION)).items}

    def is_installed(name: str) -> bool:
        templates = registry.templates(name)
        return {
            templates.cluster_kind.name,
            templates.machine_template_kind.name,
            templates.machine_kind.name,
        } <= installed

    return tuple(name for name in registry.names() if registry.offers_clusters(name) and is_installed(name))


def add_controllers(manager: Manager, connect: Connect, surroundings: Surroundings, providers: Iterable[str]) -> None:
    """Butler itself; `providers` are those that tenant clusters can have workers on."""
    tenants = Tenants(manager.client, connect)
    accounts = Accounts(manager, surroundings)
    add_provider_configs(manager, accounts)
    add_machines(manager, accounts)
    add_load_balancers(manager, accounts)
    add_images(manager, accounts)
    manager.add(TenantClusters(manager, tenants, RecordingInstaller(), providers, surroundings.clock))


def add_stand_ins(manager: Manager, world: World, engines: Iterable[Engine]) -> None:
    """Whatever is simulated."""
    for engine in engines:
        engine.stand_in(manager, world)
    _add_workloads(manager, world)


WORKLOADS_NEED = (Permission(TenantCluster, ("get", "list", "watch")),)


def _add_workloads(manager: Manager, world: World) -> None:
    """What happens inside the tenants' clusters that the server itself has."""
    clusters = manager.informers.of(TenantCluster)
    clusters.index(_PLACE, lambda cluster: [cluster.status.tenant_namespace or ""])

    def client_of(tenant: str) -> Client | None:
        api = world.tenants.get(tenant)
        return api.client if api is not None else None

    def pool_of(tenant: str) -> IPRange | None:
        found = clusters.by(_PLACE, tenant)
        return found[0].spec.networking.load_balancer_pool if found else None

    around = world.surroundings
    workloads = Workloads(
        client_of,
        on_server(world.server),
        delays=world.delays,
        pool_of=pool_of,
        clock=around.clock,
        chance=around.chance,
    )
    world.tenants.leaving = workloads.remove
    manager.accompany(workloads.run)
