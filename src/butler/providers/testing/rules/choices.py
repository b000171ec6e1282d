"""What a ProviderConfig may name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from butler.errors import CredentialsInvalid

from ...contract import Choice, Provider
from ...images import Image, ImageOrder
from ..driver import connected
from ..faults import Fault
from ..harness import Harness
from . import rule
from .images import bring, remove

Look = Callable[[Provider], Awaitable[tuple[Choice, ...]]]
Add = Callable[[Harness, str], Awaitable[str]]
LOOKS: dict[str, Look] = {
    "images": lambda provider: provider.images(),
    "networks": lambda provider: provider.networks(),
}
_ADDS: dict[str, Add] = {
    "images": lambda harness, name: harness.add_image(name),
    "networks": lambda harness, name: harness.add_network(name),
}
_BROUGHT = ImageOrder(
    "talos-v1-9-1-amd64-37656798-butler",
    "99999999-9999-4999-8999-999999999999",
    "https://factory.example.com/image/37656798/v1.9.1/nocloud-amd64.qcow2",
    "qcow2",
)


class ChoosingRules:
    """Who writes a ProviderConfig sees what there is to choose from."""

    @rule(91)
    @pytest.mark.parametrize("what", LOOKS)
    async def test_everything_that_can_be_chosen_is_listed_once(self, harness: Harness, what: str) -> None:
        added = {await _ADDS[what](harness, name) for name in ("choice-one", "choice-two")}
        listed = await _listed(harness, what)
        ids = [one.id for one in listed]
        assert len(set(ids)) == len(ids)
        assert added <= set(ids)
        assert all(one.id and one.name for one in listed)
        assert not any("\n" in one.id + one.name + one.detail for one in listed)

    @rule(92)
    @pytest.mark.parametrize("what", LOOKS)
    async def test_choices_are_listed_in_the_same_order_every_time(self, harness: Harness, what: str) -> None:
        first = await _listed(harness, what)
        assert await _listed(harness, what) == first
        assert list(first) == sorted(first, key=lambda one: (one.name, one.id))

    @rule(93)
    @pytest.mark.parametrize("what", LOOKS)
    async def test_choices_do_not_end_with_the_first_page(self, harness: Harness, what: str) -> None:
        added = {await _ADDS[what](harness, f"choice-{number}") for number in range(harness.page + 1)}
        assert added <= {one.id for one in await _listed(harness, what)}

    @rule(94)
    @pytest.mark.parametrize("fault", Fault)
    @pytest.mark.parametrize("what", LOOKS)
    async def test_a_list_that_fails_is_an_error_and_no_shorter_list(
        self, harness: Harness, what: str, fault: Fault
    ) -> None:
        if not await _asks(harness, what):
            pytest.skip(f"there are no {what} to ask for")
        async with connected(harness) as provider:
            harness.faults.forget()
            harness.faults.strike(fault)
            with pytest.raises(fault.error):
                await LOOKS[what](provider)

    @rule(94)
    @pytest.mark.parametrize("what", LOOKS)
    async def test_wrong_credentials_see_no_choices(self, harness: Harness, what: str) -> None:
        if not await _asks(harness, what):
            pytest.skip(f"there are no {what} to ask for")
        provider = await harness.connect_wrongly()
        try:
            with pytest.raises(CredentialsInvalid):
                await LOOKS[what](provider)
        finally:
            await provider.close()

    @rule(95)
    async def test_an_image_that_was_brought_can_be_chosen(self, harness: Harness) -> None:
        image = await bring(harness, _BROUGHT)
        (listed,) = [one for one in await _listed(harness, "images") if _is(one, image)]
        await remove(harness, _BROUGHT)
        assert listed.id not in [one.id for one in await _listed(harness, "images")]


def _is(choice: Choice, image: Image) -> bool:
    return choice.id == image.reference or choice.name == image.name


async def _listed(harness: Harness, what: str) -> tuple[Choice, ...]:
    async with connected(harness) as provider:
        return await LOOKS[what](provider)


async def _asks(harness: Harness, what: str) -> bool:
    """Whether the infrastructure is asked at all."""
    harness.faults.forget()
    await _listed(harness, what)
    return bool(harness.faults.calls)
