"""The platform in one process: rights, rest, and what a cluster leaves behind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from butler.api.cluster import TenantCluster, TenantClusterSpec
from butler.api.provider import ProviderConfig, ProviderConfigSpec
from butler.api.sections.proxmox import ProxmoxSection
from butler.api.shared import SYSTEM_NAMESPACE, ProviderRef, ProviderType, SecretRef
from butler.engines.capi.kinds import Machine
from butler.local.home import Home
from butler.local.installation import NAMESPACE
from butler.local.platform import Options, Platform, running
from butler.providers.simulated.datacentre import DataCentre
from butler.simulation.delays import NONE
from butler.simulation.infrastructure.kinds import SimulatedMachine
from kubekit.errors import Forbidden
from kubekit.model.resource import Address, ObjectMeta
from kubekit.server.serve.server import Server
from tests.local.worlds import NAME, TENANTS, create, destroy, is_gone, runs, scale, until, upgrade

POD = Address("", "v1", "Pod", "pods", True)


@pytest.fixture
def place(tmp_path: Path) -> Home:
    return Home(tmp_path / "data")


@pytest.fixture
async def platform(place: Home) -> AsyncIterator[Platform]:
    async with running(place, Options(delays=NONE)) as platform:
        yield platform


def refusals(platform: Platform) -> float:
    """How often a controller was told that it may not."""
    counters = [manager.metrics.requests for manager in platform.managers]
    return sum(counter.get("403", method) for counter in counters for method in ("GET", "POST", "PATCH", "DELETE"))


async def live_and_die(platform: Platform) -> None:
    client = platform.client
    await create(client)
    await until(client, runs("v1.31.4", 2))
    await scale(client)
    await until(client, runs("v1.31.4", 3))
    await upgrade(client)
    await until(client, runs("v1.32.2", 3))
    await destroy(client)
    await until(client, is_gone)


async def test_controllers_may_do_what_they_do_and_no_more(platform: Platform) -> None:
    await live_and_die(platform)
    assert refusals(platform) == 0
    with pytest.raises(Forbidden):
        await platform.managers[0].client.list(POD)
    assert refusals(platform) == 1


async def test_a_cluster_leaves_nothing_behind(place: Home, platform: Platform) -> None:
    before = {item["metadata"]["name"] for item in (await platform.client.list(NAMESPACE)).items}
    await live_and_die(platform)
    assert (await platform.client.list(Machine)).items == ()
    assert (await platform.client.list(SimulatedMachine)).items == ()
    assert {item["metadata"]["name"] for item in (await platform.client.list(NAMESPACE)).items} == before
    with closing(DataCentre(place.datacentre)) as datacentre:
        assert datacentre.machines() == []


async def test_a_platform_with_a_running_cluster_has_nothing_to_do_now_or_later(platform: Platform) -> None:
    await create(platform.client)
    await until(platform.client, runs("v1.31.4", 2))
    async with asyncio.timeout(100):
        while not all(manager.is_quiet for manager in platform.managers):  # noqa: ASYNC110 -- nothing tells of it
            await asyncio.sleep(0)


async def test_leaving_by_an_exception_leaves_the_data_free(place: Home) -> None:
    with pytest.raises(BaseExceptionGroup):
        async with running(place, Options(delays=NONE)):
            raise RuntimeError("gone")
    async with Server(place.data) as server:
        assert server.kubeconfig.exists()


async def test_a_cluster_on_infrastructure_that_is_not_installed_is_told_so(platform: Platform) -> None:
    spec = ProviderConfigSpec(
        provider=ProviderType.PROXMOX,
        credentials_ref=SecretRef(name="pve"),
        proxmox=ProxmoxSection(endpoint="https://127.0.0.1:1", nodes=("pve1",), storage="local"),
    )
    await platform.client.create(ProviderConfig(metadata=ObjectMeta(name="pve", namespace=SYSTEM_NAMESPACE), spec=spec))
    wanted = TenantClusterSpec(kubernetes_version="v1.31.4", provider_config_ref=ProviderRef(name="pve"))
    await platform.client.create(TenantCluster(metadata=ObjectMeta(name=NAME, namespace=TENANTS), spec=wanted))
    refused: list[str] = []

    def is_refused(cluster: TenantCluster | None) -> bool:
        accepted = cluster.status.condition("Accepted") if cluster is not None else None
        if accepted is None or accepted.reason != "ProviderNotInstalled":
            return False
        refused.append(accepted.message)
        return True

    await until(platform.client, is_refused)
    assert "proxmoxclusters.infrastructure.cluster.x-k8s.io" in refused[0]
