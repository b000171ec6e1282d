"""A platform on an existing Kubernetes cluster, with stand-ins only for what is not there."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass

import click

from butler import advice, app
from butler.addons.model import Installer
from butler.api import KINDS
from butler.api.model import PART_OF
from butler.api.shared import SYSTEM_NAMESPACE
from butler.controllers.addons.management_addon import Management
from butler.engines.helm.protocol import Cluster
from butler.providers.contract import Surroundings
from butler.simulation import world as simulated
from butler.simulation.world import Engine
from kubekit.client.config import Config
from kubekit.client.http import HttpClient
from kubekit.client.protocol import Client
from kubekit.clock import SystemClock
from kubekit.model.crd import DEFINITION
from kubekit.model.resource import Object, Resource
from kubekit.runtime.leader import Election
from kubekit.runtime.manager import Manager, ManagerSettings
from kubekit.server.store import data_lock

from . import installers, system
from .checks import rights
from .home import Home
from .installation import install_definitions
from .platform import CONTROLLERS, GRACE, SIMULATION, Options, Platform, working

log = logging.getLogger("butler.local")


@dataclass(frozen=True, slots=True)
class Survey:
    """Which engines a cluster has."""

    real: tuple[Engine, ...]
    absent: tuple[Engine, ...]


async def survey(client: Client) -> Survey:
    """An engine is real when a definition of one of its kinds is there that Butler did not install."""
    definitions = {item["metadata"]["name"]: item for item in (await client.list(DEFINITION)).items}

    def is_real(engine: Engine) -> bool:
        return any(_is_foreign(definitions.get(kind.address.name)) for kind in engine.kinds)

    real = tuple(engine for engine in simulated.ENGINES if is_real(engine))
    return Survey(real, tuple(engine for engine in simulated.ENGINES if engine not in real))


def _is_foreign(definition: Object | None) -> bool:
    labels = (definition or {}).get("metadata", {}).get("labels") or {}
    return definition is not None and not PART_OF.items() <= labels.items()


@asynccontextmanager
async def attached(place: Home, options: Options, config: Config, *, simulate: bool) -> AsyncIterator[Platform]:
    """Butler's controllers on the cluster of a kubeconfig, for as long as the context lasts and this replica leads.

    With `simulate`, whatever engine the cluster lacks is simulated, and tenants' APIs come from a server on the data
    directory. Raises ClickException, before anything is written there, when an engine is missing and nobody asked for
    that, or a right is missing; Forbidden when not even its kinds may be seen."""
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(
            HttpClient(config, clock=SystemClock(), agent=CONTROLLERS, warn=log.info)
        )
        found = await survey(client)
        if not simulate:
            _require(found, config)
        wanted = definitions(found, simulate)
        providers = await app.cluster_providers(client, {kind.address.name for kind in wanted})
        controllers = _manager(client, CONTROLLERS, options)
        managers, port = [controllers], None
        reachable: tuple[str, ...] = ()
        if simulate:
            server = await stack.enter_async_context(options.server(place))
            world = await stack.enter_async_context(options.world(server, place))
            port, reachable = server.port, options.remarks(server)
            helm = options.helm(place, controllers.client)
            installer = installers.for_simulation(None if options.record_addons else helm)
            management = _management(config, controllers.client, helm)
            app.add_controllers(
                controllers, world.connect, world.surroundings, providers, installer, management=management
            )
            managers.append(_manager(client, SIMULATION, options))
            simulated.add_stand_ins(managers[1], world, found.absent)
        else:
            stack.enter_context(_held(place))
            connect = await stack.enter_async_context(app.connections())
            helm = options.helm(place, controllers.client)
            management = _management(config, controllers.client, helm)
            app.add_controllers(controllers, connect, Surroundings(), providers, helm, management=management)
        # Until here nothing was written to the cluster: whoever may not, or finds the port taken, leaves no trace.
        await rights.require(client, managers, (CONTROLLERS, SIMULATION)[: len(managers)])
        await install_definitions(client, wanted)
        await system.install(client, simulated=simulate)
        await stack.enter_async_context(working(managers))
        yield Platform(client, tuple(managers), config.cluster.server, port, (*_remarks(found, simulate), *reachable))


def _management(config: Config, client: Client, helm: Installer | None) -> Management | None:
    """The cluster itself is real, whatever is simulated on it."""
    return Management(Cluster(config, client), helm) if helm is not None else None


def _manager(client: Client, name: str, options: Options) -> Manager:
    return options.manager(client, ManagerSettings(name, Election(name, SYSTEM_NAMESPACE), grace=GRACE))


def _require(found: Survey, config: Config) -> None:
    missing = [engine for engine in found.absent if not engine.is_imaginary]
    if missing:
        lacks = ", ".join(f"{engine.name} ({engine.kinds[0].address.name})" for engine in missing)
        simulate = advice.simulate_on(config.source or "FILE")
        raise click.ClickException(f"the cluster lacks {lacks}; install what is missing, or let it be: `{simulate}`")


def definitions(found: Survey, simulate: bool) -> Collection[type[Resource]]:
    """Ours, and those of what is simulated: what others installed stays theirs."""
    return (*KINDS, *(kind for engine in found.absent if simulate for kind in engine.kinds))


def _remarks(found: Survey, simulate: bool) -> tuple[str, ...]:
    real = [f"{engine.name}: as the cluster has it." for engine in found.real]
    simulated = [
        f"{engine.name}: simulated, because the cluster has no {engine.kinds[0].address.plural} of its own."
        for engine in found.absent
        if simulate and not engine.is_imaginary
    ]
    return (*real, *simulated)


@contextmanager
def _held(place: Home) -> Iterator[None]:
    """The data directory for this process, as a server would hold it."""
    place.close_to_others()
    handle = data_lock.take(place.data)
    try:
        data_lock.note_holder(handle)
        yield
    finally:
        os.close(handle)
