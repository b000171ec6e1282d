"""What is particular about images on AWS."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from butler.errors import MachineRejected, ProviderError
from butler.providers.aws import images
from butler.providers.contract import Known
from butler.providers.images import Image, ImageOrder, Progress
from butler.providers.testing.rules.images import bring, remove
from tests.providers.aws.configs import BUCKET
from tests.providers.aws.harness import AwsHarness

KEY = "image/37656798/v1.9.0/nocloud-amd64.raw"
URL = f"https://factory.example.com/{KEY}"
ORDER = ImageOrder("talos-v1-9-0", "99999999-9999-4999-8999-999999999999", URL, "raw")


async def ensured(harness: AwsHarness, order: ImageOrder, known: str = "", **section: Any) -> Image:
    provider = harness.connected(**section)
    try:
        return await images.connect(provider).ensure(order, Known(task=known))
    finally:
        await provider.close()


def imported(harness: AwsHarness) -> tuple[str, str]:
    form = [one.form for one in harness.aws.requests if one.action == "ImportSnapshot"][-1]
    return form["DiskContainer.UserBucket.S3Bucket"], form["DiskContainer.UserBucket.S3Key"]


@pytest.mark.parametrize(
    ("url", "bucket", "found"),
    [
        (URL, BUCKET, (BUCKET, KEY)),
        (f"s3://mirror/{KEY}", None, ("mirror", KEY)),
        (f"https://mirror.s3.eu-central-1.amazonaws.com/{KEY}", None, ("mirror", KEY)),
        (f"https://mirror.s3.amazonaws.com/{KEY}", None, ("mirror", KEY)),
    ],
)
async def test_a_disk_comes_from_s3(harness: AwsHarness, url: str, bucket: str | None, found: tuple[str, str]) -> None:
    harness.aws.imports.bucket["mirror"] = {KEY}
    await ensured(harness, replace(ORDER, url=url), image_bucket=bucket)
    assert imported(harness) == found


@pytest.mark.parametrize(
    ("order", "said"),
    [
        (ORDER, f"only from S3; name a bucket in spec.aws.imageBucket that has {KEY}"),
        (replace(ORDER, format="qcow2"), "EC2 imports disks that are raw, and not qcow2; set format: raw"),
        (replace(ORDER, arch="riscv64"), "no machines of architecture 'riscv64'"),
    ],
)
async def test_what_cannot_be_imported_is_refused(harness: AwsHarness, order: ImageOrder, said: str) -> None:
    with pytest.raises(MachineRejected, match=said):
        await ensured(harness, order, image_bucket=None)


@pytest.mark.parametrize("section", [{"image_import_role": "nobody"}, {"image_bucket": "empty"}])
async def test_what_is_missing_on_aws_is_said(harness: AwsHarness, section: dict[str, Any]) -> None:
    with pytest.raises(MachineRejected, match=r"InvalidParameter for ec2\.import_snapshot"):
        await ensured(harness, ORDER, **section)


async def test_an_image_is_one_that_machines_boot_from(harness: AwsHarness) -> None:
    image = await bring(harness, replace(ORDER, arch="arm64"))
    ami = harness.aws.account.ec2.amis[image.reference]
    assert (ami.name, ami.architecture, ami.root_device_type) == ("talos-v1-9-0", "arm64", "ebs")
    provider = harness.connected()
    await provider.create(replace(harness.order("booted"), image=image.reference))
    await provider.close()
    assert [one.image for one in await harness.machines()] == [image.reference]


async def test_an_import_that_fails_says_why_and_is_tried_again(harness: AwsHarness) -> None:
    harness.aws.imports.failure = "ClientError: Disk validation failed"
    task = (await ensured(harness, ORDER)).task
    await harness.pass_time(60)
    with pytest.raises(ProviderError, match="Disk validation failed"):
        await ensured(harness, ORDER, known=task)
    again = await ensured(harness, ORDER)
    assert again.task != task
    assert (await bring(harness, ORDER)).progress is Progress.READY


async def test_an_image_that_was_removed_can_be_brought_again(harness: AwsHarness) -> None:
    first = await bring(harness, ORDER)
    await remove(harness, ORDER)
    second = await bring(harness, ORDER)
    assert first.reference != second.reference


async def test_the_image_of_someone_else_stays(harness: AwsHarness) -> None:
    theirs = await harness.add_image("talos-v1-9-0")
    assert (await ensured(harness, ORDER)).reference == theirs
    await remove(harness, ORDER)
    assert theirs in harness.aws.account.ec2.amis


async def test_an_import_that_is_not_wanted_any_more_leaves_nothing(harness: AwsHarness) -> None:
    await ensured(harness, ORDER)
    await remove(harness, ORDER)
    await harness.pass_time(60)
    assert [one.status for one in harness.aws.imports.tasks.values()] == ["deleted"]
    assert await harness.leftovers() == []


async def test_a_snapshot_of_which_no_image_was_made_goes_too(harness: AwsHarness) -> None:
    await ensured(harness, ORDER)
    await harness.pass_time(60)
    await ensured(harness, replace(ORDER, name="other"))
    (task, _) = harness.aws.imports.tasks.values()
    assert task.snapshot in harness.aws.account.ec2.snapshots
    await remove(harness, ORDER)
    assert task.snapshot not in harness.aws.account.ec2.snapshots
