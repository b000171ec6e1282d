"""MachineRequests: their life, whatever goes wrong on the way. The numbers are those of the provider contract."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import aclosing

import pytest

from butler.api.machine import MachinePhase, MachineRequest
from butler.api.provider import ProviderConfig
from butler.api.sections.simulated import SimulatedSection
from butler.controllers.machine import FINALIZER
from butler.controllers.requests import FORCED
from butler.engines.core import Secret
from butler.errors import CredentialsInvalid
from butler.providers.simulated.faults import Trouble
from butler.providers.simulated.provider import Simulated
from kubekit.client.protocol import Selection, Signal
from kubekit.errors import Invalid
from kubekit.testing.faults import Faults, FaultyClient
from tests.controllers.requests_world import SYSTEM, World

CANARY = "canary-5f2b"


def shown(request: MachineRequest, name: str = "Ready") -> tuple[str, str]:
    found = request.status.condition(name)
    assert found is not None
    return found.status, found.reason


async def test_a_request_becomes_a_machine_with_an_address(world: World) -> None:
    """Rules 1, 4, 8."""
    await world.config(simulated={"bootDelay": "30s"})
    await world.machine()
    await asyncio.sleep(3)
    coming = await world.request()
    assert (coming.status.phase, coming.metadata.finalizers) == (MachinePhase.CREATING, (FINALIZER,))
    assert shown(coming, "Progressing") == ("True", "WaitingForIP")
    await asyncio.sleep(40)
    status = (await world.request()).status
    assert status.phase is MachinePhase.RUNNING
    assert (status.ip_address, status.ip_addresses) == ("172.16.0.2", ("172.16.0.2",))
    assert status.provider_id == f"simulated://{world.datacentre.machines()[0].id}"
    assert status.mac_address == world.datacentre.machines()[0].mac
    assert shown(await world.request()) == ("True", "VMRunning")
    assert await world.events("cp-0") == ["Created", "Ready"]


async def test_a_running_machine_is_looked_at_and_nothing_is_written(world: World) -> None:
    """Rule 10."""
    await world.config(simulated={"bootDelay": "0s"})
    await world.machine()
    await asyncio.sleep(5)
    writes, calls = world.writes, len(world.verbs)
    await asyncio.sleep(300)
    assert world.writes == writes
    assert 8 <= len(world.verbs) - calls <= 12
    assert set(world.verbs[calls:]) == {"find"}


async def test_a_deleted_request_leaves_no_machine(world: World) -> None:
    """Rules 5, 6."""
    await world.config(simulated={"bootDelay": "0s", "removalDelay": "20s"})
    await world.machine()
    await asyncio.sleep(5)
    await world.remove(MachineRequest, "cp-0")
    await asyncio.sleep(1)
    assert (await world.request()).status.phase is MachinePhase.DELETING
    await asyncio.sleep(40)
    assert not await world.exists(MachineRequest, "cp-0")
    assert world.datacentre.machines() == []
    assert (await world.events("cp-0"))[-1] == "Deleted"


async def test_a_watcher_sees_that_the_machine_is_gone_before_its_request_goes(world: World) -> None:
    """Rule 5."""
    await world.config(simulated={"bootDelay": "0s"})
    await world.machine()
    await asyncio.sleep(5)
    seen = await until_gone(world)
    last = [MachinePhase.DELETING, MachinePhase.DELETED, MachinePhase.DELETED]
    assert [one.status.phase for one in seen[-3:]] == last
    assert (shown(seen[-1]), shown(seen[-1], "Progressing")) == (("False", "Deleted"), ("False", "Deleted"))
    assert world.datacentre.machines() == []


async def test_so_does_one_of_a_request_that_nobody_could_do_anything_for(world: World) -> None:
    """Rule 6."""
    await world.machine(config="missing")
    await asyncio.sleep(5)
    assert (await until_gone(world))[-1].status.phase is MachinePhase.DELETED


async def until_gone(world: World) -> list[MachineRequest]:
    """What a watcher sees of a request from its removal on."""
    version = (await world.request()).metadata.resource_version
    await world.remove(MachineRequest, "cp-0")
    seen: list[MachineRequest] = []
    async with aclosing(world.client.watch(MachineRequest, Selection(SYSTEM), version=version)) as events:
        async for event in events:
            seen += [event.item] if event.item is not None else []
            if event.signal is Signal.DELETED:
                break
    return seen


async def test_a_lost_machine_is_shown_within_the_minute_and_never_replaced(world: World) -> None:
    """Rules 10, 11."""
    await world.config(simulated={"bootDelay": "0s"})
    await world.machine()
    await asyncio.sleep(5)
    world.datacentre.lose(world.datacentre.machines()[0].id)
    await asyncio.sleep(40)
    status = (await world.request()).status
    assert (status.phase, status.failure_reason) == (MachinePhase.FAILED, "VMDeleted")
    assert "VMDeleted" in await world.events("cp-0")
    await world.client.patch(ProviderConfig, "lab", {"spec": {"simulated": {"bootDelay": "1s"}}}, SYSTEM)
    await asyncio.sleep(3600)
    assert world.datacentre.machines() == []
    await world.remove(MachineRequest, "cp-0")
    await asyncio.sleep(30)
    assert not await world.exists(MachineRequest, "cp-0")


async def test_a_machine_that_was_switched_off_is_shown_and_so_is_its_return(world: World) -> None:
    await world.config(simulated={"bootDelay": "0s"})
    await world.machine()
    await asyncio.sleep(5)
    vm = world.datacentre.machines()[0].id
    world.datacentre.stop(vm)
    await asyncio.sleep(40)
    request = await world.request()
    assert (request.status.phase, shown(request)) == (MachinePhase.RUNNING, ("False", "VMStopped"))
    world.datacentre.start(vm)
    await asyncio.sleep(40)
    assert shown(await world.request()) == ("True", "VMRunning")


async def test_a_machine_that_was_made_is_not_changed_and_a_request_that_failed_can_be(world: World) -> None:
    await world.machine(config="missing")
    await asyncio.sleep(5)
    await world.config(simulated={"bootDelay": "0s"})
    await world.client.patch(MachineRequest, "cp-0", {"spec": {"providerRef": {"name": "lab"}, "cpu": 4}}, SYSTEM)
    await asyncio.sleep(30)
    assert world.datacentre.machines()[0].cpu == 4
    with pytest.raises(Invalid, match="a machine that was asked for cannot be changed"):
        await world.client.patch(MachineRequest, "cp-0", {"spec": {"cpu": 8}}, SYSTEM)
    request = await world.request()
    assert (request.spec.cpu, shown(request)) == (4, ("True", "VMRunning"))
    await world.client.patch(MachineRequest, "cp-0", {"metadata": {"labels": {"rack": "a"}}}, SYSTEM)


async def test_an_outage_delays_a_machine_and_does_not_fail_it(world: World) -> None:
    """Rule 12."""
    world.troubles = lambda number, verb: Trouble.BEFORE
    await world.config(simulated={"bootDelay": "0s"})
    await world.machine()
    await asyncio.sleep(60)
    request = await world.request()
    assert (request.status.phase, request.status.failure_reason) == (MachinePhase.PENDING, None)
    assert shown(request) == ("False", "ProviderUnavailable")
    world.troubles = lambda number, verb: Trouble.NONE
    await asyncio.sleep(600)
    assert (await world.request()).status.phase is MachinePhase.RUNNING


async def test_an_outage_does_not_fail_a_running_machine_either(world: World) -> None:
    """Rule 12."""
    await world.config(simulated={"bootDelay": "0s"})
    await world.machine()
    await asyncio.sleep(5)
    world.troubles = lambda number, verb: Trouble.BEFORE
    await asyncio.sleep(120)
    request = await world.request()
    assert (request.status.phase, shown(request)) == (MachinePhase.RUNNING, ("Unknown", "ProviderUnavailable"))
    world.troubles = lambda number, verb: Trouble.NONE
    await asyncio.sleep(600)
    assert shown(await world.request()) == ("True", "VMRunning")


async def test_what_is_refused_fails_and_heals_when_the_request_changes(world: World) -> None:
    """Rule 13."""
    await world.config(simulated={"bootDelay": "0s", "capacityCPU": 4})
    await world.machine(cpu=8)
    await asyncio.sleep(5)
    status = (await world.request()).status
    assert (status.phase, status.failure_reason) == (MachinePhase.FAILED, "MachineRejected")
    assert status.failure_message == "simulated: machine 'cp-0': 8 cores of 4 there are"
    assert await world.events("cp-0") == ["CreateFailed"]
    await world.client.patch(MachineRequest, "cp-0", {"spec": {"cpu": 4}}, SYSTEM)
    await asyncio.sleep(5)
    status = (await world.request()).status
    assert (status.phase, status.failure_reason, status.failure_message) == (MachinePhase.RUNNING, None, None)


async def test_what_is_refused_heals_when_the_provider_config_changes(world: World) -> None:
    """Rule 13."""
    await world.config(simulated={"bootDelay": "0s", "capacityCPU": 1})
    await world.machine()
    await asyncio.sleep(5)
    assert (await world.request()).status.phase is MachinePhase.FAILED
    await world.client.patch(ProviderConfig, "lab", {"spec": {"simulated": {"capacityCPU": 64}}}, SYSTEM)
    await asyncio.sleep(5)
    assert (await world.request()).status.phase is MachinePhase.RUNNING


async def test_wrong_credentials_fail_and_heal_when_the_secret_changes(world: World) -> None:
    """Rules 13, 16."""

    def judge(credentials: Mapping[str, str]) -> None:
        if credentials["password"] != "right":
            raise CredentialsInvalid("proxmox", "", "401")

    world.before_connecting = judge
    world.instead = lambda: Simulated(world.datacentre, "lab", SimulatedSection(boot_delay="0s"))
    await world.secret(password=CANARY)
    section = {"endpoint": "https://pve", "nodes": ["a"], "storage": "b"}
    await world.config(provider="proxmox", proxmox=section, credentialsRef={"name": "login"})
    await world.machine()
    await asyncio.sleep(5)
    assert (await world.request()).status.failure_reason == "CredentialsInvalid"
    assert CANARY not in await world.everything_said()
    await world.client.patch(Secret, "login", {"stringData": {"password": "right"}}, SYSTEM)
    await asyncio.sleep(5)
    assert (await world.request()).status.phase is MachinePhase.RUNNING


async def test_a_request_waits_for_its_provider_config(world: World) -> None:
    """Rule 14."""
    await world.machine()
    await asyncio.sleep(5)
    status = (await world.request()).status
    assert (status.phase, status.failure_reason) == (MachinePhase.FAILED, "ProviderConfigError")
    await world.config(simulated={"bootDelay": "0s"})
    await asyncio.sleep(5)
    assert (await world.request()).status.phase is MachinePhase.RUNNING


async def test_a_request_that_never_had_a_provider_config_goes_at_once(world: World) -> None:
    """Rule 6."""
    await world.machine()
    await asyncio.sleep(5)
    await world.remove(MachineRequest, "cp-0")
    await asyncio.sleep(1)
    assert not await world.exists(MachineRequest, "cp-0")


async def test_a_provider_config_that_is_going_takes_no_new_request(world: World) -> None:
    """Rule 14."""
    await world.config(simulated={"bootDelay": "0s"})
    await world.machine("first")
    await asyncio.sleep(5)
    await world.remove(ProviderConfig, "lab")
    await asyncio.sleep(1)
    await world.machine("second")
    await asyncio.sleep(5)
    status = (await world.request("second")).status
    assert status.failure_message == "ProviderConfig butler-system/lab is being deleted; use another"
    assert [vm.name for vm in world.datacentre.machines()] == ["first"]


async def test_a_request_of_another_provider_is_not_touched(idle_world: World) -> None:
    """Rule 3."""
    idle_world.only = ("aws",)
    idle_world.start()
    await idle_world.config(simulated={"bootDelay": "0s"})
    await idle_world.machine()
    await asyncio.sleep(60)
    request = await idle_world.request()
    assert (request.metadata.finalizers, request.status.phase) == ((), None)
    assert idle_world.verbs == []


async def test_a_machine_whose_provider_config_is_gone_can_be_let_go(world: World) -> None:
    """Rule 7."""
    await world.config(simulated={"bootDelay": "0s"})
    await world.machine()
    await asyncio.sleep(5)
    await world.client.patch(ProviderConfig, "lab", {"metadata": {"finalizers": []}}, SYSTEM)
    await world.crash()
    await world.client.delete(ProviderConfig, "lab", SYSTEM)
    if await world.exists(ProviderConfig, "lab"):
        await world.client.patch(ProviderConfig, "lab", {"metadata": {"finalizers": []}}, SYSTEM)
    world.start()
    await world.remove(MachineRequest, "cp-0")
    await asyncio.sleep(60)
    stuck = await world.request()
    assert (stuck.status.phase, shown(stuck)) == (MachinePhase.DELETING, ("False", "ProviderConfigError"))
    await world.client.patch(MachineRequest, "cp-0", {"metadata": {"annotations": {FORCED: "true"}}}, SYSTEM)
    await asyncio.sleep(5)
    assert not await world.exists(MachineRequest, "cp-0")
    assert "Abandoned" in await world.events("cp-0")


async def test_no_room_is_waited_for(world: World) -> None:
    """Rule 12."""
    await world.config(simulated={"bootDelay": "0s", "removalDelay": "0s", "capacity": 1})
    await world.machine("first")
    await asyncio.sleep(5)
    await world.machine("second")
    await asyncio.sleep(60)
    waiting = await world.request("second")
    assert (waiting.status.phase, shown(waiting)) == (MachinePhase.PENDING, ("False", "CapacityExhausted"))
    await world.remove(MachineRequest, "first")
    await asyncio.sleep(600)
    assert (await world.request("second")).status.phase is MachinePhase.RUNNING


async def test_a_machine_that_never_gets_an_address_is_a_warning_and_stays(world: World) -> None:
    await world.config(simulated={"stuckPercent": 100})
    await world.machine()
    await asyncio.sleep(1500)
    request = await world.request()
    assert (request.status.phase, shown(request)) == (MachinePhase.CREATING, ("False", "ProvisioningTimeout"))
    assert (await world.events("cp-0")).count("ProvisioningTimeout") == 1


@pytest.mark.parametrize("trouble", [Trouble.BEFORE, Trouble.AFTER, Trouble.LIMITED, Trouble.TWICE])
@pytest.mark.parametrize("is_crash", [False, True], ids=["error", "crash"])
async def test_whatever_call_fails_there_is_one_machine_and_then_none(
    world: World, trouble: Trouble, is_crash: bool
) -> None:
    """Rules 2, 9: every call in turn, with the controller dying right after it or living on."""
    await world.config(simulated={"bootDelay": "3s", "removalDelay": "3s"})
    failing = 0
    while True:
        world.verbs.clear()
        struck = asyncio.Event()

        def weather(number: int, verb: str, failing: int = failing, struck: asyncio.Event = struck) -> Trouble:
            if number != failing:
                return Trouble.NONE
            struck.set()
            return trouble

        world.troubles = weather
        name = f"cp-{failing}"
        await world.machine(name)
        await _recovered(world, struck, is_crash)
        assert [vm.name for vm in world.datacentre.machines()] == [name]
        assert (await world.request(name)).status.phase is MachinePhase.RUNNING
        await world.remove(MachineRequest, name)
        await _recovered(world, struck, is_crash)
        assert not await world.exists(MachineRequest, name)
        assert world.datacentre.machines() == []
        if not struck.is_set():
            break
        failing += 1
    assert failing >= 5


async def _recovered(world: World, struck: asyncio.Event, is_crash: bool) -> None:
    already = struck.is_set()
    for _ in range(250):
        await asyncio.sleep(0.1)
        if is_crash and struck.is_set() and not already:
            await world.crash()
            world.start()
            already = True


@pytest.mark.parametrize("kubekit_seed", range(12))
async def test_whatever_goes_wrong_between_all_of_them_there_is_one_machine_for_each_request(idle_world: World) -> None:
    """Rules 2, 9: the API loses answers and events, the infrastructure too, and the controller dies now and then."""
    faults = Faults()
    idle_world.wrap = lambda client: FaultyClient(
        client, faults, idle_world.surroundings.clock, idle_world.surroundings.chance
    )
    idle_world.start()
    knobs = {"bootDelay": "5s", "removalDelay": "5s", "failurePercent": 20, "lostAnswerPercent": 20}
    await idle_world.config(simulated={**knobs, "repeatedPercent": 10})
    idle_world.by_chance = True
    names = [f"m-{number}" for number in range(5)]
    for name in names:
        await idle_world.machine(name)
    for _ in range(5):
        await asyncio.sleep(4)
        await idle_world.crash()
        idle_world.start()
    for name in names[3:]:
        await idle_world.remove(MachineRequest, name)
    await asyncio.sleep(30)
    faults.on, idle_world.by_chance = False, False
    await asyncio.sleep(900)
    assert sorted(vm.name for vm in idle_world.datacentre.machines()) == names[:3]
    for name in names[:3]:
        assert (await idle_world.request(name)).status.phase is MachinePhase.RUNNING
        await idle_world.remove(MachineRequest, name)
    await asyncio.sleep(120)
    assert idle_world.datacentre.machines() == []
    assert (await idle_world.client.list(MachineRequest)).items == ()


async def test_many_requests_are_worked_on_a_few_at_a_time(world: World) -> None:
    """Rule 15: five hundred machines on a slow account that answers forty calls a second."""
    await world.config(simulated={"bootDelay": "5s", "callDelay": "100ms", "rateLimit": 40})
    busiest, at_work = 0, 0
    sleep = world.datacentre.clock.sleep

    async def counted(seconds: float) -> None:
        nonlocal busiest, at_work
        at_work += 1
        busiest = max(busiest, at_work)
        try:
            await sleep(seconds)
        finally:
            at_work -= 1

    world.datacentre.clock.sleep = counted  # type: ignore[method-assign]
    for number in range(500):
        await world.machine(f"m-{number}")
    await asyncio.sleep(300)
    assert len(world.datacentre.machines()) == 500
    requests = (await world.client.list(MachineRequest)).items
    assert {one.status.phase for one in requests} == {MachinePhase.RUNNING}
    assert busiest <= 9  # eight for machines, and one may be the ProviderConfig's own check
    assert world.refusals < len(world.verbs) / 20
    per_machine = sum(verb != "find" for verb in world.verbs) / 500
    assert per_machine == 1


async def test_user_data_is_nowhere_to_be_read(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """Rule 16."""
    caplog.set_level(logging.DEBUG)
    await world.config(simulated={"bootDelay": "0s", "capacityCPU": 2})
    await world.machine(userData=f"#cloud-config\npassword: {CANARY}\n")
    await world.machine("too-big", cpu=64, userData=CANARY)
    await asyncio.sleep(120)
    assert CANARY not in await world.everything_said()
    assert CANARY not in caplog.text
