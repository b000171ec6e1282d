"""Every call the provider makes is one that Google describes, and so is every answer of the fake."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from google.cloud import compute_v1
from google.protobuf.json_format import ParseError

from butler.providers.contract import ExtraDisk
from butler.providers.loadbalancer import BalancerOrder, BalancerTarget
from butler.providers.testing.driver import driving
from tests.providers.gcp import discovery
from tests.providers.gcp.harness import GcpHarness
from tests.providers.gcp.test_loadbalancer import balanced, removed
from tests.providers.gcp.worlds import connected, google_cloud

Call = tuple[str, str, dict[str, Any], Any]
SECTION = {
    "tags": ("k8s",),
    "service_account": "nodes@x.iam.gserviceaccount.com",
    "subnetwork": "default",
    "load_balancer": "internal",
}
NEEDED = {
    "compute.instances.insert",
    "compute.instances.delete",
    "compute.disks.delete",
    "compute.instances.aggregatedList",
    "compute.zoneOperations.get",
    "compute.globalOperations.aggregatedList",
    "compute.forwardingRules.insert",
    "compute.forwardingRules.delete",
    "compute.regionBackendServices.patch",
    "compute.instanceGroups.addInstances",
    "compute.instanceGroups.removeInstances",
    "compute.images.getFromFamily",
}


async def lived(world: GcpHarness) -> None:
    """Everything that is ever asked for."""
    order = replace(world.order("cp-0"), extra_disks=(ExtraDisk(30, "pd-ssd"),), labels={"A/b": "C"})
    wanted = BalancerOrder("mgmt", "55555555-5555-4555-8555-555555555555", 6443, 6443)
    world.google.exhausted = {"us-central1-a"}
    async with connected(world) as provider, driving(world) as driver:
        machine = await driver.bring_up(order)
        target = BalancerTarget(machine.id, machine.name, machine.addresses[0])
        await balanced(world, provider, replace(wanted, targets=(target, BalancerTarget(name="gone"))))
        await balanced(world, provider, replace(wanted, health_check_port=8443))
        await provider.check()
        await provider.inventory()
        await provider.images()
        await provider.networks()
        await removed(world, provider, wanted)
        await driver.take_down(order)
        other = world.order("cp-1")
        await driver.bring_up(other)
        await world.lose(other.token)
        await driver.take_down(other)


def kind_of(method: discovery.Method) -> Any:
    return getattr(compute_v1, method.description["request"]["$ref"])


def understood(call: Call) -> discovery.Method:
    """The method a call is. Raises AssertionError and ParseError when it is not as Google describes it."""
    verb, path, query, body = call
    method = discovery.method_of(verb, path)
    assert method is not None, path
    assert list(discovery.problems(method, query, body)) == []
    if body is not None:
        kind_of(method).from_json(json.dumps(body), ignore_unknown_fields=False)
    return method


@pytest.mark.parametrize("section", [{}, SECTION], ids=["plain", "everything"])
async def test_every_call_is_one_that_google_describes(section: dict[str, Any]) -> None:
    async with google_cloud(**section) as world:
        await lived(world)
        made = {understood(call).id for call in world.google.requests}
    assert made >= NEEDED


async def test_every_answer_of_the_fake_is_one_that_google_describes() -> None:
    async with google_cloud() as world:
        await lived(world)
        wrong = {(one, told) for one, answer in world.google.answers for told in discovery.answer_problems(one, answer)}
    assert wrong == set()


PLACE = "projects/p/zones/us-central1-a/instances"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("POST", PLACE, {}, {"name": "x", "machinetype": "y"}), "Unknown name \"machinetype\" at 'resource'"),
        (("POST", PLACE, {}, {}), "Required field 'resource.name' not specified"),
        (("POST", PLACE, {}, {"name": "Not-OK"}), "Must be a match of regex"),
        (("POST", PLACE, {}, {"name": "x", "canIpForward": "yes"}), "(TYPE_BOOLEAN)"),
        (("POST", PLACE, {}, {"name": "x", "disks": [{"diskSizeGb": "ten"}]}), "'resource.disks[0].diskSizeGb'"),
        (("POST", PLACE, {}, {"name": "x", "disks": [{"mode": "SIDEWAYS"}]}), "(TYPE_ENUM)"),
        (("POST", PLACE, {}, None), "Required field 'resource' not specified"),
        (("POST", PLACE, {"requestID": "x"}, {"name": "x"}), 'Unknown name "requestID"'),
        (("GET", f"{PLACE}/x", {"fields": "name,colour"}, None), "Invalid field selection colour"),
        (("GET", f"{PLACE}/Not-OK", {}, None), "Must be a match of regex"),
    ],
)
def test_a_call_that_is_not_is_noticed(call: Call, said: str) -> None:
    verb, path, query, body = call
    method = discovery.method_of(verb, path)
    assert method is not None
    assert said in "\n".join(discovery.problems(method, query, body))


def test_googles_client_notices_a_wrong_field_too() -> None:
    with pytest.raises(ParseError, match="machinetype"):
        compute_v1.Instance.from_json('{"name": "x", "machinetype": "y"}', ignore_unknown_fields=False)
