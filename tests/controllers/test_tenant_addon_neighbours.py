"""TenantAddons beside each other: conflicts, dependencies, and who goes first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from butler.api.addon import AddonDefinition, TenantAddon, TenantAddonPhase
from butler.api.cluster import TenantCluster
from butler.api.team import Team
from kubekit.testing.deterministic_loop import Loop
from tests.controllers.addons_world import MINUTE, NAME, TEAM, World, platform, running

Phase = TenantAddonPhase
CHART = {"repository": "https://charts.example.com", "chart": "shop"}


@pytest.fixture
async def world(kubekit_loop: Loop) -> AsyncIterator[World]:
    """With a cluster that has a network of the platform."""
    made = World(kubekit_loop)
    made.start()
    await made.cluster(status=running(("cilium",)))
    for name in ("cilium", "grafana", "loki"):
        await made.define(name)
    yield made
    await made.crash()


async def refusal(world: World, name: str) -> tuple[Phase | None, str, str | None]:
    status = await world.status(name)
    return status.phase, await world.reason(name), status.message


async def test_what_the_catalogue_does_not_have_is_refused_until_it_does(world: World) -> None:
    await world.ask("tempo")
    await asyncio.sleep(5)
    assert await refusal(world, "tempo") == (
        Phase.FAILED, "AddonNotFound", "tempo: the catalogue has no AddonDefinition tempo",
    )  # fmt: skip
    assert await world.events("tempo") == ["AddonInstallFailed"]
    await world.define("tempo")
    await asyncio.sleep(5)
    assert await world.phase("tempo") is Phase.INSTALLED


async def test_what_came_with_the_cluster_is_not_installed_twice(world: World) -> None:
    await world.ask("cilium", name="net")
    await asyncio.sleep(5)
    assert await refusal(world, "net") == (
        Phase.FAILED, "AddonConflict",
        "net: the cluster has cilium already: cilium, which comes with the cluster",
    )  # fmt: skip


async def test_of_two_that_ask_for_the_same_the_older_one_stays(world: World) -> None:
    await world.ask("grafana", name="zeta")
    await asyncio.sleep(5)
    await world.ask("grafana", name="alpha")
    await asyncio.sleep(5)
    assert await world.phase("zeta") is Phase.INSTALLED
    assert (await refusal(world, "alpha"))[:2] == (Phase.FAILED, "AddonConflict")
    await world.remove("zeta")
    await asyncio.sleep(5)
    assert await world.phase("alpha") is Phase.INSTALLED
    assert world.installer.there() == {"grafana": "1.0.0"}


@pytest.mark.parametrize("who", ["the older one", "the newer one"])
async def test_conflicts_hold_both_ways(world: World, who: str) -> None:
    speaker, other = ("grafana", "loki") if who == "the older one" else ("loki", "grafana")
    await world.client.patch(AddonDefinition, speaker, {"spec": {"conflicts": [other]}})
    await world.ask("grafana")
    await asyncio.sleep(5)
    await world.ask("loki")
    await asyncio.sleep(5)
    assert await world.phase("grafana") is Phase.INSTALLED
    assert (await refusal(world, "loki"))[:2] == (Phase.FAILED, "AddonConflict")
    assert world.installer.there() == {"grafana": "1.0.0"}


async def test_a_release_is_that_of_one(world: World) -> None:
    await world.ask("grafana")
    await asyncio.sleep(5)
    await world.ask("", name="mine", helm={**CHART, "releaseName": "grafana", "namespace": "grafana"}, version="1.0.0")
    await asyncio.sleep(5)
    assert await refusal(world, "mine") == (
        Phase.FAILED, "AddonConflict", "mine: release grafana/grafana is that of TenantAddon grafana",
    )  # fmt: skip
    await world.remove("mine")
    await asyncio.sleep(5)
    assert world.installer.there() == {"grafana": "1.0.0"}


async def test_it_is_installed_after_those_it_names(world: World) -> None:
    world.installer.takes["grafana"] = 60
    await world.ask("loki", dependsOn=[{"name": "grafana"}])
    await asyncio.sleep(5)
    status = await world.status("loki")
    assert (status.phase, status.message) == (Phase.PENDING, "grafana is not there, or is for another cluster")
    assert await world.reason("loki", "DependenciesMet") == "DependenciesNotMet"
    await world.ask("grafana")
    await asyncio.sleep(10)
    assert (await world.status("loki")).message == "grafana is Installing"
    await asyncio.sleep(60)
    assert await world.phase("loki") is Phase.INSTALLED
    assert world.installer.calls[:2] == ["install grafana", "install loki"]


async def test_it_is_installed_after_those_its_definition_names(world: World) -> None:
    needs = {"spec": {"dependsOn": ["cilium", "grafana"]}}
    await world.client.patch(AddonDefinition, "loki", needs)
    await world.change_cluster(**running(("cilium", "Installing")))
    await world.ask("loki")
    await asyncio.sleep(5)
    assert (await world.status("loki")).message == "cilium is Installing; grafana is not in the cluster"
    await world.ask("grafana")
    await asyncio.sleep(5)
    assert (await world.status("loki")).message == "cilium is Installing"
    await world.change_cluster(observedState={"addons": [platform("cilium")]})
    await asyncio.sleep(5)
    assert await world.phase("loki") is Phase.INSTALLED


async def test_those_that_wait_for_each_other_are_told(world: World) -> None:
    await world.ask("grafana", dependsOn=[{"name": "loki"}])
    await world.ask("loki", dependsOn=[{"name": "grafana"}])
    await asyncio.sleep(5)
    assert await refusal(world, "grafana") == (
        Phase.FAILED, "DependencyCycle", "grafana: waits for itself: grafana after loki after grafana",
    )  # fmt: skip
    assert await world.reason("loki", "DependenciesMet") == "DependencyCycle"
    assert world.installer.calls == []
    await world.change("grafana", dependsOn=[])
    await asyncio.sleep(5)
    assert (await world.phase("grafana"), await world.phase("loki")) == (Phase.INSTALLED, Phase.INSTALLED)


async def test_one_that_others_need_goes_after_them(world: World) -> None:
    await world.ask("grafana")
    await world.ask("loki", dependsOn=[{"name": "grafana"}])
    await asyncio.sleep(5)
    await world.remove("grafana")
    await asyncio.sleep(5)
    phase, reason, message = await refusal(world, "grafana")
    assert (phase, reason) == (Phase.DELETING, "NeededByOthers")
    assert (message or "").startswith("needed by loki;")
    await world.remove("loki")
    await asyncio.sleep(5)
    assert not await world.exists("grafana")
    assert world.installer.calls[-2:] == ["remove loki", "remove grafana"]


async def test_those_that_need_each_other_can_still_go(world: World) -> None:
    await world.ask("grafana")
    await world.ask("loki", dependsOn=[{"name": "grafana"}])
    await asyncio.sleep(5)
    await world.change("grafana", dependsOn=[{"name": "loki"}])
    await asyncio.sleep(5)
    await world.remove("grafana")
    await world.remove("loki")
    await asyncio.sleep(5)
    assert not await world.exists("grafana")
    assert not await world.exists("loki")


async def test_a_deleted_addon_is_removed(world: World) -> None:
    await world.ask("grafana")
    await asyncio.sleep(5)
    await world.remove("grafana")
    await asyncio.sleep(5)
    assert not await world.exists("grafana")
    assert world.installer.there() == {}
    assert await world.events("grafana") == ["AddonInstalled", "AddonUninstalled"]


async def test_deleted_in_the_middle_of_installing_it_leaves_nothing(world: World) -> None:
    world.installer.takes["grafana"] = 60
    await world.ask("grafana")
    await asyncio.sleep(5)
    await world.remove("grafana")
    await asyncio.sleep(90)
    assert not await world.exists("grafana")
    assert (world.installer.given_up, world.installer.there()) == (1, {})


async def test_a_removal_that_fails_is_tried_again_and_the_object_stays(world: World) -> None:
    await world.ask("grafana")
    await asyncio.sleep(5)
    world.installer.fails["grafana"] = "secret-of-a-hook"
    await world.remove("grafana")
    await asyncio.sleep(5)
    phase, reason, message = await refusal(world, "grafana")
    assert (phase, reason) == (Phase.DELETING, "InternalError")
    assert (message or "").startswith("not removed yet: unexpected RuntimeError;")
    await asyncio.sleep(5 * MINUTE)
    assert world.installer.calls.count("remove grafana") == 3
    del world.installer.fails["grafana"]
    await asyncio.sleep(5 * MINUTE)
    assert not await world.exists("grafana")


async def test_the_end_of_a_cluster_lets_its_addons_go(world: World) -> None:
    await world.ask("grafana")
    await asyncio.sleep(5)
    await world.client.patch(
        TenantCluster, NAME, {"metadata": {"finalizers": ["butler.butlerlabs.dev/tenantcluster"]}}, TEAM
    )
    await world.client.delete(TenantCluster, NAME, TEAM)
    await asyncio.sleep(5)
    assert await refusal(world, "grafana") == (Phase.PENDING, "ClusterDeleting", "TenantCluster shop is being deleted")
    await world.remove("grafana")
    await asyncio.sleep(5)
    assert not await world.exists("grafana")
    assert "remove grafana" not in world.installer.calls


async def test_what_cannot_be_removed_stays_until_somebody_lets_go_of_it(world: World) -> None:
    await world.ask("grafana")
    await asyncio.sleep(5)
    await world.change_cluster(kubeconfigSecretRef=None)
    await world.remove("grafana")
    await asyncio.sleep(30 * MINUTE)
    phase, reason, message = await refusal(world, "grafana")
    assert (phase, reason) == (Phase.DELETING, "ClusterNotReady")
    assert "butler.butlerlabs.dev/force-delete=true" in (message or "")
    letting_go = {"metadata": {"annotations": {"butler.butlerlabs.dev/force-delete": "true"}}}
    await world.client.patch(TenantAddon, "grafana", letting_go, TEAM)
    await asyncio.sleep(5)
    assert not await world.exists("grafana")
    assert await world.events("grafana") == ["AddonInstalled", "Abandoned"]


@pytest.mark.parametrize(
    ("limits", "spec", "allowed"),
    [
        ({"deniedAddons": ["grafana"]}, {"addon": "grafana"}, False),
        ({"allowedAddons": ["loki"]}, {"addon": "grafana"}, False),
        ({"allowedAddons": ["grafana"]}, {"addon": "grafana"}, True),
        ({"allowedAddons": ["shop"]}, {"helm": CHART, "version": "1.0.0"}, False),
        ({"deniedAddons": ["loki"]}, {"helm": CHART, "version": "1.0.0"}, True),
    ],
)
async def test_a_team_has_what_it_may_have(
    kubekit_loop: Loop, limits: dict[str, Any], spec: dict[str, Any], allowed: bool
) -> None:
    world = World(kubekit_loop)
    world.start()
    await world.client.create({"metadata": {"name": "web"}, "spec": {"resourceLimits": limits}}, Team.address)
    await world.define("grafana")
    await world.cluster(teamRef={"name": "web"})
    await world.ask("", name="it", **spec)
    await asyncio.sleep(5)
    found = Phase.INSTALLED if allowed else Phase.FAILED
    assert (await world.phase("it"), await world.reason("it")) == (found, "Installed" if allowed else "AddonNotAllowed")
    await world.crash()
