"""TenantAddons: installed once, kept, changed when something changed, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from butler.addons.model import AddonState
from butler.api.addon import AddonDefinition, TenantAddon, TenantAddonPhase
from butler.api.cluster import TenantCluster
from butler.engines.core import Secret
from butler.engines.helm.errors import ClusterUnreachable
from kubekit.errors import Invalid
from kubekit.testing.deterministic_loop import Loop
from tests.controllers.addons_world import HOUR, MINUTE, NAME, TEAM, World, running

Phase = TenantAddonPhase


@pytest.fixture
async def idle_world(kubekit_loop: Loop) -> AsyncIterator[World]:
    made = World(kubekit_loop)
    yield made
    await made.crash()


@pytest.fixture
async def world(idle_world: World) -> World:
    """With a cluster that runs and a catalogue of one."""
    idle_world.start()
    await idle_world.cluster()
    await idle_world.define("grafana", defaults={"namespace": "monitoring", "values": {"replicas": 1}})
    return idle_world


async def test_an_addon_of_the_catalogue_is_installed_into_its_cluster(world: World) -> None:
    await world.ask("grafana", values={"replicas": 2})
    await asyncio.sleep(5)
    status = await world.status("grafana")
    assert (status.phase, status.installed_version, status.observed_generation) == (Phase.INSTALLED, "1.0.0", 1)
    release = status.helm_release
    assert release is not None
    assert (release.name, release.namespace, release.version) == ("grafana", "monitoring", "1.0.0")
    assert (release.status, release.revision) == ("deployed", 1)
    assert {one.type: one.status for one in status.conditions} == dict.fromkeys(
        ("ClusterReady", "DependenciesMet", "Installed", "Healthy", "Ready"), "True"
    )
    assert world.installer.values("grafana") == {"replicas": 2}
    assert world.installer.servers == ["https://10.0.0.9:6443"]
    assert await world.events("grafana") == ["AddonInstalled"]
    obj = await world.client.get(TenantAddon, "grafana", TEAM)
    assert obj.metadata.labels == {
        "butler.butlerlabs.dev/cluster": NAME, "butler.butlerlabs.dev/addon-definition": "grafana",
    }  # fmt: skip
    assert obj.metadata.finalizers == ("butler.butlerlabs.dev/tenantaddon",)
    (cluster,) = (await world.client.list(TenantCluster)).items
    assert [(one.kind, one.uid) for one in obj.metadata.owner_references] == [("TenantCluster", cluster.metadata.uid)]


async def test_an_addon_that_stays_as_it_is_costs_no_write_and_no_helm(world: World) -> None:
    await world.ask("grafana")
    await asyncio.sleep(5)
    writes, calls = world.writes, world.installer.calls.count("install grafana")
    await asyncio.sleep(2 * HOUR)
    assert (world.writes, world.installer.calls.count("install grafana")) == (writes, calls)
    assert 10 <= world.installer.calls.count("look grafana") <= 14


async def test_a_manager_that_is_started_anew_installs_nothing_again(world: World) -> None:
    await world.ask("grafana")
    await asyncio.sleep(5)
    await world.crash()
    world.start()
    await asyncio.sleep(HOUR)
    assert world.installer.calls.count("install grafana") == 1
    assert await world.events("grafana") == ["AddonInstalled"]


async def test_a_change_of_version_or_values_is_an_upgrade(world: World) -> None:
    await world.ask("grafana")
    await asyncio.sleep(5)
    await world.change("grafana", version="2.0.0")
    await asyncio.sleep(5)
    assert (await world.status("grafana")).installed_version == "2.0.0"
    await world.change("grafana", values={"replicas": 3})
    await asyncio.sleep(5)
    assert world.installer.values("grafana") == {"replicas": 3}
    assert world.installer.calls.count("install grafana") == 3
    assert await world.events("grafana") == ["AddonInstalled", "AddonUpgraded"]


async def test_another_default_version_in_the_catalogue_is_an_upgrade_of_who_names_none(world: World) -> None:
    await world.ask("grafana")
    await asyncio.sleep(5)
    await world.client.patch(AddonDefinition, "grafana", {"spec": {"chart": {"defaultVersion": "1.1.0"}}})
    await asyncio.sleep(5)
    assert world.installer.there() == {"grafana": "1.1.0"}


async def test_what_takes_long_is_shown_and_keeps_nobody_else_waiting(world: World) -> None:
    await world.define("loki")
    world.installer.takes["grafana"] = 300
    await world.ask("grafana")
    await world.ask("loki")
    await asyncio.sleep(10)
    assert (await world.phase("grafana"), await world.phase("loki")) == (Phase.INSTALLING, Phase.INSTALLED)
    await asyncio.sleep(300)
    assert await world.phase("grafana") is Phase.INSTALLED
    await world.change("grafana", version="2.0.0")
    await asyncio.sleep(10)
    assert await world.phase("grafana") is Phase.UPGRADING
    await asyncio.sleep(300)
    assert await world.phase("grafana") is Phase.INSTALLED
    assert await world.events("grafana") == ["AddonInstalled", "AddonUpgraded"]


async def test_a_change_while_something_is_under_way_is_made_afterwards(world: World) -> None:
    world.installer.takes["grafana"] = 60
    await world.ask("grafana")
    await asyncio.sleep(10)
    await world.change("grafana", version="2.0.0")
    await asyncio.sleep(10)
    assert world.installer.calls == ["install grafana"]
    await asyncio.sleep(120)
    assert world.installer.there() == {"grafana": "2.0.0"}
    assert world.installer.given_up == 0


async def test_killed_in_the_middle_it_is_installed_by_the_next(world: World) -> None:
    world.installer.takes["grafana"] = 60
    await world.ask("grafana")
    await asyncio.sleep(10)
    await world.crash()
    assert world.installer.given_up == 1
    status = await world.status("grafana")
    assert status.helm_release is not None
    assert status.phase is Phase.INSTALLING
    world.start()
    await asyncio.sleep(90)
    assert await world.phase("grafana") is Phase.INSTALLED


async def test_killed_in_the_middle_and_deleted_it_leaves_nothing(world: World) -> None:
    world.installer.takes["grafana"] = 60
    await world.ask("grafana")
    await asyncio.sleep(10)
    await world.crash()
    await world.remove("grafana")
    world.start()
    await asyncio.sleep(90)
    assert "remove grafana" in world.installer.calls
    assert not await world.exists("grafana")


async def test_a_failure_is_told_and_tried_again_later_and_later(world: World) -> None:
    world.installer.fails["grafana"] = "no such chart"
    await world.ask("grafana")
    await asyncio.sleep(5)
    status = await world.status("grafana")
    assert (status.phase, status.message) == (Phase.FAILED, "no such chart")
    assert await world.reason("grafana") == "InstallFailed"
    await asyncio.sleep(50)
    assert len(world.installer.calls) == 1
    await asyncio.sleep(10)
    assert len(world.installer.calls) == 2
    await asyncio.sleep(2 * HOUR)
    assert 9 <= len(world.installer.calls) <= 13
    assert await world.events("grafana") == ["AddonInstallFailed"]


async def test_a_failure_is_tried_again_at_once_when_something_changed(world: World) -> None:
    world.installer.fails["grafana"] = "no such chart"
    await world.ask("grafana")
    await asyncio.sleep(5)
    del world.installer.fails["grafana"]
    await world.change("grafana", version="1.0.1")
    await asyncio.sleep(5)
    assert await world.phase("grafana") is Phase.INSTALLED


async def test_what_somebody_else_is_changing_is_tried_again_later(world: World) -> None:
    world.installer.busy.add("grafana")
    await world.ask("grafana")
    await asyncio.sleep(30)
    status = await world.status("grafana")
    assert (status.phase, status.message, status.installed_version) == (
        Phase.INSTALLING, "somebody else is at it", None,
    )  # fmt: skip
    assert world.installer.calls == ["install grafana"]
    world.installer.busy.clear()
    await asyncio.sleep(60)
    assert await world.phase("grafana") is Phase.INSTALLED


async def test_a_failed_upgrade_that_was_rolled_back_says_what_runs(world: World) -> None:
    await world.ask("grafana")
    await asyncio.sleep(5)
    world.installer.fails["grafana"], world.installer.rolls_back = "its pods never came", {"grafana"}
    await world.change("grafana", version="2.0.0")
    await asyncio.sleep(5)
    status = await world.status("grafana")
    assert (status.phase, status.installed_version) == (Phase.FAILED, "1.0.0")
    assert status.message == "2.0.0 failed, and 1.0.0 is there again: its pods never came"
    assert await world.reason("grafana") == "RolledBack"
    assert await world.events("grafana") == ["AddonInstalled", "AddonRolledBack"]
    await world.change("grafana", version="1.0.0")
    await asyncio.sleep(5)
    assert await world.phase("grafana") is Phase.INSTALLED


async def test_what_is_written_and_does_not_work_yet_is_looked_at_until_it_does(world: World) -> None:
    world.installer.states["grafana"] = AddonState.INSTALLING
    await world.ask("grafana")
    await asyncio.sleep(30)
    assert (await world.phase("grafana"), await world.reason("grafana", "Healthy")) == (Phase.INSTALLING, "Progressing")
    del world.installer.states["grafana"]
    await asyncio.sleep(30)
    assert await world.phase("grafana") is Phase.INSTALLED
    assert world.installer.calls.count("install grafana") == 1
    assert await world.events("grafana") == ["AddonInstalled"]


async def test_what_never_works_is_degraded_in_the_end(world: World) -> None:
    world.installer.states["grafana"] = AddonState.INSTALLING
    await world.ask("grafana")
    await asyncio.sleep(15 * MINUTE)
    assert (await world.phase("grafana"), await world.reason("grafana")) == (Phase.DEGRADED, "Degraded")
    assert await world.events("grafana") == ["AddonDegraded"]


async def test_an_addon_that_breaks_is_degraded_and_recovers(world: World) -> None:
    await world.ask("grafana")
    await asyncio.sleep(5)
    world.installer.states["grafana"] = AddonState.DEGRADED
    await asyncio.sleep(12 * MINUTE)
    assert await world.phase("grafana") is Phase.DEGRADED
    del world.installer.states["grafana"]
    await asyncio.sleep(2 * MINUTE)
    assert await world.phase("grafana") is Phase.INSTALLED
    assert await world.events("grafana") == ["AddonInstalled", "AddonDegraded", "AddonRecovered"]


async def test_what_drifts_is_put_right(world: World) -> None:
    await world.ask("grafana")
    await asyncio.sleep(5)
    next(iter(world.installer.releases.values())).drifted = "Deployment monitoring/grafana"
    await asyncio.sleep(12 * MINUTE)
    assert world.installer.calls.count("repair grafana") == 1
    assert await world.phase("grafana") is Phase.INSTALLED
    assert await world.events("grafana") == ["AddonInstalled", "AddonRepaired"]


async def test_in_a_cluster_that_is_only_observed_drift_is_told_of(world: World) -> None:
    await world.client.patch(TenantCluster, NAME, {"spec": {"managementPolicy": {"mode": "Observe"}}}, TEAM)
    await world.ask("grafana")
    await asyncio.sleep(5)
    next(iter(world.installer.releases.values())).drifted = "Deployment monitoring/grafana"
    await asyncio.sleep(12 * MINUTE)
    assert "repair grafana" not in world.installer.calls
    status = await world.status("grafana")
    assert (status.phase, status.message) == (Phase.DEGRADED, "not as it should be: Deployment monitoring/grafana")


async def test_a_release_that_somebody_removed_is_installed_again(world: World) -> None:
    await world.ask("grafana")
    await asyncio.sleep(5)
    world.installer.releases.clear()
    await asyncio.sleep(12 * MINUTE)
    assert world.installer.there() == {"grafana": "1.0.0"}
    assert await world.phase("grafana") is Phase.INSTALLED


async def test_what_flux_keeps_is_shown_and_left_alone(world: World) -> None:
    world.installer.keepers["grafana"] = "flux"
    await world.ask("grafana")
    await asyncio.sleep(HOUR)
    status = await world.status("grafana")
    assert (status.phase, status.installed_version) == (Phase.INSTALLED, "9.9.9")
    assert (await world.reason("grafana"), status.message) == ("ManagedElsewhere", "kept by Flux, and left to it")
    assert world.installer.calls.count("install grafana") == 1
    del world.installer.keepers["grafana"]
    await asyncio.sleep(15 * MINUTE)
    assert world.installer.there() == {"grafana": "1.0.0"}
    assert await world.reason("grafana") == "Installed"


async def test_that_nobody_can_look_does_not_mean_that_it_does_not_work(world: World) -> None:
    await world.ask("grafana")
    await asyncio.sleep(5)
    world.installer.raises = ClusterUnreachable("release monitoring/grafana", "no answer")
    await asyncio.sleep(12 * MINUTE)
    status = await world.status("grafana")
    ready = status.condition("Ready")
    assert ready is not None
    assert (status.phase, ready.status, ready.reason) == (Phase.INSTALLED, "Unknown", "ClusterUnreachable")
    world.installer.raises = None
    await asyncio.sleep(16 * MINUTE)
    assert await world.reason("grafana") == "Installed"


async def test_another_place_means_removing_it_from_the_old_one(world: World) -> None:
    chart = {"repository": "https://charts.example.com", "chart": "shop", "namespace": "one"}
    await world.ask("", name="mine", helm=chart, version="1.0.0")
    await asyncio.sleep(5)
    await world.change("mine", helm={**chart, "namespace": "two"})
    await asyncio.sleep(5)
    assert [place.namespace for place in world.installer.releases] == ["two"]
    assert await world.phase("mine") is Phase.INSTALLED


async def test_it_waits_until_its_cluster_can_take_it(idle_world: World) -> None:
    world = idle_world
    world.start()
    await world.define("grafana")
    await world.ask("grafana")
    await asyncio.sleep(5)
    assert (await world.phase("grafana"), await world.reason("grafana", "ClusterReady")) == (
        Phase.PENDING, "ClusterNotFound",
    )  # fmt: skip
    await world.cluster(status=running(ready=0))
    await asyncio.sleep(5)
    status = await world.status("grafana")
    assert (status.phase, status.message) == (Phase.PENDING, "TenantCluster shop: none of its workers is ready yet")
    assert world.installer.calls == []
    await world.change_cluster(workerNodesReady=1)
    await asyncio.sleep(5)
    assert await world.phase("grafana") is Phase.INSTALLED
    await world.change_cluster(workerNodesReady=0)
    await asyncio.sleep(5)
    assert (await world.phase("grafana"), await world.reason("grafana")) == (Phase.INSTALLED, "ClusterNotReady")
    await world.change_cluster(workerNodesReady=1)
    await asyncio.sleep(15 * MINUTE)
    assert await world.reason("grafana") == "Installed"
    assert world.installer.calls.count("install grafana") == 1


async def test_a_cluster_without_workers_gets_addons_too(idle_world: World) -> None:
    idle_world.start()
    await idle_world.define("grafana")
    await idle_world.cluster(status=running(workers=0, ready=0))
    await idle_world.ask("grafana")
    await asyncio.sleep(5)
    assert await idle_world.phase("grafana") is Phase.INSTALLED


async def test_a_cluster_that_is_made_anew_gets_it_anew(world: World) -> None:
    await world.ask("grafana")
    await asyncio.sleep(5)
    await world.client.delete(TenantCluster, NAME, TEAM)
    await asyncio.sleep(5)
    status = await world.status("grafana")
    assert (status.phase, status.installed_version, status.helm_release) == (Phase.PENDING, None, None)
    world.installer.releases.clear()
    await world.client.delete(Secret, f"{NAME}-admin-kubeconfig", "shop-0f3c2a11")
    await world.cluster()
    await asyncio.sleep(5)
    assert world.installer.there() == {"grafana": "1.0.0"}


async def test_without_an_installer_it_says_so(idle_world: World) -> None:
    world = idle_world
    world.shelf = None
    world.start()
    await world.cluster()
    await world.define("grafana")
    await world.ask("grafana")
    await asyncio.sleep(5)
    assert (await world.phase("grafana"), await world.reason("grafana")) == (Phase.PENDING, "NoInstaller")
    await world.remove("grafana")
    await asyncio.sleep(5)
    assert not await world.exists("grafana")


async def test_an_addon_and_a_chart_at_once_are_refused_and_so_is_neither(world: World) -> None:
    chart = {"repository": "https://charts.example.com", "chart": "shop"}
    for spec in ({"addon": "grafana", "helm": chart}, {}):
        with pytest.raises(Invalid, match="either addon or helm"):
            await world.ask("", name="odd", **spec)


async def test_the_cluster_of_an_addon_cannot_be_changed(world: World) -> None:
    await world.ask("grafana")
    with pytest.raises(Invalid, match="clusterRef is immutable"):
        await world.change("grafana", clusterRef={"name": "other"})
