"""What is particular to Nutanix, in both versions of its API."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from butler.api.sections.nutanix import Entity
from butler.errors import CapacityExhausted, MachineRejected, ProviderUnavailable
from butler.providers.contract import ExtraDisk, Known, Machine, MachineOrder, Power, Provider
from butler.providers.testing.driver import driving
from butler.providers.testing.web import serving
from tests.providers.nutanix.fake import (
    CLUSTER,
    CONTAINER,
    IMAGE,
    MAKING,
    OTHER_CLUSTER,
    SUBNET,
    Image,
    Prism,
    Subnet,
)
from tests.providers.nutanix.fake_web import app
from tests.providers.nutanix.harness import PLACES, NutanixHarness, connected

NAMES: dict[str, Any] = {
    "cluster": Entity(name="cluster-01"),
    "subnet": Entity(name="workload-subnet"),
    "image": Entity(name="talos-1.9"),
}
ANOTHER = "0005b0f1-0000-4000-8000-000000000999"


@pytest.fixture(params=["v3", "v4"])
async def harness(request: pytest.FixtureRequest) -> AsyncIterator[NutanixHarness]:
    prism = Prism(offers_v4=request.param == "v4")
    async with serving(app(prism)) as url:
        yield NutanixHarness(prism, url)


@pytest.fixture
async def provider(harness: NutanixHarness) -> AsyncIterator[Provider]:
    made = connected(harness.url)
    yield made
    await made.close()


@pytest.fixture
async def by_names(harness: NutanixHarness) -> AsyncIterator[Provider]:
    made = connected(harness.url, **NAMES)
    yield made
    await made.close()


async def brought_up(harness: NutanixHarness, order: MachineOrder) -> Machine:
    async with driving(harness) as driver:
        return await driver.bring_up(order)


def is_v4(harness: NutanixHarness) -> bool:
    return harness.prism.offers_v4


async def test_names_stand_for_places_and_are_looked_up_once(harness: NutanixHarness, by_names: Provider) -> None:
    await by_names.create(harness.order("one"))
    before = len(harness.faults.calls)
    await by_names.create(harness.order("two"))
    (one, two) = harness.prism.existing()
    assert (one.cluster, one.subnets, one.disks[0].image) == (CLUSTER, [SUBNET], IMAGE)
    assert (two.cluster, two.subnets, two.disks[0].image) == (CLUSTER, [SUBNET], IMAGE)
    assert len(harness.faults.calls) - before <= 4


async def test_an_order_may_name_its_image(harness: NutanixHarness, provider: Provider) -> None:
    harness.prism.images[ANOTHER] = Image(ANOTHER, "rocky-9", "", size=2**30)
    await provider.create(replace(harness.order("named"), image="rocky-9"))
    assert harness.prism.existing()[0].disks[0].image == ANOTHER


async def test_a_name_that_stands_for_nothing_is_refused(harness: NutanixHarness, provider: Provider) -> None:
    with pytest.raises(MachineRejected, match="there is no image named 'nowhere'"):
        await provider.create(replace(harness.order("lost"), image="nowhere"))


async def test_a_name_that_stands_for_two_things_is_refused(harness: NutanixHarness, by_names: Provider) -> None:
    harness.prism.images[ANOTHER] = Image(ANOTHER, "talos-1.9", "", size=2**30)
    with pytest.raises(MachineRejected, match=r"2 of image named 'talos-1\.9'; say which by its UUID"):
        await by_names.create(harness.order("torn"))


async def test_of_two_subnets_with_a_name_that_of_the_cluster_is_meant(
    harness: NutanixHarness, by_names: Provider
) -> None:
    harness.prism.subnets[ANOTHER] = Subnet(ANOTHER, "workload-subnet", cluster=OTHER_CLUSTER)
    await by_names.create(harness.order("here"))
    assert harness.prism.existing()[0].subnets == [SUBNET]


async def test_a_name_is_looked_up_again_after_a_refusal(harness: NutanixHarness, by_names: Provider) -> None:
    await by_names.create(harness.order("old"))
    harness.prism.images[ANOTHER] = replace(harness.prism.images.pop(IMAGE), uuid=ANOTHER)
    order = harness.order("new")
    with pytest.raises(MachineRejected):
        await asked_for_long(harness, by_names, order)
    await harness.pass_time(100)
    await by_names.create(order)
    assert [vm.disks[0].image for vm in harness.prism.existing() if vm.name == "new"] == [ANOTHER]


async def test_without_an_image_nothing_is_made(harness: NutanixHarness) -> None:
    places = {name: value for name, value in PLACES.items() if name != "image_uuid"}
    provider = connected(harness.url, **places)
    with pytest.raises(MachineRejected, match=r"neither the request nor spec\.nutanix\.image"):
        await provider.create(harness.order("empty"))
    await provider.close()


async def test_disks_go_into_the_storage_containers_that_are_named(harness: NutanixHarness) -> None:
    harness.prism.containers[ANOTHER] = "fast"
    provider = connected(harness.url, **PLACES, storage_container=Entity(name="default-container"))
    disks = (ExtraDisk(30), ExtraDisk(40, "fast"), ExtraDisk(50, CONTAINER))
    await provider.create(replace(harness.order("stored"), extra_disks=disks))
    await provider.close()
    found = [disk.container for disk in harness.prism.existing()[0].disks]
    assert found == [CONTAINER, CONTAINER, ANOTHER, CONTAINER]


@pytest.mark.parametrize(("boot_type", "firmware"), [("legacy", "legacy"), ("uefi", "uefi")])
async def test_the_firmware_is_that_of_the_section(harness: NutanixHarness, boot_type: str, firmware: str) -> None:
    provider = connected(harness.url, **PLACES, boot_type=boot_type)
    await provider.create(harness.order("booted"))
    await provider.close()
    assert harness.prism.existing()[0].boot.lower().removesuffix("boot") == firmware


async def test_a_machine_is_told_its_name(harness: NutanixHarness, provider: Provider) -> None:
    order = harness.order("told")
    await provider.create(order)
    told = base64.b64decode(harness.prism.existing()[0].meta_data or "").decode()
    assert told == f'{{"hostname":"told","uuid":"{order.token}"}}'


async def test_network_data_lies_beside_user_data(harness: NutanixHarness, provider: Provider) -> None:
    await provider.create(replace(harness.order("wired"), network_data="version: 2"))
    assert base64.b64decode(harness.prism.existing()[0].meta_data or "") == b"version: 2"


async def test_without_user_data_there_is_no_config_drive(harness: NutanixHarness, provider: Provider) -> None:
    await provider.create(replace(harness.order("bare"), user_data=""))
    assert harness.prism.existing()[0].meta_data is None


async def test_labels_that_have_no_room_are_left_out(harness: NutanixHarness, provider: Provider) -> None:
    labels = {f"label-{number:03}": "x" * 50 for number in range(40)}
    order = replace(harness.order("labelled"), labels=labels)
    await brought_up(harness, order)
    (vm,) = harness.prism.existing()
    assert "label-000=" in vm.description
    assert len(vm.description) <= 1000


async def test_a_name_that_is_too_long_is_refused(harness: NutanixHarness, provider: Provider) -> None:
    with pytest.raises(MachineRejected, match="at most 80 letters"):
        await provider.create(harness.order("x" * 81))


async def test_a_machine_that_failed_can_be_made_later(harness: NutanixHarness, provider: Provider) -> None:
    order = harness.order("later")
    harness.prism.has_room = False
    known = await asked(provider, order)
    await harness.pass_time(MAKING)
    with pytest.raises(CapacityExhausted, match="NoHostResources"):
        await provider.create(order, known)
    harness.prism.has_room = True
    await harness.pass_time(100)
    await brought_up(harness, order)
    assert [vm.name for vm in harness.prism.existing()] == ["later"]


async def test_failures_are_counted_by_nobody_but_prism_central(harness: NutanixHarness) -> None:
    """Each time another connection asks, which knows nothing of those before."""
    order = harness.order("stubborn")
    harness.prism.has_room = False
    for _ in range(3):
        provider = connected(harness.url)
        known = await asked(provider, order)
        await harness.pass_time(MAKING)
        with pytest.raises(CapacityExhausted):
            await provider.create(order, known)
        await provider.close()
        await harness.pass_time(100)
    harness.prism.has_room = True
    await brought_up(harness, order)
    assert [vm.name for vm in harness.prism.existing()] == ["stubborn"]


async def test_a_task_that_failed_a_moment_ago_is_not_tried_again_at_once(
    harness: NutanixHarness, provider: Provider
) -> None:
    order = harness.order("hasty")
    harness.prism.has_room = False
    await provider.create(order)
    await harness.pass_time(MAKING + 10)
    harness.prism.has_room = True
    with pytest.raises(CapacityExhausted):
        await provider.create(order)
    assert harness.prism.existing() == []


async def test_a_machine_that_vanishes_while_it_boots_is_made_again(
    harness: NutanixHarness, provider: Provider
) -> None:
    order = harness.order("vanished")
    await provider.create(order)
    await harness.pass_time(100)
    await harness.lose(order.token)
    await brought_up(harness, order)
    assert [vm.name for vm in harness.prism.existing()] == ["vanished"]


async def test_a_machine_that_does_not_show_yet_is_not_gone(harness: NutanixHarness, provider: Provider) -> None:
    order = harness.order("early")
    known = await asked(provider, order)
    assert not await provider.delete(order.name, order.token, Known(task=known.task))


async def test_a_machine_that_finds_no_host_is_started_when_there_is_one(
    harness: NutanixHarness, provider: Provider
) -> None:
    """Version 4 makes machines that are off, and switches them on afterwards; here somebody else switched it off."""
    order = harness.order("waiting")
    await brought_up(harness, order)
    await harness.stop(order.token)
    harness.prism.can_start = False
    known = await asked(provider, order)
    await harness.pass_time(5)
    with pytest.raises(CapacityExhausted):
        await provider.create(order, known)
    harness.prism.can_start = True
    assert (await brought_up(harness, order)).power is Power.RUNNING
    assert len(harness.prism.existing()) == 1


async def test_somebody_elses_change_in_between_is_tried_again(harness: NutanixHarness, provider: Provider) -> None:
    order = harness.order("busy")
    await brought_up(harness, order)
    await harness.stop(order.token)
    harness.prism.meddling = 1
    with pytest.raises(ProviderUnavailable, match=r"409|412"):
        await provider.create(order)
    assert (await brought_up(harness, order)).power is Power.RUNNING


async def test_a_machine_that_runs_is_not_given_up_for_a_change_that_failed(
    harness: NutanixHarness, provider: Provider
) -> None:
    order = harness.order("running")
    await brought_up(harness, order)
    harness.prism.existing()[0].failure = "INTERNAL_ERROR: somebody's change"
    machine = await provider.create(order)
    assert machine.power is Power.RUNNING


async def test_a_machine_that_is_renamed_is_found_by_its_id(harness: NutanixHarness, provider: Provider) -> None:
    order = harness.order("before")
    machine = await brought_up(harness, order)
    harness.prism.existing()[0].name = "after"
    found = await provider.find(order.name, order.token, Known(machine.id))
    assert found is not None
    assert found.id == machine.id


async def test_names_alike_are_told_apart(harness: NutanixHarness, provider: Provider) -> None:
    """Names are not unique on Nutanix: the mark decides."""
    order = harness.order("twin")
    await harness.add_stranger("twin")
    await brought_up(harness, order)
    await provider.delete(order.name, order.token)
    await harness.pass_time(60)
    assert [(seen.name, seen.token) for seen in await harness.machines()] == [("twin", "")]


async def test_a_proxy_is_used(harness: NutanixHarness) -> None:
    provider = connected("http://prism.invalid", **PLACES, port=80, proxy=harness.url)
    assert await provider.find("anybody", "33333333-3333-4333-8333-333333333333") is None
    await provider.close()


async def test_a_life_takes_few_calls(harness: NutanixHarness) -> None:
    order = harness.order("cheap")
    async with driving(harness) as driver:
        await driver.bring_up(order)
        coming = len(harness.faults.calls)
        await driver.take_down(order)
    going = len(harness.faults.calls) - coming
    assert (coming, going) == ((13, 6) if is_v4(harness) else (11, 6)), harness.faults.calls


async def asked_for_long(harness: NutanixHarness, provider: Provider, order: MachineOrder) -> None:
    for _ in range(5):
        await provider.create(order)
        await harness.pass_time(MAKING)


async def asked(provider: Provider, order: MachineOrder) -> Known:
    machine = await provider.create(order)
    return Known(machine.id, machine.task)
