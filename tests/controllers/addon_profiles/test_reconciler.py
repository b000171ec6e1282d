"""The controller of AddonProfiles: what it writes, what wakes it, and what it leaves to others."""

from __future__ import annotations

import pytest

from butler.api.addon import TenantAddon
from butler.api.addon_profile import AddonProfile
from butler.api.cluster import TenantCluster
from butler.controllers.addon_profiles.reconciler import MANAGER
from kubekit.testing.memory import MemoryApi
from tests.controllers.addon_profiles.profiles import NAMESPACE
from tests.controllers.addon_profiles.world import World

SMALL = {"waveSize": 1}
NEWER = [{"name": "certificates", "addon": "cert-manager", "version": "1.0.1"}]


@pytest.fixture
async def world(api: MemoryApi) -> World:
    made = World(api)
    await made.start()
    return made


async def test_a_change_goes_from_wave_to_wave(world: World) -> None:
    for name in "abc":
        await world.cluster(name)
    await world.profile(rollout=SMALL)
    await world.api.settle()
    assert {*await world.addons()} == {"a-certificates"}
    assert (await world.status()).wave == "1/3"
    await world.tell("a-certificates")
    await world.api.settle()
    assert {*await world.addons()} == {"a-certificates", "b-certificates"}
    await world.roll_out()
    status = await world.status()
    assert (status.matched, status.updated, status.ready, status.failed, status.waiting) == (3, 3, 3, 0, 0)
    assert (status.wave, status.observed_generation, status.completed_generation) == ("3/3", 1, 1)
    assert await world.said("Ready") == ("True", "Complete")
    assert await world.said("Progressing") == ("False", "Complete")


async def test_it_owns_what_it_says_and_no_more(world: World) -> None:
    await world.cluster("a")
    await world.profile()
    await world.api.settle()
    live = await world.raw(TenantAddon.address, "a-certificates")
    assert [one["manager"] for one in live["metadata"]["managedFields"]] == [MANAGER]
    change = {"spec": {"valuesFrom": [{"secretRef": {"name": "mine"}}]}}
    await world.client.patch(TenantAddon, "a-certificates", change, NAMESPACE)
    await world.change(addons=NEWER)
    await world.api.settle()
    spec = (await world.raw(TenantAddon.address, "a-certificates"))["spec"]
    assert (spec["version"], spec["valuesFrom"][0]["secretRef"]) == ("1.0.1", {"name": "mine"})


async def test_one_that_fails_stops_the_others_until_it_works(world: World) -> None:
    for name in "ab":
        await world.cluster(name)
    await world.profile(rollout=SMALL)
    await world.api.settle()
    await world.tell("a-certificates", "Failed")
    await world.api.settle()
    assert {*await world.addons()} == {"a-certificates"}
    assert await world.said("Stopped") == ("True", "AddonFailed")
    await world.tell("a-certificates")
    await world.roll_out()
    assert {*await world.addons()} == {"a-certificates", "b-certificates"}
    assert await world.said("Stopped") == ("False", "NotStopped")
    assert await world.events() == [
        ("Normal", "RollingOut"), ("Warning", "AddonFailed"), ("Normal", "RollingOut"), ("Normal", "Complete"),
    ]  # fmt: skip


async def test_clusters_come_and_go(world: World) -> None:
    await world.cluster("a")
    await world.profile()
    await world.roll_out()
    await world.cluster("b", "Provisioning")
    await world.api.settle()
    assert {*await world.addons()} == {"a-certificates", "b-certificates"}
    assert (await world.status()).waiting == 1
    await world.becomes("b", "Running")
    await world.api.settle()
    assert (await world.status()).waiting == 0
    await world.label("a", tier=None)
    await world.roll_out()
    assert {*await world.addons()} == {"b-certificates"}
    await world.client.delete(TenantCluster, "b", NAMESPACE)
    await world.api.settle()
    assert await world.addons() == {}


async def test_a_cluster_that_ends_slowly_keeps_its_addons_until_it_is_gone(world: World) -> None:
    await world.cluster("a")
    await world.client.patch(TenantCluster, "a", {"metadata": {"finalizers": ["example.com/slow"]}}, NAMESPACE)
    await world.profile()
    await world.roll_out()
    await world.client.delete(TenantCluster, "a", NAMESPACE)
    await world.api.settle()
    assert {*await world.addons()} == {"a-certificates"}
    await world.client.patch(TenantCluster, "a", {"metadata": {"finalizers": []}}, NAMESPACE)
    await world.api.settle()
    assert await world.addons() == {}


