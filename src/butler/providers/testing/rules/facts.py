"""What is told of a machine."""

from __future__ import annotations

import re
from ipaddress import ip_address

from ...contract import Power
from ..driver import connected, made, names
from ..harness import Harness
from . import rule

_MAC = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")


class FactRules:
    """Nothing is told that is not so."""

    @rule(41)
    async def test_a_machine_has_no_address_before_it_runs(self, harness: Harness) -> None:
        async with connected(harness) as provider:
            machine = await provider.create(harness.order("young"))
            assert bool(machine.addresses) <= (machine.power is Power.RUNNING)

    @rule(42)
    async def test_addresses_are_usable_and_private_ones_come_first(self, harness: Harness) -> None:
        order = await made(harness, "reachable")
        async with connected(harness) as provider:
            found = await provider.find(order.name, order.token)
        assert found is not None
        assert found.power is Power.RUNNING
        assert found.addresses
        addresses = [ip_address(one) for one in found.addresses]
        assert not [one for one in addresses if one.is_loopback or one.is_link_local or one.is_unspecified]
        assert [one.is_private for one in addresses] == sorted((one.is_private for one in addresses), reverse=True)
        assert len(set(addresses)) == len(addresses)

    @rule(43)
    async def test_hardware_addresses_are_six_pairs_of_digits(self, harness: Harness) -> None:
        found: list[str] = []
        for name in ("one", "two"):
            order = await made(harness, name)
            async with connected(harness) as provider:
                machine = await provider.find(order.name, order.token)
            assert machine is not None
            found += machine.mac_addresses
        assert all(_MAC.fullmatch(one) for one in found)
        assert len(set(found)) == len(found)

    @rule(44)
    async def test_a_machine_that_is_switched_off_is_still_there(self, harness: Harness) -> None:
        order = await made(harness, "off")
        await harness.stop(order.token)
        async with connected(harness) as provider:
            found = await provider.find(order.name, order.token)
        assert found is not None
        assert found.power is Power.STOPPED

    @rule(45)
    async def test_a_machine_that_is_gone_is_not_found(self, harness: Harness) -> None:
        order = await made(harness, "lost")
        await harness.lose(order.token)
        async with connected(harness) as provider:
            assert await provider.find(order.name, order.token) is None

    @rule(46)
    async def test_looking_changes_nothing(self, harness: Harness) -> None:
        order = await made(harness, "looked-at")
        before, left = await harness.machines(), await harness.leftovers()
        async with connected(harness) as provider:
            first = await provider.find(order.name, order.token)
            assert await provider.find(order.name, order.token) == first
            assert await provider.find("nobody", "33333333-3333-4333-8333-333333333333") is None
        assert (await harness.machines(), await harness.leftovers()) == (before, left)
        assert await names(harness) == ["looked-at"]
