"""What is left after anything may have gone wrong: exactly one machine, and then none."""

from __future__ import annotations

import pytest

from butler.errors import ProviderError

from ..driver import connected, driving, made, names
from ..faults import Fault
from ..harness import Harness
from . import rule

_MOST_CALLS = 200
"""A life of one machine that takes more calls than that is not looked at to its end."""


class BreakingRules:
    """Each call of a machine's whole life fails in turn."""

    @rule(72)
    async def test_every_call_may_fail_before_it_takes_effect(self, harness: Harness) -> None:
        await _all_calls(harness, Fault.BEFORE)

    @rule(73)
    async def test_every_answer_may_be_lost(self, harness: Harness) -> None:
        await _all_calls(harness, Fault.AFTER)

    @rule(74)
    async def test_every_call_may_stay_without_an_answer(self, harness: Harness) -> None:
        await _all_calls(harness, Fault.SILENT)

    @rule(75)
    @pytest.mark.parametrize("fault", [Fault.LIMITED, Fault.BROKEN])
    async def test_every_call_may_be_turned_away(self, harness: Harness, fault: Fault) -> None:
        await _all_calls(harness, fault)

    @rule(76)
    @pytest.mark.parametrize("fault", [Fault.BEFORE, Fault.AFTER])
    async def test_the_controller_may_die_between_any_two_calls(self, harness: Harness, fault: Fault) -> None:
        await _all_calls(harness, fault, crashes=True)

    @rule(77)
    @pytest.mark.parametrize("fault", [Fault.BEFORE, Fault.AFTER])
    async def test_a_half_made_machine_can_be_deleted(self, harness: Harness, fault: Fault) -> None:
        """The controller asks for a machine, loses every answer from some call on, and is told to delete it."""
        for failing in range(_MOST_CALLS):
            order = harness.order(f"half-{failing}")
            harness.faults.forget()
            async with connected(harness) as provider:
                harness.faults.strike(fault, after=failing)
                try:
                    await provider.create(order)
                except ProviderError as error:
                    assert error.retryable, error
            is_over = not harness.faults.struck
            harness.faults.forget()
            async with driving(harness) as driver:
                await driver.take_down(order)
            await harness.pass_time(harness.patience)
            assert (await names(harness), await harness.leftovers()) == ([], []), f"after {failing} calls"
            if is_over:
                return

    @rule(78)
    async def test_several_failures_in_a_row_are_survived(self, harness: Harness) -> None:
        order = harness.order("unlucky")
        for number, fault in enumerate((Fault.AFTER, Fault.BEFORE, Fault.AFTER, Fault.BROKEN, Fault.AFTER)):
            harness.faults.strike(fault, after=number)
        async with driving(harness) as driver:
            await driver.bring_up(order)
        assert await names(harness) == ["unlucky"]

    @rule(79)
    async def test_a_neighbours_trouble_is_its_own(self, harness: Harness) -> None:
        await made(harness, "calm")
        order = harness.order("troubled")
        harness.faults.strike(Fault.AFTER)
        async with driving(harness, crashes=True) as driver:
            await driver.bring_up(order)
            await driver.take_down(order)
        assert await names(harness) == ["calm"]


async def _all_calls(harness: Harness, fault: Fault, crashes: bool = False) -> None:
    for failing in range(_MOST_CALLS):
        order = harness.order(f"run-{failing}")
        harness.faults.forget()
        harness.faults.strike(fault, after=failing)
        async with driving(harness, crashes=crashes) as driver:
            await driver.bring_up(order)
            assert await names(harness) == [order.name], f"call {failing} {harness.faults.struck}"
            await driver.take_down(order)
        await harness.pass_time(harness.step)
        left = (await names(harness), await harness.leftovers())
        assert left == ([], []), f"call {failing} {harness.faults.struck}"
        if not harness.faults.struck:
            return
