"""What is particular about machines on EC2."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest

from butler.errors import CapacityExhausted, CredentialsInvalid, MachineRejected, ProviderError, RateLimited
from butler.providers.aws.vm import MANAGED_BY, TOKEN
from butler.providers.contract import ExtraDisk, Known, Machine, MachineOrder, Power, Provider
from butler.providers.testing.driver import driving
from tests.providers.aws.answers import Denied
from tests.providers.aws.harness import AwsHarness
from tests.providers.aws.wire import Recorded

ARM = "ami-0a1b2c3d4e5f6071a"
NEWEST, OLDER = "ami-0a1b2c3d4e5f60719", "ami-0a1b2c3d4e5f60718"
SIDERO = "540036508848"


async def created(harness: AwsHarness, order: MachineOrder, **section: Any) -> Machine:
    """What `create` answers the first time."""
    provider = harness.connected(**section)
    try:
        return await provider.create(order)
    finally:
        await provider.close()


def run(harness: AwsHarness) -> dict[str, str]:
    """The last RunInstances that came."""
    return [one.form for one in harness.aws.requests if one.action == "RunInstances"][-1]


async def test_a_machine_is_asked_for_in_this_way(harness: AwsHarness) -> None:
    subnet = harness.aws.subnets()[0]
    order = replace(harness.order("web"), user_data="#cloud-config\n", extra_disks=(ExtraDisk(30), ExtraDisk(5, "gp2")))
    await created(harness, order, subnet_ids=(subnet,), public_ip=False, kms_key_id="alias/disks")
    form = run(harness)
    key = form.pop("ClientToken")
    assert key.startswith(f"{order.token}-")
    assert len(key) <= 64
    assert {name: value for name, value in form.items() if not name.startswith("TagSpecification")} == {
        "Action": "RunInstances",
        "Version": "2016-11-15",
        "ImageId": NEWEST,
        "InstanceType": "c5a.large",
        "MinCount": "1",
        "MaxCount": "1",
        "UserData": base64.b64encode(b"#cloud-config\n").decode(),
        "NetworkInterface.1.DeviceIndex": "0",
        "NetworkInterface.1.SubnetId": subnet,
        "NetworkInterface.1.DeleteOnTermination": "true",
        "NetworkInterface.1.AssociatePublicIpAddress": "false",
        **disk(1, "/dev/xvda", 20, "gp3"),
        **disk(2, "/dev/sdf", 30, "gp3"),
        **disk(3, "/dev/sdg", 5, "gp2"),
        "MetadataOptions.HttpTokens": "required",
        "MetadataOptions.HttpEndpoint": "enabled",
        "MetadataOptions.HttpPutResponseHopLimit": "2",
    }


def disk(number: int, name: str, size: int, kind: str) -> dict[str, str]:
    place = f"BlockDeviceMapping.{number}"
    return {
        f"{place}.DeviceName": name,
        f"{place}.Ebs.VolumeSize": str(size),
        f"{place}.Ebs.VolumeType": kind,
        f"{place}.Ebs.Encrypted": "true",
        f"{place}.Ebs.DeleteOnTermination": "true",
        f"{place}.Ebs.KmsKeyId": "alias/disks",
    }


async def test_the_machine_its_disks_and_its_network_card_carry_the_mark(harness: AwsHarness) -> None:
    order = replace(harness.order("marked"), extra_disks=(ExtraDisk(30),))
    await created(harness, order)
    held = harness.aws.instances.of_token(TOKEN, order.token)
    disks = [harness.aws.account.ec2.volumes[one.volume_id] for one in held.instance.block_device_mapping.values()]
    expected = {TOKEN: order.token, MANAGED_BY: "butler", "Name": "marked", "purpose": "conformance"}
    for thing in (held.instance, *disks, *held.instance.nics.values()):
        assert {tag["key"]: tag["value"] for tag in thing.get_tags()} == expected
    assert len(disks) == 2


async def test_no_disk_is_smaller_than_that_of_the_image(harness: AwsHarness) -> None:
    await created(harness, replace(harness.order("small"), disk_gb=10))
    assert run(harness)["BlockDeviceMapping.1.Ebs.VolumeSize"] == "15"


async def test_network_data_is_refused_and_not_ignored(harness: AwsHarness) -> None:
    with pytest.raises(MachineRejected, match="networkData"):
        await created(harness, replace(harness.order("static"), network_data="version: 2"))


async def test_more_disks_than_there_are_names_for_are_refused(harness: AwsHarness) -> None:
    with pytest.raises(MachineRejected, match="12 further disks"):
        await created(harness, replace(harness.order("hoard"), extra_disks=(ExtraDisk(1),) * 12))


@pytest.mark.parametrize(
    ("image", "found"),
    [
        (OLDER, OLDER),
        ("talos-v1.9.0-eu-central-1-amd64", OLDER),
        ("talos-v1.9.*-eu-central-1-amd64", NEWEST),
        ("ssm:/butler/talos", ARM),
        ("resolve:ssm:/butler/talos", ARM),
    ],
)
async def test_an_image_has_an_id_a_name_or_a_parameter(harness: AwsHarness, image: str, found: str) -> None:
    harness.aws.parameters["/butler/talos"] = ARM
    await created(harness, harness.order("booted"), image=image, image_owners=(SIDERO,))
    assert run(harness)["ImageId"] == found


async def test_images_of_others_are_not_found_by_name(harness: AwsHarness) -> None:
    with pytest.raises(MachineRejected, match=r"no AMI 'talos-v1\.9\.0-eu-central-1-amd64' of self"):
        await created(harness, harness.order("tricked"), image="talos-v1.9.0-eu-central-1-amd64")


@pytest.mark.parametrize(
    ("image", "said"),
    [
        ("", "there is no image; name one in spec.aws.image"),
        ("ami-00000000000000bad", "InvalidAMIID.NotFound"),
        ("ami-0a1b2c3d4e5f6071b", "has no root disk on EBS"),
        ("ssm:/nobody/wrote/it", "ParameterNotFound"),
    ],
)
async def test_an_image_that_is_none_is_refused(harness: AwsHarness, image: str, said: str) -> None:
    with pytest.raises(MachineRejected, match=said):
        await created(harness, harness.order("imageless"), image=image or None)


@pytest.mark.parametrize(
    ("cpu", "memory_mb", "found"),
    [
        (1, 1024, "c5a.large"),
        (2, 8192, "m6a.large"),
        (2, 8193, "r6a.large"),
        (4, 16384, "m6a.xlarge"),
        (5, 9000, "c6i.2xlarge"),
    ],
)
async def test_the_smallest_ordinary_type_is_chosen(harness: AwsHarness, cpu: int, memory_mb: int, found: str) -> None:
    """No type of an earlier generation, with a graphics card, burstable, or without Nitro."""
    await created(harness, replace(harness.order("sized"), cpu=cpu, memory_mb=memory_mb))
    assert run(harness)["InstanceType"] == found


async def test_the_type_runs_the_image(harness: AwsHarness) -> None:
    await created(harness, harness.order("arm"), image=ARM)
    assert run(harness)["InstanceType"] == "c6g.large"


async def test_a_type_that_is_named_is_taken(harness: AwsHarness) -> None:
    await created(harness, harness.order("named"), instance_type="t3.medium")
    assert run(harness)["InstanceType"] == "t3.medium"
    assert "DescribeInstanceTypes" not in harness.aws.actions()


async def test_what_no_type_has_is_refused(harness: AwsHarness) -> None:
    with pytest.raises(MachineRejected, match="no ordinary instance type of eu-central-1a has 64 cores"):
        await created(harness, replace(harness.order("giant"), cpu=64))


async def test_many_machines_look_things_up_once(harness: AwsHarness) -> None:
    provider = harness.connected()
    for number in range(5):
        await provider.create(harness.order(f"web-{number}"))
    await provider.close()
    looked = ("DescribeImages", "DescribeSubnets", "DescribeInstanceTypes", "DescribeInstanceTypeOfferings")
    assert [harness.aws.actions().count(one) for one in looked] == [1, 1, 1, 1]


async def test_without_room_in_one_subnet_the_next_is_asked(harness: AwsHarness) -> None:
    first, second, _ = harness.aws.subnets()
    harness.aws.instances.full = {first}
    order = harness.order("elsewhere")
    async with driving(harness) as driver:
        machine = await driver.bring_up(order)
    assert run(harness)["NetworkInterface.1.SubnetId"] == second
    assert machine.id.startswith("aws:///eu-central-1b/i-")


async def test_an_answer_that_is_missing_is_asked_for_in_the_same_subnet(harness: AwsHarness) -> None:
    """While the first subnet was full, a machine came in the second, unheard of. Now there is room again."""
    first = harness.aws.subnets()[0]
    harness.aws.instances.full = {first}
    provider, order = harness.connected(), harness.order("unsure")
    harness.aws.lose_answer_of("RunInstances", after=0)
    with pytest.raises(ProviderError):
        await provider.create(order)
    harness.aws.instances.full = set()
    await provider.create(order)
    await provider.close()
    assert len(await harness.machines()) == 1


async def test_a_second_machine_of_one_token_is_ended(harness: AwsHarness) -> None:
    """The same, after the controller died: nobody knows where to ask first."""
    first, order = harness.aws.subnets()[0], harness.order("twin")
    harness.aws.instances.full = {first}
    await created(harness, order)
    harness.aws.instances.full = set()
    await created(harness, order)
    assert len(await harness.machines()) == 2
    async with driving(harness) as driver:
        await driver.bring_up(order)
    await harness.pass_time(60)
    assert len(await harness.machines()) == 1


@pytest.mark.parametrize("code", ["VcpuLimitExceeded", "InstanceLimitExceeded", "VolumeLimitExceeded"])
async def test_a_quota_that_is_used_up_is_no_room(harness: AwsHarness, code: str) -> None:
    harness.aws.instances.quota_code = code
    with pytest.raises(CapacityExhausted, match=code):
        await created(harness, harness.order("one-too-many"))


async def test_a_type_that_no_zone_has_is_refused(harness: AwsHarness) -> None:
    harness.aws.instances.unsupported = "t3.medium"
    with pytest.raises(MachineRejected, match="Unsupported"):
        await created(harness, harness.order("rare"), instance_type="t3.medium")


@pytest.mark.parametrize(
    ("reason", "error"),
    [
        ("Server.InsufficientInstanceCapacity", CapacityExhausted),
        ("Client.VolumeLimitExceeded", CapacityExhausted),
        ("Client.InvalidSnapshot.NotFound", MachineRejected),
        ("Server.InternalError", ProviderError),
    ],
)
async def test_a_machine_that_ends_before_it_runs_says_why_and_is_made_again(
    harness: AwsHarness, reason: str, error: type[ProviderError]
) -> None:
    provider, order = harness.connected(), harness.order("doomed")
    harness.aws.instances.end = reason
    task = (await provider.create(order)).task
    await harness.pass_time(60)
    with pytest.raises(error, match=f"ended before it ran: {reason}") as raised:
        await provider.create(order, Known(task=task))
    assert type(raised.value) is error
    await provider.create(order)
    await provider.close()
    assert len(await harness.machines()) == 1


async def test_a_machine_that_does_not_show_everywhere_is_not_taken_for_lost(harness: AwsHarness) -> None:
    order = harness.order("flickering")
    async with driving(harness) as driver:
        machine = await driver.bring_up(order)
    harness.aws.hidden_from_lists = True
    provider = harness.connected()
    assert await provider.find(order.name, order.token) is None
    assert await provider.find(order.name, order.token, Known(machine.id)) == machine
    await provider.close()


async def test_no_id_is_told_before_it_shows(harness: AwsHarness) -> None:
    """Else a machine that is deleted at once would be taken for gone, and stay."""
    provider, order = harness.connected(), harness.order("early")
    first = await provider.create(order)
    assert (first.id, first.power) == ("", Power.STARTING)
    await harness.pass_time(harness.step)
    second = await provider.create(order)
    await provider.close()
    assert second.id.endswith(first.task)


async def test_a_protected_machine_is_not_deleted(harness: AwsHarness) -> None:
    order = harness.order("protected")
    async with driving(harness) as driver:
        await driver.bring_up(order)
    harness.aws.failing["TerminateInstances"] = Denied("OperationNotPermitted", "The instance may not be terminated.")
    provider = harness.connected()
    with pytest.raises(MachineRejected, match="may not be terminated"):
        await provider.delete(order.name, order.token)
    await provider.close()


@pytest.mark.parametrize(
    ("denied", "error"),
    [
        (Denied("AuthFailure", "", 401), CredentialsInvalid),
        (Denied("UnauthorizedOperation", "", 403), CredentialsInvalid),
        (Denied("RequestExpired", "", 400), ProviderError),
        (Denied("ExpiredToken", "", 400), CredentialsInvalid),
        (Denied("RequestLimitExceeded", "", 503), RateLimited),
        (Denied("Throttling", "", 400), RateLimited),
        (Denied("InternalError", "", 500), ProviderError),
        (Denied("SomethingNew", "", 503), ProviderError),
        (Denied("InvalidParameterValue", "", 400), MachineRejected),
        (Denied("SomethingElse", "", 400), MachineRejected),
        (Denied("IdempotentParameterMismatch", "", 400), ProviderError),
        (Denied("DuplicateListener", "", 400), ProviderError),
        (Denied("", "", 502), ProviderError),
    ],
)
async def test_an_error_is_known_by_its_code(harness: AwsHarness, denied: Denied, error: type[ProviderError]) -> None:
    harness.aws.failing["RunInstances"] = denied
    with pytest.raises(error) as raised:
        await created(harness, harness.order("failing"))
    assert denied.code in str(raised.value)
    assert raised.value.retryable is not (error in (CredentialsInvalid, MachineRejected))


async def test_a_wait_that_is_asked_for_is_passed_on(harness: AwsHarness) -> None:
    harness.aws.failing["DescribeInstances"] = Denied("Throttling", "slower", 503, {"Retry-After": "7"})
    with pytest.raises(RateLimited) as raised:
        await created(harness, harness.order("slower"))
    assert raised.value.retry_after == 7.0


async def test_a_page_of_a_proxy_instead_of_an_answer_is_an_outage(harness: AwsHarness) -> None:
    harness.aws.broken_page = "<html><body>Bad Gateway</body></html>"
    with pytest.raises(ProviderError) as raised:
        await created(harness, harness.order("behind"))
    assert raised.value.retryable


def calls_of(requests: list[Recorded]) -> list[str]:
    return [one.action for one in requests]


async def test_a_machine_takes_this_many_calls(harness: AwsHarness) -> None:
    provider: Provider = harness.connected()
    await provider.create(harness.order("first"))
    harness.aws.requests.clear()
    order = harness.order("second")
    async with driving(harness) as driver:
        driver._provider = provider
        await driver.bring_up(order)
        coming = calls_of(harness.aws.requests)
        harness.aws.requests.clear()
        await driver.take_down(order)
    assert coming == ["DescribeInstances", "RunInstances", "DescribeInstances", "DescribeInstances"]
    assert calls_of(harness.aws.requests) == [
        "DescribeInstances", "TerminateInstances", "DescribeInstances", "DescribeVolumes", "DescribeNetworkInterfaces",
    ]  # fmt: skip
