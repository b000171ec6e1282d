"""Kinds without a controller say so, once."""

from __future__ import annotations

import asyncio
from typing import Any

from butler.api import KINDS
from butler.api.team import Team
from butler.api.workspace import Workspace
from butler.controllers.not_implemented import add_not_implemented
from kubekit.model.status import Condition
from kubekit.runtime.manager import Manager
from kubekit.runtime.reconciler import Outcome, Reconciler
from kubekit.server.store.events import Event
from kubekit.testing.deterministic_loop import Loop
from kubekit.testing.memory import MemorySpace

WORKSPACE = {
    "metadata": {"name": "mine", "namespace": "default"},
    "spec": {"clusterRef": {"name": "shop"}, "owner": "me@example.com", "image": "busybox"},
}


class Teams(Reconciler[Team]):
    """A controller that some later release has."""

    kind = Team

    async def reconcile(self, obj: Team) -> Outcome:
        return Outcome(obj.status)


class World:
    """Controllers on an API in memory, and how often anything was written."""

    def __init__(self, loop: Loop, *reconcilers: Reconciler[Any]) -> None:
        self.space = MemorySpace(loop.clock, loop.chance, kinds=KINDS)
        self.client = self.space.client()
        self.manager = Manager(self.client, clock=loop.clock, chance=loop.chance)
        for one in reconcilers:
            self.manager.add(one)
        add_not_implemented(self.manager, loop.clock)
        self.writes = 0
        self.space.store.listen(self._count)
        self._task = asyncio.create_task(self.manager.run())

    def _count(self, event: Event) -> None:
        self.writes += not self.space.store.names_of(event.bucket)[1].endswith("events")

    async def said(self, kind: Any, name: str, namespace: str = "") -> Condition | None:
        found: Condition | None = (await self.client.get(kind, name, namespace)).status.condition("Reconciled")
        return found


async def test_an_object_nobody_looks_after_says_so_once_for_each_generation(kubekit_loop: Loop) -> None:
    world = World(kubekit_loop)
    await world.client.create(WORKSPACE, Workspace.address)
    await asyncio.sleep(60)
    said = await world.said(Workspace, "mine", "default")
    assert said is not None
    assert (said.status, said.reason, said.observed_generation) == ("False", "NotImplemented", 1)
    assert said.message == "Butler has no controller for this kind yet: nothing comes of this object."
    await world.client.patch(Workspace, "mine", {"spec": {"image": "alpine"}}, "default")
    await asyncio.sleep(60)
    again = await world.said(Workspace, "mine", "default")
    assert again is not None
    assert (again.observed_generation, again.last_transition_time) == (2, said.last_transition_time)
    assert (await world.client.get(Workspace, "mine", "default")).status.observed_generation == 2
    assert world.writes == 4
    await asyncio.sleep(7200)
    assert world.writes == 4


async def test_a_kind_that_others_read_says_that(kubekit_loop: Loop) -> None:
    world = World(kubekit_loop)
    await world.client.create({"metadata": {"name": "web"}}, Team.address)
    await asyncio.sleep(60)
    said = await world.said(Team, "web")
    assert said is not None
    assert said.message == "Butler has no controller for this kind yet: others read it, but nothing is done for it."


async def test_a_kind_that_gets_a_controller_says_so_no_longer(kubekit_loop: Loop) -> None:
    old = World(kubekit_loop)
    await old.client.create({"metadata": {"name": "web"}}, Team.address)
    await asyncio.sleep(60)
    status = (await old.client.get(Team.address, "web"))["status"]
    world = World(kubekit_loop, Teams())
    await world.client.create({"metadata": {"name": "web"}}, Team.address)
    await world.client.create({"metadata": {"name": "new"}}, Team.address)
    await world.client.patch(Team, "web", {"status": status}, subresource="status")
    await asyncio.sleep(60)
    said = await world.said(Team, "web")
    assert said is not None
    assert said.status == "True"
    assert await world.said(Team, "new") is None
