"""ManagementAddons: the same for the management cluster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from butler.addons.model import AddonState
from butler.api.addon import ManagementAddon, ManagementAddonPhase, ManagementAddonStatus
from kubekit.errors import NotFound
from kubekit.testing.deterministic_loop import Loop
from tests.controllers.addons_world import HOUR, MINUTE, World

Phase = ManagementAddonPhase


@pytest.fixture
async def idle_world(kubekit_loop: Loop) -> AsyncIterator[World]:
    made = World(kubekit_loop)
    yield made
    await made.crash()


@pytest.fixture
async def world(idle_world: World) -> World:
    idle_world.start()
    await idle_world.define("harbor", defaults={"releaseName": "other", "values": {"replicas": 1, "name": "x"}})
    return idle_world


async def ask(world: World, name: str = "registry", **spec: Any) -> None:
    wanted = {"metadata": {"name": name}, "spec": {"addon": "harbor", **spec}}
    await world.client.create(wanted, ManagementAddon.address)


async def status_of(world: World, name: str = "registry") -> ManagementAddonStatus:
    found: ManagementAddonStatus = (await world.client.get(ManagementAddon, name)).status
    return found


async def test_it_is_installed_into_the_management_cluster_under_its_own_name(world: World) -> None:
    await ask(world, values={"replicas": 3})
    await asyncio.sleep(5)
    status = await status_of(world)
    assert (status.phase, status.installed_version, status.last_attempted_version) == (
        Phase.INSTALLED,
        "1.0.0",
        "1.0.0",
    )
    release = status.helm_release
    assert release is not None
    assert (release.name, release.namespace) == ("registry", "registry-system")
    assert world.installer.values("registry") == {"replicas": 3, "name": "x"}
    assert world.installer.servers == ["https://management:6443"]
    assert await world.events("registry") == ["AddonInstalled"]
    meta = (await world.client.get(ManagementAddon, "registry")).metadata
    assert meta.labels == {"butler.butlerlabs.dev/addon-definition": "harbor"}
    assert meta.finalizers == ("managementaddon.butler.butlerlabs.dev/finalizer",)


async def test_helm_runs_only_when_something_changed(world: World) -> None:
    await ask(world)
    await asyncio.sleep(5)
    await world.crash()
    world.start()
    await asyncio.sleep(HOUR)
    assert world.installer.calls.count("install registry") == 1
    await world.client.patch(ManagementAddon, "registry", {"spec": {"values": {"replicas": 2}}})
    await asyncio.sleep(5)
    assert world.installer.calls.count("install registry") == 2
    assert world.installer.values("registry")["replicas"] == 2


async def test_while_it_is_paused_it_is_left_as_it_is(world: World) -> None:
    await ask(world, paused=True)
    await asyncio.sleep(HOUR)
    assert world.installer.calls == []
    assert (await status_of(world)).message == "it is paused, and left as it is"
    await world.client.patch(ManagementAddon, "registry", {"spec": {"paused": False}})
    await asyncio.sleep(5)
    assert (await status_of(world)).phase is Phase.INSTALLED


async def test_one_that_breaks_is_installed_and_not_ready(world: World) -> None:
    await ask(world)
    await asyncio.sleep(5)
    world.installer.states["registry"] = AddonState.DEGRADED
    await asyncio.sleep(12 * MINUTE)
    status = await status_of(world)
    healthy = status.condition("Healthy")
    assert healthy is not None
    assert (status.phase, healthy.status) == (Phase.INSTALLED, "False")


async def test_a_failure_is_told_and_tried_again(world: World) -> None:
    world.installer.fails["registry"] = "no such chart"
    await ask(world)
    await asyncio.sleep(5)
    status = await status_of(world)
    assert (status.phase, status.message, status.last_attempted_version) == (Phase.FAILED, "no such chart", "1.0.0")
    del world.installer.fails["registry"]
    await asyncio.sleep(90)
    assert (await status_of(world)).phase is Phase.INSTALLED


async def test_of_two_that_ask_for_the_same_the_older_one_stays(world: World) -> None:
    await ask(world)
    await asyncio.sleep(5)
    await ask(world, "second")
    await asyncio.sleep(5)
    ready = (await status_of(world, "second")).condition("Ready")
    assert ready is not None
    assert ready.reason == "AddonConflict"


async def test_it_goes_when_it_is_removed(world: World) -> None:
    await ask(world)
    await asyncio.sleep(5)
    world.installer.takes["registry"] = 60
    await world.client.delete(ManagementAddon, "registry")
    await asyncio.sleep(10)
    assert (await status_of(world)).phase is Phase.UNINSTALLING
    await asyncio.sleep(60)
    with pytest.raises(NotFound):
        await status_of(world)
    assert world.installer.there() == {}


async def test_without_a_way_into_the_management_cluster_it_says_so(idle_world: World) -> None:
    idle_world.manages = False
    idle_world.start()
    await idle_world.define("harbor")
    await ask(idle_world)
    await asyncio.sleep(5)
    status = await status_of(idle_world)
    ready = status.condition("Ready")
    assert ready is not None
    assert (status.phase, ready.reason) == (Phase.PENDING, "NoInstaller")
