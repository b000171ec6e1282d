"""How a machine ends."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from butler.errors import ProviderUnavailable

from ...contract import Known, Power
from ..driver import connected, driving, made, names
from ..harness import Harness
from . import rule


class DeletingRules:
    """What was made goes, all of it, and nothing else."""

    @rule(47)
    async def test_a_deleted_machine_leaves_nothing(self, harness: Harness) -> None:
        order = await made(harness, "gone")
        async with driving(harness) as driver:
            await driver.take_down(order)
        async with connected(harness) as provider:
            assert await provider.find(order.name, order.token) is None
        assert (await names(harness), await harness.leftovers()) == ([], [])

    @rule(48)
    async def test_what_never_was_is_gone(self, harness: Harness) -> None:
        async with connected(harness) as provider:
            assert await provider.delete("nobody", "33333333-3333-4333-8333-333333333333")

    @rule(49)
    async def test_a_deletion_may_be_repeated(self, harness: Harness) -> None:
        order = await made(harness, "repeated")
        async with connected(harness) as provider:
            for _ in range(3):
                await provider.delete(order.name, order.token)
            found = await provider.find(order.name, order.token)
            assert found is None or found.power is not Power.RUNNING
        async with driving(harness) as driver:
            await driver.take_down(order)
            await driver.take_down(order)
        assert await names(harness) == []

    @rule(50)
    async def test_gone_is_said_when_it_is_so_and_not_before(self, harness: Harness) -> None:
        order = await made(harness, "slow")
        async with connected(harness) as provider:
            while not await provider.delete(order.name, order.token):
                assert await names(harness) == ["slow"] or await harness.leftovers()
                await harness.pass_time(harness.step)
        assert (await names(harness), await harness.leftovers()) == ([], [])

    @rule(51)
    async def test_a_machine_that_is_still_being_made_can_be_deleted(self, harness: Harness) -> None:
        order = harness.order("early")
        async with connected(harness) as provider:
            machine = await provider.create(order)
            # It may be too early for that, but then it is not too late.
            with suppress(ProviderUnavailable):
                await provider.delete(order.name, order.token, Known(machine.id, machine.task))
        async with driving(harness) as driver:
            await driver.take_down(order)
        await harness.pass_time(harness.patience)
        assert (await names(harness), await harness.leftovers()) == ([], [])

    @rule(52)
    async def test_a_machine_that_is_switched_off_can_be_deleted(self, harness: Harness) -> None:
        order = await made(harness, "off")
        await harness.stop(order.token)
        async with driving(harness) as driver:
            await driver.take_down(order)
        assert await names(harness) == []

    @rule(53)
    async def test_what_a_lost_machine_leaves_behind_goes_too(self, harness: Harness) -> None:
        order = await made(harness, "lost")
        await harness.lose(order.token)
        async with driving(harness) as driver:
            await driver.take_down(order)
        assert (await names(harness), await harness.leftovers()) == ([], [])

    @rule(54)
    async def test_neighbours_stay(self, harness: Harness) -> None:
        orders = [await made(harness, name) for name in ("web", "web-1", "web-10")]
        async with driving(harness) as driver:
            await driver.take_down(orders[1])
        assert await names(harness) == ["web", "web-10"]

    @rule(55)
    async def test_a_name_is_free_again(self, harness: Harness) -> None:
        order = await made(harness, "again")
        async with driving(harness) as driver:
            await driver.take_down(order)
        new = replace(order, token="44444444-4444-4444-8444-444444444444")
        async with driving(harness) as driver:
            machine = await driver.bring_up(new)
        assert machine.token == new.token
        assert [seen.token for seen in await harness.machines()] == [new.token]
