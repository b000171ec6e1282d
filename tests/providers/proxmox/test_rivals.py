"""Two controllers that know nothing of each other ask for the same machines, and answers are lost: one machine each."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from butler.api.sections.proxmox import VmidRange
from butler.errors import ProviderError
from butler.providers.contract import NOTHING_KNOWN, Known, MachineOrder, Power, Provider
from butler.providers.testing import Fault
from tests.providers.proxmox.harness import ProxmoxHarness, running

NAMES = ("web", "db")
MOST_STEPS = 600


@dataclass
class Rival:
    """A controller. When it crashes, it has forgotten everything."""

    harness: ProxmoxHarness
    provider: Provider
    known: dict[str, Known] = field(default_factory=dict)
    is_up: set[str] = field(default_factory=set)

    async def create(self, order: MachineOrder) -> None:
        try:
            machine = await self.provider.create(order, self.known.get(order.name, NOTHING_KNOWN))
        except ProviderError as error:
            if not error.retryable:
                raise
            self.known.pop(order.name, None)
            return
        self.known[order.name] = Known(machine.id, machine.task)
        if machine.power is Power.RUNNING and machine.addresses:
            self.is_up.add(order.name)

    async def delete(self, order: MachineOrder) -> bool:
        try:
            return await self.provider.delete(order.name, order.token, self.known.get(order.name, NOTHING_KNOWN))
        except ProviderError as error:
            if not error.retryable:
                raise
            return False

    async def crash(self) -> None:
        await self.provider.close()
        self.provider, self.known = await self.harness.connect(), {}


@dataclass
class Story:
    """What happens, by a seed."""

    harness: ProxmoxHarness
    chance: Random
    rivals: list[Rival]

    async def some_trouble(self) -> None:
        """A call that will fail, a crash, and some time."""
        if self.chance.random() < 0.5:
            self.harness.faults.strike(self.chance.choice((Fault.BEFORE, Fault.AFTER)), self.chance.randrange(6))
        if self.chance.random() < 0.2:
            await self.chance.choice(self.rivals).crash()
        await self.harness.pass_time(self.chance.choice((0.2, 1.0, 3.0, 10.0)))

    def once_each(self) -> bool:
        names = [one.name for one in self.harness.pve.existing() if not one.is_template]
        return len(set(names)) == len(names)

    async def come(self, orders: list[MachineOrder]) -> None:
        for _ in range(MOST_STEPS):
            await self.some_trouble()
            asking = self.chance.sample(self.rivals, self.chance.randint(1, len(self.rivals)))
            await asyncio.gather(*(one.create(self.chance.choice(orders)) for one in asking))
            assert self.once_each()
            if all(order.name in one.is_up for order in orders for one in self.rivals):
                return
        raise AssertionError("they do not come to run")

    async def go(self, orders: list[MachineOrder], settles_in: float) -> None:
        waited = dict.fromkeys((order.name for order in orders), 0.0)
        for _ in range(MOST_STEPS):
            await self.some_trouble()
            for order in orders:
                before = self.harness.pve.now
                is_gone = await self.chance.choice(self.rivals).delete(order)
                await self.harness.pass_time(2.0)
                waited[order.name] += (self.harness.pve.now - before) if is_gone else 0.0
            if all(one > settles_in for one in waited.values()):
                return
        raise AssertionError("they do not go")


@pytest.mark.parametrize("numbers", [None, VmidRange(start=500, end=503)], ids=["many numbers", "few numbers"])
@pytest.mark.parametrize("image", ["", "local:import/flatcar.qcow2"], ids=["clones", "imports"])
@pytest.mark.parametrize("seed", range(3))
async def test_rivals_make_one_machine_each_and_leave_nothing(seed: int, image: str, numbers: VmidRange | None) -> None:
    source: dict[str, Any] = {"template_id": None, "image": image} if image else {}
    async with running(vmid_range=numbers, **source) as harness:
        rivals = [Rival(harness, await harness.connect()) for _ in range(2)]
        story = Story(harness, Random(seed), rivals)
        orders = [harness.order(name) for name in NAMES]
        await story.come(orders)
        await story.go(orders, rivals[0].provider.settles_in)
        harness.faults.forget()
        await harness.pass_time(120)
        assert (await harness.machines(), await harness.leftovers()) == ([], [])
        for one in rivals:
            await one.provider.close()


@pytest.mark.parametrize("seed", range(6))
async def test_machines_that_are_given_up_half_way_leave_nothing(seed: int) -> None:
    async with running(vmid_range=VmidRange(start=500, end=503)) as harness:
        rivals = [Rival(harness, await harness.connect()) for _ in range(2)]
        story = Story(harness, Random(seed), rivals)
        orders = [harness.order(name) for name in NAMES]
        for _ in range(story.chance.randint(1, 8)):
            await story.some_trouble()
            await story.chance.choice(rivals).create(story.chance.choice(orders))
        await story.go(orders, rivals[0].provider.settles_in)
        harness.faults.forget()
        await harness.pass_time(120)
        assert (await harness.machines(), await harness.leftovers()) == ([], [])
        for one in rivals:
            await one.provider.close()
