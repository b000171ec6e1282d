"""The kit on an infrastructure of the awkward kind: several calls for one machine, tasks, and what shows late."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import pytest

from butler.errors import MachineRejected, ProviderError, ProviderUnavailable, RateLimited
from butler.providers.contract import (
    NOTHING_KNOWN,
    Asset,
    Check,
    Choice,
    Known,
    Machine,
    MachineOrder,
    Power,
    Provider,
    by_name,
)
from butler.providers.testing import ConformanceKit, Fault, Faults, Harness, Seen
from butler.providers.testing.faults import RETRY_AFTER

LATE, BOOT, REMOVAL = 10.0, 20.0, 10.0
NAME = "stepwise"


@dataclass
class Thing:
    """A disk or a machine."""

    name: str
    token: str
    made_at: float
    order: MachineOrder | None = None
    gone_at: float = float("inf")
    is_off: bool = False


@dataclass
class Cloud:
    """Disks at once; machines by a task, and not shown before that is done."""

    faults: Faults = field(default_factory=Faults)
    now: float = 0.0
    disks: dict[str, Thing] = field(default_factory=dict)
    vms: dict[str, Thing] = field(default_factory=dict)
    images: list[str] = field(default_factory=lambda: ["talos"])

    def call(self, what: str, about: str, effect: Any, *arguments: Any) -> Any:
        """One call of its API, with whatever befalls it."""
        fault = self.faults.next(what)
        if fault is Fault.LIMITED:
            raise RateLimited(NAME, about, f"{what}: 429", RETRY_AFTER)
        if fault in (Fault.BEFORE, Fault.BROKEN):
            raise ProviderUnavailable(NAME, about, f"{what}: failed")
        answer = effect(*arguments)
        if fault is not None:
            raise ProviderUnavailable(NAME, about, f"{what}: no answer")
        return answer

    def existing(self) -> list[Thing]:
        self.vms = {key: one for key, one in self.vms.items() if one.gone_at > self.now}
        return list(self.vms.values())

    def shown(self, token: str) -> list[Thing]:
        return [one for one in self.existing() if one.token == token and self.now >= one.made_at + LATE]

    def add_disk(self, order: MachineOrder) -> None:
        self.disks.setdefault(order.token, Thing(order.name, order.token, self.now))

    def add_vm(self, order: MachineOrder) -> str:
        """The token is the key of the request: it is one task however often it is asked for."""
        if order.cpu > 64:
            raise MachineRejected(NAME, order.name, "there is nothing that large")
        known = [one for one in self.existing() if one.token == order.token]
        if not known:
            self.vms[order.token] = Thing(order.name, order.token, self.now, order)
        return f"task-{order.token}"

    def task_is_done(self, task: str) -> bool:
        token = task.removeprefix("task-")
        return token not in self.vms or bool(self.shown(token))

    def remove_vm(self, token: str) -> None:
        for one in self.shown(token):
            one.gone_at = min(one.gone_at, self.now + REMOVAL)

    def remove_disk(self, token: str) -> None:
        if any(one.token == token for one in self.existing()):
            raise ProviderUnavailable(NAME, "", "the disk is in use")
        self.disks.pop(token, None)


class Stepwise:
    """A provider for it."""

    name: ClassVar[str] = NAME
    settles_in: ClassVar[float] = LATE

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud

    async def create(self, order: MachineOrder, known: Known = NOTHING_KNOWN) -> Machine:
        cloud = self._cloud
        if found := await self.find(order.name, order.token):
            return found
        if known.task and not cloud.call("task", order.name, cloud.task_is_done, known.task):
            return Machine("", order.name, order.token, Power.STARTING, task=known.task)
        if order.token not in cloud.call("disks", order.name, dict, cloud.disks):
            cloud.call("add disk", order.name, cloud.add_disk, order)
        try:
            task = cloud.call("add vm", order.name, cloud.add_vm, order)
        except MachineRejected:
            await self.delete(order.name, order.token)
            raise
        return Machine("", order.name, order.token, Power.STARTING, task=task)

    async def find(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> Machine | None:
        found = self._cloud.call("vms", name, self._cloud.shown, token)
        return self._shown(found[0]) if found else None

    async def delete(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> bool:
        cloud = self._cloud
        if cloud.call("vms", name, cloud.shown, token):
            cloud.call("remove vm", name, cloud.remove_vm, token)
            return False
        if token in cloud.call("disks", name, dict, cloud.disks):
            cloud.call("remove disk", name, cloud.remove_disk, token)
        return True

    async def check(self) -> tuple[Check, ...]:
        self._cloud.call("account", "", dict)
        return (Check("reachable", True, "It answers."),)

    async def inventory(self) -> tuple[Asset, ...]:
        vms = self._cloud.call("vms", "", self._cloud.existing)
        return tuple(Asset("vm", f"{NAME}://{one.token}", one.name, one.token) for one in vms)

    async def images(self) -> tuple[Choice, ...]:
        names = self._cloud.call("images", "", list, self._cloud.images)
        return by_name(Choice(name, name) for name in names)

    async def networks(self) -> tuple[Choice, ...]:
        """There is but one, and nothing to choose."""
        return ()

    async def close(self) -> None:
        """There is nothing to give back."""

    def _shown(self, vm: Thing) -> Machine:
        now = self._cloud.now
        power = Power.RUNNING if now >= vm.made_at + BOOT else Power.STARTING
        power = Power.STOPPED if vm.is_off else power
        power = Power.DELETING if vm.gone_at != float("inf") else power
        addresses = ("10.0.0.1",) if power is Power.RUNNING else ()
        return Machine(f"{NAME}://{vm.token}", vm.name, vm.token, power, addresses)


class StepwiseHarness(Harness):
    provider_id = r"stepwise://[0-9a-f-]{36}"

    def __init__(self) -> None:
        self.cloud = Cloud()
        self.faults = self.cloud.faults

    async def connect(self) -> Provider:
        return Stepwise(self.cloud)

    async def machines(self) -> list[Seen]:
        return [Seen(one.name, one.token) for one in self.cloud.existing()]

    async def leftovers(self) -> list[str]:
        vms = {one.token for one in self.cloud.existing()}
        return sorted(f"disk {one.name}" for one in self.cloud.disks.values() if one.token not in vms)

    async def pass_time(self, seconds: float) -> None:
        self.cloud.now += seconds

    async def was_booted_with(self, token: str, user_data: str) -> bool:
        order = self.cloud.vms[token].order
        return order is not None and order.user_data == user_data

    async def lose(self, token: str) -> None:
        del self.cloud.vms[token]

    async def stop(self, token: str) -> None:
        self.cloud.vms[token].is_off = True

    async def add_image(self, name: str) -> str:
        self.cloud.images.append(name)
        return name

    def refused(self, order: MachineOrder) -> MachineOrder:
        return replace(order, cpu=65)


class TestStepwise(ConformanceKit):
    @pytest.fixture
    def harness(self) -> Harness:
        return StepwiseHarness()


class Careless(Stepwise):
    """Believes that a machine that does not show is not there."""

    settles_in: ClassVar[float] = 0.0

    async def delete(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> bool:
        try:
            return await super().delete(name, token, known)
        except ProviderUnavailable as error:
            if "in use" in str(error):
                return True
            raise


class Leaving(Stepwise):
    """Forgets the disk of a machine that is gone."""

    async def delete(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> bool:
        found = self._cloud.call("vms", name, self._cloud.shown, token)
        if found:
            self._cloud.call("remove vm", name, self._cloud.remove_vm, token)
        return not found


@pytest.mark.parametrize(
    ("mutant", "rule"),
    [
        (Careless, "test_a_half_made_machine_can_be_deleted"),
        (Careless, "test_a_machine_that_is_still_being_made_can_be_deleted"),
        (Leaving, "test_a_deleted_machine_leaves_nothing"),
        (Leaving, "test_what_a_lost_machine_leaves_behind_goes_too"),
    ],
)
async def test_what_is_left_behind_is_noticed(mutant: type[Stepwise], rule: str) -> None:
    class Mutated(StepwiseHarness):
        async def connect(self) -> Provider:
            return mutant(self.cloud)

    given = {"fault": Fault.AFTER} if "half_made" in rule else {}
    await getattr(ConformanceKit(), rule)(StepwiseHarness(), **given)
    with pytest.raises((AssertionError, ProviderError)):
        await getattr(ConformanceKit(), rule)(Mutated(), **given)
