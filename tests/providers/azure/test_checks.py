"""What `check` finds, failure by failure."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest

from butler.errors import ProviderUnavailable
from butler.providers.contract import CHECKS, Check
from tests.providers.azure.fake import Azure
from tests.providers.azure.fake_market import COMMUNITY, DEFINITION, ELSEWHERE, GALLERY, SOLD, URN, WINDOWS
from tests.providers.azure.fake_shapes import Json
from tests.providers.azure.fake_things import VNET
from tests.providers.azure.harness import AzureHarness, running


@pytest.fixture
async def harness() -> AsyncIterator[AzureHarness]:
    async with running() as harness:
        yield harness


async def checked(harness: AzureHarness, section: Json | None = None) -> dict[str, Check]:
    provider = harness.connected(section)
    try:
        return {one.name: one for one in await provider.check()}
    finally:
        await provider.close()


async def test_everything_that_a_machine_needs_is_tried(harness: AzureHarness) -> None:
    found = await checked(harness, {"security_group_name": "nodes"})
    assert tuple(found) == CHECKS
    assert found["version"].value == "2024-07-01"


@pytest.mark.parametrize(
    ("section", "name", "said"),
    [
        ({"resource_group": "none"}, "permissions", "There is no resource group none."),
        (
            {"image_urn": "siderolabs:talos:talos-x64:0.0.1"},
            "image",
            "There is no image siderolabs",
        ),
        ({"image_urn": "siderolabs:talos:none:latest"}, "image", "There is no image siderolabs"),
        ({"image_urn": f"{DEFINITION}/versions/0.0.1"}, "image", "There is no image"),
        ({"image_urn": "/CommunityGalleries/none/Images/none/Versions/1"}, "image", "There is no image"),
        ({"image_urn": WINDOWS}, "image", "is of Windows"),
        ({"image_urn": f"{GALLERY}/images/sealed"}, "image", "is specialised, and takes no userData"),
        ({"image_urn": ELSEWHERE}, "image", "is in eastus, and machines are in westeurope"),
        ({"vnet_name": "none"}, "network", "virtualNetworks/none"),
        ({"subnet_name": "none"}, "network", "subnets/none"),
        ({"security_group_name": "none"}, "network", "There is no security group"),
        ({"disk_type": "UltraSSD_LRS"}, "storage", "no disks of kind UltraSSD_LRS"),
        ({"vm_size": "Standard_Z9"}, "capacity", "does not offer Standard_Z9"),
        ({"vm_size": "Standard_F2s_v2"}, "capacity", "does not offer Standard_F2s_v2"),
        ({"zone": "9"}, "capacity", "no size that Butler would choose"),
    ],
)
async def test_a_setting_that_does_not_hold_is_told(harness: AzureHarness, section: Json, name: str, said: str) -> None:
    found = (await checked(harness, section))[name]
    assert (found.passed, said in found.message, bool(found.remedy)) == (False, True, True), found


@pytest.mark.parametrize("image", [URN, SOLD, DEFINITION, f"{DEFINITION}/versions/1.9.0", COMMUNITY, None])
async def test_every_way_to_name_an_image_is_understood(harness: AzureHarness, image: str | None) -> None:
    assert (await checked(harness, {"image_urn": image}))["image"].passed


def forbid(azure: Azure) -> None:
    azure.permissions = ({"actions": ["Microsoft.Compute/*", "*/read"], "notActions": ["Microsoft.Compute/*/delete"]},)


def unregister(azure: Azure) -> None:
    azure.registration = "NotRegistered"


def disable(azure: Azure) -> None:
    azure.subscription_state = "Disabled"


def use_up(azure: Azure) -> None:
    azure.cores = 0


def fill_subnet(azure: Azure) -> None:
    azure.things[VNET.lower()].properties["subnets"][0]["room"] = 0


def move_network(azure: Azure) -> None:
    azure.things[VNET.lower()].body["location"] = "eastus"


@pytest.mark.parametrize(
    ("spoil", "name", "said"),
    [
        (forbid, "permissions", "Microsoft.Compute/virtualMachines/delete, Microsoft.Compute/disks/delete, "),
        (unregister, "version", "Microsoft.Compute is NotRegistered in the subscription."),
        (disable, "credentials", "Subscription Test is Disabled."),
        (use_up, "capacity", "0 of 0 cores are used in westeurope."),
        (fill_subnet, "network", "Subnet nodes has no free address."),
        (move_network, "network", "The virtual network is in eastus"),
    ],
)
async def test_an_account_that_is_unwell_is_told(
    harness: AzureHarness, spoil: Callable[[Azure], None], name: str, said: str
) -> None:
    spoil(harness.azure)
    found = (await checked(harness))[name]
    assert (found.passed, said in found.message, bool(found.remedy)) == (False, True, True), found


@pytest.mark.parametrize(
    ("path", "names"),
    [("/skus", {"storage", "capacity"}), ("/usages", {"network", "capacity"}), ("/images/", {"image"})],
)
async def test_what_may_not_be_read_is_told_and_the_rest_is_tried(
    harness: AzureHarness, path: str, names: set[str]
) -> None:
    harness.azure.forbidden = path
    found = await checked(harness)
    assert {one.name for one in found.values() if not one.passed} == names
    assert all("AuthorizationFailed" in found[name].message and found[name].remedy for name in names)


async def test_permissions_that_are_missing_are_all_named(harness: AzureHarness) -> None:
    harness.azure.permissions = ({"actions": ["*/read"], "notActions": []},)
    assert (await checked(harness))["permissions"].message.count("Microsoft.") == 7


async def test_azure_that_does_not_answer_is_an_error(harness: AzureHarness) -> None:
    provider = harness.connected({"endpoint": "https://127.0.0.1:1"})
    with pytest.raises(ProviderUnavailable):
        await provider.check()
    await provider.close()
