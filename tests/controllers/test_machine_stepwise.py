"""MachineRequests on an infrastructure that takes several calls for a machine, works in tasks and shows things late."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from butler.api.machine import MachinePhase, MachineRequest
from butler.providers.testing import Fault
from tests.controllers.requests_world import World
from tests.providers.test_stepwise_conformance import Cloud, Stepwise


class Timed(Cloud):
    """The same, by the clock of the world."""

    world: World

    def call(self, what: str, about: str, effect: Any, *arguments: Any) -> Any:
        self.look()
        return super().call(what, about, effect, *arguments)

    def look(self) -> None:
        self.now = self.world.surroundings.clock.monotonic()


@pytest.mark.parametrize("fault", [Fault.BEFORE, Fault.AFTER, Fault.LIMITED])
@pytest.mark.parametrize("is_crash", [False, True], ids=["error", "crash"])
@pytest.mark.parametrize("is_early", [False, True], ids=["deleted", "deleted early"])
async def test_whatever_call_fails_nothing_is_left_behind(
    world: World, fault: Fault, is_crash: bool, is_early: bool
) -> None:
    """Rules 2, 5, 9."""
    cloud = Timed()
    cloud.world = world
    world.instead = lambda: Stepwise(cloud)
    await world.config()
    await asyncio.sleep(5)
    for failing in range(100):
        name = f"cp-{failing}"
        cloud.faults.forget()
        cloud.faults.strike(fault, after=failing)
        await world.machine(name)
        await _pass(world, cloud, 2 if is_early else 60, is_crash)
        if not is_early:
            cloud.look()
            assert [vm.name for vm in cloud.existing()] == [name], cloud.faults.struck
            assert (await world.request(name)).status.phase is MachinePhase.RUNNING
        await world.remove(MachineRequest, name)
        await _pass(world, cloud, 60, is_crash)
        cloud.look()
        assert not await world.exists(MachineRequest, name)
        assert (cloud.existing(), cloud.disks) == ([], {}), cloud.faults.struck
        if not cloud.faults.struck:
            break
    assert failing >= 4


async def _pass(world: World, cloud: Timed, seconds: float, is_crash: bool) -> None:
    before = len(cloud.faults.struck)
    for _ in range(int(seconds)):
        await asyncio.sleep(1)
        if is_crash and len(cloud.faults.struck) > before:
            before = len(cloud.faults.struck)
            await world.crash()
            world.start()
