"""ManagementAddons on a whole platform: recorded where the management cluster is simulated, else installed by Helm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from butler.api.addon import AddonDefinition, ManagementAddon, ManagementAddonPhase, ManagementAddonStatus
from butler.local.home import Home
from butler.local.on_cluster import attached
from butler.local.platform import Options, running
from butler.simulation.delays import NONE
from butler.simulation.installer import CONFIG_MAP, NAME, NAMESPACE
from kubekit.client import kubeconfig
from kubekit.client.protocol import Client, Selection, Signal
from kubekit.server.serve.server import Server
from tests.engines.helm import charts
from tests.engines.helm.sources import Source, serving

TOOLS, DEFINITION = "tools", "sealed-secrets"
TEXTS = {"displayName": "Tools", "description": "Tools.", "category": "other"}


async def installed(client: Client, addon: str) -> ManagementAddonStatus:
    """Ask for an addon, and wait until it is there."""
    wanted = {"metadata": {"name": TOOLS}, "spec": {"addon": addon}}
    made = await client.create(wanted, ManagementAddon.address)
    async for event in client.watch(ManagementAddon, version=made["metadata"]["resourceVersion"]):
        found: Any = event.item
        if found is not None and found.status.phase is ManagementAddonPhase.INSTALLED:
            status: ManagementAddonStatus = found.status
            return status
    raise AssertionError("the watch ended")


async def remove(client: Client) -> None:
    """Wait until it is gone, too."""
    listed = await client.list(ManagementAddon)
    await client.delete(ManagementAddon, TOOLS)
    async for event in client.watch(ManagementAddon, version=listed.version):
        if event.signal is Signal.DELETED:
            return


async def recorded(client: Client) -> dict[str, str]:
    return dict((await client.get(CONFIG_MAP, NAME, NAMESPACE)).get("data") or {})


@pytest.mark.timeout(60)
async def test_it_is_recorded_where_the_management_cluster_is_simulated(tmp_path: Path) -> None:
    async with running(Home(tmp_path), Options(delays=NONE, record_addons=False)) as platform:
        client = platform.client
        status = await installed(client, DEFINITION)
        version = (await client.get(AddonDefinition, DEFINITION)).spec.chart.default_version
        assert status.installed_version == version
        assert status.message == "only recorded, since the management cluster is simulated"
        assert await recorded(client) == {TOOLS: version}
        await remove(client)
        assert await recorded(client) == {}


@pytest.mark.timeout(120)
async def test_it_is_installed_by_helm_where_only_tenants_are_simulated(server: Server, tmp_path: Path) -> None:
    source, config = Source(), kubeconfig.load(server.kubeconfig)
    source.files = {"/index.yaml": charts.index(web=("1.0.0",)), "/web-1.0.0.tgz": charts.archive()}
    place = Home(tmp_path / "attached")
    async with serving(source), attached(place, Options(delays=NONE), config, simulate=True) as platform:
        client = platform.client
        chart = {"repository": f"http://127.0.0.1:{source.port}", "name": "web", "defaultVersion": "1.0.0"}
        await client.create({"metadata": {"name": TOOLS}, "spec": {**TEXTS, "chart": chart}}, AddonDefinition.address)
        status = await installed(client, TOOLS)
        assert (status.installed_version, status.message) == ("1.0.0", "1.0.0 is installed and works")
        mine = Selection(f"{TOOLS}-system", labels="app.kubernetes.io/managed-by=Helm")
        assert [one["metadata"]["name"] for one in (await client.list(CONFIG_MAP, mine)).items] == [f"{TOOLS}-config"]
        await remove(client)
        assert not (await client.list(CONFIG_MAP, mine)).items
