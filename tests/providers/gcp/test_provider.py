"""What is particular to Google Cloud."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from butler.errors import CapacityExhausted, CredentialsInvalid, MachineRejected, ProviderError, ProviderUnavailable
from butler.providers.contract import ExtraDisk, Known, MachineOrder, Provider
from butler.providers.gcp import sizes
from butler.providers.testing import Fault
from butler.providers.testing.driver import driving
from tests.providers.gcp.fake_issuer import key_file
from tests.providers.gcp.fake_project import PROJECT, Thing, image, subnetwork
from tests.providers.gcp.harness import GcpHarness
from tests.providers.gcp.worlds import asked, brought_up, connected, google_cloud, zones

A, B, C = "us-central1-a", "us-central1-b", "us-central1-c"


@pytest.mark.parametrize(
    ("cpu", "memory_mb", "name"),
    [
        (1, 1024, "e2-highcpu-2"),
        (2, 4096, "e2-standard-2"),
        (2, 16384, "e2-highmem-2"),
        (4, 4096, "e2-highcpu-4"),
        (4, 16384, "e2-standard-4"),
        (4, 65536, "e2-highmem-8"),
        (33, 65536, "n2-standard-48"),
        (128, 884736, "n2-highmem-128"),
        (128, 900000, ""),
    ],
)
def test_the_smallest_machine_type_is_taken(cpu: int, memory_mb: int, name: str) -> None:
    assert sizes.machine_type(cpu, memory_mb) == name


async def test_a_machine_type_that_is_named_wins() -> None:
    async with google_cloud(machine_type="n2-standard-48") as world:
        await brought_up(world, world.order("large"))
        (seen,) = await world.machines()
        assert seen.cpu == 48


async def test_a_machine_that_no_type_is_large_enough_for_is_refused() -> None:
    async with google_cloud() as world, connected(world) as provider:
        with pytest.raises(MachineRejected, match=r"128 cores and 4000000 MB: name one as spec\.gcp\.machineType"):
            await provider.create(replace(world.order("huge"), cpu=128, memory_mb=4_000_000))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "1st"}, "has to begin with a letter"),
        ({"network_data": "version: 2"}, "networkData"),
        ({"image": "Not An Image"}, "malformed"),
        ({"disk_gb": 5}, "cannot be smaller than the image size"),
    ],
)
async def test_what_google_cloud_cannot_do_is_said(change: dict[str, Any], said: str) -> None:
    async with google_cloud() as world, connected(world) as provider:
        with pytest.raises(MachineRejected, match=said):
            await provider.create(replace(world.order("odd"), **change))


async def test_an_image_has_to_be_named_somewhere() -> None:
    async with google_cloud(image_family=None) as world, connected(world) as provider:
        with pytest.raises(MachineRejected, match=r"set spec\.gcp\.image"):
            await provider.create(world.order("blank"))


async def test_labels_are_spelled_as_google_wants_them() -> None:
    async with google_cloud() as world:
        labels = {"butler.butlerlabs.dev/Cluster": "Prod.EU", "9lives": "x" * 80}
        order = replace(world.order("labelled"), labels=labels)
        await brought_up(world, order)
        found = world.instance(order.token).body["labels"]
        assert found == {
            "butler_butlerlabs_dev_cluster": "prod_eu",
            "x9lives": "x" * 63,
            "butler-token": order.token,
        }


async def test_a_machine_is_as_the_section_says() -> None:
    section = {"tags": ("k8s", "web"), "service_account": "nodes@x.iam.gserviceaccount.com", "public_ip": False}
    async with google_cloud(**section, disk_type="pd-ssd", subnetwork="default") as world:
        order = replace(world.order("shaped"), extra_disks=(ExtraDisk(30, "pd-balanced"),))
        machine = await brought_up(world, order)
        ((_, _, _, body),) = asked(world, "POST", "/instances")
        assert body["tags"] == {"items": ["k8s", "web"]}
        assert body["serviceAccounts"][0]["email"] == "nodes@x.iam.gserviceaccount.com"
        assert body["networkInterfaces"] == [
            {"subnetwork": f"projects/{PROJECT}/regions/us-central1/subnetworks/default"}
        ]
        kinds = [one["initializeParams"]["diskType"].rpartition("/")[2] for one in body["disks"]]
        assert kinds == ["pd-ssd", "pd-balanced"]
        assert len(machine.addresses) == 1


async def test_the_hardware_address_is_made_from_the_address() -> None:
    async with google_cloud() as world:
        machine = await brought_up(world, world.order("plain"))
        digits = [int(one) for one in machine.addresses[0].split(".")]
        assert machine.mac_addresses == (":".join(f"{one:02x}" for one in (0x42, 0x01, *digits)),)
        assert machine.addresses[1].startswith("34.")


async def test_the_disk_of_someone_else_is_never_attached() -> None:
    """Compute Engine takes a disk of the same name if there is one, and would delete it with the machine."""
    async with google_cloud() as world:
        path = f"projects/{PROJECT}/zones/{A}/disks/web"
        world.google.things[path] = Thing(path, {"sizeGb": "10", "labels": {}})
        order = world.order("web")
        await brought_up(world, order)
        async with driving(world) as driver:
            await driver.take_down(order)
        assert [one.path for one in world.google.existing("disks")] == [path]


async def test_user_data_is_never_read_back() -> None:
    async with google_cloud() as world:
        order = world.order("quiet")
        await brought_up(world, order)
        reads = [query.get("fields", "") for verb, path, query, _ in world.google.requests if "instances" in path]
        assert not [one for one in reads if "metadata" in one]
        assert all(reads[:1] + reads[2:])


async def test_a_machine_takes_few_calls() -> None:
    async with google_cloud(zone=A) as world:
        order = world.order("frugal")
        async with driving(world) as driver:
            await driver.bring_up(order)
            coming = list(world.faults.calls)
            await driver.take_down(order)
        assert len(coming) == 7, coming
        assert len(world.faults.calls) - len(coming) == 7, world.faults.calls[len(coming) :]


async def test_a_proxy_is_the_way_to_everything() -> None:
    """The fake takes the place of the proxy here; the names behind it lead nowhere."""
    async with google_cloud(endpoint="http://compute.example.invalid") as world:
        key = key_file("http://oauth2.example.invalid")
        provider = world.connected(key, proxy=world.url)
        try:
            machine = await provider.create(world.order("behind"))
        finally:
            await provider.close()
        assert machine.task
        assert zones(world) == [A]


async def test_a_zone_without_room_is_left_for_the_next() -> None:
    async with google_cloud() as world:
        world.google.exhausted = {A, B}
        machine = await brought_up(world, world.order("wanderer"))
        assert machine.id == f"gce://{PROJECT}/{C}/wanderer"
        assert (zones(world), await world.leftovers()) == ([C], [])


async def test_when_no_zone_has_room_that_is_said_and_tried_again() -> None:
    async with google_cloud() as world, connected(world) as provider:
        world.google.exhausted = {A, B, C}
        order = world.order("patient")
        with pytest.raises(CapacityExhausted, match="ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"):
            await followed(world, provider, order)
        world.google.exhausted = {B, C}
        await brought_up(world, order)
        assert zones(world) == [A]


async def followed(world: GcpHarness, provider: Provider, order: MachineOrder) -> None:
    """Ask for a machine until that fails, and remember only the task."""
    known = Known()
    for _ in range(12):
        known = Known("", (await provider.create(order, known)).task)
        await world.pass_time(5)


async def test_a_zone_that_is_named_is_never_left() -> None:
    async with google_cloud(zone=B) as world, connected(world) as provider:
        world.google.exhausted = {B}
        machine = await provider.create(world.order("loyal"))
        await world.pass_time(10)
        with pytest.raises(CapacityExhausted):
            await provider.create(world.order("loyal"), Known("", machine.task))
        assert {path.split("/")[3] for _, path, _, _ in asked(world, "POST", "/instances")} == {B}


async def test_a_region_need_not_have_a_zone_a() -> None:
    async with google_cloud(region="europe-west1", network="default") as world:
        machine = await brought_up(world, world.order("belgian"))
        assert machine.id == f"gce://{PROJECT}/europe-west1-b/belgian"


@pytest.mark.parametrize("fault", [Fault.BEFORE, Fault.AFTER])
async def test_no_crash_on_the_way_to_another_zone_makes_two_machines(fault: Fault) -> None:
    async with google_cloud() as world:
        world.google.exhausted = {A}
        for failing in range(100):
            order = world.order(f"run-{failing}")
            world.faults.forget()
            world.faults.strike(fault, after=failing)
            async with driving(world, crashes=True) as driver:
                await driver.bring_up(order)
                assert zones(world) == [B], f"call {failing} {world.faults.struck}"
                await driver.take_down(order)
            assert (zones(world), await world.leftovers()) == ([], []), f"call {failing} {world.faults.struck}"
            if not world.faults.struck:
                return


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (("QUOTA_EXCEEDED", "Quota 'CPUS' exceeded.", 403), CapacityExhausted),
        (("RESOURCE_NOT_FOUND", "The resource 'x' was not found", 404), MachineRejected),
        (("RESOURCE_IN_USE_BY_ANOTHER_RESOURCE", "x is in use by y", 400), ProviderError),
        (("RESOURCE_OPERATION_RATE_EXCEEDED", "Operation rate exceeded for x", 429), ProviderError),
        (("PERMISSIONS_ERROR", "Required 'compute.disks.create' permission", 403), CredentialsInvalid),
        (("SOMETHING_FORBIDDEN", "You may not", 403), CredentialsInvalid),
        (("INVALID_FIELD_VALUE", "Invalid value for field", 400), MachineRejected),
        (("INTERNAL_ERROR", "Internal error.", 500), ProviderError),
        (("SOMETHING_NEW", "Who knows.", 0), ProviderError),
    ],
)
async def test_what_an_operation_failed_with_is_raised_once(
    failure: tuple[str, str, int], kind: type[ProviderError]
) -> None:
    async with google_cloud(zone=A) as world, connected(world) as provider:
        world.google.failing = failure
        order = world.order("unlucky")
        machine = await provider.create(order)
        await world.pass_time(10)
        with pytest.raises(ProviderError, match=failure[0]) as raised:
            await provider.create(order, Known("", machine.task))
        # Exactly: after ProviderUnavailable or RateLimited the controller would go on to wait for the operation.
        assert type(raised.value) is kind
        world.google.failing = None
        await brought_up(world, order)
        assert zones(world) == [A]


async def test_each_attempt_has_an_id_of_its_own_and_a_repeated_one_the_same() -> None:
    async with google_cloud(zone=A) as world:
        order = world.order("repeated")
        async with connected(world) as provider:
            world.google.failing = ("INTERNAL_ERROR", "", 500)
            await provider.create(order)
            await world.pass_time(10)
            world.google.failing = None
            world.faults.forget()
            world.faults.strike(Fault.BEFORE, after=2)
            with pytest.raises(ProviderUnavailable):
                await provider.create(order)
            await provider.create(order)
            await provider.create(order)
        first, second = (query["requestId"] for _, _, query, _ in asked(world, "POST", "/instances"))
        assert first[:-12] == second[:-12]
        assert (int(first[-12:], 16), int(second[-12:], 16)) == (0, 1)


async def test_an_order_whose_answer_was_lost_is_not_sent_again() -> None:
    async with google_cloud(zone=A) as world, connected(world) as provider:
        world.faults.strike(Fault.AFTER, after=3)
        with pytest.raises(ProviderUnavailable):
            await provider.create(world.order("lost"))
        assert (await provider.create(world.order("lost"))).task
        assert len(asked(world, "POST", "/instances")) == 1


async def test_a_machine_that_does_not_show_yet_is_not_taken_for_gone() -> None:
    async with google_cloud() as world, connected(world) as provider:
        order = world.order("young")
        await provider.create(order)
        assert not await provider.delete(order.name, order.token)
        await world.pass_time(2)
        assert not await provider.delete(order.name, order.token)


@pytest.mark.parametrize("token", ["", "11111111-1111-4111-8111-111111111111"])
async def test_a_name_that_is_taken_is_refused_with_its_zone(token: str) -> None:
    async with google_cloud() as world, connected(world) as provider:
        if token:
            await brought_up(world, replace(world.order("shared"), token=token))
        else:
            await world.add_stranger("shared")
        with pytest.raises(MachineRejected, match="there is another machine 'shared' in us-central1-a"):
            await provider.create(world.order("shared"))


async def test_a_hint_to_a_machine_of_that_name_does_not_make_it_ones_own() -> None:
    async with google_cloud() as world, connected(world) as provider:
        machine = await brought_up(world, world.order("mine"))
        other = "11111111-1111-4111-8111-111111111111"
        assert await provider.find("mine", other, Known(machine.id)) is None
        assert await provider.delete("mine", other, Known(machine.id))
        assert zones(world) == [A]


async def test_a_list_that_lacks_a_zone_is_no_proof_that_a_machine_is_gone() -> None:
    async with google_cloud() as world, connected(world) as provider:
        order = world.order("hidden")
        await brought_up(world, order)
        world.google.unreachable = {f"zones/{B}"}
        with pytest.raises(ProviderUnavailable, match=f"zones/{B} cannot be reached"):
            await provider.find(order.name, order.token)
        with pytest.raises(ProviderUnavailable):
            await provider.delete(order.name, order.token)


async def test_a_list_that_lags_behind_is_not_believed_when_the_operation_failed() -> None:
    async with google_cloud(zone=A) as world, connected(world) as provider:
        world.google.failing = ("QUOTA_EXCEEDED", "Quota 'CPUS' exceeded.", 403)
        order = world.order("ghost")
        machine = await provider.create(order)
        (instance,) = world.google.existing("instances")
        await world.pass_time(10)
        path = f"projects/{PROJECT}/zones/us-central1-c/instances/ghost"
        ghost = Thing(path, instance.body, phases=[(0.0, "PROVISIONING")], is_ghost=True)
        world.google.things[path] = ghost
        with pytest.raises(CapacityExhausted):
            await provider.create(order, Known("", machine.task))


async def test_subnetworks_of_a_shared_network_are_offered_by_path() -> None:
    async with google_cloud(subnetwork="projects/host/regions/us-central1/subnetworks/shared") as world:
        for one in (subnetwork("shared", project="host"), subnetwork("far", region="europe-west1")):
            world.google.things[one.path] = one
        async with connected(world) as provider:
            offered = {one.id: one.detail for one in await provider.networks()}
        assert offered == {
            "default": "network default, 10.128.0.0/20",
            "projects/host/regions/us-central1/subnetworks/shared": "network default, 10.128.0.0/20",
        }


async def test_images_of_both_projects_are_offered_and_obsolete_ones_are_not() -> None:
    async with google_cloud() as world, connected(world) as provider:
        own, old = image("own", project=PROJECT), image("old", deprecated={"state": "OBSOLETE"})
        world.google.things.update({own.path: own, old.path: old})
        assert [(one.id, one.detail) for one in await provider.images()] == [
            (f"projects/{PROJECT}/global/images/own", "10 GB, X86_64"),
            ("talos-v1-10", "10 GB, X86_64"),
            ("talos-v1-11", "10 GB, X86_64, family talos"),
        ]


async def test_a_running_machine_is_looked_at_with_one_call() -> None:
    async with google_cloud() as world, connected(world) as provider:
        order = world.order("watched")
        machine = await brought_up(world, order)
        await provider.find(order.name, order.token, Known(machine.id))
        world.faults.forget()
        await provider.find(order.name, order.token, Known(machine.id))
        assert world.faults.calls == [f"GET /compute/v1/projects/{PROJECT}/zones/{A}/instances/watched"]


async def test_what_is_being_deleted_is_not_deleted_again() -> None:
    async with google_cloud() as world, connected(world) as provider:
        order = world.order("leaving")
        await brought_up(world, order)
        for _ in range(3):
            assert not await provider.delete(order.name, order.token)
        assert len(asked(world, "DELETE", "/instances/leaving")) == 1
