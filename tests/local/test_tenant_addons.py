"""TenantAddons on a whole platform: a small chart in place of the catalogue's, by the Helm there is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from butler.api.addon import AddonDefinition, TenantAddon, TenantAddonPhase
from butler.api.cluster import TenantCluster
from butler.local.home import Home
from butler.local.platform import Options, running
from butler.simulation.delays import NONE
from kubekit.client.protocol import Client, Selection, Signal
from tests.local.worlds import NAME, TENANTS, create, runs, until

ADDON = "sealed-secrets"


async def until_phase(client: Client, phase: TenantAddonPhase | None) -> None:
    """Wait until the addon is in a phase; None: until it is gone."""
    one = Selection(TENANTS, fields=f"metadata.name={ADDON}")
    listed = await client.list(TenantAddon, one)
    if [item.status.phase for item in listed.items] == ([phase] if phase is not None else []):
        return
    async for event in client.watch(TenantAddon, one, version=listed.version):
        found: Any = event.item
        if event.signal is Signal.DELETED:
            assert phase is None
            return
        if found is not None and found.status.phase is phase:
            return


@pytest.mark.timeout(120)
@pytest.mark.parametrize("record", [True, False], ids=["recorded", "by Helm"])
async def test_an_addon_of_the_catalogue_comes_and_goes(tmp_path: Path, record: bool) -> None:
    async with running(Home(tmp_path), Options(delays=NONE, record_addons=record)) as platform:
        client = platform.client
        spec = {"clusterRef": {"name": NAME}, "addon": ADDON}
        await client.create({"metadata": {"name": ADDON, "namespace": TENANTS}, "spec": spec}, TenantAddon.address)
        await create(client)
        await until(client, runs("v1.31.4", 2))
        await until_phase(client, TenantAddonPhase.INSTALLED)
        definition = await client.get(AddonDefinition, ADDON)
        status = (await client.get(TenantAddon, ADDON, TENANTS)).status
        assert status.installed_version == definition.spec.chart.default_version
        assert "since the cluster is simulated" in (status.message or "")
        await client.delete(TenantAddon, ADDON, TENANTS)
        await until_phase(client, None)


async def test_an_addon_goes_with_its_cluster(tmp_path: Path) -> None:
    async with running(Home(tmp_path), Options(delays=NONE, record_addons=True)) as platform:
        client = platform.client
        await create(client)
        await until(client, runs("v1.31.4", 2))
        spec = {"clusterRef": {"name": NAME}, "addon": ADDON}
        await client.create({"metadata": {"name": ADDON, "namespace": TENANTS}, "spec": spec}, TenantAddon.address)
        await until_phase(client, TenantAddonPhase.INSTALLED)
        await client.delete(TenantCluster, NAME, TENANTS)
        await until_phase(client, None)
