"""Addons of a cluster that runs follow what is written about them."""

from __future__ import annotations

from pathlib import Path

from butler.api.cluster import TenantCluster
from butler.local.home import Home
from butler.local.platform import Options, running
from butler.simulation.delays import NONE
from kubekit.client.protocol import Client
from tests.local.worlds import NAME, TENANTS, create, runs, until


def digest(cluster: TenantCluster | None) -> str | None:
    seen = cluster.status.observed_state if cluster is not None else None
    return next((one.values_digest for one in seen.addons if one.name == "cilium"), None) if seen is not None else None


async def write(client: Client, replicas: int) -> str | None:
    """Edit the values of an addon, and wait until it was installed with others than before."""
    before = digest(await client.get(TenantCluster, NAME, TENANTS))
    change = {"spec": {"addons": {"cni": {"values": {"operator": {"replicas": replicas}}}}}}
    await client.patch(TenantCluster, NAME, change, TENANTS)
    await until(client, lambda cluster: digest(cluster) != before)
    return digest(await client.get(TenantCluster, NAME, TENANTS))


async def test_an_addon_is_installed_again_with_its_new_values(tmp_path: Path) -> None:
    async with running(Home(tmp_path / "data"), Options(delays=NONE)) as platform:
        await create(platform.client)
        await until(platform.client, runs("v1.31.4", 2))
        one, two = await write(platform.client, 1), await write(platform.client, 2)
        assert one is not None
        assert await write(platform.client, 1) == one != two
        await until(platform.client, runs("v1.31.4", 2))
