"""The simulated infrastructure keeps the provider contract."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace

import pytest

from butler.api.sections.simulated import SimulatedSection
from butler.providers.contract import MachineOrder, Provider
from butler.providers.images import Images
from butler.providers.loadbalancer import LoadBalancers
from butler.providers.simulated import images, loadbalancer
from butler.providers.simulated.datacentre import DataCentre
from butler.providers.simulated.faults import Trouble
from butler.providers.simulated.provider import Simulated
from butler.providers.simulated.section import Knobs
from butler.providers.testing import ConformanceKit, Fault, Faults, Harness, Seen
from kubekit.clock import SeededChance
from tests.providers.clocks import HandClock

ACCOUNT = "butler-system/simulated"
TROUBLES = {
    Fault.BEFORE: Trouble.BEFORE,
    Fault.AFTER: Trouble.AFTER,
    Fault.SILENT: Trouble.AFTER,
    Fault.LIMITED: Trouble.LIMITED,
    Fault.BROKEN: Trouble.BEFORE,
}


class SimulatedHarness(Harness):
    """A data centre in memory on a clock that is moved by hand."""

    provider_id = r"simulated://[0-9a-f-]{36}"

    def __init__(self) -> None:
        self.clock, self.faults = HandClock(), Faults()
        self.datacentre = DataCentre(clock=self.clock, chance=SeededChance(1))
        self.section = SimulatedSection(boot_delay="20s", removal_delay="10s", capacity_cpu=64)

    async def connect(self) -> Provider:
        return Simulated(self.datacentre, ACCOUNT, self.section, self._weather)

    def _weather(self, verb: str, knobs: Knobs) -> Trouble:
        fault = self.faults.next(verb)
        return Trouble.NONE if fault is None else TROUBLES[fault]

    async def machines(self) -> list[Seen]:
        return [Seen(vm.name, vm.token, vm.cpu, vm.memory_mb, vm.disk_gb) for vm in self.datacentre.machines()]

    async def pass_time(self, seconds: float) -> None:
        self.clock.pass_by(seconds)

    async def was_booted_with(self, token: str, user_data: str) -> bool:
        (vm,) = self.datacentre.of_token(ACCOUNT, token)
        return vm.user_data == hashlib.sha256(user_data.encode()).hexdigest()

    async def lose(self, token: str) -> None:
        self.datacentre.lose(self._vm(token))

    async def stop(self, token: str) -> None:
        self.datacentre.stop(self._vm(token))

    async def add_stranger(self, name: str) -> None:
        knobs = Knobs.of(SimulatedSection(boot_delay="0s"), "a stranger")
        self.datacentre.create("elsewhere/other", replace(self.order(name), token=""), knobs)

    async def add_image(self, name: str) -> str:
        self.datacentre.shelf.put(ACCOUNT, "image", name, "", "by hand", 0.0)
        return name

    def refused(self, order: MachineOrder) -> MachineOrder:
        return replace(order, cpu=65)

    async def fill(self) -> None:
        self.section = SimulatedSection(capacity=0)

    def load_balancers(self, provider: Provider) -> LoadBalancers:
        return loadbalancer.connect(provider)

    def images(self, provider: Provider) -> Images:
        return images.connect(provider)

    def _vm(self, token: str) -> str:
        return self.datacentre.of_token(ACCOUNT, token)[0].id


class TestSimulated(ConformanceKit):
    @pytest.fixture
    def harness(self) -> Iterator[Harness]:
        made = SimulatedHarness()
        yield made
        made.datacentre.close()
