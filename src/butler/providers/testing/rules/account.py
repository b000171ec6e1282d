"""What a provider says of its account, and what it never says."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from butler.errors import CredentialsInvalid, ProviderError

from ..driver import connected, driving, made, names
from ..faults import Fault
from ..harness import Harness
from . import rule

_CANARY = "canary-in-user-data-71c4"


class TellingRules:
    """All that is there is told, and no secret ever is."""

    @rule(21)
    async def test_to_connect_is_to_ask_nobody(self, harness: Harness) -> None:
        harness.faults.forget()
        async with connected(harness) as provider:
            assert provider.name
            assert provider.settles_in >= 0
        assert harness.faults.calls == []

    @rule(23)
    async def test_a_connection_may_be_closed_twice_and_ends_no_other(self, harness: Harness) -> None:
        async with connected(harness) as kept:
            other = await harness.connect()
            await other.find("anybody", "33333333-3333-4333-8333-333333333333")
            await other.close()
            await other.close()
            assert await kept.find("anybody", "33333333-3333-4333-8333-333333333333") is None

    @rule(64)
    async def test_no_secret_is_ever_told(self, harness: Harness, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)
        order = replace(harness.order("secretive"), user_data=f"#cloud-config\npassword: {_CANARY}\n")
        told: list[str] = [repr(order)]
        for fault in Fault:
            async with connected(harness) as provider:
                told.append(repr(provider))
                harness.faults.strike(fault)
                try:
                    told.append(repr(await provider.create(order)))
                except ProviderError as error:
                    told += _chain(error)
        async with driving(harness) as driver:
            told.append(repr(await driver.bring_up(order)))
        async with connected(harness) as provider:
            told += [repr(await provider.check()), repr(await provider.inventory())]
            told += [repr(await provider.images()), repr(await provider.networks())]
        text = "\n".join((*told, caplog.text))
        for secret in (*harness.secrets, _CANARY):
            assert secret not in text

    @rule(65)
    async def test_no_secret_is_told_when_it_is_refused(
        self, harness: Harness, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        order = replace(harness.refused(harness.order("odd")), user_data=f"password: {_CANARY}")
        async with connected(harness) as provider:
            with pytest.raises(ProviderError) as raised:
                for _ in range(int(harness.patience / harness.step)):
                    await provider.create(order)
                    await harness.pass_time(harness.step)
        text = "\n".join((*_chain(raised.value), caplog.text))
        for secret in (*harness.secrets, _CANARY):
            assert secret not in text

    @rule(66)
    async def test_an_account_that_is_well_passes_every_check(self, harness: Harness) -> None:
        async with connected(harness) as provider:
            checks = await provider.check()
        assert checks
        assert [one for one in checks if not one.passed] == []
        assert all(one.name and one.message for one in checks)
        assert len({one.name for one in checks}) == len(checks)

    @rule(67)
    async def test_a_check_changes_nothing(self, harness: Harness) -> None:
        await made(harness, "there")
        before, left = await harness.machines(), await harness.leftovers()
        async with connected(harness) as provider:
            await provider.check()
            await provider.inventory()
            await provider.images()
            await provider.networks()
        assert (await harness.machines(), await harness.leftovers()) == (before, left)

    @rule(68)
    async def test_a_check_tells_of_wrong_credentials_and_what_to_do(self, harness: Harness) -> None:
        provider = await harness.connect_wrongly()
        try:
            checks = await provider.check()
        except CredentialsInvalid:
            return
        finally:
            await provider.close()
        refused = [one for one in checks if not one.passed]
        assert "credentials" in {one.name for one in refused}
        assert all(one.remedy for one in refused)

    @rule(69)
    async def test_the_inventory_has_every_machine_once(self, harness: Harness) -> None:
        orders = {name: await made(harness, name) for name in ("one", "two")}
        async with connected(harness) as provider:
            found = [one for one in await provider.inventory() if one.kind == "vm"]
            assert {one.name: one.token for one in found} == {name: order.token for name, order in orders.items()}
            assert len(found) == 2
            for one in found:
                machine = await provider.find(one.name, one.token)
                assert machine is not None
                assert one.id == machine.id

    @rule(70)
    async def test_the_inventory_has_nothing_of_others_and_nothing_that_is_gone(self, harness: Harness) -> None:
        order = await made(harness, "gone")
        async with driving(harness) as driver:
            await driver.take_down(order)
        async with connected(harness) as provider:
            assert await provider.inventory() == ()
        await harness.add_stranger("stranger")
        async with connected(harness) as provider:
            assert await provider.inventory() == ()

    @rule(71)
    async def test_the_inventory_does_not_end_with_the_first_page(self, harness: Harness) -> None:
        wanted = {f"page-{number}" for number in range(harness.page + 1)}
        for name in sorted(wanted):
            await made(harness, name)
        async with connected(harness) as provider:
            assert {one.name for one in await provider.inventory() if one.kind == "vm"} == wanted
        assert set(await names(harness)) == wanted


def _chain(error: BaseException) -> list[str]:
    """An error with everything it came from, as a traceback would show it."""
    told: list[str] = []
    current: BaseException | None = error
    while current is not None:
        told += [str(current), repr(current)]
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return told
