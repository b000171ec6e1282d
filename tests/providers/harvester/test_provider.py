"""What is particular about machines on Harvester."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from butler.errors import CapacityExhausted, MachineRejected, ProviderError, ProviderUnavailable
from butler.providers.contract import ExtraDisk, Machine, MachineOrder, Power
from butler.providers.harvester import kinds
from butler.providers.harvester.provider import Harvester
from butler.providers.harvester.vm import CLAIM_TEMPLATES
from butler.providers.harvester.vm_state import SHORT_OF_QUOTA
from butler.providers.testing.driver import connected, driving
from kubekit.model.resource import Object
from tests.providers.harvester.fake import STORAGE_CLASS
from tests.providers.harvester.harness import HarvesterHarness, embedded

NETWORK_DATA = "version: 2\nethernets:\n  eth0:\n    addresses: [10.40.7.7/24, 'fe80::1/64']\n"


@pytest.fixture
async def cloning(keys: Path, tmp_path: Path) -> AsyncIterator[HarvesterHarness]:
    """One whose images are of CDI's making."""
    async with embedded(keys, tmp_path / "server", image_name="default/cloned") as made:
        await made.fake.add_image("cloned", backend="cdi", targetStorageClassName=STORAGE_CLASS)
        yield made


async def brought_up(harness: HarvesterHarness, order: MachineOrder) -> Machine:
    async with driving(harness) as driver:
        return await driver.bring_up(order)


async def refusal(harness: HarvesterHarness, order: MachineOrder, kind: type[ProviderError] = MachineRejected) -> str:
    async with connected(harness) as provider:
        with pytest.raises(kind) as raised:
            await provider.create(order)
    return str(raised.value)


async def test_user_data_is_in_a_secret_and_never_in_the_vm(harness: HarvesterHarness) -> None:
    order = replace(harness.order("web"), user_data="#cloud-config\n" + "x" * 4000, network_data=NETWORK_DATA)
    await brought_up(harness, order)
    vm = await harness.vm(order.token)
    (volume,) = [one for one in vm["spec"]["template"]["spec"]["volumes"] if "cloudInitNoCloud" in one]
    name = {"name": f"web-{order.token[:8]}-init"}
    assert volume["cloudInitNoCloud"] == {"secretRef": name, "networkDataSecretRef": name}
    assert "x" * 100 not in json.dumps(vm)


async def test_the_secret_goes_when_people_delete_the_vm(harness: HarvesterHarness) -> None:
    order = harness.order("web")
    await brought_up(harness, order)
    (secret,) = await harness.all(kinds.SECRET)
    uid = (await harness.vm(order.token))["metadata"]["uid"]
    assert [one["uid"] for one in secret["metadata"]["ownerReferences"]] == [uid]


async def test_a_machine_that_boots_with_nothing_has_no_secret(harness: HarvesterHarness) -> None:
    await brought_up(harness, replace(harness.order("bare"), user_data=""))
    assert await harness.all(kinds.SECRET) == ()


async def test_disks_are_of_the_storage_class_of_their_image(harness: HarvesterHarness) -> None:
    order = replace(harness.order("web"), extra_disks=(ExtraDisk(30, "fast"), ExtraDisk(50)))
    await brought_up(harness, order)
    image = await harness.fake.client.get(kinds.IMAGE, "talos-1.9", "default")
    part = f"{order.token[:8]}-"
    claims = {one["metadata"]["name"].rpartition(part)[2]: one for one in await harness.all(kinds.CLAIM)}
    assert claims["root"]["spec"]["storageClassName"] == image["status"]["storageClassName"]
    assert claims["root"]["metadata"]["annotations"] == {"harvesterhci.io/imageId": "default/talos-1.9"}
    assert claims["root"]["spec"]["volumeMode"] == "Block"
    assert claims["disk-1"]["spec"]["storageClassName"] == "fast"
    assert "storageClassName" not in claims["disk-2"]["spec"]


async def test_disks_without_an_image_are_of_the_configured_storage_class(harness: HarvesterHarness) -> None:
    order = replace(harness.order("web"), extra_disks=(ExtraDisk(30),))
    provider = harness.connected(harness.fake.token, storage_class_name=STORAGE_CLASS)
    await provider.create(order)
    await provider.close()
    templates = json.loads((await harness.vm(order.token))["metadata"]["annotations"][CLAIM_TEMPLATES])
    assert [one["spec"]["storageClassName"] for one in templates][1] == STORAGE_CLASS
    assert templates[0]["spec"]["storageClassName"].startswith("lh-")


