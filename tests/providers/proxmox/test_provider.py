"""What is particular to Proxmox: hosts, templates, numbers, and what it says when something is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from butler.api.sections.proxmox import VmidRange
from butler.errors import (
    CapacityExhausted,
    CredentialsInvalid,
    MachineRejected,
    ProviderError,
    ProviderUnavailable,
)
from butler.providers.contract import ExtraDisk, Known, Machine, MachineOrder, Power
from butler.providers.proxmox import vm
from butler.providers.testing.driver import driving
from tests.providers.proxmox.fake import GIB, Call, Guest
from tests.providers.proxmox.harness import ProxmoxHarness, running


async def made(harness: ProxmoxHarness, name: str = "web", **changes: Any) -> tuple[Machine, Guest]:
    """A machine that runs, from both sides."""
    order = replace(harness.order(name), **changes)
    async with driving(harness) as driver:
        machine = await driver.bring_up(order)
    return machine, harness.guest(order.token)


def asked(harness: ProxmoxHarness, method: str, end: str) -> list[Call]:
    return [one for one in harness.pve.calls if one.method == method and one.route.endswith(end)]


async def failing(harness: ProxmoxHarness, order: MachineOrder) -> ProviderError:
    """What creating a machine ends with."""
    provider, task = await harness.connect(), ""
    try:
        for _ in range(20):
            task = (await provider.create(order, Known(task=task))).task
            await harness.pass_time(harness.step)
    except ProviderError as error:
        return error
    finally:
        await provider.close()
    raise AssertionError("it does not end")


async def test_a_machine_is_known_by_the_uuid_its_guest_sees() -> None:
    async with running() as harness:
        machine, guest = await made(harness)
    token = harness.order("web").token
    assert machine.id == f"proxmox://{token}"
    assert len(machine.id) == 46
    assert guest.conf["smbios1"] == f"uuid={token}"


async def test_a_machine_tells_only_addresses_of_its_own_cards() -> None:
    async with running() as harness:
        machine, guest = await made(harness)
    assert machine.mac_addresses == (guest.conf["net0"].partition(",")[0].partition("=")[2].lower(),)
    assert [one.rpartition(".")[0] for one in machine.addresses] == ["10.40.0", "93.184.216"]


async def test_a_machine_without_an_agent_runs_or_does_not_and_tells_no_address() -> None:
    async with running() as harness:
        machine, guest = await made(harness)
        guest.conf["agent"] = "0"
        provider, order = await harness.connect(), harness.order("web")
        assert await provider.find(order.name, order.token) == replace(machine, addresses=())
        guest.running_since = None
        found = await provider.find(order.name, order.token)
        await provider.close()
    assert found is not None
    assert found.power is Power.STOPPED


async def test_tags_and_notes_say_whose_it_is() -> None:
    async with running() as harness:
        _, guest = await made(harness, labels={"purpose": "conformance", "tier": "1"})
    token = harness.order("web").token
    assert guest.conf["tags"] == f"butler;butler-{token}"
    assert guest.conf["description"].splitlines()[2:] == [
        f"butler-token: {token}, VM {guest.vmid}",
        "purpose=conformance",
        "tier=1",
    ]


async def test_bridge_vlan_and_cpu_of_the_section_win_over_the_template() -> None:
    async with running(bridge="vmbr1", vlan=40, cpu_type="host") as harness:
        machine, guest = await made(harness)
    mac = machine.mac_addresses[0].upper()
    assert guest.conf["net0"] == f"virtio={mac},bridge=vmbr1,tag=40"
    assert guest.conf["cpu"] == "host"


async def test_a_volume_that_proxmox_makes_for_cloud_init_gives_way_to_ours() -> None:
    async with running() as harness:
        theirs = {"ide0": "ceph:vm-9000-cloudinit,media=cdrom", "ide2": "none,media=cdrom"}
        harness.pve.guests[9000].conf |= theirs
        _, guest = await made(harness)
    assert guest.conf["ide0"].startswith("local:iso/butler-")
    assert guest.conf["ide2"] == "none,media=cdrom"


async def test_further_disks_may_be_on_other_storages() -> None:
    async with running(nodes=("pve1",)) as harness:
        _, guest = await made(harness, extra_disks=(ExtraDisk(5), ExtraDisk(7, "local-lvm")))
    assert guest.conf["scsi1"] == f"ceph:vm-{guest.vmid}-disk-1,size=5G"
    assert guest.conf["scsi2"] == f"local-lvm:vm-{guest.vmid}-disk-0,size=7G"


async def test_a_disk_image_becomes_a_machine() -> None:
    async with running(pool="butler") as harness:
        _, guest = await made(harness, image="local:import/flatcar.qcow2", disk_gb=30)
    assert guest.conf["scsi0"] == f"ceph:vm-{guest.vmid}-disk-0,size=30G"
    assert (guest.conf["boot"], guest.conf["cpu"], guest.conf["net0"][-12:]) == (
        "order=scsi0",
        "x86-64-v2-AES",
        "bridge=vmbr0",
    )
    assert asked(harness, "POST", "/qemu")[0].given["scsi0"] == "ceph:0,import-from=local:import/flatcar.qcow2"
    assert asked(harness, "POST", "/qemu")[0].given["pool"] == "butler"


async def test_a_template_may_be_linked_to() -> None:
    async with running(full_clone=False, pool="butler") as harness:
        await made(harness)
    (call,) = asked(harness, "POST", "/clone")
    assert (call.given["full"], call.given.get("storage"), call.given["pool"]) == ("0", None, "butler")


async def test_the_host_with_most_free_memory_gets_the_machine() -> None:
    async with running() as harness:
        harness.pve.hosts["pve1"].used = 200 * GIB
        _, first = await made(harness, "one")
        harness.pve.hosts["pve2"].used = 250 * GIB
        _, second = await made(harness, "two")
    assert (first.node, second.node) == ("pve2", "pve1")


async def test_a_host_that_is_down_gets_no_machine() -> None:
    async with running() as harness:
        harness.pve.hosts["pve1"].used = 200 * GIB
        harness.pve.hosts["pve2"].is_online = False
        _, guest = await made(harness)
    assert guest.node == "pve1"


async def test_machines_that_are_coming_count_as_memory_that_is_used() -> None:
    async with running() as harness:
        for number in range(2):
            provider = await harness.connect()
            order = replace(harness.order(f"big-{number}"), memory_mb=150 * 1024)
            while not (machine := await provider.create(order)).id:
                await harness.pass_time(harness.step)
            assert machine.power is Power.STARTING
            await provider.close()
        nodes = {one.node for one in harness.pve.guests.values() if not one.is_template}
    assert nodes == {"pve1", "pve2"}


async def test_a_template_on_local_disks_keeps_its_clones_at_home() -> None:
    async with running(template_id=9100, storage="local-lvm") as harness:
        harness.pve.add_template(9100, "local", "pve1", "local-lvm")
        harness.pve.hosts["pve1"].used = 200 * GIB
        _, guest = await made(harness)
    assert guest.node == "pve1"


async def test_a_template_by_name_may_be_on_every_host() -> None:
    async with running(template_id=None, template="golden", storage="local-lvm") as harness:
        harness.pve.add_template(9100, "golden", "pve1", "local-lvm")
        harness.pve.add_template(9200, "golden", "pve2", "local-lvm")
        harness.pve.hosts["pve1"].used = 200 * GIB
        _, guest = await made(harness)
    assert guest.node == "pve2"
    assert asked(harness, "POST", "/clone")[0].at == {"node": "pve2", "vmid": "9200"}


async def test_a_disk_image_that_only_one_host_has_keeps_machines_there() -> None:
    async with running() as harness:
        harness.pve.hosts["pve1"].used = 200 * GIB
        del harness.pve.storages["local"].on("pve2")["local:import/flatcar.qcow2"]
        _, guest = await made(harness, image="local:import/flatcar.qcow2")
    assert guest.node == "pve1"


async def test_a_linked_clone_may_be_on_another_host_wherever_other_disks_go() -> None:
    async with running(full_clone=False, storage="local-lvm") as harness:
        harness.pve.hosts["pve1"].used = 200 * GIB
        _, guest = await made(harness)
    assert guest.node == "pve2"


async def test_a_machine_that_was_moved_to_another_host_is_found() -> None:
    async with running() as harness:
        machine, guest = await made(harness)
        provider = await harness.connect()
        order = harness.order("web")
        assert await provider.find(order.name, order.token) == machine
        guest.node = "pve1" if guest.node == "pve2" else "pve2"
        assert await provider.find(order.name, order.token) == machine
        await provider.close()


async def test_a_machine_on_a_host_that_is_down_is_not_taken_for_lost() -> None:
    async with running() as harness:
        _, guest = await made(harness)
        harness.pve.hosts[guest.node].is_online = False
        provider = await harness.connect()
        with pytest.raises(ProviderUnavailable, match="595"):
            await provider.find("web", harness.order("web").token)
        await provider.close()


async def test_numbers_are_of_the_range() -> None:
    async with running(vmid_range=VmidRange(start=500, end=502)) as harness:
        numbers = sorted([(await made(harness, f"web-{number}"))[1].vmid for number in range(3)])
        assert numbers == [500, 501, 502]
        error = await failing(harness, harness.order("one-more"))
    assert isinstance(error, CapacityExhausted)
    assert "no free number from 500 to 502" in str(error)


async def test_a_number_of_someone_we_cannot_see_is_left_alone() -> None:
    async with running(vmid_range=VmidRange(start=500, end=501)) as harness:
        token = harness.order("web").token
        first = next(vm.numbers(token, range(500, 502)))
        harness.pve.add_guest(first, "pve1", {"name": "secret"})
        harness.pve.unseen.add(first)
        _, guest = await made(harness)
    assert {guest.vmid, first} == {500, 501}


async def test_a_machine_that_was_begun_elsewhere_is_waited_for() -> None:
    """Another process has asked a moment ago: its clone has the number, and says nothing of itself."""
    async with running() as harness:
        order, one, other = harness.order("web"), await harness.connect(), await harness.connect()
        await one.create(order)
        await harness.pass_time(2)
        assert (await other.create(order)).id == ""
        assert len(asked(harness, "POST", "/clone")) == 1
        for provider in (one, other):
            await provider.close()


async def test_a_copy_of_a_machine_is_someone_elses() -> None:
    async with running() as harness:
        _, guest = await made(harness)
        order = harness.order("web")
        copied = {**guest.conf, "smbios1": "uuid=12345678-0000-4000-8000-000000000000"}
        harness.pve.add_guest(guest.vmid + 1, guest.node, copied)
        async with driving(harness) as driver:
            await driver.take_down(order)
        provider = await harness.connect()
        assert await provider.find(order.name, order.token) is None
        assert await provider.inventory() == ()
        await provider.close()
        assert guest.vmid + 1 in harness.pve.guests


async def test_a_clone_that_may_be_on_its_way_is_waited_for_before_its_note_goes() -> None:
    """The answer to the clone was lost, and its worker is slow: nothing shows that there will be a machine."""
    async with running() as harness:
        order, provider = harness.order("web"), await harness.connect()
        await provider.create(order)
        (task,) = [one for one in harness.pve.tasks.values() if one.kind == "qmclone"]
        task.steps = [(at + 10, step) for at, step in task.steps]
        await harness.pass_time(5)
        assert not await provider.delete(order.name, order.token)
        assert asked(harness, "DELETE", "/content/{volume}") == []
        async with driving(harness) as driver:
            await driver.take_down(order)
        await harness.pass_time(60)
        assert (await harness.machines(), await harness.leftovers()) == ([], [])
        await provider.close()


async def test_a_full_storage_is_no_room() -> None:
    async with running() as harness:
        harness.pve.storages["ceph"].is_full = True
        error = await failing(harness, harness.order("web"))
    assert isinstance(error, CapacityExhausted)
    assert "no space left" in str(error)


async def test_a_machine_that_is_too_large_for_its_host_is_refused_with_its_reason() -> None:
    async with running() as harness:
        error = await failing(harness, replace(harness.order("web"), cpu=65))
    assert isinstance(error, MachineRejected)
    assert "MAX 64 vcpus allowed per VM on this node" in str(error)


@pytest.mark.parametrize(
    ("section", "image", "said"),
    [
        ({"bridge": "vmbr7"}, "", "bridge 'vmbr7' does not exist"),
        ({"storage": "nowhere"}, "", "storage 'nowhere' does not exist"),
        ({"iso_storage": "nowhere"}, "", "storage 'nowhere' does not exist"),
        ({"iso_storage": "ceph"}, "", "can't upload to storage type 'rbd'"),
        ({"pool": "nowhere"}, "", "pool 'nowhere' does not exist"),
        ({"template_id": None}, "", "neither the ProviderConfig nor the machine says what to make it of"),
        ({}, "1234", "there is no template 1234"),
        ({}, "local:import/none.qcow2", "there is no local:import/none.qcow2"),
        ({"template_id": 9300, "nodes": ("pve2",)}, "", "the template 9300 is on pve1, not on a host"),
    ],
)  # fmt: skip
async def test_what_does_not_exist_is_refused_by_name(section: dict[str, Any], image: str, said: str) -> None:
    async with running(**section) as harness:
        harness.pve.add_template(9300, "at-home", "pve1", "local-lvm")
        error = await failing(harness, replace(harness.order("web"), image=image))
        assert isinstance(error, MachineRejected)
        assert said in str(error)
        async with driving(harness) as driver:
            await driver.take_down(harness.order("web"))
        assert (await harness.machines(), await harness.leftovers()) == ([], [])


async def test_too_many_disks_are_refused() -> None:
    async with running() as harness:
        error = await failing(harness, replace(harness.order("web"), extra_disks=(ExtraDisk(1),) * 40))
    assert isinstance(error, MachineRejected)


@pytest.mark.parametrize(
    "privilege",
    [
        "VM.Clone", "VM.Allocate", "VM.Config.CPU", "VM.Config.Memory", "VM.Config.CDROM", "VM.Config.HWType",
        "VM.Config.Options", "VM.PowerMgmt", "Datastore.AllocateSpace", "Datastore.AllocateTemplate", "SDN.Use",
    ],
)  # fmt: skip
async def test_what_may_not_be_done_is_said_with_the_privilege(privilege: str) -> None:
    async with running() as harness:
        del harness.pve.acl["/"][privilege]
        error = await failing(harness, harness.order("web"))
    assert isinstance(error, CredentialsInvalid)
    assert f", {privilege})" in str(error)


async def test_a_machine_whose_agent_may_not_be_asked_says_so() -> None:
    async with running() as harness:
        for one in ("VM.Monitor", "VM.GuestAgent.Audit"):
            del harness.pve.acl["/"][one]
        error = await failing(harness, harness.order("web"))
    assert isinstance(error, CredentialsInvalid)


async def test_a_machine_under_protection_stays_and_says_so() -> None:
    async with running() as harness:
        _, guest = await made(harness)
        guest.conf["protection"] = "1"
        guest.running_since = None
        provider = await harness.connect()
        with pytest.raises(MachineRejected, match="protection mode enabled"):
            await provider.delete("web", harness.order("web").token)
        await provider.close()


async def test_a_machine_that_is_locked_is_waited_for() -> None:
    async with running() as harness:
        _, guest = await made(harness)
        guest.conf["lock"] = "backup"
        provider = await harness.connect()
        assert not await provider.delete("web", harness.order("web").token)
        assert asked(harness, "POST", "/status/stop") == []
        del guest.conf["lock"]
        assert not await provider.delete("web", harness.order("web").token)
        assert len(asked(harness, "POST", "/status/stop")) == 1
        await provider.close()


async def test_a_volume_that_did_not_arrive_is_written_again() -> None:
    async with running() as harness:
        order, provider = harness.order("web"), await harness.connect()
        await provider.create(order)
        (copying,) = [one for one in harness.pve.tasks.values() if one.kind == "imgcopy"]
        copying.exit = "import failed: no space left on device"
        await provider.close()
        await made(harness)
        assert await harness.was_booted_with(order.token, order.user_data)
