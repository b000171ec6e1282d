"""Clusters of the local platform get small charts by real Helm, which are looked after and go when nobody asks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from butler.api.cluster import ObservedAddon, TenantCluster
from butler.engines.core import Secret
from butler.engines.tenants import admin_kubeconfig_secret, kubeconfig_in
from butler.local.home import Home
from butler.local.platform import Options, Platform, running
from butler.simulation.delays import NONE
from kubekit.client import kubeconfig
from kubekit.client.http import HttpClient
from kubekit.client.protocol import Client, Selection
from kubekit.clock import SystemClock
from kubekit.errors import NotFound
from kubekit.model.resource import Address
from testbed.running.helm import helm_of
from tests.local.shells import Shell
from tests.local.worlds import NAME, TENANTS, create, runs, until

DEPLOYMENT, VOLUME_CLAIM = Address.of("apps/v1", "Deployment"), Address.of("v1", "PersistentVolumeClaim")
EVENT, POD = Address.of("v1", "Event"), Address.of("v1", "Pod")
REMARK = "a small chart in its place, since the cluster is simulated"
PLATFORM = ["cert-manager", "cilium", "longhorn", "metallb", "metrics-server", "traefik"]


class ShiftedClock(SystemClock):
    """A clock that can be set forward."""

    def __init__(self) -> None:
        self.shift = timedelta()

    def now(self) -> datetime:
        return super().now() + self.shift

    def monotonic(self) -> float:
        return super().monotonic() + self.shift.total_seconds()


@dataclass
class World:
    """A platform with one cluster that runs."""

    platform: Platform
    clock: ShiftedClock
    folder: Path
    tenant: Client

    async def change(self, **spec: Any) -> None:
        await self.platform.client.patch(TenantCluster, NAME, {"spec": spec}, TENANTS)

    async def later(self) -> None:
        """When it is time to look after everything, and somebody comes by."""
        self.clock.shift += timedelta(minutes=25)
        change = {"metadata": {"annotations": {"visited": str(self.clock.shift)}}}
        await self.platform.client.patch(TenantCluster, NAME, change, TENANTS)

    async def until(self, done: Callable[[dict[str, ObservedAddon]], bool]) -> dict[str, ObservedAddon]:
        """The addons, by name, once that holds."""
        await until(self.platform.client, lambda cluster: cluster is not None and done(_addons(cluster)))
        return _addons(await self.platform.client.get(TenantCluster, NAME, TENANTS))

    async def helm(self, *arguments: str) -> Any:
        """What stock Helm says by the cluster's own kubeconfig."""
        return await helm(self.folder / "kubeconfig", *arguments)

    async def releases(self) -> list[str]:
        return sorted(one["name"] for one in await self.helm("list", "-A"))

    async def events(self) -> dict[str, str]:
        found = await self.platform.client.list(EVENT, Selection(TENANTS))
        return {one["reason"]: one["message"] for one in found.items}


def _addons(cluster: TenantCluster) -> dict[str, ObservedAddon]:
    state = cluster.status.observed_state
    return {one.name: one for one in state.addons} if state is not None else {}


