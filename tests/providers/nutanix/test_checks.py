"""What is wrong with an account is told by name, with what to do about it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from butler.api.sections.nutanix import Entity
from butler.providers.contract import Check
from butler.providers.testing.web import serving
from tests.providers.nutanix.fake import CENTRAL, ISO, OTHER_CLUSTER, PRODUCT, Prism
from tests.providers.nutanix.fake_web import app
from tests.providers.nutanix.harness import CREDENTIALS, PLACES, NutanixHarness, connected

NOWHERE = "0005b0f1-0000-4000-8000-000000000999"


@pytest.fixture(params=["v3", "v4"])
async def harness(request: pytest.FixtureRequest) -> AsyncIterator[NutanixHarness]:
    prism = Prism(offers_v4=request.param == "v4")
    async with serving(app(prism)) as url:
        yield NutanixHarness(prism, url)


async def checked(harness: NutanixHarness, password: str = "", **section: Any) -> dict[str, Check]:
    credentials = {**CREDENTIALS, **({"password": password} if password else {})}
    provider = connected(harness.url, credentials, **{**PLACES, **section})
    try:
        return {one.name: one for one in await provider.check()}
    finally:
        await provider.close()


async def test_an_account_that_is_well_is_described(harness: NutanixHarness) -> None:
    found = await checked(harness, storage_container=Entity(name="default-container"))
    version = "v4" if harness.prism.offers_v4 else "v3"
    assert [name for name, one in found.items() if not one.passed] == []
    assert {name: one.message for name, one in found.items()} == {
        "reachable": f"Prism Central answers at {harness.url}.",
        "version": f"It is {PRODUCT}, and speaks {version} of its API.",
        "credentials": "User butler is let in.",
        "permissions": "The user may see machines and all they are made from.",
        "capacity": "Cluster cluster-01 is there: 2 hosts. It has 2 hosts with 64 cores and 768 GiB of memory.",
        "network": "Subnet workload-subnet is there: VLAN 100, 10.9.0.0/16.",
        "image": "Image talos-1.9 is there: 3 GB.",
        "storage": "Storage container default-container is there.",
    }
    assert found["version"].value == PRODUCT


@pytest.mark.parametrize(
    ("section", "name", "said"),
    [
        ({"image_uuid": None, "image": Entity(name="nowhere")}, "image", "there is no image named 'nowhere'"),
        ({"image_uuid": NOWHERE}, "image", f"there is no image with the UUID {NOWHERE}"),
        ({"image_uuid": ISO}, "image", "it is of the type ISO_IMAGE, and machines boot from DISK_IMAGE"),
        ({"subnet_uuid": NOWHERE}, "network", f"there is no subnet with the UUID {NOWHERE}"),
        ({"cluster_uuid": CENTRAL}, "capacity", "it is a Prism Central, on which no machines run"),
        ({"cluster_uuid": OTHER_CLUSTER}, "capacity", "It has 0 hosts"),
        ({"cluster_uuid": OTHER_CLUSTER}, "network", "is not on the cluster of the machines"),
        ({"storage_container_uuid": NOWHERE}, "storage", f"there is no storage container with the UUID {NOWHERE}"),
    ],
)
async def test_what_is_missing_or_wrong_is_told(
    harness: NutanixHarness, section: dict[str, Any], name: str, said: str
) -> None:
    check = (await checked(harness, **section))[name]
    assert not check.passed
    assert said in check.message
    assert check.remedy


async def test_an_image_that_is_not_named_is_no_fault(harness: NutanixHarness) -> None:
    assert (await checked(harness, image_uuid=None))["image"].passed


async def test_an_image_that_is_still_fetched_is_told(harness: NutanixHarness) -> None:
    harness.prism.images[PLACES["image_uuid"]].size = 0
    assert not (await checked(harness))["image"].passed


async def test_a_wrong_password_is_told(harness: NutanixHarness) -> None:
    found = await checked(harness, password="wrong")
    assert (found["reachable"].passed, found["credentials"].passed) == (True, False)
    assert "password" in found["credentials"].remedy


async def test_what_the_user_may_not_see_is_told(harness: NutanixHarness) -> None:
    harness.prism.denied = {"/images", "/vms"}
    found = await checked(harness)
    assert found["permissions"].message == "The user may not see machines, images."
    assert "role" in found["permissions"].remedy
    assert not found["image"].passed


async def test_a_user_who_sees_nothing_has_the_wrong_credentials(harness: NutanixHarness) -> None:
    harness.prism.denied = {"/vms", "/clusters", "/subnets", "/images"}
    found = await checked(harness)
    assert "refused whatever it asks for" in found["credentials"].message


async def test_one_who_may_not_see_which_versions_there_are_speaks_the_old_one(harness: NutanixHarness) -> None:
    harness.prism.denied = {"versionroutes"}
    assert "v3" in (await checked(harness))["version"].message
