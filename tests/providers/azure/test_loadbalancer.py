"""What is particular to load balancers of Azure."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from butler.errors import CapacityExhausted, MachineRejected
from butler.providers.contract import NOTHING_KNOWN, Known, Provider
from butler.providers.loadbalancer import Balancer, BalancerOrder, BalancerTarget
from butler.providers.testing.driver import connected, made, until
from tests.providers.azure.fake_shapes import Json
from tests.providers.azure.harness import AzureHarness, running

ORDER = BalancerOrder("mgmt", "55555555-5555-4555-8555-555555555555", 6443, 9443)


@pytest.fixture
async def harness() -> AsyncIterator[AzureHarness]:
    async with running() as harness:
        yield harness


async def ensured(harness: AzureHarness, provider: Provider, order: BalancerOrder) -> Balancer:
    balancers, known = harness.load_balancers(provider), NOTHING_KNOWN

    async def ask() -> Balancer | None:
        nonlocal known
        found = await balancers.ensure(order, known)
        known = Known(found.id, found.task)
        return found if found.is_ready else None

    return await until(harness, ask, "it does not come")


def balancer(harness: AzureHarness) -> Json:
    (found,) = harness.azure.existing("loadbalancers")
    return found.properties


async def test_a_public_one_has_a_standard_address_of_its_own(harness: AzureHarness) -> None:
    async with connected(harness) as provider:
        found = await ensured(harness, provider, ORDER)
        assert {one.kind for one in await provider.inventory()} == {"address", "loadbalancer"}
    (address,) = harness.azure.existing("publicipaddresses")
    assert found.endpoint == address.properties["ipAddress"]
    assert address.body["sku"] == {"name": "Standard"}


async def test_an_internal_one_has_an_address_of_the_subnet(harness: AzureHarness) -> None:
    provider = harness.connected({"load_balancer": "internal"})
    found = await ensured(harness, provider, ORDER)
    assert found.endpoint.startswith("10.9.255.")
    assert harness.azure.existing("publicipaddresses") == []
    await provider.close()


async def test_the_ports_are_those_of_the_order_and_follow_it(harness: AzureHarness) -> None:
    async with connected(harness) as provider:
        await ensured(harness, provider, ORDER)
        (probe,), (rule,) = balancer(harness)["probes"], balancer(harness)["loadBalancingRules"]
        assert (probe["properties"]["port"], rule["properties"]["frontendPort"]) == (9443, 6443)
        await ensured(harness, provider, replace(ORDER, port=443, targets=(BalancerTarget(address="10.9.0.9"),)))
        await ensured(harness, provider, replace(ORDER, port=444, targets=(BalancerTarget(address="10.9.0.9"),)))
    (rule,) = balancer(harness)["loadBalancingRules"]
    assert rule["properties"]["frontendPort"] == 444


async def test_when_nothing_changes_nothing_is_asked_for(harness: AzureHarness) -> None:
    async with connected(harness) as provider:
        await ensured(harness, provider, ORDER)
        asked = len(harness.azure.requests)
        await ensured(harness, provider, ORDER)
    assert len(harness.azure.requests) == asked


@pytest.mark.parametrize("by", ["id", "name"])
async def test_a_target_may_be_known_by_its_id_or_its_name(harness: AzureHarness, by: str) -> None:
    order = await made(harness, "cp-0")
    async with connected(harness) as provider:
        machine = await provider.find(order.name, order.token)
        assert machine is not None
        target = BalancerTarget(id=machine.id) if by == "id" else BalancerTarget(name=machine.name)
        await ensured(harness, provider, replace(ORDER, targets=(target,)))
    (pool,) = balancer(harness)["backendAddressPools"]
    (member,) = pool["properties"]["loadBalancerBackendAddresses"]
    assert member["properties"]["ipAddress"] == machine.addresses[0]


async def test_a_target_that_azure_does_not_have_is_named(harness: AzureHarness) -> None:
    async with connected(harness) as provider:
        await ensured(harness, provider, ORDER)
        order = replace(ORDER, targets=(BalancerTarget(name="nobody"),))
        with pytest.raises(MachineRejected, match="target nobody has no address in Azure"):
            await harness.load_balancers(provider).ensure(order)


async def test_what_an_operation_ended_with_is_told(harness: AzureHarness) -> None:
    failure = {"code": "PublicIPCountLimitReached", "message": "Cannot create more than 10 public addresses."}
    async with connected(harness) as provider:
        balancers = harness.load_balancers(provider)
        first = await balancers.ensure(ORDER)
        for operation in harness.azure.operations.values():
            operation.failure = failure
        await harness.pass_time(10)
        with pytest.raises(CapacityExhausted, match="Cannot create more than 10"):
            await balancers.ensure(ORDER, Known(first.id, first.task))
