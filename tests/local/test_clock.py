"""A clock that was ahead: once it is right again, everybody gets in, with the kubeconfigs there are then."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from butler.api.cluster import TenantCluster
from butler.engines.core import Secret
from butler.engines.tenants import kubeconfig_in
from butler.local.home import Home
from butler.local.platform import Options, Platform, running
from butler.simulation.delays import NONE
from kubekit.client import kubeconfig
from kubekit.client.http import HttpClient
from kubekit.clock import SystemClock
from kubekit.errors import KubeError
from kubekit.model.resource import Address
from tests.local.worlds import NAME, TENANTS, create, runs, scale, until

NODES = Address("", "v1", "Node", "nodes", False)


class FastClock(SystemClock):
    """A clock that is years ahead."""

    def now(self) -> datetime:
        return super().now() + timedelta(days=800)


async def tenant_kubeconfig(platform: Platform) -> bytes:
    cluster = await platform.client.get(TenantCluster, NAME, TENANTS)
    reference, namespace = cluster.status.kubeconfig_secret_ref, cluster.status.tenant_namespace
    assert reference is not None
    assert namespace is not None
    return kubeconfig_in(await platform.client.get(Secret, reference.name, namespace))


async def renewed(platform: Platform, early: bytes) -> None:
    """Wait until a tenant has another kubeconfig."""
    listed = await platform.client.list(Secret)
    if await tenant_kubeconfig(platform) != early:
        return
    async for _ in platform.client.watch(Secret, version=listed.version):
        if await tenant_kubeconfig(platform) != early:
            return


async def nodes_of(content: bytes) -> int:
    async with HttpClient(kubeconfig.self_contained(content, "kubeconfig"), patience=5) as client:
        return len((await client.list(NODES)).items)


async def test_a_platform_whose_clock_was_ahead_heals_when_it_is_right(tmp_path: Path) -> None:
    place = Home(tmp_path / "data")
    async with running(place, Options(delays=NONE, clock=FastClock())) as platform:
        await create(platform.client)
        await until(platform.client, runs("v1.31.4", 2))
        early = await tenant_kubeconfig(platform)
        port = platform.port or 0
    with pytest.raises(KubeError):
        await nodes_of(early)
    async with running(place, Options(port=port, delays=NONE)) as platform:
        async with HttpClient(kubeconfig.load(place.kubeconfig), patience=5) as admin:
            assert (await admin.list(NODES)).items == ()
        await renewed(platform, early)
        assert await nodes_of(await tenant_kubeconfig(platform)) == 2
        await scale(platform.client, 3)
        await until(platform.client, runs("v1.31.4", 3))
        assert await nodes_of(await tenant_kubeconfig(platform)) == 3
