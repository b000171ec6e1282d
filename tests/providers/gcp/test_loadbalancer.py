"""What is particular to load balancers of Google Cloud."""

from __future__ import annotations

from dataclasses import replace

import pytest

from butler.errors import CapacityExhausted
from butler.providers.contract import NOTHING_KNOWN, Known, Provider
from butler.providers.loadbalancer import Balancer, BalancerOrder, BalancerTarget
from butler.providers.testing.driver import driving
from tests.providers.gcp import fake_balancing
from tests.providers.gcp.fake_project import PROJECT, Thing
from tests.providers.gcp.harness import GcpHarness
from tests.providers.gcp.worlds import asked, brought_up, connected, google_cloud

ORDER = BalancerOrder("mgmt", "55555555-5555-4555-8555-555555555555", 6443, 6443)


async def balanced(world: GcpHarness, provider: Provider, order: BalancerOrder, looks: int = 30) -> Balancer:
    """Ask until it is as the order says."""
    balancers, known = world.load_balancers(provider), NOTHING_KNOWN
    for _ in range(looks):
        found = await balancers.ensure(order, known)
        if found.is_ready:
            return found
        known = Known(found.id, found.task)
        await world.pass_time(5)
    raise AssertionError(f"{order.name} does not come to be ready: {found}")


async def removed(world: GcpHarness, provider: Provider, order: BalancerOrder) -> None:
    for _ in range(30):
        if await world.load_balancers(provider).delete(order.name, order.token):
            return
        await world.pass_time(5)
    raise AssertionError(f"{order.name} does not go")


async def target(world: GcpHarness, name: str) -> BalancerTarget:
    machine = await brought_up(world, world.order(name))
    return BalancerTarget(machine.id, machine.name, machine.addresses[0])


async def test_what_does_not_depend_on_each_other_is_made_at_the_same_time() -> None:
    async with google_cloud() as world, connected(world) as provider:
        begun = world.google.now
        found = await balanced(world, provider, ORDER)
        assert found.endpoint.startswith("35.")
        assert world.google.now - begun == 15


async def test_a_load_balancer_that_is_idle_takes_three_calls() -> None:
    async with google_cloud() as world, connected(world) as provider:
        await balanced(world, provider, ORDER)
        world.faults.forget()
        await balanced(world, provider, ORDER)
        assert len(world.faults.calls) == 3, world.faults.calls


async def test_an_internal_one_has_an_address_of_the_subnetwork() -> None:
    subnetwork = f"projects/{PROJECT}/regions/us-central1/subnetworks/default"
    async with google_cloud(load_balancer="internal") as world, connected(world) as provider:
        found = await balanced(world, provider, ORDER)
        assert found.endpoint.startswith("10.128.")
        ((_, _, _, address),) = asked(world, "POST", "/addresses")
        ((_, _, _, rule),) = asked(world, "POST", "/forwardingRules")
        assert (address["addressType"], address["subnetwork"]) == ("INTERNAL", subnetwork)
        assert (rule["loadBalancingScheme"], rule["subnetwork"]) == ("INTERNAL", subnetwork)
        assert rule["network"] == f"projects/{PROJECT}/global/networks/default"


async def test_machines_of_all_zones_are_behind_it() -> None:
    async with google_cloud() as world, connected(world) as provider:
        first = await target(world, "cp-0")
        world.google.exhausted = {"us-central1-a"}
        second = await target(world, "cp-1")
        found = await balanced(world, provider, replace(ORDER, targets=(first, second)))
        assert found.targets == 2
        places = [one.path.split("/")[3] for one in world.google.existing("instanceGroups")]
        assert sorted(places) == ["us-central1-a", "us-central1-b"]
        (service,) = world.google.existing("backendServices")
        assert len(service.body["backends"]) == 2
        await removed(world, provider, ORDER)
        assert await world.leftovers() == []


async def test_a_target_may_be_known_by_its_name_or_its_address() -> None:
    async with google_cloud() as world, connected(world) as provider:
        first, second = await target(world, "cp-0"), await target(world, "cp-1")
        vague = (BalancerTarget(name=first.name), BalancerTarget(address=second.address))
        assert (await balanced(world, provider, replace(ORDER, targets=vague))).targets == 2


