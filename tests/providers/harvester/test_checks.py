"""What `check` says about a Harvester account by what is wrong with it."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from butler.errors import CredentialsInvalid
from butler.providers.contract import CHECKS, Check
from butler.providers.harvester import kinds
from kubekit.model.resource import Address
from tests.providers.harvester.fake import STORAGE_CLASS
from tests.providers.harvester.harness import HarvesterHarness

POD = Address("", "v1", "Pod", "pods", True)
ROLE = Address("rbac.authorization.k8s.io", "v1", "Role", "roles", True)


async def checks(harness: HarvesterHarness, **section: Any) -> dict[str, Check]:
    provider = harness.connected(harness.fake.token, **section)
    try:
        return {one.name: one for one in await provider.check()}
    finally:
        await provider.close()


async def failed(harness: HarvesterHarness, **section: Any) -> Check:
    """The only thing that is wrong."""
    (found,) = [one for one in (await checks(harness, **section)).values() if not one.passed]
    return found


async def test_everything_is_looked_at(harness: HarvesterHarness) -> None:
    found = await checks(harness, storage_class_name=STORAGE_CLASS)
    assert tuple(found) == CHECKS
    assert found["version"].value == "v1.8.2"
    assert found["capacity"].message == "1 of 1 hosts take virtual machines."


async def test_a_cluster_that_is_not_harvester_is_told(harness: HarvesterHarness) -> None:
    await harness.fake.client.delete(kinds.SETTING, "server-version")
    found = await failed(harness)
    assert (found.name, "it is not that of Harvester" in found.message) == ("version", True)


async def test_rights_that_are_missing_are_named(harness: HarvesterHarness) -> None:
    await harness.fake.client.patch(ROLE, "butler", {"rules": []}, "default")
    found = await checks(harness)
    said = found["permissions"].message
    assert said.startswith("In namespace default these are not allowed: create virtualmachines.kubevirt.io, get")
    assert said.endswith("delete secrets.")
    assert not found["capacity"].passed


async def test_credentials_of_nobody_are_told(harness: HarvesterHarness) -> None:
    provider = harness.connected("nobody")
    with pytest.raises(CredentialsInvalid):
        await provider.check()
    await provider.close()


async def test_an_image_that_is_not_there_is_told_with_those_that_are(harness: HarvesterHarness) -> None:
    found = await failed(harness, image_name="default/none")
    assert found.message == "There is no image default/none."
    assert found.remedy == "Name another one in spec.harvester.imageName: default/talos-1.9."


async def test_an_image_that_is_no_disk_is_told(harness: HarvesterHarness) -> None:
    await harness.fake.add_image("cd", url="https://example.com/talos.iso")
    found = await failed(harness, image_name="default/cd")
    assert found.message == "Image default/cd is a CD; machines boot from a disk image, qcow2 or raw."


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ({"progress": 12, "conditions": [{"type": "Imported", "status": "Unknown"}]}, "is still being imported: 12 %."),
        (
            {
                "conditions": [
                    {"type": "Imported", "status": "False", "message": "404"},
                    {"type": "RetryLimitExceeded", "status": "True"},
                ]
            },
            "was not imported: 404.",
        ),
    ],
)
async def test_an_image_that_is_not_imported_is_told(harness: HarvesterHarness, status: Any, said: str) -> None:
    await harness.fake.add_image("young")
    await harness.fake.client.patch(kinds.IMAGE, "young", {"status": status}, "default", subresource="status")
    assert (await failed(harness, image_name="default/young")).message == f"Image default/young {said}"


async def test_a_network_that_is_not_there_is_told_with_those_that_are(harness: HarvesterHarness) -> None:
    found = await failed(harness, network_name="default/none")
    assert found.message == "There is no VM network default/none."
    assert found.remedy == "Name another one in spec.harvester.networkName: default/workloads."


async def test_a_storage_class_that_is_not_there_is_told(harness: HarvesterHarness) -> None:
    assert (await failed(harness, storage_class_name="none")).message == "There is no storage class none."


async def test_hosts_that_take_nothing_are_told(harness: HarvesterHarness) -> None:
    await harness.fake.client.patch(kinds.NODE, "harvester-0", {"spec": {"unschedulable": True}})
    assert (await failed(harness)).message == "0 of 1 hosts take virtual machines."


async def test_a_quota_that_is_used_up_is_told(harness: HarvesterHarness) -> None:
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "small", "namespace": "default"}}
    await harness.fake.client.create({**quota, "spec": {"hard": {"limits.memory": "4Gi"}}}, kinds.QUOTA)
    container = {"name": "compute", "image": "i", "resources": {"limits": {"memory": "4096Mi"}}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "virt-launcher", "namespace": "default"}}
    await harness.fake.client.create({**pod, "spec": {"containers": [container]}}, POD)
    async with asyncio.timeout(100), aclosing(harness.fake.client.watch(kinds.QUOTA)) as changes:
        async for change in changes:
            if change.item is not None and change.item.get("status", {}).get("used") == {"limits.memory": "4Gi"}:
                break
    assert (await failed(harness)).message == "Nothing is left of ResourceQuota small (limits.memory)."
