"""What is particular to Azure."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from butler.errors import (
    CapacityExhausted,
    CredentialsInvalid,
    MachineRejected,
    ProviderError,
    RateLimited,
)
from butler.providers.azure.section import NOBODYS_KEY
from butler.providers.azure.vm import MARK, part
from butler.providers.contract import ExtraDisk, Known, MachineOrder, Power, Provider
from butler.providers.testing import Fault
from butler.providers.testing.driver import connected, driving, made
from tests.providers.azure.fake_market import COMMUNITY, DEFINITION, SOLD, URN
from tests.providers.azure.fake_shapes import Json
from tests.providers.azure.fake_things import GROUP, LOCATION, NEVER, SUBNET, SUBSCRIPTION
from tests.providers.azure.harness import AzureHarness, running

ALLOCATION = {"code": "AllocationFailed", "message": "We do not have sufficient capacity for the requested VM size."}


@pytest.fixture
async def harness() -> AsyncIterator[AzureHarness]:
    async with running() as harness:
        yield harness


@pytest.fixture
async def provider(harness: AzureHarness) -> AsyncIterator[Provider]:
    async with connected(harness) as provider:
        yield provider


def bodies(harness: AzureHarness, kind: str) -> list[Json]:
    """What was asked for, by kind."""
    return [body for method, path, _, body in harness.azure.requests if method == "PUT" and f"/{kind}/" in path]


async def create(harness: AzureHarness, order: MachineOrder, section: Json | None = None, **more: str) -> Json:
    """The body with which a VM is asked for."""
    provider = harness.connected(section, **more)
    try:
        await provider.create(order)
    finally:
        await provider.close()
    return bodies(harness, "virtualMachines")[-1]


@pytest.mark.parametrize(
    ("cpu", "memory_mb", "size"),
    [(1, 1024, "Standard_D2as_v5"), (2, 8193, "Standard_E2s_v5"), (3, 4096, "Standard_D4s_v5")],
)
async def test_a_machine_gets_the_smallest_usual_size(
    harness: AzureHarness, cpu: int, memory_mb: int, size: str
) -> None:
    body = await create(harness, replace(harness.order("one"), cpu=cpu, memory_mb=memory_mb))
    assert body["properties"]["hardwareProfile"] == {"vmSize": size}


async def test_a_size_that_is_named_is_taken_and_nothing_is_looked_up(harness: AzureHarness) -> None:
    body = await create(harness, harness.order("one"), {"vm_size": "Standard_D8s_v5"})
    assert body["properties"]["hardwareProfile"] == {"vmSize": "Standard_D8s_v5"}
    assert not [call for call in harness.faults.calls if "skus" in call]


async def test_a_size_has_to_be_in_the_zone(harness: AzureHarness) -> None:
    body = await create(harness, harness.order("one"), {"zone": "3"})
    assert (body["zones"], body["properties"]["hardwareProfile"]["vmSize"]) == (["3"], "Standard_D2s_v5")


async def test_a_size_has_to_take_the_disks(harness: AzureHarness) -> None:
    body = await create(harness, harness.order("one"), {"disk_type": "StandardSSD_LRS"})
    assert body["properties"]["hardwareProfile"]["vmSize"] == "Standard_A2_v2"
    assert body["properties"]["storageProfile"]["osDisk"]["managedDisk"] == {"storageAccountType": "StandardSSD_LRS"}


async def test_what_no_size_has_is_refused_before_anything_is_made(harness: AzureHarness, provider: Provider) -> None:
    with pytest.raises(MachineRejected, match="no VM size in westeurope has 65 cores and 4096 MiB"):
        await provider.create(replace(harness.order("one"), cpu=65))
    assert await harness.leftovers() == []


async def test_the_sizes_of_a_region_are_read_once_for_many_machines(harness: AzureHarness, provider: Provider) -> None:
    await asyncio.gather(*(provider.create(harness.order(f"many-{number}")) for number in range(4)))
    assert len([call for call in harness.faults.calls if "skus" in call]) == 2
    assert len([call for call in harness.faults.calls if "token" in call]) == 1


async def test_user_data_goes_as_custom_data(harness: AzureHarness) -> None:
    body = await create(harness, harness.order("one"))
    given = body["properties"]["osProfile"]["customData"]
    assert base64.b64decode(given).decode() == harness.order("one").user_data
    assert "userData" not in body["properties"]


async def test_network_data_is_refused_and_not_forgotten(harness: AzureHarness, provider: Provider) -> None:
    with pytest.raises(MachineRejected, match="networkData has no place on Azure"):
        await provider.create(replace(harness.order("one"), network_data="version: 2"))
    assert await harness.leftovers() == []


async def test_everything_goes_with_its_machine_and_carries_the_mark(harness: AzureHarness) -> None:
    order = replace(harness.order("one"), extra_disks=(ExtraDisk(30, "Standard_LRS"),))
    body = await create(harness, order)
    storage = body["properties"]["storageProfile"]
    (card,) = body["properties"]["networkProfile"]["networkInterfaces"]
    parts = [storage["osDisk"], *storage["dataDisks"], card["properties"]]
    assert [one["deleteOption"] for one in parts] == ["Delete"] * 3
    assert storage["dataDisks"][0]["managedDisk"] == {"storageAccountType": "Standard_LRS"}
    tokens = {one.body["tags"][MARK] for one in harness.azure.existing() if "tags" in one.body}
    assert tokens == {order.token}


async def test_labels_become_tags_that_azure_takes(harness: AzureHarness) -> None:
    labels = {"butler.butlerlabs.dev/role": "worker", **{f"label-{number:02}": "x" for number in range(60)}}
    body = await create(harness, replace(harness.order("one"), labels=labels))
    assert len(body["tags"]) == 50
    assert body["tags"]["butler.butlerlabs.dev_role"] == "worker"


def test_the_key_of_machines_without_one_is_the_hash_of_a_sentence() -> None:
    drawn = hashlib.sha256(b"nobody has the private half of this key 0").digest()
    assert base64.b64decode(NOBODYS_KEY.split()[1])[-32:] == drawn


@pytest.mark.parametrize(
    ("image", "reference"),
    [
        (URN, {"publisher": "siderolabs", "offer": "talos", "sku": "talos-x64", "version": "latest"}),
        (DEFINITION, {"id": DEFINITION}),
        (f"{DEFINITION}/versions/1.9.0", {"id": f"{DEFINITION}/versions/1.9.0"}),
        (COMMUNITY, {"communityGalleryImageId": COMMUNITY}),
    ],
)
async def test_an_image_may_be_a_urn_or_an_id(harness: AzureHarness, image: str, reference: Json) -> None:
    body = await create(harness, harness.order("one"), {"image_urn": image})
    assert body["properties"]["storageProfile"]["imageReference"] == reference
    assert "plan" not in body


async def test_an_image_that_is_sold_comes_with_its_plan(harness: AzureHarness) -> None:
    body = await create(harness, replace(harness.order("one"), image=SOLD))
    assert body["plan"] == {"name": "stable", "publisher": "kinvolk", "product": "flatcar"}


@pytest.mark.parametrize(
    ("image", "said"),
    [
        ("siderolabs:talos:talos-x64:9.9.9", "there is no image siderolabs:talos:talos-x64:9.9.9 in westeurope"),
        ("talos", "image 'talos' is neither publisher:offer:sku:version nor the id of an image"),
    ],
)
async def test_an_image_that_does_not_exist_is_refused_by_name(
    harness: AzureHarness, provider: Provider, image: str, said: str
) -> None:
    with pytest.raises(MachineRejected, match=said):
        await provider.create(replace(harness.order("one"), image=image))
    assert await harness.leftovers() == []


async def test_without_any_image_the_error_says_where_to_write_it(harness: AzureHarness) -> None:
    with pytest.raises(MachineRejected, match=r"neither the request nor spec\.azure\.imageURN names an image"):
        await create(harness, harness.order("one"), {"image_urn": None})


@pytest.mark.parametrize(
    ("section", "credentials"), [({"security_group_name": "nodes"}, {}), ({}, {"securityGroupName": "nodes"})]
)
async def test_a_security_group_may_be_in_either_place(
    harness: AzureHarness, section: Json, credentials: dict[str, str]
) -> None:
    await create(harness, harness.order("one"), section, **credentials)
    (nic,) = bodies(harness, "networkInterfaces")
    assert nic["properties"]["networkSecurityGroup"]["id"].endswith("/networkSecurityGroups/nodes")


async def test_a_subnet_may_be_named_by_its_id(harness: AzureHarness) -> None:
    await create(harness, harness.order("one"), {"vnet_name": None, "subnet_name": SUBNET})
    (nic,) = bodies(harness, "networkInterfaces")
    assert nic["properties"]["ipConfigurations"][0]["properties"]["subnet"] == {"id": SUBNET}


async def test_addresses_are_told_private_first_and_hardware_addresses_with_colons(
    harness: AzureHarness, provider: Provider
) -> None:
    order = await made(harness, "one")
    (nic,) = harness.azure.existing("networkinterfaces")
    public = {"id": "/public", "properties": {"ipAddress": "198.51.100.7"}}
    nic.properties["ipConfigurations"][0]["properties"]["publicIPAddress"] = public
    found = await provider.find(order.name, order.token)
    assert found is not None
    assert found.addresses == (nic.properties["ipConfigurations"][0]["properties"]["privateIPAddress"], "198.51.100.7")
    assert found.mac_addresses == (nic.properties["macAddress"].replace("-", ":").lower(),)


async def test_a_tag_whose_case_azure_changed_is_still_the_mark(harness: AzureHarness, provider: Provider) -> None:
    order = await made(harness, "one")
    vm = harness.vm(order.token)
    vm.body["tags"] = {"Butler-Token": order.token}
    assert await provider.find(order.name, order.token) is not None


async def test_a_vm_waits_for_its_network_card(harness: AzureHarness) -> None:
    harness.azure.nic_takes = 12.0
    order = harness.order("one")
    async with driving(harness) as driver:
        await driver.bring_up(order)
    assert [one.name for one in await harness.machines()] == ["one"]


async def test_a_machine_for_which_there_was_no_room_is_tried_again(harness: AzureHarness, provider: Provider) -> None:
    harness.azure.failing = [ALLOCATION]
    order = harness.order("one")
    first = await provider.create(order)
    await harness.pass_time(30)
    with pytest.raises(CapacityExhausted, match="AllocationFailed: We do not have sufficient capacity"):
        await provider.create(order, Known(first.id, first.task))
    again = await provider.create(order)
    await harness.pass_time(30)
    found = await provider.create(order, Known(again.id, again.task))
    assert (found.power, len(await harness.machines())) == (Power.RUNNING, 1)


async def test_what_azure_itself_calls_worth_another_try_gets_one(harness: AzureHarness) -> None:
    harness.azure.failing = [{"code": "RetryableError", "message": "A retryable error occurred."}]
    async with driving(harness) as driver:
        await driver.bring_up(harness.order("one"))
    assert [one.name for one in await harness.machines()] == ["one"]


async def test_an_operation_that_failed_before_a_vm_showed_is_told(harness: AzureHarness, provider: Provider) -> None:
    harness.azure.failing = [{"code": "OSProvisioningClientError", "message": "It did not boot."}]
    order = harness.order("one")
    first = await provider.create(order)
    await harness.pass_time(30)
    await harness.lose(order.token)
    with pytest.raises(ProviderError, match="ended with OSProvisioningClientError: It did not boot") as raised:
        await provider.create(order, Known(first.id, first.task))
    assert raised.value.retryable


@pytest.mark.parametrize(("power", "shown"), [("running", Power.RUNNING), ("deallocated", Power.STOPPED)])
async def test_a_machine_that_once_ran_is_left_alone_when_azure_calls_it_failed(
    harness: AzureHarness, provider: Provider, power: str, shown: Power
) -> None:
    order = await made(harness, "one")
    harness.vm(order.token).power = power
    asked = len(harness.azure.requests)
    harness.azure.state = lambda thing: "Failed" if thing.gone_at == NEVER else "Deleting"  # type: ignore[method-assign]
    assert (await provider.create(order)).power is shown
    assert len(harness.azure.requests) == asked


async def test_a_network_card_that_azure_keeps_reserved_is_waited_for(harness: AzureHarness) -> None:
    order = harness.order("one")
    async with connected(harness) as provider:
        await provider.create(order)
    vm = harness.vm(order.token)
    vm.gone_at = harness.azure.now
    (nic,) = harness.azure.existing("networkinterfaces")
    nic.reserved_until = harness.azure.now + 60
    async with driving(harness) as driver:
        await driver.take_down(order)
    assert await harness.leftovers() == []


async def test_a_size_that_is_not_for_this_subscription_is_waited_for(harness: AzureHarness) -> None:
    with pytest.raises(CapacityExhausted, match="SkuNotAvailable"):
        await create(harness, harness.order("one"), {"vm_size": "Standard_F2s_v2"})


async def test_too_many_calls_are_told_with_the_limit_that_was_reached(
    harness: AzureHarness, provider: Provider
) -> None:
    await provider.find("warm", "x")
    harness.faults.strike(Fault.LIMITED)
    with pytest.raises(RateLimited, match=r"TooManyRequests.*\(used up: subscription-writes\)"):
        await provider.find("one", "x")


async def test_a_running_machine_costs_one_call_to_look_at(harness: AzureHarness, provider: Provider) -> None:
    order = await made(harness, "one")
    first = await provider.find(order.name, order.token)
    harness.faults.forget()
    assert await provider.find(order.name, order.token) == first
    assert len(harness.faults.calls) == 1


async def test_with_its_resource_group_a_machine_is_gone(harness: AzureHarness) -> None:
    provider = harness.connected({"resource_group": "gone"})
    assert await provider.delete("one", "x")
    assert await provider.inventory() == ()
    await provider.close()


async def test_a_subscription_that_is_not_seen_is_no_proof_that_a_machine_is_gone(harness: AzureHarness) -> None:
    provider = harness.connected({"subscription_id": "another"})
    with pytest.raises(CredentialsInvalid, match="SubscriptionNotFound"):
        await provider.delete("one", "x")
    await provider.close()


@pytest.mark.parametrize(
    "task", [f"https://elsewhere.example/subscriptions/{SUBSCRIPTION}/operations/y", "nonsense", "//host/path"]
)
async def test_a_task_that_nobody_knows_is_asked_of_azure_or_nobody(
    harness: AzureHarness, provider: Provider, task: str
) -> None:
    await provider.create(harness.order("one"), Known("", task))
    assert [one.name for one in await harness.machines()] == ["one"]
    asked = [call for call in harness.faults.calls if "/operations/" in call]
    assert asked == ([f"GET /subscriptions/{SUBSCRIPTION}/operations/y"] if "elsewhere" in task else [])


async def test_a_disk_that_lost_its_tags_is_known_by_its_name(harness: AzureHarness) -> None:
    order = await made(harness, "one")
    (disk,) = harness.azure.existing("disks")
    disk.body["tags"] = {}
    await harness.lose(order.token)
    async with driving(harness) as driver:
        await driver.take_down(order)
    assert harness.azure.existing("disks") == []


async def test_a_disk_of_a_similar_name_stays(harness: AzureHarness) -> None:
    order = await made(harness, "one")
    path = f"{GROUP}/providers/Microsoft.Compute/disks/{part('one', 'another token', 'os')}"
    harness.azure.add(path, "disks", {"location": LOCATION, "properties": {"diskSizeGB": 9}})
    async with driving(harness) as driver:
        await driver.take_down(order)
    assert [one.path for one in harness.azure.existing("disks")] == [path]


async def test_the_inventory_has_disks_and_network_cards_too(harness: AzureHarness, provider: Provider) -> None:
    order = await made(harness, "one")
    found = {one.kind: (one.name, one.size) for one in await provider.inventory()}
    assert found == {
        "vm": ("one", "Standard_D2as_v5"),
        "disk": (part("one", order.token, "os"), "20 GB"),
        "nic": (part("one", order.token, "nic"), ""),
    }
    assert f"/subscriptions/{SUBSCRIPTION}/" in next(one.id for one in await provider.inventory() if one.kind == "nic")
