"""Which machine is whose."""

from __future__ import annotations

import re
from dataclasses import replace

from butler.errors import MachineRejected, ProviderError

from ...contract import Known
from ..driver import connected, driving, made, names, seen_of
from ..harness import Harness
from . import rule


class IdentityRules:
    """A token is a machine, and nothing else is."""

    @rule(25)
    async def test_orders_with_one_token_are_one_machine(self, harness: Harness) -> None:
        async with connected(harness) as provider:
            order = harness.order("twice")
            first = await provider.create(order)
            second = await provider.create(order)
        assert first.id == second.id or not first.id
        assert await names(harness) == ["twice"]

    @rule(25)
    async def test_a_machine_that_runs_is_answered_again(self, harness: Harness) -> None:
        order = await made(harness, "again")
        async with connected(harness) as provider:
            answered = await provider.create(order)
            found = await provider.find(order.name, order.token)
        assert answered == found
        assert await names(harness) == ["again"]

    @rule(26)
    async def test_orders_with_different_tokens_are_different_machines(self, harness: Harness) -> None:
        async with connected(harness) as provider:
            one = await provider.create(harness.order("one"))
            other = await provider.create(harness.order("other"))
            assert {one.name, other.name} == {"one", "other"}
            assert one.id != other.id or not one.id
        assert await names(harness) == ["one", "other"]

    @rule(27)
    async def test_a_name_that_someone_else_has_is_never_taken_over(self, harness: Harness) -> None:
        await harness.add_stranger("shared")
        order = harness.order("shared")
        async with connected(harness) as provider:
            assert await provider.find(order.name, order.token) is None
            try:
                assert (await provider.create(order)).token == order.token
            except MachineRejected as error:
                assert "shared" in str(error)
            assert len([seen for seen in await harness.machines() if not seen.token]) == 1
        async with driving(harness) as driver:
            await driver.take_down(order)
        assert [(seen.name, seen.token) for seen in await harness.machines()] == [("shared", "")]

    @rule(27)
    async def test_a_name_of_another_request_is_never_taken_over(self, harness: Harness) -> None:
        first = await made(harness, "shared")
        second = replace(first, token="11111111-1111-4111-8111-111111111111")
        async with connected(harness) as provider:
            assert await provider.find(second.name, second.token) is None
            try:
                assert (await provider.create(second)).token == second.token
            except MachineRejected as error:
                assert "shared" in str(error)
        assert len(await seen_of(harness, first.token)) == 1

    @rule(28)
    async def test_another_token_finds_nothing(self, harness: Harness) -> None:
        order = await made(harness, "mine")
        async with connected(harness) as provider:
            assert await provider.find(order.name, "22222222-2222-4222-8222-222222222222") is None
            found = await provider.find(order.name, order.token)
        assert found is not None
        assert (found.name, found.token) == ("mine", order.token)

    @rule(29)
    async def test_another_token_deletes_nothing(self, harness: Harness) -> None:
        await made(harness, "mine")
        async with connected(harness) as provider:
            assert await provider.delete("mine", "22222222-2222-4222-8222-222222222222")
        await harness.pass_time(harness.patience)
        assert await names(harness) == ["mine"]

    @rule(30)
    async def test_what_was_known_before_is_not_needed(self, harness: Harness) -> None:
        order = await made(harness, "plain")
        async with connected(harness) as provider:
            found = await provider.find(order.name, order.token)
            assert found is not None
            assert await provider.find(order.name, order.token, Known(found.id)) == found

    @rule(30)
    async def test_what_was_known_before_may_be_wrong(self, harness: Harness) -> None:
        mine, yours = await made(harness, "mine"), await made(harness, "yours")
        async with connected(harness) as provider:
            other = await provider.find(yours.name, yours.token)
            assert other is not None
            wrong = Known(other.id, "a-task-that-never-was")
            try:
                found = await provider.find(mine.name, mine.token, wrong)
                assert found is None or found.name == "mine"
                await provider.delete(mine.name, mine.token, wrong)
            except ProviderError as error:
                assert not error.retryable or await names(harness) == ["mine", "yours"]
        async with driving(harness) as driver:
            await driver.take_down(mine)
        assert await names(harness) == ["yours"]

    @rule(31)
    async def test_a_provider_id_has_its_form_and_stays(self, harness: Harness) -> None:
        orders = [await made(harness, name) for name in ("one", "two")]
        async with connected(harness) as provider:
            ids = []
            for order in orders:
                found = await provider.find(order.name, order.token)
                assert found is not None
                assert re.fullmatch(harness.provider_id, found.id), found.id
                assert "://" in found.id
                ids.append(found.id)
            await harness.pass_time(harness.step)
            again = [await provider.find(order.name, order.token) for order in orders]
        assert ids == [found.id for found in again if found is not None]
        assert len(set(ids)) == 2