async def test_what_is_deleted_or_changed_behind_its_back_is_put_right(world: World) -> None:
    await world.cluster("a")
    await world.profile()
    await world.roll_out()
    await world.client.delete(TenantAddon, "a-certificates", NAMESPACE)
    await world.roll_out()
    await world.client.patch(TenantAddon, "a-certificates", {"spec": {"version": "0.0.1"}}, NAMESPACE)
    await world.api.settle()
    assert (await world.addons())["a-certificates"].spec.version == "1.0.0"


async def test_with_the_profile_goes_what_it_made(world: World) -> None:
    await world.cluster("a")
    await world.profile()
    await world.roll_out()
    await world.client.delete(AddonProfile, "base")
    await world.api.settle()
    assert await world.addons() == {}


async def test_an_addon_of_somebody_else_is_left_alone_until_it_goes(world: World) -> None:
    await world.cluster("a")
    spec = {"clusterRef": {"name": "a"}, "addon": "cert-manager", "version": "0.5.0"}
    meta = {"name": "a-certificates", "namespace": NAMESPACE}
    await world.client.create({"metadata": meta, "spec": spec}, TenantAddon.address)
    await world.profile()
    await world.roll_out()
    assert (await world.addons())["a-certificates"].spec.version == "0.5.0"
    assert await world.said("Conflict") == ("True", "NotOwned")
    await world.client.delete(TenantAddon, "a-certificates", NAMESPACE)
    await world.roll_out()
    assert (await world.addons())["a-certificates"].spec.version == "1.0.0"
    assert await world.said("Conflict") == ("False", "NoConflict")


async def test_of_two_profiles_the_older_wins_and_the_younger_follows_it(world: World) -> None:
    await world.cluster("a")
    await world.profile("first")
    await world.api.advance(60)
    await world.profile("second", addons=NEWER)
    await world.roll_out()
    assert (await world.addons())["a-certificates"].spec.version == "1.0.0"
    assert await world.said("Conflict", "first") == ("True", "YoungerProfile")
    assert await world.said("Conflict", "second") == ("True", "OlderProfile")
    await world.client.delete(AddonProfile, "first")
    await world.roll_out()
    assert (await world.addons())["a-certificates"].spec.version == "1.0.1"
    assert await world.said("Conflict", "second") == ("False", "NoConflict")


async def test_an_older_profile_that_is_made_to_match_takes_over(world: World) -> None:
    await world.cluster("a")
    await world.profile("first", clusterSelector={"matchLabels": {"tier": "iron"}})
    await world.api.advance(60)
    await world.profile("second", addons=NEWER)
    await world.roll_out()
    assert (await world.addons())["a-certificates"].spec.version == "1.0.1"
    await world.change("first", clusterSelector={"matchLabels": {"tier": "gold"}})
    await world.roll_out()
    assert (await world.addons())["a-certificates"].spec.version == "1.0.0"
    assert await world.said("Ready", "first") == ("True", "Complete")


async def test_killed_in_the_middle_it_goes_on_where_it_was(world: World) -> None:
    for number in range(8):
        await world.cluster(f"c{number}")
    await world.profile(rollout={"waveSize": 4})
    for _ in range(5):
        await world.api.advance(0.001)
        await world.api.crash()
        await world.start_again()
    await world.api.settle()
    assert len(await world.addons()) == 4
    await world.roll_out()
    assert len(await world.addons()) == 8


@pytest.mark.parametrize("kubekit_seed", range(5))
async def test_it_gets_there_however_the_api_behaves(world: World) -> None:
    for number in range(6):
        await world.cluster(f"c{number}")
    with world.api.disturbed(refused=0.2, lost=0.2, conflict=0.2, late=0.2, cut=0.1):
        await world.profile(rollout={"waveSize": 2})
        await world.api.advance(600)
        assert len(await world.addons()) == 2
    await world.roll_out()
    assert await world.said("Ready") == ("True", "Complete")
