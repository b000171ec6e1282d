"""Which controllers run, and with what: the one place of composition, for every way of running."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from weakref import WeakSet

from butler.addons.model import Installer
from butler.controllers.accounts import Accounts
from butler.controllers.addon_profiles.reconciler import add_addon_profiles
from butler.controllers.addons.management_addon import Management, add_management_addons
from butler.controllers.addons.tenant_addon import add_tenant_addons
from butler.controllers.butlerconfig import add_butler_configs
from butler.controllers.cluster.reconciler import add_clusters
from butler.controllers.image import add_images
from butler.controllers.loadbalancer import add_load_balancers
from butler.controllers.machine import add_machines
from butler.controllers.not_implemented import add_not_implemented
from butler.controllers.providerconfig import add_provider_configs
from butler.engines.tenants import Connect, Tenants, over_https
from butler.providers import registry
from butler.providers.contract import Surroundings
from kubekit.client.config import Config
from kubekit.client.protocol import Client
from kubekit.model.crd import DEFINITION
from kubekit.runtime.manager import Manager


async def cluster_providers(client: Client, also: Iterable[str] = ()) -> tuple[str, ...]:
    """The providers whose Cluster API kinds are installed, or `also` about to be: tenant clusters can have workers on
    these."""
    installed = {item["metadata"]["name"] for item in (await client.list(DEFINITION)).items} | {*also}

    def is_installed(name: str) -> bool:
        templates = registry.templates(name)
        return {
            templates.cluster_kind.name,
            templates.machine_template_kind.name,
            templates.machine_kind.name,
        } <= installed

    return tuple(name for name in registry.names() if registry.offers_clusters(name) and is_installed(name))


def add_controllers(
    manager: Manager,
    connect: Connect,
    surroundings: Surroundings,
    providers: Iterable[str],
    installer: Installer | None,
    *,
    management: Management | None = None,
) -> None:
    """Butler itself; `providers` are those that tenant clusters can have workers on. Without an installer they get no
    addons, and say so; so do ManagementAddons where nobody installs into the management cluster."""
    accounts = Accounts(manager, surroundings)
    add_provider_configs(manager, accounts)
    add_machines(manager, accounts)
    add_load_balancers(manager, accounts)
    add_images(manager, accounts)
    tenants = Tenants(connect)
    add_clusters(manager, tenants, installer, providers, surroundings.clock, surroundings.chance)
    add_tenant_addons(manager, tenants, installer, surroundings)
    add_management_addons(manager, management, surroundings)
    add_addon_profiles(manager)
    add_butler_configs(manager, surroundings.clock)
    add_not_implemented(manager, surroundings.clock)


@asynccontextmanager
async def connections() -> AsyncIterator[Connect]:
    """Clients over HTTPS; those that nobody closed before are closed at the end."""
    made: WeakSet[Client] = WeakSet()

    def connect(config: Config, /) -> Client:
        client = over_https(config)
        made.add(client)
        return client

    try:
        yield connect
    finally:
        for client in list(made):
            await client.close()
