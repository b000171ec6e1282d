"""What a machine is made like."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from butler.errors import MachineRejected

from ...contract import ExtraDisk, MachineOrder, Power
from ..driver import connected, driving, made, names
from ..harness import Harness, Seen
from . import rule

_AWKWARD = "#cloud-config\n# ümläute, → arrows, \"quotes\", 'single', $HOME, %s, {{ braces }}\\n\ttab\r\nlast line"
_SENSIBLE = 16 * 1024
"""Bytes of userData that every infrastructure takes which says nothing else."""


class CreatingRules:
    """A machine is what was asked for."""

    @rule(32)
    async def test_nobody_waits_for_a_machine_to_boot(self, harness: Harness) -> None:
        async with connected(harness) as provider:
            machine = await provider.create(harness.order("slow"))
        assert machine.power in (Power.STARTING, Power.RUNNING)
        assert (machine.name, machine.token) == ("slow", harness.order("slow").token)
        assert machine.id or machine.task, "either it has an id, or a task by which it is followed"

    @rule(33)
    async def test_a_machine_has_the_size_that_was_asked_for(self, harness: Harness) -> None:
        seen = await _seen(harness, replace(harness.order("sized"), cpu=4, memory_mb=8192, disk_gb=40))
        for what, least in (("cpu", 4), ("memory_mb", 8192), ("disk_gb", 40)):
            value = getattr(seen, what)
            assert value is None or value >= least, what

    @rule(34)
    @pytest.mark.parametrize("user_data", ["", "x", _AWKWARD], ids=["none", "short", "awkward"])
    async def test_user_data_arrives_unchanged(self, harness: Harness, user_data: str) -> None:
        order = replace(harness.order("booted"), user_data=user_data)
        async with driving(harness) as driver:
            await driver.bring_up(order)
        assert await harness.was_booted_with(order.token, user_data)

    @rule(35)
    async def test_user_data_may_be_as_large_as_the_infrastructure_allows(self, harness: Harness) -> None:
        size = harness.user_data_limit or _SENSIBLE
        user_data = ("#cloud-config\n" + "# 0123456789abcdef\n" * (size // 18))[:size]
        order = replace(harness.order("large"), user_data=user_data)
        async with driving(harness) as driver:
            await driver.bring_up(order)
        assert await harness.was_booted_with(order.token, user_data)

    @rule(35)
    async def test_user_data_that_is_too_large_is_refused_and_not_cut(self, harness: Harness) -> None:
        if harness.user_data_limit is None:
            pytest.skip("there is no limit")
        order = replace(harness.order("huge"), user_data="x" * (harness.user_data_limit + 1))
        async with connected(harness) as provider:
            with pytest.raises(MachineRejected, match=r"(?i)user.?data"):
                await provider.create(order)
        assert await names(harness) == []

    @rule(36)
    async def test_a_machine_carries_the_mark_and_the_labels(self, harness: Harness) -> None:
        seen = await _seen(harness, harness.order("marked"))
        assert seen.token == harness.order("marked").token
        if seen.labels is not None:
            assert seen.labels.get("purpose") == "conformance"

    @rule(37)
    async def test_the_image_of_the_order_wins(self, harness: Harness) -> None:
        usual = await _seen(harness, harness.order("usual"))
        if usual.image is None:
            pytest.skip("images cannot be seen")
        seen = await _seen(harness, replace(harness.order("chosen"), image=usual.image))
        assert seen.image == usual.image

    @rule(38)
    async def test_further_disks_come_and_go_with_the_machine(self, harness: Harness) -> None:
        order = replace(harness.order("disks"), extra_disks=(ExtraDisk(30), ExtraDisk(50)))
        seen = await _seen(harness, order)
        if seen.extra_disks is None:
            pytest.skip("further disks cannot be seen")
        assert sorted(seen.extra_disks) == [30, 50]
        async with driving(harness) as driver:
            await driver.take_down(order)
        assert (await names(harness), await harness.leftovers()) == ([], [])

    @rule(39)
    async def test_orders_that_come_together_are_one_machine(self, harness: Harness) -> None:
        order = harness.order("together")
        async with connected(harness) as one, connected(harness) as other:
            await asyncio.gather(one.create(order), other.create(order), return_exceptions=True)
        async with driving(harness) as driver:
            await driver.bring_up(order)
        assert await names(harness) == ["together"]

    @rule(40)
    async def test_many_machines_come_at_the_same_time(self, harness: Harness) -> None:
        wanted = [f"many-{number}" for number in range(harness.many)]
        async with connected(harness) as provider:
            answers = await asyncio.gather(
                *(provider.create(harness.order(name)) for name in wanted), return_exceptions=True
            )
        for name, answer in zip(wanted, answers, strict=True):
            if isinstance(answer, BaseException):
                assert getattr(answer, "retryable", False), answer
            await made(harness, name)
        assert await names(harness) == sorted(wanted)


async def _seen(harness: Harness, order: MachineOrder) -> Seen:
    async with driving(harness) as driver:
        await driver.bring_up(order)
    (seen,) = [one for one in await harness.machines() if one.token == order.token]
    return seen