async def test_an_image_of_cdi_is_cloned_and_nothing_is_left_of_it(cloning: HarvesterHarness) -> None:
    order = replace(cloning.order("web"), extra_disks=(ExtraDisk(30),))
    await brought_up(cloning, order)
    root, further = sorted(await cloning.all(kinds.DATA_VOLUME), key=lambda one: one["metadata"]["name"], reverse=True)
    assert root["spec"]["source"] == {"pvc": {"namespace": "default", "name": "cloned"}}
    assert root["spec"]["storage"]["storageClassName"] == STORAGE_CLASS
    assert further["spec"]["source"] == {"blank": {}}
    assert len(await cloning.all(kinds.CLAIM)) == 2
    async with driving(cloning) as driver:
        await driver.take_down(order)
    assert await cloning.leftovers() == []


async def test_a_data_volume_that_outlived_its_vm_goes_with_its_disk(cloning: HarvesterHarness) -> None:
    order = cloning.order("web")
    await brought_up(cloning, order)
    (volume,) = await cloning.all(kinds.DATA_VOLUME)
    orphan = {"metadata": {"ownerReferences": None}}
    await cloning.fake.client.patch(kinds.DATA_VOLUME, volume["metadata"]["name"], orphan, "default")
    await cloning.lose(order.token)
    async with driving(cloning) as driver:
        await driver.take_down(order)
    assert await cloning.leftovers() == []


async def test_a_disk_that_another_vm_uses_is_waited_for(harness: HarvesterHarness) -> None:
    order = harness.order("web")
    await brought_up(harness, order)
    (claim,) = [one["metadata"]["name"] for one in await harness.all(kinds.CLAIM)]
    await harness.lose(order.token)
    await harness.add_stranger("borrower")
    stranger = await harness.vm("")
    volume = {"name": "root", "persistentVolumeClaim": {"claimName": claim}}
    await harness.change(stranger, {"spec": {"template": {"spec": {"volumes": [volume]}}}})
    async with connected(harness) as provider:
        with pytest.raises(ProviderUnavailable, match="currently attached to VMs: borrower"):
            await provider.delete(order.name, order.token)


async def test_an_image_may_be_called_as_harvester_shows_it(harness: HarvesterHarness) -> None:
    await harness.fake.add_image("image-x7k2p", displayName="Talos 1.10")
    order = replace(harness.order("web"), image="default/Talos 1.10")
    await brought_up(harness, order)
    assert [one.image for one in await harness.machines()] == ["default/image-x7k2p"]


async def test_a_name_that_several_images_are_shown_by_is_refused(harness: HarvesterHarness) -> None:
    for name in ("image-1", "image-2"):
        await harness.fake.add_image(name, displayName="talos")
    said = await refusal(harness, replace(harness.order("web"), image="talos"))
    assert said.endswith("several images are shown as default/talos: image-1, image-2; name one of these")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"url": "https://example.com/metal-amd64.iso"}, "is a CD; machines boot from a disk image, qcow2 or raw"),
        ({"displayName": "ubuntu.iso"}, "is a CD; machines boot from a disk image, qcow2 or raw"),
        (
            {"url": f"https://factory.example.com/image/{'ab' * 32}/v1.9.0/metal-amd64.qcow2"},
            "is Talos for metal; here Talos gets its configuration only when it is for nocloud",
        ),
    ],
)
async def test_an_image_that_cannot_boot_is_refused(harness: HarvesterHarness, spec: dict[str, str], said: str) -> None:
    await harness.fake.add_image("odd", **spec)
    assert await refusal(harness, replace(harness.order("web"), image="odd")) == (
        f"harvester: machine 'web': image default/odd {said}"
    )


async def test_an_image_that_is_not_there_is_refused(harness: HarvesterHarness) -> None:
    said = await refusal(harness, replace(harness.order("web"), image="elsewhere/none"))
    assert said.endswith("there is no image elsewhere/none")


async def test_an_image_that_is_on_its_way_is_waited_for(harness: HarvesterHarness) -> None:
    await harness.fake.add_image("young")
    status = {"status": {"progress": 40, "conditions": [{"type": "Imported", "status": "Unknown"}]}}
    await harness.fake.client.patch(kinds.IMAGE, "young", status, "default", subresource="status")
    said = await refusal(harness, replace(harness.order("web"), image="young"), ProviderUnavailable)
    assert said.endswith("image default/young is still being imported: 40 %")


async def test_a_disk_that_is_smaller_than_the_image_is_refused(harness: HarvesterHarness) -> None:
    said = await refusal(harness, replace(harness.order("web"), disk_gb=9))
    assert said.endswith("image default/talos-1.9 needs a disk of 10 GB, and 9 GB were asked for")


async def test_a_machine_without_any_image_is_refused(harness: HarvesterHarness) -> None:
    provider = harness.connected(harness.fake.token, image_name=None)
    with pytest.raises(MachineRejected, match=r"neither the request nor spec\.harvester\.imageName names an image"):
        await provider.create(harness.order("web"))
    await provider.close()


async def test_a_network_that_is_not_there_is_refused(harness: HarvesterHarness) -> None:
    provider = harness.connected(harness.fake.token, network_name="default/none")
    with pytest.raises(MachineRejected, match='"none" not found'):
        await provider.create(harness.order("web"))
    await provider.close()
    assert await harness.leftovers() == []


