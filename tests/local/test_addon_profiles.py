"""An AddonProfile on the local platform, where its controller has exactly the rights it declares."""

from __future__ import annotations

from pathlib import Path

from butler.api.addon import TenantAddon
from butler.api.addon_profile import AddonProfile
from butler.api.cluster import TenantCluster
from butler.local.home import Home
from butler.local.platform import Options, running
from butler.simulation.delays import NONE
from kubekit.client.protocol import Client, Selection, Signal
from tests.local.worlds import NAME, TENANTS

PROFILE = {
    "metadata": {"name": "base"},
    "spec": {
        "clusterSelector": {"matchLabels": {"tier": "gold"}},
        "addons": [{"name": "metrics", "addon": "metrics-server", "version": "3.12.2"}],
    },
}


async def test_a_profile_makes_addons_and_takes_them_away(tmp_path: Path) -> None:
    async with running(Home(tmp_path / "data"), Options(delays=NONE)) as platform:
        client = platform.client
        meta = {"name": NAME, "namespace": TENANTS, "labels": {"tier": "gold"}}
        await client.create({"metadata": meta, "spec": {"workers": {"replicas": 1}}}, TenantCluster.address)
        await client.create(PROFILE, AddonProfile.address)
        made = await seen(client, Signal.ADDED)
        assert made is not None
        assert (made.spec.cluster_ref.name, made.spec.addon) == (NAME, "metrics-server")
        assert [one.name for one in made.metadata.owner_references] == ["base"]
        await client.patch(TenantCluster, NAME, {"metadata": {"labels": {"tier": None}}}, TENANTS)
        await seen(client, Signal.DELETED)


async def seen(client: Client, signal: Signal) -> TenantAddon | None:
    """Waits until it happened; None if it had happened before anybody looked that something went."""
    listed = await client.list(TenantAddon, Selection(TENANTS))
    if bool(listed.items) is (signal is Signal.ADDED):
        return listed.items[0] if listed.items else None
    async for event in client.watch(TenantAddon, Selection(TENANTS), version=listed.version):
        if event.signal is signal:
            return event.item
    raise AssertionError("the watch ended")
