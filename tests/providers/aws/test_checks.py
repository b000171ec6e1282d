"""What `check` finds out about an account, failure by failure."""

from __future__ import annotations

from typing import Any

import pytest

from butler.providers.contract import Check
from butler.providers.testing.driver import made
from tests.providers.aws.answers import Denied
from tests.providers.aws.configs import AMI, CREDENTIALS
from tests.providers.aws.harness import AwsHarness


async def checked(harness: AwsHarness, **section: Any) -> dict[str, Check]:
    provider = harness.connected(**section)
    try:
        return {one.name: one for one in await provider.check()}
    finally:
        await provider.close()


def failed(checks: dict[str, Check]) -> dict[str, str]:
    assert all(one.remedy for one in checks.values() if not one.passed)
    return {one.name: one.message for one in checks.values() if not one.passed}


async def test_all_is_well(harness: AwsHarness) -> None:
    checks = await checked(harness, subnet_ids=tuple(harness.aws.subnets()))
    assert failed(checks) == {}
    names = ("reachable", "version", "credentials", "network", "capacity", "image", "storage", "permissions")
    assert tuple(checks) == names
    assert checks["version"].value == "2016-11-15"
    assert AMI in checks["image"].message


async def test_a_wrong_key_is_told(harness: AwsHarness) -> None:
    provider = harness.connected({**CREDENTIALS, "accessKeyID": "AKIAWRONG"})
    checks = {one.name: one for one in await provider.check()}
    await provider.close()
    assert "InvalidClientTokenId" in failed(checks)["credentials"]


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"subnet_ids": ("subnet-00000000",)}, "InvalidSubnetID.NotFound"),
        ({"vpc_id": "vpc-00000000"}, "VPC vpc-00000000 has no subnet"),
        ({"security_group_ids": ("sg-00000000",)}, "InvalidGroup.NotFound"),
    ],
)
async def test_a_network_that_is_none_is_told(harness: AwsHarness, section: dict[str, Any], said: str) -> None:
    assert said in failed(await checked(harness, **section))["network"]


async def test_a_subnet_of_another_vpc_is_told(harness: AwsHarness) -> None:
    ec2 = harness.aws.account.ec2
    other = ec2.create_subnet(ec2.create_vpc("10.9.0.0/16").id, "10.9.1.0/24", availability_zone="eu-central-1a")
    subnets = (harness.aws.subnets()[0], other.id)
    assert failed(await checked(harness, subnet_ids=subnets))["network"].startswith(f"Subnet {other.id} is not in VPC")


async def test_a_security_group_of_another_vpc_is_told(harness: AwsHarness) -> None:
    ec2 = harness.aws.account.ec2
    group = ec2.create_security_group("nodes", "nodes", vpc_id=ec2.create_vpc("10.9.0.0/16").id)
    told = failed(await checked(harness, security_group_ids=(group.id,)))
    assert f"security group {group.id} is in" in told["network"]


async def test_a_subnet_without_free_addresses_is_told(harness: AwsHarness) -> None:
    (subnet,) = [one for zone in harness.aws.account.ec2.subnets.values() for one in zone.values()][:1]
    subnet._available_ip_addresses = 0
    told = failed(await checked(harness, subnet_ids=(subnet.id,)))
    assert told == {"capacity": "0 addresses are free in 1 subnets."}


@pytest.mark.parametrize(
    ("image", "said"),
    [("ami-00000000000000bad", "InvalidAMIID.NotFound"), ("ami-0a1b2c3d4e5f6071b", "no root disk on EBS")],
)
async def test_an_image_that_is_none_is_told(harness: AwsHarness, image: str, said: str) -> None:
    assert said in failed(await checked(harness, image=image))["image"]


async def test_no_image_is_fine_if_every_request_names_one(harness: AwsHarness) -> None:
    assert failed(await checked(harness, image=None)) == {}


@pytest.mark.parametrize(("action", "said"), [("RunInstances", "run"), ("TerminateInstances", "terminate")])
async def test_what_may_not_be_done_is_told(harness: AwsHarness, action: str, said: str) -> None:
    await made(harness, "there")
    harness.aws.denied = {action}
    assert failed(await checked(harness)) == {"permissions": f"Instances may not be asked to {said}."}


async def test_whether_machines_may_be_ended_is_asked_of_one_that_is_there(harness: AwsHarness) -> None:
    """Where only those with our tag may be ended, nobody may end one that is not there."""
    harness.aws.denied = {"TerminateInstances"}
    assert failed(await checked(harness)) == {}


async def test_looking_that_is_not_allowed_is_told(harness: AwsHarness) -> None:
    harness.aws.denied = {"DescribeSubnets", "DescribeImages"}
    assert failed(await checked(harness)).keys() == {"network", "image"}


async def test_a_machine_that_would_be_refused_is_told(harness: AwsHarness) -> None:
    told = failed(await checked(harness, instance_type="m99.gigantic"))
    assert "Invalid value 'm99.gigantic'" in told["permissions"]


async def test_nothing_is_made(harness: AwsHarness) -> None:
    await checked(harness)
    assert await harness.machines() == []
    assert {one.form["DryRun"] for one in harness.aws.requests if one.action == "RunInstances"} == {"true"}


async def test_an_outage_in_between_is_no_verdict(harness: AwsHarness) -> None:
    harness.aws.failing["DescribeImages"] = Denied("InternalError", "", 500)
    with pytest.raises(Exception, match="InternalError"):
        await checked(harness)
