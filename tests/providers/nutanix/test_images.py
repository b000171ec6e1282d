"""Images that Prism Central fetches, in both versions of its API."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from butler.errors import MachineRejected
from butler.providers.contract import Known, Provider
from butler.providers.images import ImageOrder, Images, Progress
from butler.providers.testing.web import serving
from tests.providers.nutanix.fake import FETCHING, IMAGE, Prism
from tests.providers.nutanix.fake_web import app
from tests.providers.nutanix.harness import NutanixHarness

ORDER = ImageOrder(
    "talos-v1-13-0-amd64-37656798-butler", "99999999-9999-4999-8999-999999999999",
    "https://factory.example.com/image/37656798/v1.13.0/openstack-amd64.qcow2", "qcow2",
)  # fmt: skip


@pytest.fixture(params=["v3", "v4"])
async def harness(request: pytest.FixtureRequest) -> AsyncIterator[NutanixHarness]:
    prism = Prism(offers_v4=request.param == "v4")
    async with serving(app(prism)) as url:
        yield NutanixHarness(prism, url)


@pytest.fixture
async def provider(harness: NutanixHarness) -> AsyncIterator[Provider]:
    made = await harness.connect()
    yield made
    await made.close()


@pytest.fixture
def images(harness: NutanixHarness, provider: Provider) -> Images:
    return harness.images(provider)


async def test_an_image_is_followed_by_its_task(harness: NutanixHarness, images: Images) -> None:
    begun = await images.ensure(ORDER)
    again = await images.ensure(ORDER, Known(begun.reference, begun.task))
    assert (begun.progress, again.progress, again.task) == (Progress.FETCHING, Progress.FETCHING, begun.task)
    await harness.pass_time(FETCHING)
    done = await images.ensure(ORDER, Known(begun.reference, begun.task))
    assert done.progress is Progress.READY
    assert done.reference in harness.prism.images


@pytest.mark.parametrize(("given", "kind"), [("qcow2", "DISK_IMAGE"), ("raw", "DISK_IMAGE"), ("iso", "ISO_IMAGE")])
async def test_the_format_says_what_kind_of_image_it_is(
    harness: NutanixHarness, images: Images, given: str, kind: str
) -> None:
    await images.ensure(replace(ORDER, format=given))
    assert [one.type for one in harness.prism.images.values() if one.name == ORDER.name] == [kind]


async def test_an_image_that_cannot_be_fetched_is_refused_and_leaves_nothing(
    harness: NutanixHarness, images: Images
) -> None:
    order = replace(ORDER, url="https://factory.example.com/missing/image.qcow2")
    begun = await images.ensure(order)
    await harness.pass_time(FETCHING)
    with pytest.raises(MachineRejected, match="404 when fetching"):
        await images.ensure(order, Known(begun.reference, begun.task))
    await harness.pass_time(FETCHING)
    harness.prism.settle()
    assert [one for one in harness.prism.images.values() if one.name == order.name and not one.failure] == []


async def test_an_image_of_someone_else_is_used_and_never_removed(harness: NutanixHarness, images: Images) -> None:
    found = await images.ensure(replace(ORDER, name="talos-1.9"))
    assert (found.reference, found.progress) == (IMAGE, Progress.READY)
    assert await images.delete("talos-1.9")
    await harness.pass_time(60)
    harness.prism.settle()
    assert IMAGE in harness.prism.images


async def test_an_image_that_is_being_fetched_is_not_gone(harness: NutanixHarness, images: Images) -> None:
    begun = await images.ensure(ORDER)
    assert not await images.delete(ORDER.name, Known(begun.reference, begun.task))


async def test_an_image_can_come_again_after_it_went(harness: NutanixHarness, images: Images) -> None:
    for _ in range(2):
        await images.ensure(ORDER)
        await harness.pass_time(FETCHING)
        assert (await images.ensure(ORDER)).progress is Progress.READY
        await harness.pass_time(100)
        assert not await images.delete(ORDER.name)
        await harness.pass_time(100)
        assert await images.delete(ORDER.name)
