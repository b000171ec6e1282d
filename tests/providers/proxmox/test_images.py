"""Images: the hosts fetch them, each for itself where a storage is not shared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from butler.errors import MachineRejected, ProviderError
from butler.providers.contract import Known
from butler.providers.images import ImageOrder, Images, Progress
from butler.providers.testing.driver import driving
from butler.providers.testing.rules.images import bring, remove
from tests.providers.proxmox.fake import Call
from tests.providers.proxmox.harness import ProxmoxHarness, running

ORDER = ImageOrder("talos-v1-9-0", "99999999-9999-4999-8999-999999999999", "https://factory.test/a.qcow2", "qcow2")
FILE = "butler-image-talos-v1-9-0.qcow2"


def fetches(harness: ProxmoxHarness) -> list[Call]:
    return [one for one in harness.pve.calls if one.route.endswith("/download-url")]


async def failing(harness: ProxmoxHarness, order: ImageOrder) -> ProviderError:
    provider = await harness.connect()
    images: Images = harness.images(provider)
    task = ""
    try:
        for _ in range(10):
            task = (await images.ensure(order, Known(task=task))).task
            await harness.pass_time(harness.step)
    except ProviderError as error:
        return error
    finally:
        await provider.close()
    raise AssertionError("it does not end")


async def test_every_host_fetches_for_itself_what_is_not_shared() -> None:
    async with running() as harness:
        image = await bring(harness, ORDER)
        assert image.reference == f"local:import/{FILE}"
        assert [one.at["node"] for one in fetches(harness)] == ["pve1", "pve2"]
        assert all(image.reference in harness.pve.storages["local"].on(node) for node in harness.pve.hosts)


async def test_what_is_shared_is_fetched_once() -> None:
    async with running() as harness:
        harness.pve.storages["local"].is_shared = True
        await bring(harness, ORDER)
        assert len(fetches(harness)) == 1


async def test_a_machine_is_made_from_an_image_that_was_brought() -> None:
    async with running() as harness:
        image = await bring(harness, ORDER)
        order = replace(harness.order("web"), image=image.reference)
        async with driving(harness) as driver:
            await driver.bring_up(order)
        assert harness.guest(order.token).conf["scsi0"].startswith("ceph:vm-")


async def test_the_checksum_goes_along() -> None:
    async with running() as harness:
        await bring(harness, replace(ORDER, sha256="ab" * 32))
        call = fetches(harness)[0]
    assert (call.given["checksum"], call.given["checksum-algorithm"]) == ("ab" * 32, "sha256")


async def test_what_is_not_what_it_should_be_is_refused() -> None:
    async with running() as harness:
        error = await failing(harness, replace(ORDER, sha256="bad"))
    assert isinstance(error, MachineRejected)
    assert "checksum mismatch" in str(error)


async def test_what_cannot_be_fetched_now_is_tried_again() -> None:
    async with running() as harness:
        error = await failing(harness, replace(ORDER, url="https://unreachable.test/a.qcow2"))
    assert error.retryable
    assert "could not resolve host" in str(error)


async def test_machines_do_not_boot_from_iso_images() -> None:
    async with running() as harness:
        error = await failing(harness, replace(ORDER, format="iso"))
    assert isinstance(error, MachineRejected)


async def test_a_storage_that_is_not_there_is_named() -> None:
    async with running(image_storage="nowhere") as harness:
        error = await failing(harness, ORDER)
    assert "there is no storage nowhere on pve1, pve2" in str(error)


async def test_a_fetch_of_which_nothing_was_heard_is_followed_and_not_repeated() -> None:
    async with running() as harness:
        provider = await harness.connect()
        images = harness.images(provider)
        first = await images.ensure(ORDER)
        await harness.pass_time(1)
        assert (await images.ensure(ORDER)).task == first.task
        await provider.close()
    assert len(fetches(harness)) == 1


async def test_a_fetch_is_ended_when_nobody_wants_the_image_any_more() -> None:
    async with running() as harness:
        provider = await harness.connect()
        images = harness.images(provider)
        assert (await images.ensure(ORDER)).progress is Progress.FETCHING
        await harness.pass_time(1)
        assert not await images.delete(ORDER.name)
        await provider.close()
        await remove(harness, ORDER)
        await harness.pass_time(harness.patience)
        assert FILE not in str(harness.pve.storages["local"].volumes)


async def test_files_of_others_are_left_alone() -> None:
    async with running() as harness:
        provider = await harness.connect()
        assert await harness.images(provider).delete("flatcar")
        await provider.close()
        assert "local:import/flatcar.qcow2" in harness.pve.storages["local"].on("pve1")


@pytest.mark.parametrize("privilege", ["Datastore.AllocateTemplate", "Sys.AccessNetwork"])
async def test_a_privilege_that_is_missing_is_named(privilege: str) -> None:
    async with running() as harness:
        del harness.pve.acl["/"][privilege]
        error = await failing(harness, ORDER)
    assert f", {privilege})" in str(error)