async def helm(config: Path, *arguments: str) -> Any:
    process = await asyncio.create_subprocess_exec(
        str(helm_of("3")), *arguments, "--output", "json", "--kubeconfig", str(config), stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    return json.loads(output)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    clock = ShiftedClock()
    options = Options(delays=NONE, clock=clock, record_addons=False)
    async with running(Home(tmp_path / "data"), options) as platform:
        await create(platform.client)
        await until(platform.client, runs("v1.31.4", 2))
        cluster = await platform.client.get(TenantCluster, NAME, TENANTS)
        inside = cluster.status.tenant_namespace
        assert inside is not None
        content = kubeconfig_in(await platform.client.get(Secret, admin_kubeconfig_secret(NAME), inside))
        (tmp_path / "kubeconfig").write_bytes(content)
        async with HttpClient(kubeconfig.self_contained(content, "test")) as tenant:
            yield World(platform, clock, tmp_path, tenant)


async def test_a_cluster_has_releases_that_follow_what_is_asked_for(world: World) -> None:
    found = await world.until(lambda addons: True)
    assert {(one.status, one.message) for one in found.values()} == {("Healthy", REMARK)}
    assert await world.releases() == PLATFORM
    before = found["traefik"].values_digest
    await world.change(
        addons={"ingress": {"values": {"deployment": {"replicas": 2}}}, "metricsServer": {"enabled": False}}
    )
    found = await world.until(lambda addons: len(addons) == len(PLATFORM) - 1 and addons["traefik"].status == "Healthy")
    assert found["traefik"].values_digest != before
    releases = {one["name"]: one["revision"] for one in await world.helm("list", "-A")}
    assert releases == dict.fromkeys((*found,), "1") | {"traefik": "2"}
    assert (await world.events())["AddonRemoved"].startswith("metrics-server ")


async def test_what_somebody_takes_away_comes_back(world: World) -> None:
    await world.tenant.delete(DEPLOYMENT, "traefik", "traefik")
    await world.later()
    while "AddonRepaired" not in (told := await world.events()):  # noqa: ASYNC110 -- it may come and go between looks
        await asyncio.sleep(0.1)
    assert told["AddonRepaired"].endswith("Deployment traefik/traefik: missing")
    await world.tenant.get(DEPLOYMENT, "traefik", "traefik")
    await world.until(lambda addons: addons["traefik"].status == "Healthy")


async def test_of_a_cluster_that_is_observed_only_tales_are_told(world: World) -> None:
    await world.change(managementPolicy={"mode": "Observe"})
    await world.tenant.delete(DEPLOYMENT, "traefik", "traefik")
    await world.later()
    found = await world.until(lambda addons: addons["traefik"].status == "Degraded")
    assert "changed by others: Deployment traefik/traefik: missing" in (found["traefik"].message or "")
    with pytest.raises(NotFound):
        await world.tenant.get(DEPLOYMENT, "traefik", "traefik")
    assert "AddonRepaired" not in await world.events()


async def test_a_release_that_somebody_removes_is_installed_again(world: World) -> None:
    await helm_uninstall(world.folder / "kubeconfig")
    await world.later()
    while await world.releases() != PLATFORM:  # noqa: ASYNC110 -- it may come and go between looks
        await asyncio.sleep(0.1)
    await world.until(lambda addons: addons["traefik"].status == "Healthy")


async def helm_uninstall(config: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        str(helm_of("3")), "uninstall", "traefik", "-n", "traefik", "--kubeconfig", str(config),
        stdout=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    assert await process.wait() == 0


async def test_storage_with_volumes_stays_and_says_why(world: World) -> None:
    claim = {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "default"},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "longhorn",
                 "resources": {"requests": {"storage": "1Gi"}}},
    }  # fmt: skip
    await world.tenant.create(claim, VOLUME_CLAIM)
    async for event in world.tenant.watch(VOLUME_CLAIM, Selection("default")):
        if event.item is not None and event.item["status"].get("phase") == "Bound":
            break
    await world.change(addons={"storage": {"enabled": False}})
    found = await world.until(lambda addons: "kept" in (addons["longhorn"].message or ""))
    assert (found["longhorn"].message or "").startswith("no longer asked for, and kept: longhorn: volume pvc-")
    await until(world.platform.client, runs("v1.31.4", 2))
    said = (await world.platform.client.get(TenantCluster, NAME, TENANTS)).status.condition("AddonsReady")
    assert said is not None
    assert "longhorn is no longer asked for, and kept" in said.message


def test_the_first_cluster_of_a_platform_has_releases(shell: Shell) -> None:
    ran = shell.butleradm("up", "--detach", "--fast", "--port", "0")
    assert ran.code == 0, ran.err
    config = Home(shell.data).kubeconfig_of("demo")
    assert sorted(one["name"] for one in asyncio.run(helm(config, "list", "-A"))) == PLATFORM
    assert REMARK in shell.butlerctl("cluster", "get", "demo").out
