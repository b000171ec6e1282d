"""The simulated world: a data centre, the APIs of tenants, and a stand-in for each program that Butler drives."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

from butler.api.cluster import TenantCluster
from butler.api.normalise.cluster import load_balancer_ranges
from butler.api.shared import IPRange
from butler.app import connections
from butler.engines.capi import kinds as capi
from butler.engines.kamaji import kinds as kamaji
from butler.engines.tenants import Connect
from butler.providers.contract import Surroundings
from butler.providers.simulated.datacentre import DataCentre, check_file
from kubekit.client.protocol import Client
from kubekit.clock import Chance, Clock, SystemChance, SystemClock
from kubekit.model.resource import Resource
from kubekit.runtime.manager import Manager
from kubekit.runtime.reconciler import Permission
from kubekit.server.serve.server import Server

from .capi import add_cluster_api
from .delays import NONE, Delays
from .infrastructure import kinds as infrastructure
from .infrastructure.controllers import add_infrastructure
from .kamaji.control_planes import TenantControlPlanes
from .kamaji.provider import KamajiControlPlanes
from .tenant_apis import LocalConnect, TenantApis
from .workloads.activity import on_server
from .workloads.tenants import Workloads

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
    server: Server, datacentre_file: Path, delays: Delays, wrap: Wrap, clock: Clock | None, chance: Chance | None
) -> AsyncIterator[World]:
    """The simulated world on a server: tenants' APIs and a data centre."""
    clock, chance = clock or SystemClock(), chance or SystemChance()
    check_file(datacentre_file)
    datacentre = DataCentre(datacentre_file, clock=clock, chance=chance, fast=delays == NONE)
    with closing(datacentre):
        async with connections() as others:
            reach = LocalConnect(server, clock=clock, others=others)
            surroundings = Surroundings(clock, chance, datacentre)
            tenants = TenantApis(server, wrap)
            yield World(server, tenants, datacentre, lambda config: wrap(reach(config)), delays, surroundings)


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
        infrastructure.KINDS,
        _infrastructure,
        is_imaginary=True,
    ),
)
ENGINE_KINDS = tuple(kind for engine in ENGINES for kind in engine.kinds)


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

    def pool_of(tenant: str) -> tuple[IPRange, ...]:
        found = clusters.by(_PLACE, tenant)
        return load_balancer_ranges(found[0]) if found else ()

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
