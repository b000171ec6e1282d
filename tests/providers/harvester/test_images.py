"""What is particular about images on Harvester."""

from __future__ import annotations

from dataclasses import replace

import pytest

from butler.errors import ProviderError
from butler.providers.harvester import images, kinds
from butler.providers.images import ImageOrder, Progress
from butler.providers.testing.driver import connected
from tests.providers.harvester.harness import HarvesterHarness

ORDER = ImageOrder(
    "talos-v1-9-0", "99999999-9999-4999-8999-999999999999", "https://factory.example.com/nocloud-amd64.qcow2", "qcow2"
)


async def test_an_image_is_downloaded_by_harvester_itself(harness: HarvesterHarness) -> None:
    seen = []
    async with connected(harness) as provider:
        for _ in range(4):
            seen.append((await images.connect(provider).ensure(replace(ORDER, sha256="ab" * 32))).progress)
            await harness.pass_time(10)
    assert seen == [Progress.WAITING, Progress.WAITING, Progress.FETCHING, Progress.READY]
    image = await harness.fake.client.get(kinds.IMAGE, ORDER.name, "default")
    assert image["spec"]["sourceType"] == "download"
    assert image["spec"]["url"] == ORDER.url
    assert image["metadata"]["annotations"] == {"butler.butlerlabs.dev/sha256": "ab" * 32}


async def test_a_download_that_failed_is_told_and_can_be_asked_for_again(harness: HarvesterHarness) -> None:
    harness.fake.controllers.failing_imports = True
    async with connected(harness) as provider:
        await images.connect(provider).ensure(ORDER)
        await harness.pass_time(10)
        with pytest.raises(ProviderError, match="the image could not be imported: the server answered 404"):
            await images.connect(provider).ensure(ORDER)
    assert ORDER.name not in [one["metadata"]["name"] for one in await harness.all(kinds.IMAGE)]


async def test_an_image_of_others_is_used_and_never_deleted(harness: HarvesterHarness) -> None:
    await harness.fake.add_image(ORDER.name)
    async with connected(harness) as provider:
        assert (await images.connect(provider).ensure(ORDER)).progress is Progress.READY
        assert await images.connect(provider).delete(ORDER.name)
    assert ORDER.name in [one["metadata"]["name"] for one in await harness.all(kinds.IMAGE)]
