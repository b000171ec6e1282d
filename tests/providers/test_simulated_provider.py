"""The simulated infrastructure through the verbs every provider has."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from butler.api.provider import ProviderConfig, ProviderConfigSpec
from butler.api.sections.simulated import SimulatedSection
from butler.api.shared import ProviderType
from butler.errors import CapacityExhausted, MachineRejected, ProviderUnavailable, RateLimited
from butler.providers import registry
from butler.providers.contract import MachineOrder, Power, Surroundings
from butler.providers.images import ImageOrder
from butler.providers.simulated import images
from butler.providers.simulated.datacentre import DataCentre
from butler.providers.simulated.faults import Trouble, Weather
from butler.providers.simulated.provider import Simulated
from butler.providers.simulated.section import Knobs
from kubekit.clock import SeededChance
from kubekit.errors import DataDamaged, DataVersion, InvalidConfiguration
from kubekit.model.resource import ObjectMeta
from tests.providers.clocks import HandClock

ACCOUNT = "butler-system/simulated"


class World:
    """A data centre on a clock that is moved by hand."""

    def __init__(self, path: Path | None = None) -> None:
        self.path, self.clock, self.chance = path, HandClock(), SeededChance(1)
        self._open: list[DataCentre] = []
        self.datacentre = self.opened()

    def opened(self, fast: bool = False) -> DataCentre:
        self._open.append(DataCentre(self.path, clock=self.clock, chance=self.chance, fast=fast))
        return self._open[-1]

    def close(self) -> None:
        for datacentre in self._open:
            datacentre.close()

    def account(self, weather: Weather | None = None, **section: Any) -> Simulated:
        return Simulated(self.datacentre, ACCOUNT, SimulatedSection(**section), weather)


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.close()


def order(name: str = "web-0", token: str = "", **changed: Any) -> MachineOrder:
    wanted = {"cpu": 2, "memory_mb": 4096, "disk_gb": 20, "user_data": "#cloud-config", **changed}
    return MachineOrder(name=name, token=token or f"uid-of-{name}", **wanted)


async def test_a_machine_boots_without_anyone_writing_anything(world: World) -> None:
    account = world.account(boot_delay="30s")
    asked = await account.create(order())
    assert (asked.power, asked.addresses) == (Power.STARTING, ())
    assert world.datacentre.next_change(ACCOUNT, "uid-of-web-0") == 30
    world.clock.pass_by(30)
    found = await account.find("web-0", "uid-of-web-0")
    assert found is not None
    assert (found.id, found.power, found.addresses) == (asked.id, Power.RUNNING, ("172.16.0.2",))
    assert found.id.startswith("simulated://")
    assert world.datacentre.next_change(ACCOUNT, "uid-of-web-0") is None


async def test_a_deleted_machine_takes_its_time_and_leaves_nothing(world: World) -> None:
    account = world.account(boot_delay="0s", removal_delay="5s")
    await account.create(order())
    await account.delete("web-0", "uid-of-web-0")
    going = await account.find("web-0", "uid-of-web-0")
    assert going is not None
    assert going.power is Power.DELETING
    await account.delete("web-0", "uid-of-web-0")
    world.clock.pass_by(5)
    assert await account.find("web-0", "uid-of-web-0") is None
    assert await account.inventory() == ()


async def test_what_never_was_can_be_deleted(world: World) -> None:
    await world.account().delete("nobody", "nothing")
    assert await world.account().find("nobody", "nothing") is None


async def test_no_two_machines_share_an_address_or_an_identity(world: World) -> None:
    account = world.account(boot_delay="0s", network="10.9.0.0/28", removal_delay="0s")
    machines = [await account.create(order(f"web-{number}")) for number in range(13)]
    for property_ in ("id", "addresses", "mac_addresses"):
        assert len({getattr(machine, property_) for machine in machines}) == 13
    with pytest.raises(CapacityExhausted, match=r"every address of 10\.9\.0\.0/28 is taken"):
        await account.create(order("one-more"))
    await account.delete("web-3", "uid-of-web-3")
    again = await account.create(order("one-more"))
    assert again.addresses == machines[3].addresses
    assert again.mac_addresses not in {machine.mac_addresses for machine in machines}


async def test_accounts_do_not_see_each_other(world: World) -> None:
    mine, yours = world.account(), Simulated(world.datacentre, "elsewhere/other", SimulatedSection())
    await mine.create(order())
    assert await yours.find("web-0", "uid-of-web-0") is None
    assert await yours.inventory() == ()
    await yours.delete("web-0", "uid-of-web-0")
    assert [(asset.kind, asset.name, asset.token) for asset in await mine.inventory()] == [
        ("vm", "web-0", "uid-of-web-0")
    ]


async def test_records_outlive_the_process(tmp_path: Path) -> None:
    world = World(tmp_path / "datacentre.db")
    made = await world.account(boot_delay="10s").create(order())
    world.datacentre = world.opened()  # the first one was not even closed
    world.clock.pass_by(10)
    account = world.account(boot_delay="10s", removal_delay="0s")
    again = await account.create(order())
    assert (again.id, again.mac_addresses, again.power) == (made.id, made.mac_addresses, Power.RUNNING)
    other = await account.create(order("web-1"))
    assert not {*again.mac_addresses, *again.addresses} & {*other.mac_addresses, *other.addresses}
    await account.delete("web-1", "uid-of-web-1")
    reopened = world.opened()
    assert [vm.name for vm in reopened.machines()] == ["web-0"]
    new = await Simulated(reopened, ACCOUNT, SimulatedSection()).create(order("web-2"))
    assert new.mac_addresses != other.mac_addresses
    world.close()


def test_a_damaged_file_and_one_from_the_future_are_refused(tmp_path: Path) -> None:
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"nothing that a database would say" * 100)
    with pytest.raises(DataDamaged, match=r"broken\.db.*move it away"):
        DataCentre(broken)
    newer = DataCentre(tmp_path / "newer.db")
    newer._database.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(DataVersion, match="format 99"):
        DataCentre(tmp_path / "newer.db")


def each_call_fails(before: int, after: int) -> Weather:
    """Every verb fails so often before and so often after taking effect, and then works."""
    plans: dict[str, Iterator[Trouble]] = {}

    def weather(verb: str, knobs: Knobs) -> Trouble:
        plan = [Trouble.BEFORE] * before + [Trouble.AFTER] * after
        return next(plans.setdefault(verb, itertools.chain(plan, itertools.repeat(Trouble.NONE))))

    return weather


async def persist(call: Any) -> Any:
    for _ in range(10):
        try:
            return await call()
        except ProviderUnavailable:
            continue
    raise AssertionError("never worked")


@pytest.mark.parametrize(
    "section", [{}, {"ignores_tokens": True}, {"visibility_delay": "1h"}, {"repeated_percent": 100}], ids=str
)
async def test_calls_that_fail_before_and_after_leave_one_machine_and_then_none(
    world: World, section: dict[str, Any]
) -> None:
    account = world.account(each_call_fails(1, 1), boot_delay="0s", removal_delay="0s", **section)
    await persist(lambda: account.create(order()))
    await persist(lambda: account.create(order()))
    assert [vm.token for vm in world.datacentre.machines()] == ["uid-of-web-0"]
    await persist(lambda: account.delete("web-0", "uid-of-web-0"))
    assert world.datacentre.machines() == []


async def test_the_knobs_that_duplicate_do_so(world: World) -> None:
    """Else the test above would prove nothing."""
    account = world.account(ignores_tokens=True, repeated_percent=100)
    await account.create(order())
    assert len(world.datacentre.machines()) == 2
    await account.delete("web-0", "uid-of-web-0")
    world.clock.pass_by(1)
    assert world.datacentre.machines() == []


async def test_calls_fail_about_as_often_as_the_section_says(world: World) -> None:
    account, failed = world.account(failure_percent=20, lost_answer_percent=10), 0
    for _ in range(500):
        try:
            await account.find("x", "x")
        except ProviderUnavailable:
            failed += 1
    assert 110 < failed < 190


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"capacity": 1}, "room for 1 machines"),
        ({"capacity_cpu": 3}, "room for 3 cores"),
        ({"capacity_memory_mb": 5000}, "room for 5000 MiB of memory"),
    ],
)
async def test_there_is_only_so_much_room(world: World, section: dict[str, Any], said: str) -> None:
    account = world.account(removal_delay="0s", **section)
    await account.create(order("web-0"))
    with pytest.raises(CapacityExhausted, match=said) as raised:
        await account.create(order("web-1"))
    assert raised.value.retryable
    await account.delete("web-0", "uid-of-web-0")
    await account.create(order("web-1"))


@pytest.mark.parametrize("changed", [{"cpu": 0}, {"cpu": 9}, {"memory_mb": 9000}])
async def test_what_will_never_fit_is_refused_for_good(world: World, changed: dict[str, Any]) -> None:
    account = world.account(capacity_cpu=8, capacity_memory_mb=8000)
    with pytest.raises(MachineRejected) as raised:
        await account.create(order(**changed))
    assert not raised.value.retryable


async def test_machines_get_stuck_or_lost_as_told(world: World) -> None:
    stuck = await world.account(stuck_percent=100).create(order("stuck"))
    lost = world.account(lost_percent=100, lost_after="1m", boot_delay="0s")
    await lost.create(order("lost"))
    world.clock.pass_by(59)
    assert world.datacentre.next_change(ACCOUNT, "uid-of-lost") == pytest.approx(1)
    assert await lost.find("lost", "uid-of-lost") is not None
    world.clock.pass_by(3600)
    assert await lost.find("lost", "uid-of-lost") is None
    found = await lost.find("stuck", "uid-of-stuck")
    assert found is not None
    assert (found.id, found.power) == (stuck.id, Power.STARTING)
    assert world.datacentre.next_change(ACCOUNT, "uid-of-stuck") is None


async def test_a_machine_that_is_switched_off_and_on_boots_again(world: World) -> None:
    account = world.account(boot_delay="10s")
    made, seen = await account.create(order()), []
    world.clock.pass_by(20)
    stop_listening = world.datacentre.listen(lambda vm: seen.append(vm.fate))
    vm_id = made.id.removeprefix("simulated://")
    world.datacentre.stop(vm_id)
    stopped = await account.find("web-0", "uid-of-web-0")
    assert stopped is not None
    assert (stopped.power, stopped.addresses) == (Power.STOPPED, ())
    world.datacentre.start(vm_id)
    powers = []
    for _ in range(2):
        found = await account.find("web-0", "uid-of-web-0")
        assert found is not None
        powers.append(found.power)
        world.clock.pass_by(10)
    assert powers == [Power.STARTING, Power.RUNNING]
    stop_listening()
    world.datacentre.lose(vm_id)
    assert seen == ["Stopped", "None"]
    assert await account.find("web-0", "uid-of-web-0") is None


async def test_a_slow_infrastructure_takes_its_time_for_every_call(world: World) -> None:
    account = world.account(call_delay="3s")
    await account.create(order())
    assert world.clock.monotonic() == 6  # it looks before it asks


async def test_who_asks_too_often_is_told_when_to_come_again(world: World) -> None:
    account = world.account(rate_limit=2)
    world.clock.pass_by(100)
    for _ in range(2):
        await account.find("x", "x")
    world.clock.pass_by(0.25)
    with pytest.raises(RateLimited) as raised:
        await account.find("x", "x")
    assert raised.value.retry_after == pytest.approx(0.75)
    world.clock.pass_by(0.75)
    await account.find("x", "x")


async def test_every_call_of_every_account_is_counted(world: World) -> None:
    traffic = world.datacentre.traffic
    await world.account().create(order())
    with pytest.raises(ProviderUnavailable):
        await world.account(lambda verb, knobs: Trouble.BEFORE).find("x", "x")
    assert (traffic.calls, traffic.most) == (3, 1)
    traffic.count_anew()
    await asyncio.gather(*(world.account().find("x", "x") for _ in range(4)))
    assert traffic.calls == 4


async def test_images_are_the_one_there_always_is_and_those_that_were_brought(world: World) -> None:
    account = world.account(boot_delay="10s")
    bringing = images.connect(account)
    await bringing.ensure(ImageOrder("talos-1-9", "uid", "https://factory/talos.qcow2", "qcow2"))
    assert [one.id for one in await account.images()] == ["simulated"]
    world.clock.pass_by(10)
    assert [(one.id, one.detail) for one in await account.images()] == [
        ("simulated", "boots as any version of anything"),
        ("talos-1-9", "https://factory/talos.qcow2"),
    ]


async def test_the_network_is_that_of_the_section(world: World) -> None:
    assert [one.id for one in await world.account(network="10.9.0.0/16").networks()] == ["10.9.0.0/16"]


async def test_in_a_hurry_nothing_takes_time(world: World) -> None:
    datacentre = world.opened(fast=True)
    account = Simulated(datacentre, ACCOUNT, SimulatedSection(boot_delay="1h", call_delay="1h", removal_delay="1h"))
    assert (await account.create(order())).power is Power.RUNNING
    await account.delete("web-0", "uid-of-web-0")
    assert datacentre.machines() == []
    assert world.clock.monotonic() == 0


@pytest.mark.parametrize(
    ("section", "path"),
    [
        ({"boot_delay": "soon"}, "spec.simulated.bootDelay"),
        ({"lost_after": "-1s"}, "spec.simulated.lostAfter"),
        ({"network": "10.0.0.1/8"}, "spec.simulated.network"),
    ],
)
def test_a_section_that_makes_no_sense_is_refused_by_field(world: World, section: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidConfiguration) as raised:
        world.account(**section)
    assert raised.value.path == path


def config(**spec: Any) -> ProviderConfig:
    return ProviderConfig(
        metadata=ObjectMeta(name="simulated", namespace="butler-system"),
        spec=ProviderConfigSpec(provider=ProviderType.SIMULATED, **spec),
    )


async def test_the_registry_connects_a_provider_config_to_its_account(world: World) -> None:
    surroundings = Surroundings(world.clock, SeededChance(1), world.datacentre)
    provider = registry.connect(config(simulated=SimulatedSection(capacity=0)), {}, surroundings)
    checks = {check.name: check for check in await provider.check()}
    assert checks["reachable"].passed
    assert (checks["capacity"].passed, checks["capacity"].remedy) == (False, "Raise spec.simulated.capacity.")
    await provider.close()
    bare = registry.connect(config(), {}, surroundings)
    assert all(check.passed for check in await bare.check())


def test_without_a_data_centre_there_is_nothing_to_connect_to(world: World) -> None:
    with pytest.raises(InvalidConfiguration, match="no simulated data centre here"):
        registry.connect(config(), {}, Surroundings(world.clock, SeededChance(1)))
