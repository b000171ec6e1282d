"""What errors a provider raises."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from butler.errors import CapacityExhausted, CredentialsInvalid, MachineRejected, ProviderError, RateLimited

from ...contract import MachineOrder, Provider
from ..driver import connected, driving, made, names
from ..faults import RETRY_AFTER, Fault
from ..harness import Harness
from . import rule

Verb = Callable[[Provider, MachineOrder], Awaitable[object]]
VERBS: dict[str, Verb] = {
    "create": lambda provider, order: provider.create(order),
    "find": lambda provider, order: provider.find(order.name, order.token),
    "delete": lambda provider, order: provider.delete(order.name, order.token),
    "check": lambda provider, order: provider.check(),
    "inventory": lambda provider, order: provider.inventory(),
}


class FailingRules:
    """Every error says whether to try again, and about what it is."""

    @rule(56)
    @pytest.mark.parametrize("fault", Fault)
    @pytest.mark.parametrize("verb", VERBS)
    async def test_every_failure_of_a_call_is_translated(self, harness: Harness, verb: str, fault: Fault) -> None:
        order = harness.order("failing")
        async with connected(harness) as provider:
            harness.faults.forget()
            harness.faults.strike(fault)
            with pytest.raises(fault.error) as raised:
                await VERBS[verb](provider, order)
        assert harness.faults.struck
        assert raised.value.retryable

    @rule(57)
    async def test_wrong_credentials_are_nothing_to_try_again(self, harness: Harness) -> None:
        provider = await harness.connect_wrongly()
        try:
            for verb in ("create", "find", "delete"):
                with pytest.raises(CredentialsInvalid) as raised:
                    await VERBS[verb](provider, harness.order("denied"))
                assert not raised.value.retryable
        finally:
            await provider.close()
        assert await names(harness) == []

    @rule(58)
    async def test_what_is_refused_is_nothing_to_try_again(self, harness: Harness) -> None:
        order = harness.refused(harness.order("odd"))
        async with connected(harness) as provider:
            with pytest.raises(MachineRejected) as raised:
                for _ in range(int(harness.patience / harness.step)):
                    await provider.create(order)
                    await harness.pass_time(harness.step)
        assert not raised.value.retryable
        async with driving(harness) as driver:
            await driver.take_down(order)
        assert (await names(harness), await harness.leftovers()) == ([], [])

    @rule(59)
    async def test_no_room_is_waited_for(self, harness: Harness) -> None:
        await harness.fill()
        before = await names(harness)
        async with connected(harness) as provider:
            with pytest.raises(CapacityExhausted) as raised:
                for _ in range(int(harness.patience / harness.step)):
                    await provider.create(harness.order("one-too-many"))
                    await harness.pass_time(harness.step)
        assert raised.value.retryable
        assert await names(harness) == before

    @rule(60)
    async def test_how_long_to_wait_is_passed_on(self, harness: Harness) -> None:
        if not harness.says_how_long:
            pytest.skip("the infrastructure does not say how long")
        async with connected(harness) as provider:
            harness.faults.strike(Fault.LIMITED)
            with pytest.raises(RateLimited) as raised:
                await provider.find("anybody", "33333333-3333-4333-8333-333333333333")
        assert 0 < raised.value.retry_after <= RETRY_AFTER

    @rule(61)
    @pytest.mark.parametrize("fault", [Fault.BEFORE, Fault.LIMITED, Fault.BROKEN])
    async def test_a_provider_tries_nothing_again_by_itself(self, harness: Harness, fault: Fault) -> None:
        async with connected(harness) as provider:
            await provider.find("warm", "33333333-3333-4333-8333-333333333333")
            harness.faults.forget()
            harness.faults.strike(fault)
            with pytest.raises(ProviderError):
                await provider.find("anybody", "33333333-3333-4333-8333-333333333333")
        assert len(harness.faults.calls) == 1

    @rule(62)
    @pytest.mark.parametrize("fault", Fault)
    async def test_a_connection_outlives_an_error(self, harness: Harness, fault: Fault) -> None:
        order = await made(harness, "patient")
        async with connected(harness) as provider:
            harness.faults.strike(fault)
            with pytest.raises(ProviderError):
                await provider.find(order.name, order.token)
            assert await provider.find(order.name, order.token) is not None

    @rule(63)
    async def test_an_error_says_who_and_about_what(self, harness: Harness) -> None:
        async with connected(harness) as provider:
            harness.faults.strike(Fault.BROKEN)
            with pytest.raises(ProviderError) as raised:
                await provider.find("named", "33333333-3333-4333-8333-333333333333")
        assert raised.value.provider == provider.name
        assert str(raised.value).startswith(f"{provider.name}: ")
        assert "\n" not in str(raised.value)
