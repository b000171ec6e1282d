"""The simulated infrastructure as a provider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from butler import __version__, advice
from butler.api.provider import ProviderConfig
from butler.api.sections.simulated import SimulatedSection
from kubekit.errors import InvalidConfiguration

from ..contract import NOTHING_KNOWN, Asset, Check, Choice, Known, Machine, MachineOrder, Power, Surroundings, by_name
from .datacentre import NAME, DataCentre
from .faults import FaultyAccess, Weather, by_chance
from .section import Knobs
from .vm import Vm

SCHEME = "simulated://"
BUILT_IN_IMAGE = Choice("simulated", "simulated", "boots as any version of anything")


def connect(config: ProviderConfig, credentials: Mapping[str, str], surroundings: Surroundings) -> Simulated:
    """The account a normalised ProviderConfig stands for. Raises InvalidConfiguration."""
    datacentre = surroundings.simulation
    subject = f"ProviderConfig {config.key}"
    if not isinstance(datacentre, DataCentre):
        message = f"there is no simulated data centre here: `{advice.start()}` has one"
        raise InvalidConfiguration(subject, "spec.provider", message)
    return Simulated(datacentre, config.key, config.spec.simulated or SimulatedSection())


class Simulated:
    """An account of the simulated data centre, called as its ProviderConfig is."""

    name: ClassVar[str] = NAME
    settles_in: ClassVar[float] = 0.0

    def __init__(
        self, datacentre: DataCentre, account: str, section: SimulatedSection, weather: Weather | None = None
    ) -> None:
        self._datacentre, self.account = datacentre, account
        self.shelf = datacentre.shelf
        knobs = Knobs.of(section, f"ProviderConfig {account}")
        self.knobs = knobs.without_delays() if datacentre.fast else knobs
        self.desk = FaultyAccess(datacentre.clock, weather or by_chance(datacentre.chance), datacentre.traffic)

    async def create(self, order: MachineOrder, known: Known = NOTHING_KNOWN) -> Machine:
        # An infrastructure that ignores tokens must not be asked twice, so look first.
        if found := await self.find(order.name, order.token):
            return found
        vm = await self.desk.ask(
            "create",
            order.name,
            self.knobs,
            lambda: self._datacentre.create(self.account, order, self.knobs),
        )
        return self._shown(vm)

    async def find(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> Machine | None:
        vms = await self.desk.ask("find", name, self.knobs, lambda: self._visible(token))
        return self._shown(vms[0]) if vms else None

    async def delete(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> bool:
        return await self.desk.ask("delete", name, self.knobs, lambda: self._removed(token))

    async def check(self) -> tuple[Check, ...]:
        await self.desk.ask("check", "", self.knobs, lambda: None)
        taken = len(self._datacentre.of_account(self.account))
        limit = self.knobs.section.capacity
        room = f"{taken} machines" if limit is None else f"{taken} of {limit} machines"
        return (
            Check("reachable", True, "The simulated data centre answers."),
            Check("version", True, "It is as old as this program.", value=__version__),
            Check("capacity", limit is None or limit > 0, room, "Raise spec.simulated.capacity."),
        )

    async def inventory(self) -> tuple[Asset, ...]:
        return await self.desk.ask("inventory", "", self.knobs, self._assets)

    async def images(self) -> tuple[Choice, ...]:
        items = await self.desk.ask("images", "", self.knobs, lambda: self.shelf.of_account(self.account))
        brought = [one for one in items if one.kind == "image" and self.shelf.is_ready(one)]
        return by_name((BUILT_IN_IMAGE, *(Choice(one.name, one.name, one.content) for one in brought)))

    async def networks(self) -> tuple[Choice, ...]:
        network = str(self.knobs.network)
        return await self.desk.ask("networks", "", self.knobs, lambda: (Choice(network, network, "of all machines"),))

    async def close(self) -> None:
        """There is nothing to give back."""

    def _removed(self, token: str) -> bool:
        self._datacentre.delete(self.account, token, self.knobs.removal)
        return not self._datacentre.of_token(self.account, token)

    def _assets(self) -> tuple[Asset, ...]:
        vms = self._datacentre.of_account(self.account)
        return (
            *(Asset("vm", SCHEME + vm.id, vm.name, vm.token, f"{vm.cpu} vCPU, {vm.memory_mb} MiB") for vm in vms),
            *(
                Asset(item.kind, SCHEME + item.id, item.name, item.token)
                for item in self.shelf.of_account(self.account)
            ),
        )

    def _visible(self, token: str) -> list[Vm]:
        now = self._now()
        return [vm for vm in self._datacentre.of_token(self.account, token) if now >= vm.visible_at]

    def _shown(self, vm: Vm) -> Machine:
        power = vm.power(self._now())
        addresses = (vm.address,) if power is Power.RUNNING else ()
        return Machine(SCHEME + vm.id, vm.name, vm.token, power, addresses, (vm.mac,))

    def _now(self) -> float:
        return self._datacentre.clock.now().timestamp()
