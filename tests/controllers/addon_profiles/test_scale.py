"""A thousand clusters: what is written is what changes, and nothing is asked for again."""

from __future__ import annotations

from butler.api.addon import TenantAddon
from kubekit.runtime.manager import Manager
from kubekit.testing.memory import MemoryApi
from tests.controllers.addon_profiles.profiles import NAMESPACE, Platform, clusters, profile
from tests.controllers.addon_profiles.world import World

CLUSTERS = 1000


async def test_a_thousand_clusters_cost_what_changes_in_them(api: MemoryApi) -> None:
    world = World(api)
    await world.start()
    assert world.manager is not None
    for number in range(CLUSTERS):
        await world.cluster(f"c{number:04}")
    reads = reads_of(world.manager)
    await world.profile()
    await world.api.settle()
    assert len(await world.addons()) == CLUSTERS // 4
    await world.roll_out()
    assert (await world.status()).ready == CLUSTERS
    written = told = CLUSTERS
    assert world.writes["tenantaddons"] == written + told

    world.writes.clear()
    await world.client.patch(
        TenantAddon, "c0500-certificates", {"status": {"message": "all is well"}}, NAMESPACE, subresource="status"
    )
    await world.api.settle()
    assert (world.writes["tenantaddons"], world.writes["addonprofiles"]) == (1, 0)

    world.writes.clear()
    await world.tell("c0500-certificates", "Upgrading")
    await world.api.settle()
    assert (world.writes["tenantaddons"], world.writes["addonprofiles"]) == (1, 1)
    await world.tell("c0500-certificates")
    await world.cluster("new")
    await world.api.settle()
    assert (world.writes["tenantaddons"], world.writes["tenantclusters"]) == (3, 2)
    assert reads_of(world.manager) == reads


def test_only_a_cluster_in_which_something_happened_is_looked_at_again() -> None:
    platform = Platform(profile(), *clusters(100))
    platform.roll_out()
    before = [*platform.plan().standings]
    platform.tell(f"{NAMESPACE}/c0050-certificates", "Degraded")
    after = [*platform.plan().standings]
    assert [old.cluster.metadata.name for old, new in zip(before, after, strict=True) if old is not new] == ["c0050"]


def test_what_is_gone_is_forgotten() -> None:
    platform = Platform(profile(), *clusters(10))
    platform.roll_out()
    platform.clusters.clear()
    platform.roll_out()
    assert platform.memory.found == {}


def reads_of(manager: Manager) -> float:
    """How often anything was asked for."""
    return manager.metrics.requests.get("200", "GET")