async def test_a_machine_that_is_gone_keeps_no_other_away() -> None:
    async with google_cloud() as world, connected(world) as provider:
        gone = BalancerTarget(f"gce://{PROJECT}/us-central1-a/gone", "gone")
        order = replace(ORDER, targets=(gone, await target(world, "cp-0")))
        assert (await balanced(world, provider, order)).targets == 1


async def test_a_machine_that_is_deleted_leaves_by_itself() -> None:
    async with google_cloud() as world, connected(world) as provider:
        order = replace(ORDER, targets=(await target(world, "cp-0"),))
        assert (await balanced(world, provider, order)).targets == 1
        async with driving(world) as driver:
            await driver.take_down(world.order("cp-0"))
        assert (await balanced(world, provider, order)).targets == 0


async def test_another_port_keeps_the_address() -> None:
    async with google_cloud() as world, connected(world) as provider:
        first = await balanced(world, provider, ORDER)
        again = await balanced(world, provider, replace(ORDER, port=443, health_check_port=8443))
        assert again.endpoint == first.endpoint
        (rule,), (check,) = world.google.existing("forwardingRules"), world.google.existing("healthChecks")
        assert (rule.body["ports"], check.body["tcpHealthCheck"]["port"]) == (["443"], 8443)


async def test_a_group_that_someone_else_changed_is_put_right() -> None:
    async with google_cloud() as world, connected(world) as provider:
        order = replace(ORDER, targets=(await target(world, "cp-0"),))
        await balanced(world, provider, order)
        (group,) = world.google.existing("instanceGroups")
        group.members = []
        assert (await balanced(world, provider, order)).targets == 1


async def test_what_a_task_failed_with_is_raised_and_hinders_no_deletion() -> None:
    async with google_cloud() as world, connected(world) as provider:
        balancers = world.load_balancers(provider)
        known = Known("", (await balancers.ensure(ORDER)).task)
        for one in world.google.operations.values():
            one.failure = ("QUOTA_EXCEEDED", "Quota 'STATIC_ADDRESSES' exceeded.", 403)
        await world.pass_time(5)
        with pytest.raises(CapacityExhausted, match="STATIC_ADDRESSES"):
            await balancers.ensure(ORDER, known)
        assert not await balancers.delete(ORDER.name, ORDER.token, known)
        await removed(world, provider, ORDER)
        assert await world.leftovers() == []


async def test_a_group_that_lists_do_not_show_yet_is_removed_too() -> None:
    async with google_cloud() as world, connected(world) as provider:
        order = replace(ORDER, targets=(await target(world, "cp-0"),))
        await balanced(world, provider, ORDER)
        balancers = world.load_balancers(provider)
        await balancers.ensure(order)
        await world.pass_time(fake_balancing.TAKES)
        while not await balancers.delete(ORDER.name, ORDER.token):
            await world.pass_time(0.1)
        assert await world.leftovers() == []


async def test_a_target_of_another_region_is_not_taken_for_one_of_that_name() -> None:
    async with google_cloud() as world, connected(world) as provider:
        path = f"projects/{PROJECT}/zones/europe-west1-b/instances/cp-0"
        world.google.things[path] = Thing(path, {"disks": []}, phases=[(0.0, "RUNNING")])
        wanted = replace(ORDER, targets=(BalancerTarget(name="cp-0"), BalancerTarget(name='x") OR (name = "cp-0')))
        assert (await balanced(world, provider, wanted)).targets == 0


async def test_one_that_is_being_made_is_not_taken_for_gone() -> None:
    async with google_cloud() as world, connected(world) as provider:
        balancers = world.load_balancers(provider)
        await balancers.ensure(ORDER)
        assert not await balancers.delete(ORDER.name, ORDER.token)
        await world.pass_time(5)
        await removed(world, provider, ORDER)
        assert await world.leftovers() == []


async def test_the_inventory_shows_a_half_made_one_once() -> None:
    async with google_cloud() as world, connected(world) as provider:
        await world.load_balancers(provider).ensure(ORDER)
        await world.pass_time(10)
        found = [(one.kind, one.name, one.token) for one in await provider.inventory()]
        assert found == [("address", "mgmt", ORDER.token), ("loadbalancer", "mgmt", ORDER.token)]
