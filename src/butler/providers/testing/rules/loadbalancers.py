"""Load balancers, where there are any."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ...contract import NOTHING_KNOWN, Known
from ...loadbalancer import Balancer, BalancerOrder, BalancerTarget
from ..driver import connected, made, until
from ..faults import Fault
from ..harness import Harness
from . import rule

_ORDER = BalancerOrder("mgmt", "55555555-5555-4555-8555-555555555555", 6443, 6443)
_MOST_CALLS = 200


class BalancingRules:
    """One for each request, with the machines behind it that the request lists, and none afterwards."""

    @rule(80)
    async def test_a_load_balancer_comes_to_have_an_endpoint(self, harness: Harness) -> None:
        first = await _made(harness, _ORDER)
        assert first.endpoint
        assert (first.name, first.token) == (_ORDER.name, _ORDER.token)
        again = await _made(harness, _ORDER)
        assert (again.id, again.endpoint) == (first.id, first.endpoint)

    @rule(81)
    async def test_targets_follow_the_order(self, harness: Harness) -> None:
        async with connected(harness) as provider:
            harness.load_balancers(provider)
        targets = await _running(harness)
        assert (await _made(harness, replace(_ORDER, targets=targets))).targets == len(targets)
        assert (await _made(harness, replace(_ORDER, targets=targets[:1]))).targets == 1
        assert (await _made(harness, _ORDER)).targets == 0

    @rule(82)
    async def test_a_deleted_load_balancer_leaves_nothing(self, harness: Harness) -> None:
        await _made(harness, _ORDER)
        await _removed(harness, _ORDER)
        async with connected(harness) as provider:
            assert [one for one in await provider.inventory() if one.kind == "loadbalancer"] == []
        assert await harness.leftovers() == []

    @rule(83)
    async def test_a_load_balancer_that_never_was_is_gone(self, harness: Harness) -> None:
        async with connected(harness) as provider:
            assert await harness.load_balancers(provider).delete("nobody", "66666666-6666-4666-8666-666666666666")

    @rule(84)
    @pytest.mark.parametrize("fault", [Fault.BEFORE, Fault.AFTER])
    async def test_whatever_call_fails_there_is_one_load_balancer_and_then_none(
        self, harness: Harness, fault: Fault
    ) -> None:
        for failing in range(_MOST_CALLS):
            order = replace(_ORDER, name=f"c-{failing}", token=f"77777777-7777-4777-8777-{failing:012}")
            harness.faults.forget()
            harness.faults.strike(fault, after=failing)
            await _made(harness, order)
            async with connected(harness) as provider:
                assets = await until(harness, provider.inventory, "there is no inventory")
            found = [one.token for one in assets if one.kind == "loadbalancer"]
            assert found == [order.token], f"call {failing} {harness.faults.struck}"
            await _removed(harness, order)
            assert await harness.leftovers() == [], f"call {failing} {harness.faults.struck}"
            if not harness.faults.struck:
                return

    @rule(85)
    async def test_a_load_balancer_of_another_is_never_touched(self, harness: Harness) -> None:
        await _made(harness, _ORDER)
        async with connected(harness) as provider:
            other = harness.load_balancers(provider)
            assert await other.delete(_ORDER.name, "88888888-8888-4888-8888-888888888888")
        await harness.pass_time(harness.patience)
        assert (await _made(harness, _ORDER)).endpoint


async def _running(harness: Harness) -> tuple[BalancerTarget, ...]:
    """Machines to put behind a load balancer."""
    found = []
    for name in ("cp-0", "cp-1"):
        order = await made(harness, name)
        async with connected(harness) as provider:
            machine = await provider.find(order.name, order.token)
        assert machine is not None
        found.append(BalancerTarget(machine.id, machine.name, machine.addresses[0]))
    return tuple(found)


async def _made(harness: Harness, order: BalancerOrder) -> Balancer:
    known = NOTHING_KNOWN
    async with connected(harness) as provider:
        balancers = harness.load_balancers(provider)

        async def ask() -> Balancer | None:
            nonlocal known
            found = await balancers.ensure(order, known)
            known = Known(found.id, found.task)
            return found if found.is_ready and found.endpoint else None

        return await until(harness, ask, f"load balancer {order.name} does not come to answer")


async def _removed(harness: Harness, order: BalancerOrder) -> None:
    async with connected(harness) as provider:
        balancers = harness.load_balancers(provider)

        async def ask() -> bool | None:
            return True if await balancers.delete(order.name, order.token) else None

        await until(harness, ask, f"load balancer {order.name} does not go")
