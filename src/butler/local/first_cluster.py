"""The cluster a new platform makes by itself, to show that it works."""

from __future__ import annotations

from contextlib import suppress

import click
from msgspec import structs

from butler.api.cluster import TenantCluster, TenantClusterSpec, Workers
from butler.api.shared import TENANTS_NAMESPACE
from butler.cli.live import progress
from butler.cli.live.screen import screen_for
from butler.controllers.cluster import versions
from butler.engines.core import Secret
from butler.engines.tenants import kubeconfig_in
from kubekit.client.protocol import Client
from kubekit.errors import AlreadyExists, NotFound
from kubekit.model.resource import ObjectMeta
from kubekit.server.store import private_files

from .home import Home

NAME = "demo"


async def ensure(place: Home, client: Client) -> None:
    """Ask for the first cluster if this platform is to have one and never had."""
    known = place.remembered()
    if known.first_cluster != "wanted":
        return
    # It is there already if a start asked for it but ended before it could note so.
    with suppress(AlreadyExists):
        await client.create(_demo(), manager="butleradm")
    place.remember(structs.replace(known, first_cluster="made"))


def _demo() -> TenantCluster:
    return TenantCluster(
        metadata=ObjectMeta(name=NAME, namespace=TENANTS_NAMESPACE),
        spec=TenantClusterSpec(kubernetes_version=versions.DEFAULT, workers=Workers(replicas=2)),
    )


async def save_kubeconfig(place: Home, client: Client) -> bool:
    """Write the cluster's kubeconfig to the data directory; answers whether there is one."""
    try:
        cluster = await client.get(TenantCluster, NAME, TENANTS_NAMESPACE)
        status = cluster.status
        if status.kubeconfig_secret_ref is None or status.tenant_namespace is None:
            return False
        secret = await client.get(Secret, status.kubeconfig_secret_ref.name, status.tenant_namespace)
    except NotFound:
        return False
    private_files.write_private(place.kubeconfig_of(NAME), kubeconfig_in(secret))
    return True


async def follow(client: Client) -> bool:
    """Show the first cluster until it can be used; answers whether it can. Nothing happens when there is none."""
    try:
        cluster = await client.get(TenantCluster, NAME, TENANTS_NAMESPACE)
    except NotFound:
        return False
    is_settled = progress.settled(cluster.metadata.generation)
    if is_settled(cluster) or cluster.deleting:
        return not cluster.deleting
    seen = await progress.follow(client, TENANTS_NAMESPACE, NAME, is_settled, screen_for())
    problem = progress.problem_of(seen, cluster.metadata.generation)
    if problem:
        click.echo(f"{NAME}: {problem}", err=True)
    return not problem
