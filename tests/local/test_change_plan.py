"""A plan says what then happens: the same objects, the same machines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from butler.api.cluster import ClusterPhase, TenantCluster
from butler.api.provider import ProviderConfig
from butler.controllers.cluster import kinds
from butler.controllers.cluster.change_plan import UNKNOWN_UID, Action, Plan, plan_change, plan_deletion
from butler.controllers.cluster.explanation import explain
from butler.engines.capi.kinds import Machine
from butler.local.home import Home
from butler.local.platform import Options, running
from butler.providers import registry
from butler.simulation.delays import NONE
from kubekit.client.protocol import Client, Selection, Signal
from kubekit.errors import Invalid, NotFound
from kubekit.model.resource import Address

TENANTS = "butler-tenants"
NOW = datetime(2030, 1, 1, tzinfo=UTC)
_SIMULATED = registry.templates("simulated")
WRITTEN: tuple[Address, ...] = (
    kinds.KAMAJI_CONTROL_PLANE,
    kinds.CLUSTER,
    kinds.MACHINE_DEPLOYMENT,
    kinds.KUBEADM_CONFIG_TEMPLATE,
    _SIMULATED.cluster_kind,
    _SIMULATED.machine_template_kind,
)


def cluster(**spec: Any) -> TenantCluster:
    given = {"kubernetesVersion": "v1.30.2", "workers": {"replicas": 2}, **spec}
    return msgspec.convert(
        {"kind": "TenantCluster", "metadata": {"name": "shop", "namespace": TENANTS}, "spec": given}, TenantCluster
    )


@dataclass(frozen=True)
class Seen:
    """What there is of a cluster: each object with its generation, and its machines."""

    objects: dict[tuple[str, str], int]
    machines: frozenset[str]


class World:
    """A platform without delays, and what was seen on it."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def seen(self) -> Seen:
        inside = await self.namespace()
        objects = {}
        for kind in WRITTEN:
            for one in (await self.client.list(kind, Selection(inside))).items if inside else ():
                objects[kind.kind, one["metadata"]["name"]] = one["metadata"].get("generation", 1)
        listed = (await self.client.list(Machine, Selection(inside))).items if inside else ()
        return Seen(objects, frozenset(one.metadata.name for one in listed))

    async def addons(self) -> dict[str, str]:
        """The addons of the cluster, with their versions."""
        seen = (await self.client.get(TenantCluster, "shop", TENANTS)).status.observed_state
        return {one.name: one.version for one in seen.addons if one.status == "Healthy"} if seen is not None else {}

    async def namespace(self) -> str:
        try:
            return (await self.client.get(TenantCluster, "shop", TENANTS)).status.tenant_namespace or ""
        except NotFound:
            return ""

    async def become(self, wanted: TenantCluster) -> None:
        """Ask for it, and wait until it is so and nothing is left to tidy up."""
        body = {
            "apiVersion": wanted.api_version,
            "kind": wanted.kind,
            "metadata": {"name": "shop", "namespace": TENANTS},
            "spec": msgspec.to_builtins(wanted.spec),
        }
        made = await self.client.apply(body, TenantCluster.address, manager="test")
        await self.until(lambda now: _is_settled(now, made["metadata"]["generation"]))
        await self.tidied(wanted)

    async def tidied(self, wanted: TenantCluster) -> None:
        """Wait until a plan would be empty; old templates and machines go a moment after a cluster is Running."""
        async with asyncio.timeout(100):
            while not (await plan_change(self.client, wanted)).is_empty:  # noqa: ASYNC110 -- what is waited for is many objects
                await asyncio.sleep(0.01)

    async def gone(self) -> None:
        selection = Selection(TENANTS)
        listed = await self.client.list(TenantCluster, selection)
        if not listed.items:
            return
        async with aclosing(self.client.watch(TenantCluster, selection, version=listed.version)) as events:
            async for event in events:
                if event.signal is Signal.DELETED:
                    return

    async def until(self, holds: Callable[[TenantCluster], bool]) -> None:
        listed = await self.client.list(TenantCluster, Selection(TENANTS))
        if any(holds(one) for one in listed.items):
            return
        watched = self.client.watch(TenantCluster, Selection(TENANTS), version=listed.version)
        async with aclosing(watched) as events:
            async for event in events:
                if event.item is not None and holds(event.item):
                    return


def _is_settled(now: TenantCluster, generation: int) -> bool:
    return now.status.phase is ClusterPhase.RUNNING and now.status.observed_generation == generation


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with running(Home(tmp_path / "data"), Options(delays=NONE)) as platform:
        yield World(platform.client)


def planned(plan: Plan, action: Action) -> set[tuple[str, str]]:
    known = {kind.kind for kind in WRITTEN}
    return {(one.kind, one.name) for one in plan.changes if one.action is action and one.kind in known}


