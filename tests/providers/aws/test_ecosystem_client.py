"""The client that everybody uses for AWS drives the same fake."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from typing import Any, TypeVar

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from butler.providers.aws.vm import TOKEN
from butler.providers.testing.driver import made
from tests.providers.aws.configs import ACCESS_KEY, AMI, REGION, SECRET_KEY
from tests.providers.aws.harness import AwsHarness

Answer = TypeVar("Answer")


def client(harness: AwsHarness, service: str) -> Any:
    return boto3.client(
        service,
        region_name=REGION,
        endpoint_url=harness.url,
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=SECRET_KEY,
        config=Config(retries={"total_max_attempts": 1}),
    )


async def said(call: Callable[..., Answer], **parameters: Any) -> Answer:
    """It waits for answers, and so does not run where the fake does."""
    return await asyncio.to_thread(lambda: call(**parameters))


def states(answer: Any) -> list[str]:
    return [one["State"]["Name"] for reservation in answer["Reservations"] for one in reservation["Instances"]]


async def test_boto3_makes_stops_starts_and_ends_an_instance(harness: AwsHarness) -> None:
    ec2 = client(harness, "ec2")
    wanted = {
        "ImageId": AMI,
        "InstanceType": "m6a.large",
        "MinCount": 1,
        "MaxCount": 1,
        "UserData": "#cloud-config\n",
        "ClientToken": "once",
        "NetworkInterfaces": [{"DeviceIndex": 0, "SubnetId": harness.aws.subnets()[0], "DeleteOnTermination": True}],
        "TagSpecifications": [{"ResourceType": "instance", "Tags": [{"Key": "Name", "Value": "theirs"}]}],
    }
    first = await said(ec2.run_instances, **wanted)
    again = await said(ec2.run_instances, **wanted)
    instance = first["Instances"][0]["InstanceId"]
    assert again["Instances"][0]["InstanceId"] == instance
    with pytest.raises(ClientError, match=r"InvalidInstanceID\.NotFound"):
        await said(ec2.describe_instances, InstanceIds=[instance])

    await harness.pass_time(10)
    assert states(await said(ec2.describe_instances, InstanceIds=[instance])) == ["pending"]
    await harness.pass_time(10)
    assert states(await said(ec2.describe_instances, InstanceIds=[instance])) == ["running"]
    data = await said(ec2.describe_instance_attribute, InstanceId=instance, Attribute="userData")
    assert base64.b64decode(data["UserData"]["Value"]) == b"#cloud-config\n"

    await said(ec2.stop_instances, InstanceIds=[instance])
    assert states(await said(ec2.describe_instances, InstanceIds=[instance])) == ["stopped"]
    await said(ec2.start_instances, InstanceIds=[instance])
    assert states(await said(ec2.describe_instances, InstanceIds=[instance])) in (["pending"], ["running"])

    for _ in range(2):
        ending = await said(ec2.terminate_instances, InstanceIds=[instance])
        assert ending["TerminatingInstances"][0]["CurrentState"]["Name"] == "shutting-down"
    await harness.pass_time(10)
    assert states(await said(ec2.describe_instances, InstanceIds=[instance])) == ["terminated"]


async def test_boto3_reads_what_butler_made(harness: AwsHarness) -> None:
    order = await made(harness, "ours")
    ec2 = client(harness, "ec2")
    only = [{"Name": f"tag:{TOKEN}", "Values": [order.token]}]
    found = await said(ec2.describe_instances, Filters=only)
    (instance,) = [one for reservation in found["Reservations"] for one in reservation["Instances"]]
    assert instance["State"]["Name"] == "running"
    assert instance["MetadataOptions"]["HttpTokens"] == "required"
    (disk,) = (await said(ec2.describe_volumes, Filters=only))["Volumes"]
    assert (disk["Size"], disk["VolumeType"], disk["Encrypted"]) == (20, "gp3", True)
    assert instance["BlockDeviceMappings"][0]["Ebs"]["DeleteOnTermination"] is True
    assert len((await said(ec2.describe_network_interfaces, Filters=only))["NetworkInterfaces"]) == 1


async def test_boto3_pages_through_instances(harness: AwsHarness) -> None:
    for number in range(5):
        await made(harness, f"web-{number}")
    pages = client(harness, "ec2").get_paginator("describe_instances")
    found = await said(lambda: list(pages.paginate()))
    assert [len(page["Reservations"]) for page in found] == [3, 2]


async def test_boto3_makes_and_removes_a_load_balancer(harness: AwsHarness) -> None:
    elb = client(harness, "elbv2")
    subnets = harness.aws.subnets()
    balancer = await said(elb.create_load_balancer, Name="theirs", Type="network", Subnets=subnets)
    arn = balancer["LoadBalancers"][0]["LoadBalancerArn"]
    vpc = balancer["LoadBalancers"][0]["VpcId"]
    assert balancer["LoadBalancers"][0]["State"]["Code"] == "provisioning"
    group = await said(elb.create_target_group, Name="theirs", Protocol="TCP", Port=80, VpcId=vpc, TargetType="ip")
    group_arn = group["TargetGroups"][0]["TargetGroupArn"]
    actions = [{"Type": "forward", "TargetGroupArn": group_arn}]
    await said(elb.create_listener, LoadBalancerArn=arn, Protocol="TCP", Port=80, DefaultActions=actions)
    await harness.pass_time(60)
    (found,) = (await said(elb.describe_load_balancers, Names=["theirs"]))["LoadBalancers"]
    assert found["State"]["Code"] == "active"
    await said(elb.delete_load_balancer, LoadBalancerArn=arn)
    with pytest.raises(ClientError, match="ResourceInUse"):
        await said(elb.delete_target_group, TargetGroupArn=group_arn)
    await harness.pass_time(60)
    await said(elb.delete_target_group, TargetGroupArn=group_arn)
    assert await harness.leftovers() == []


async def test_boto3_imports_a_snapshot(harness: AwsHarness) -> None:
    harness.aws.imports.bucket["theirs"] = {"disk.raw"}
    ec2 = client(harness, "ec2")
    disk = {"Format": "RAW", "UserBucket": {"S3Bucket": "theirs", "S3Key": "disk.raw"}}
    task = (await said(ec2.import_snapshot, DiskContainer=disk, ClientToken="once"))["ImportTaskId"]
    await harness.pass_time(60)
    (found,) = (await said(ec2.describe_import_snapshot_tasks, ImportTaskIds=[task]))["ImportSnapshotTasks"]
    assert found["SnapshotTaskDetail"]["Status"] == "completed"
    snapshots = await said(ec2.describe_snapshots, SnapshotIds=[found["SnapshotTaskDetail"]["SnapshotId"]])
    assert len(snapshots["Snapshots"]) == 1


@pytest.mark.parametrize(
    ("service", "call", "code"),
    [("ec2", "describe_instances", "AuthFailure"), ("sts", "get_caller_identity", "InvalidClientTokenId")],
)
async def test_boto3_is_told_who_it_is_not(harness: AwsHarness, service: str, call: str, code: str) -> None:
    stranger = boto3.client(
        service, region_name=REGION, endpoint_url=harness.url, aws_access_key_id="AKIA", aws_secret_access_key="x"
    )
    with pytest.raises(ClientError) as raised:
        await said(getattr(stranger, call))
    assert raised.value.response["Error"]["Code"] == code