async def test_only_addresses_of_the_machines_own_interfaces_are_told(harness: HarvesterHarness) -> None:
    machine = await brought_up(harness, harness.order("web"))
    assert machine.addresses == ("10.40.0.1", "203.0.113.1")
    assert machine.mac_addresses == ("52:54:00:00:00:01",)


async def test_without_a_guest_agent_the_configured_address_is_told(harness: HarvesterHarness) -> None:
    harness.fake.controllers.guest_agent = False
    machine = await brought_up(harness, replace(harness.order("web"), network_data=NETWORK_DATA))
    assert machine.addresses == ("10.40.7.7",)


async def test_without_a_guest_agent_and_an_address_none_is_told(harness: HarvesterHarness) -> None:
    harness.fake.controllers.guest_agent = False
    order = harness.order("web")
    async with connected(harness) as provider:
        for _ in range(4):
            machine = await provider.create(order)
            await harness.pass_time(10)
    assert (machine.power, machine.addresses) == (Power.RUNNING, ())


async def test_no_room_on_any_host_is_told_until_there_is(harness: HarvesterHarness) -> None:
    harness.fake.controllers.unschedulable = True
    order = harness.order("web")
    async with connected(harness) as provider:
        await provider.create(order)
        await harness.pass_time(5)
        with pytest.raises(CapacityExhausted, match="no host has room for it: 0/1 nodes are available"):
            await provider.create(order)
        found = await provider.find(order.name, order.token)
    assert found is not None
    assert found.power is Power.STARTING
    harness.fake.controllers.unschedulable = False
    await brought_up(harness, order)


async def test_a_vm_that_harvester_stopped_for_its_quota_is_started_again(harness: HarvesterHarness) -> None:
    order = harness.order("web")
    async with connected(harness) as provider:
        await provider.create(order)
        vm = await harness.vm(order.token)
        told = {"metadata": {"annotations": {SHORT_OF_QUOTA: "limits.memory: 1Gi left"}}}
        await harness.change(vm, {**told, "spec": {"runStrategy": "Halted"}})
        await harness.pass_time(5)
        with pytest.raises(CapacityExhausted, match=r"Harvester has stopped it: limits\.memory: 1Gi left"):
            await provider.create(order)
    assert (await harness.vm(order.token))["spec"]["runStrategy"] == "RerunOnFailure"


async def test_what_keeps_a_vm_from_starting_is_told(harness: HarvesterHarness) -> None:
    order = harness.order("web")
    async with connected(harness) as provider:
        await provider.create(order)
        conditions = [{"type": "Failure", "status": "True", "message": "no such\nbackend"}]
        status: Object = {"printableStatus": "CrashLoopBackOff", "conditions": conditions}
        await harness.change(await harness.vm(order.token), {"status": status}, "status")
        with pytest.raises(ProviderError) as raised:
            await provider.create(order)
    assert str(raised.value) == "harvester: machine 'web': it does not start: CrashLoopBackOff: no such backend"
    assert raised.value.retryable


async def test_a_name_whose_vm_is_just_going_is_waited_for(harness: HarvesterHarness) -> None:
    order = harness.order("web")
    await brought_up(harness, order)
    successor = replace(order, token="44444444-4444-4444-8444-444444444444")
    assert "the name web is taken in namespace default" in await refusal(harness, successor)
    async with connected(harness) as provider:
        await provider.delete(order.name, order.token)
    assert "a VM of this name is just going" in await refusal(harness, successor, ProviderUnavailable)


async def test_the_inventory_has_disks_and_secrets(harness: HarvesterHarness) -> None:
    order = harness.order("web")
    await brought_up(harness, order)
    async with connected(harness) as provider:
        found = {one.kind: (one.name, one.token, one.size) for one in await provider.inventory()}
    part = f"web-{order.token[:8]}"
    assert found == {
        "vm": ("web", order.token, "2 vCPU, 4096 MiB"),
        "disk": (f"{part}-root", order.token, "20Gi"),
        "secret": (f"{part}-init", order.token, ""),
    }


async def test_networks_are_told_by_their_vlan(harness: HarvesterHarness) -> None:
    async with connected(harness) as provider:
        (network,) = await provider.networks()
    assert (network.id, network.detail) == ("default/workloads", "VLAN 40")


async def test_a_machine_takes_few_calls(harness: HarvesterHarness) -> None:
    order = replace(harness.order("web"))
    async with connected(harness) as provider:
        assert isinstance(provider, Harvester)
        await provider.create(order)
        assert [call.partition(" ")[0] for call in harness.faults.calls] == ["GET", "GET", "PATCH", "POST", "PATCH"]
        await brought_up(harness, order)
        harness.faults.forget()
        await provider.find(order.name, order.token)
        assert len(harness.faults.calls) == 2
