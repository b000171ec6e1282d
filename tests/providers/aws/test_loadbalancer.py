"""What is particular about load balancers on AWS."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from butler.errors import MachineRejected, ProviderError
from butler.providers.aws import loadbalancer
from butler.providers.aws.loadbalancer import name_for
from butler.providers.loadbalancer import Balancer, BalancerOrder, BalancerTarget
from butler.providers.testing.driver import connected, driving
from tests.providers.aws.harness import AwsHarness

TOKEN = "55555555-5555-4555-8555-555555555555"
ORDER = BalancerOrder("mgmt", TOKEN, 6443, 6443)


async def ensured(harness: AwsHarness, order: BalancerOrder = ORDER, **section: Any) -> Balancer:
    provider = harness.connected(**section)
    try:
        return await loadbalancer.connect(provider).ensure(order)
    finally:
        await provider.close()


def asked(harness: AwsHarness, action: str) -> dict[str, str]:
    return [one.form for one in harness.aws.requests if one.action == action][-1]


async def test_it_listens_where_the_order_says(harness: AwsHarness) -> None:
    await ensured(harness, replace(ORDER, health_check_port=6080))
    assert asked(harness, "CreateLoadBalancer")["Type"] == "network"
    listener, group = asked(harness, "CreateListener"), asked(harness, "CreateTargetGroup")
    assert (listener["Protocol"], listener["Port"]) == ("TCP", "6443")
    assert (group["Protocol"], group["Port"], group["HealthCheckPort"]) == ("TCP", "6443", "6080")


@pytest.mark.parametrize("scheme", ["internet-facing", "internal"])
async def test_the_section_says_from_where_it_is_reached(harness: AwsHarness, scheme: str) -> None:
    await ensured(harness, load_balancer_scheme=scheme)
    assert asked(harness, "CreateLoadBalancer")["Scheme"] == scheme


async def test_of_each_zone_one_subnet_is_taken(harness: AwsHarness) -> None:
    twin = await harness.add_network("twin")
    first, second, _ = harness.aws.subnets()
    await ensured(harness, subnet_ids=(first, twin, second))
    form = asked(harness, "CreateLoadBalancer")
    assert sorted(value for key, value in form.items() if key.startswith("Subnets")) == sorted([first, second])


async def test_a_port_that_changes_is_followed(harness: AwsHarness) -> None:
    target = BalancerTarget(address="172.31.0.9")
    await ensured(harness, replace(ORDER, targets=(target,)))
    await ensured(harness, replace(ORDER, port=443, health_check_port=8080, targets=(target,)))
    (balancer,), (group,) = harness.aws.balancers.existing(), harness.aws.balancers.groups()
    assert [one.port for one in balancer.listeners.values()] == [443]
    assert group.health_check_port == "8080"
    assert [(one["Id"], int(one["Port"])) for one in group.targets.values()] == [("172.31.0.9", 443)]


async def test_a_target_is_known_by_its_id_alone(harness: AwsHarness) -> None:
    order = harness.order("cp-0")
    async with driving(harness) as driver:
        machine = await driver.bring_up(order)
    for known in (machine.id, machine.id.rpartition("/")[2]):
        await ensured(harness, replace(ORDER, targets=(BalancerTarget(id=known),)))
        (group,) = harness.aws.balancers.groups()
        assert [one["Id"] for one in group.targets.values()] == [machine.addresses[0]]


async def test_a_target_that_nobody_knows_is_refused(harness: AwsHarness) -> None:
    with pytest.raises(MachineRejected, match="neither a private address nor the id of an instance"):
        await ensured(harness, replace(ORDER, targets=(BalancerTarget(name="cp-0", address="52.29.1.9"),)))


async def test_it_is_not_ready_before_aws_says_so(harness: AwsHarness) -> None:
    assert not (await ensured(harness)).is_ready
    await harness.pass_time(60)
    assert (await ensured(harness)).is_ready


async def test_one_that_failed_says_why(harness: AwsHarness) -> None:
    await ensured(harness)
    (balancer,) = harness.aws.balancers.existing()
    balancer.state = "failed"
    with pytest.raises(ProviderError, match="the load balancer failed"):
        await ensured(harness)


async def test_a_balancer_that_is_settled_is_only_looked_at(harness: AwsHarness) -> None:
    await ensured(harness)
    await harness.pass_time(60)
    harness.aws.requests.clear()
    await ensured(harness)
    looks = ["DescribeLoadBalancers", "DescribeTargetGroups", "DescribeListeners", "DescribeTargetHealth"]
    assert harness.aws.actions() == looks


async def test_the_target_group_waits_until_the_load_balancer_is_gone(harness: AwsHarness) -> None:
    await ensured(harness)
    async with connected(harness) as provider:
        balancers = loadbalancer.connect(provider)
        assert [await balancers.delete("mgmt", TOKEN) for _ in range(2)] == [False, False]
        assert len(harness.aws.balancers.groups()) == 1
        await harness.pass_time(60)
        assert await balancers.delete("mgmt", TOKEN)
    assert await harness.leftovers() == []


@pytest.mark.parametrize("name", ["mgmt", "internal-cluster", "a" * 63, "very-long-name-with-a-hyphen", "x.y"])
def test_names_are_such_that_aws_takes_them(name: str) -> None:
    made = name_for(name, TOKEN)
    assert len(made) <= 32
    assert made.replace("-", "").isalnum()
    assert made.startswith("butler-")
    assert not made.endswith("-")
    assert made != name_for(name, "66666666-6666-4666-8666-666666666666")
