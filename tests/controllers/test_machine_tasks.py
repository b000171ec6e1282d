"""MachineRequests on an infrastructure that works in tasks, and on one that shows late what it has."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import ClassVar

from butler.api.machine import MachinePhase, MachineRequest
from butler.errors import CapacityExhausted, MachineRejected, ProviderError, ProviderUnavailable
from butler.providers.contract import NOTHING_KNOWN, Asset, Check, Choice, Known, Machine, MachineOrder, Power
from tests.controllers.requests_world import World


@dataclass
class Tasks:
    """An infrastructure that answers an order with a task, and shows the machine when that is done."""

    name: ClassVar[str] = "tasks"
    settles_in: ClassVar[float] = 30.0
    is_done: bool = False
    ends_with: list[ProviderError] = field(default_factory=list)
    orders: int = 0
    seen: list[Known] = field(default_factory=list)
    deletions: int = 0
    appears: bool = False
    """Whether what was ordered is there, seen or not."""
    hides: bool = False

    async def create(self, order: MachineOrder, known: Known = NOTHING_KNOWN) -> Machine:
        self.seen.append(known)
        if self.is_done:
            return Machine("tasks://vm-1", order.name, order.token, Power.RUNNING, ("10.0.0.9",))
        if known.task and self.ends_with:
            raise self.ends_with.pop(0)
        if not known.task:
            self.orders += 1
            self.appears = True
        return Machine("", order.name, order.token, Power.STARTING, task=known.task or f"task-{self.orders}")

    async def find(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> Machine | None:
        return Machine("tasks://vm-1", name, token, Power.RUNNING, ("10.0.0.9",))

    async def delete(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> bool:
        self.deletions += 1
        if not self.hides:
            self.appears = False
        return True

    async def check(self) -> tuple[Check, ...]:
        return ()

    async def inventory(self) -> tuple[Asset, ...]:
        return ()

    async def images(self) -> tuple[Choice, ...]:
        return ()

    async def networks(self) -> tuple[Choice, ...]:
        return ()

    async def close(self) -> None:
        """There is nothing to give back."""


def with_tasks(world: World) -> Tasks:
    made = Tasks()
    world.instead = lambda: made
    return made


async def test_a_task_is_followed_by_its_id(world: World) -> None:
    """Rules 1, 9."""
    cloud = with_tasks(world)
    await world.config()
    await world.machine()
    await asyncio.sleep(5)
    status = (await world.request()).status
    assert (status.phase, status.provider_task_id) == (MachinePhase.CREATING, "task-1")
    await world.crash()
    world.start()
    await asyncio.sleep(30)
    assert cloud.orders == 1
    assert {known.task for known in cloud.seen} == {"", "task-1"}
    cloud.is_done = True
    await asyncio.sleep(30)
    status = (await world.request()).status
    assert (status.phase, status.provider_task_id) == (MachinePhase.RUNNING, None)


async def test_a_task_that_failed_is_forgotten_and_the_next_one_is_begun(world: World) -> None:
    """Rule 12."""
    cloud = with_tasks(world)
    cloud.ends_with = [CapacityExhausted("tasks", "cp-0", "out of stock")]
    await world.config()
    await world.machine()
    await asyncio.sleep(30)
    status = (await world.request()).status
    assert (cloud.orders, status.provider_task_id) == (2, "task-2")


async def test_a_task_that_cannot_be_looked_at_goes_on(world: World) -> None:
    """Rule 12."""
    cloud = with_tasks(world)
    cloud.ends_with = [ProviderUnavailable("tasks", "cp-0", "503")] * 3
    await world.config()
    await world.machine()
    await asyncio.sleep(60)
    assert (cloud.orders, (await world.request()).status.provider_task_id) == (1, "task-1")


async def test_a_task_that_was_refused_fails_the_request_and_is_forgotten(world: World) -> None:
    """Rule 13."""
    cloud = with_tasks(world)
    cloud.ends_with = [MachineRejected("tasks", "cp-0", "there is no such image")]
    await world.config()
    await world.machine()
    await asyncio.sleep(30)
    status = (await world.request()).status
    assert (status.phase, status.failure_reason) == (MachinePhase.FAILED, "MachineRejected")
    assert status.provider_task_id is None
    await asyncio.sleep(1000)
    assert (cloud.orders, (await world.request()).status.failure_reason) == (2, None)


async def test_a_machine_that_was_never_seen_is_not_believed_to_be_gone_at_once(world: World) -> None:
    """Rules 5, 9: the infrastructure shows the machine only a while after it was ordered."""
    cloud = with_tasks(world)
    cloud.hides = True
    await world.config()
    await world.machine()
    await asyncio.sleep(5)
    await world.remove(MachineRequest, "cp-0")
    await asyncio.sleep(10)
    assert await world.exists(MachineRequest, "cp-0")
    cloud.hides = False
    await asyncio.sleep(40)
    assert not await world.exists(MachineRequest, "cp-0")
    assert not cloud.appears