async def test_what_a_plan_says_is_what_happens(world: World) -> None:
    await _creation(world)
    await _change(world, cluster(workers={"replicas": 4}), new=2, gone=0)
    await _change(world, cluster(workers={"replicas": 2}), new=0, gone=2)
    await _change(world, cluster(kubernetesVersion="v1.31.4"), new=2, gone=2)
    larger = {"replicas": 2, "machineTemplate": {"memory": "16Gi"}}
    await _change(world, cluster(kubernetesVersion="v1.31.4", workers=larger), new=2, gone=2)
    pools = {"replicas": 1, "pools": [{"name": "gpu", "replicas": 1}], "machineTemplate": {"memory": "16Gi"}}
    await _change(world, cluster(kubernetesVersion="v1.31.4", workers=pools), new=1, gone=1)
    await _change(world, cluster(kubernetesVersion="v1.31.4", workers=larger), new=1, gone=1)
    await _deletion(world)


async def _creation(world: World) -> None:
    plan = await plan_change(world.client, cluster())
    assert UNKNOWN_UID in plan.changes[1].name
    assert await world.namespace() == ""
    await world.become(cluster())
    now = await world.seen()
    assert planned(plan, Action.CREATE) == set(now.objects)
    assert sum(one.count for one in plan.machines) == len(now.machines)
    assert [(one.action, one.name) for one in plan.addons] == [(Action.CREATE, name) for name in await world.addons()]
    assert "is running" in (await explain(world.client, TENANTS, "shop", NOW)).summary


async def _change(world: World, wanted: TenantCluster, *, new: int, gone: int) -> None:
    before = await world.seen()
    plan = await plan_change(world.client, wanted)
    assert await world.seen() == before, "a plan touches nothing"
    await world.become(wanted)
    after = await world.seen()
    changed = {key for key in before.objects.keys() & after.objects.keys() if before.objects[key] != after.objects[key]}
    assert planned(plan, Action.CREATE) == after.objects.keys() - before.objects.keys()
    assert planned(plan, Action.DELETE) == before.objects.keys() - after.objects.keys()
    assert planned(plan, Action.CHANGE) == changed
    assert (len(after.machines - before.machines), len(before.machines - after.machines)) == (new, gone)
    coming = sum(one.count for one in plan.machines if one.action in (Action.CREATE, Action.REPLACE))
    going = sum(one.count for one in plan.machines if one.action in (Action.DELETE, Action.REPLACE))
    assert (coming, going) == (new, gone)
    named = {one.name for one in plan.machines if one.name}
    assert named <= before.machines - after.machines


async def _deletion(world: World) -> None:
    before, inside = await world.seen(), await world.namespace()
    plan = await plan_deletion(world.client, TENANTS, "shop")
    assert planned(plan, Action.DELETE) == set(before.objects)
    assert {one.name for one in plan.machines} == before.machines
    assert ("Namespace", inside) in {(one.kind, one.name) for one in plan.changes}
    await world.client.delete(TenantCluster, "shop", TENANTS)
    await world.gone()
    with pytest.raises(NotFound):
        await world.client.get(kinds.NAMESPACE, inside)


async def test_a_plan_says_which_addons_would_be_installed_anew(world: World) -> None:
    await world.become(cluster())
    before = await world.addons()
    newer = cluster(addons={"cni": {"version": "1.18.0"}, "ingress": {"values": {"replicas": 2}}})
    plan = await plan_change(world.client, newer)
    assert (plan.changes, plan.machines) == ((), ())
    assert [(one.action, one.name, one.reason) for one in plan.addons] == [
        (Action.CHANGE, "cilium", f"version {before['cilium']} becomes 1.18.0"),
        (Action.CHANGE, "traefik", "other values"),
    ]
    await world.become(newer)
    assert await world.addons() == {**before, "cilium": "1.18.0"}
    without = cluster(addons={"cni": {"version": "1.18.0"}, "ingress": {"enabled": False}})
    fewer = await plan_change(world.client, without)
    assert [(one.action, one.name, one.reason) for one in fewer.addons] == [
        (Action.DELETE, "traefik", "nobody asks for it any more")
    ]
    await world.become(without)
    assert (await plan_change(world.client, without)).is_empty
    left = {name: version for name, version in before.items() if name != "traefik"}
    assert await world.addons() == {**left, "cilium": "1.18.0"}


async def test_a_plan_for_what_would_be_refused_is_refused(world: World) -> None:
    with pytest.raises(Invalid, match=r"spec\.providerConfigRef\.name"):
        await plan_change(world.client, cluster(providerConfigRef={"name": "nowhere"}))


async def limit(world: World, **limits: int) -> None:
    change = {"spec": {"limits": limits}}
    await world.client.patch(ProviderConfig, "simulated", change, "butler-system")


async def test_a_plan_ends_at_a_step_that_holds(world: World) -> None:
    await limit(world, maxNodesPerTeam=1)
    plan = await plan_change(world.client, cluster())
    assert [(one.action, one.kind) for one in plan.changes] == [(Action.CREATE, "TenantCluster")]
    assert plan.machines == ()
    assert plan.notes == ("it would stop there, at Quota: 2 workers on this provider, and 1 is allowed",)


async def test_a_plan_does_not_take_what_was_granted_before_for_what_is_asked_now(world: World) -> None:
    await world.become(cluster())
    await limit(world, maxNodesPerTeam=3)
    plan = await plan_change(world.client, cluster(workers={"replicas": 4}))
    assert (plan.changes, plan.machines) == ((), ())
    assert "4 workers on this provider, and 3 are allowed" in plan.notes[0]
    assert (await plan_change(world.client, cluster(workers={"replicas": 3}))).machines
