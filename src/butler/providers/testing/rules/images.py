"""Images, where they can be brought."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ...contract import NOTHING_KNOWN, Known
from ...images import Image, ImageOrder, Progress
from ..driver import connected, until
from ..faults import Fault
from ..harness import Harness
from . import rule

_ORDER = ImageOrder(
    "talos-v1-9-0-amd64-37656798-butler",
    "99999999-9999-4999-8999-999999999999",
    "https://factory.example.com/image/37656798/v1.9.0/nocloud-amd64.qcow2",
    "qcow2",
)
_MOST_CALLS = 200


class ImagingRules:
    """One for each name, whoever asks, and none afterwards."""

    @rule(86)
    async def test_an_image_comes_to_be_ready(self, harness: Harness) -> None:
        first = await bring(harness, _ORDER)
        assert (first.name, bool(first.reference)) == (_ORDER.name, True)

    @rule(87)
    async def test_an_image_that_is_there_is_answered(self, harness: Harness) -> None:
        first = await bring(harness, _ORDER)
        again = await bring(harness, replace(_ORDER, token="aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"))
        assert again.reference == first.reference
        assert len(await _images(harness)) == 1

    @rule(88)
    async def test_nobody_waits_for_an_image(self, harness: Harness) -> None:
        async with connected(harness) as provider:
            image = await harness.images(provider).ensure(harness.brought(_ORDER))
        assert image.reference or image.task

    @rule(89)
    async def test_a_deleted_image_leaves_nothing(self, harness: Harness) -> None:
        await bring(harness, _ORDER)
        await remove(harness, _ORDER)
        assert await _images(harness) == []
        async with connected(harness) as provider:
            assert await harness.images(provider).delete("what-never-was")

    @rule(90)
    @pytest.mark.parametrize("fault", [Fault.BEFORE, Fault.AFTER])
    async def test_whatever_call_fails_there_is_one_image_and_then_none(self, harness: Harness, fault: Fault) -> None:
        for failing in range(_MOST_CALLS):
            order = replace(_ORDER, name=f"image-{failing}")
            harness.faults.forget()
            harness.faults.strike(fault, after=failing)
            await bring(harness, order)
            await remove(harness, order)
            is_over = not harness.faults.struck
            harness.faults.forget()
            assert await _images(harness) == [], f"call {failing}"
            if is_over:
                return


async def _images(harness: Harness) -> list[str]:
    async with connected(harness) as provider:
        return [one.name for one in await provider.inventory() if one.kind == "image"]


async def bring(harness: Harness, order: ImageOrder) -> Image:
    """Ask for an image until it is ready."""
    known = NOTHING_KNOWN
    async with connected(harness) as provider:
        images = harness.images(provider)

        async def ask() -> Image | None:
            nonlocal known
            found = await images.ensure(harness.brought(order), known)
            known = Known(found.reference, found.task)
            return found if found.progress is Progress.READY else None

        return await until(harness, ask, f"image {order.name} does not come to be ready")


async def remove(harness: Harness, order: ImageOrder) -> None:
    """Ask for its end until nothing is left."""
    async with connected(harness) as provider:
        images = harness.images(provider)

        async def ask() -> bool | None:
            return True if await images.delete(order.name) else None

        await until(harness, ask, f"image {order.name} does not go")
