"""LoadBalancerRequests: a load balancer, its targets, and its end. The numbers are those of the provider contract."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from butler.api.machine import LoadBalancerPhase, LoadBalancerRequest
from butler.providers import registry
from butler.providers.simulated.faults import Trouble
from tests.controllers.requests_world import SYSTEM, World


async def ask(world: World, name: str = "mgmt", **spec: Any) -> None:
    wanted = {"clusterName": name, "providerConfigRef": {"name": "lab"}, **spec}
    await world.client.create(
        {"metadata": {"name": name, "namespace": SYSTEM}, "spec": wanted}, LoadBalancerRequest.address
    )


def balancers(world: World) -> list[str]:
    return [item.name for item in world.datacentre.shelf.of_account(f"{SYSTEM}/lab")]


def at(number: int, trouble: Trouble) -> Callable[[int, str], Trouble]:
    return lambda call, verb: trouble if call == number else Trouble.NONE


async def test_a_request_becomes_a_load_balancer_with_an_endpoint(world: World) -> None:
    """Rule 17."""
    await world.config(simulated={"bootDelay": "20s"})
    await ask(world, targets=[{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}])
    await asyncio.sleep(3)
    assert (await world.now(LoadBalancerRequest, "mgmt")).status.phase is LoadBalancerPhase.CREATING
    await asyncio.sleep(30)
    status = (await world.now(LoadBalancerRequest, "mgmt")).status
    assert (status.phase, status.registered_targets) == (LoadBalancerPhase.READY, 2)
    assert (status.endpoint or "").startswith("198.1")
    assert status.resource_id == "simulated://loadbalancer/1"
    assert await world.events("mgmt") == ["Creating", "Ready"]


async def test_targets_follow_the_request_and_an_idle_one_costs_no_write(world: World) -> None:
    """Rule 17."""
    await world.config(simulated={"bootDelay": "0s"})
    await ask(world)
    await asyncio.sleep(5)
    assert (await world.now(LoadBalancerRequest, "mgmt")).status.registered_targets == 0
    change = {"spec": {"targets": [{"ip": "10.0.0.1"}]}}
    await world.client.patch(LoadBalancerRequest, "mgmt", change, SYSTEM)
    await asyncio.sleep(5)
    assert (await world.now(LoadBalancerRequest, "mgmt")).status.registered_targets == 1
    writes = world.writes
    await asyncio.sleep(600)
    assert world.writes == writes


async def test_a_deleted_request_leaves_no_load_balancer_whatever_call_fails(world: World) -> None:
    """Rules 9, 17."""
    await world.config(simulated={"bootDelay": "3s", "removalDelay": "3s"})
    for number, trouble in enumerate((Trouble.BEFORE, Trouble.AFTER) * 4):
        world.verbs.clear()
        world.troubles = at(number // 2, trouble)
        await ask(world, f"c-{number}")
        await asyncio.sleep(25)
        assert balancers(world) == [f"c-{number}"]
        await world.remove(LoadBalancerRequest, f"c-{number}")
        await asyncio.sleep(25)
        assert not await world.exists(LoadBalancerRequest, f"c-{number}")
        assert balancers(world) == []


async def test_an_infrastructure_without_load_balancers_says_so(world: World, monkeypatch: Any) -> None:
    """Rule 18."""
    monkeypatch.setattr(registry, "load_balancers", lambda name, provider: None)
    await world.config()
    await ask(world)
    await asyncio.sleep(5)
    status = (await world.now(LoadBalancerRequest, "mgmt")).status
    assert (status.phase, status.failure_reason) == (LoadBalancerPhase.FAILED, "UnsupportedProvider")
    await world.remove(LoadBalancerRequest, "mgmt")
    await asyncio.sleep(5)
    assert not await world.exists(LoadBalancerRequest, "mgmt")
