"""Every request is such that the published models of AWS's services know it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from butler.providers.aws import images, loadbalancer
from butler.providers.aws.api import OPERATIONS
from butler.providers.aws.provider import Aws
from butler.providers.aws.vm import TOKEN
from butler.providers.contract import ExtraDisk
from butler.providers.images import ImageOrder
from butler.providers.loadbalancer import BalancerOrder, BalancerTarget
from butler.providers.testing.driver import driving
from butler.providers.testing.rules.images import bring, remove
from tests.providers.aws import wire
from tests.providers.aws.harness import AwsHarness
from tests.providers.aws.test_images import ORDER as IMAGE
from tests.providers.aws.test_loadbalancer import ORDER as BALANCER
from tests.providers.aws.wire import Recorded


async def life(harness: AwsHarness) -> list[Recorded]:
    """Everything that is ever asked of AWS in forms; Systems Manager takes JSON, which its own client checks."""
    await _machines(harness)
    await _images(harness, IMAGE)
    provider = harness.connected()
    assert isinstance(provider, Aws)
    await _balancers(harness, provider, BALANCER)
    await provider.check()
    await provider.inventory()
    await provider.images()
    await provider.networks()
    await provider.close()
    return harness.aws.requests


async def _machines(harness: AwsHarness) -> None:
    ended = replace(harness.order("ended"), extra_disks=(ExtraDisk(30),))
    lost = harness.order("lost")
    async with driving(harness) as driver:
        await driver.bring_up(ended)
        await driver.take_down(ended)
    async with driving(harness) as driver:
        await driver.bring_up(lost)
        for card in harness.aws.instances.of_token(TOKEN, lost.token).instance.nics.values():
            card.delete_on_termination = False
        await harness.lose(lost.token)
        await driver.take_down(lost)


async def _images(harness: AwsHarness, order: ImageOrder) -> None:
    await bring(harness, order)
    await remove(harness, order)
    provider = harness.connected()
    brought = images.connect(provider)
    await brought.ensure(replace(order, name="not-wanted"))
    await brought.delete("not-wanted")
    await provider.close()


async def _balancers(harness: AwsHarness, provider: Aws, order: BalancerOrder) -> None:
    balancers = loadbalancer.connect(provider)
    await balancers.ensure(replace(order, targets=(BalancerTarget(address="172.31.0.9"),)))
    await provider.inventory()
    await balancers.ensure(replace(order, port=443, health_check_port=8080))
    for _ in range(2):
        await balancers.delete(order.name, order.token)
        await harness.pass_time(60)


async def test_every_request_is_known_to_the_model_of_its_service(harness: AwsHarness) -> None:
    requests = await life(harness)
    assert {f"{one.action}: {problem}" for one in requests for problem in wire.problems(one)} == set()


async def test_all_that_is_ever_asked_was_asked_here(harness: AwsHarness) -> None:
    harness.aws.parameters["/talos"] = "ami-0a1b2c3d4e5f60719"
    requests = await life(harness)
    provider = harness.connected(image="ssm:/talos", security_group_ids=(_group(harness),))
    await provider.check()
    await provider.close()
    assert OPERATIONS - {one.action for one in requests} == {"GetParameter"}


def _group(harness: AwsHarness) -> str:
    return str(next(iter(next(iter(harness.aws.account.ec2.groups.values())))))


COUNTED = {"MaxCount": "1", "MinCount": "1"}
INVALID = "InvalidParameterValue: Invalid value"


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        ({**COUNTED, "Colour": "red"}, "UnknownParameter: Colour"),
        ({**COUNTED, "NetworkInterface.1.Speed": "9"}, "UnknownParameter: NetworkInterface.1.Speed"),
        ({"MaxCount": "1"}, "MissingParameter: MinCount"),
        ({**COUNTED, "MaxCount": "many"}, f"{INVALID} 'many' for MaxCount"),
        ({**COUNTED, "EbsOptimized": "yes"}, f"{INVALID} 'yes' for EbsOptimized"),
    ],
)
def test_a_request_that_is_wrong_is_noticed(form: dict[str, str], problem: str) -> None:
    request = Recorded("ec2", "RunInstances", {"Action": "RunInstances", "Version": "2016-11-15", **form})
    assert wire.problems(request) == [problem]
