"""An infrastructure under test, and a way to look behind it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, NoReturn
from uuid import NAMESPACE_DNS, uuid5

import pytest

from ..contract import MachineOrder, Provider
from ..images import ImageOrder, Images
from ..loadbalancer import LoadBalancers
from .faults import Faults


@dataclass(frozen=True, slots=True)
class Seen:
    """A machine as the infrastructure itself has it. None: that cannot be seen here."""

    name: str
    token: str
    """Empty for one that carries no mark of ours."""
    cpu: int | None = None
    memory_mb: int | None = None
    disk_gb: int | None = None
    extra_disks: tuple[int, ...] | None = None
    """Sizes in GB."""
    labels: dict[str, str] | None = field(default=None)
    image: str | None = None


class Harness(ABC):
    """What a rule needs to know and to do. Whatever an infrastructure does not have stays as it is here: then the
    rules that need it are skipped."""

    provider_id: ClassVar[str]
    """A regular expression for every providerID."""
    secrets: ClassVar[tuple[str, ...]] = ()
    """Texts in the credentials."""
    user_data_limit: ClassVar[int | None] = None
    """Most bytes of userData the infrastructure takes; None for any number that makes sense."""
    page: ClassVar[int] = 5
    """So many machines do not fit on one page of the infrastructure's answers."""
    many: ClassVar[int] = 8
    """So many machines are made at the same time."""
    patience: ClassVar[float] = 120.0
    """Seconds of the infrastructure's time in which a machine comes or goes."""
    step: ClassVar[float] = 5.0
    """Seconds of the infrastructure's time between two looks."""
    says_how_long: ClassVar[bool] = True
    """Whether the infrastructure says how long to wait when there were too many calls."""
    faults: Faults

    @abstractmethod
    async def connect(self) -> Provider:
        """A new connection, with credentials that are good."""

    @abstractmethod
    async def machines(self) -> list[Seen]:
        """Every machine that exists, ours or not, past the provider."""

    @abstractmethod
    async def pass_time(self, seconds: float) -> None:
        """Let time pass for the infrastructure: a fake moves its clock, a real one is waited for."""

    async def leftovers(self) -> list[str]:
        """Disks, network cards, addresses, Secrets and whatever else was made, past the provider."""
        return []

    def order(self, name: str, token: str = "") -> MachineOrder:
        """A machine that the infrastructure is able to make."""
        return MachineOrder(
            name=name,
            token=token or str(uuid5(NAMESPACE_DNS, f"{name}.conformance.test")),
            cpu=2,
            memory_mb=4096,
            disk_gb=20,
            user_data="#cloud-config\nhostname: test\n",
            labels={"purpose": "conformance"},
        )

    async def was_booted_with(self, token: str, user_data: str) -> bool:
        """Whether the machine of a token got exactly this."""
        _not_offered("userData cannot be seen")

    async def lose(self, token: str) -> None:
        """Remove a machine behind the provider's back; disks and the like may stay."""
        _not_offered("machines cannot be removed behind the provider's back")

    async def stop(self, token: str) -> None:
        """Switch a machine off behind the provider's back."""
        _not_offered("machines cannot be switched off behind the provider's back")

    async def add_stranger(self, name: str) -> None:
        """Let someone else have a machine of this name."""
        _not_offered("there are no strangers")

    async def connect_wrongly(self) -> Provider:
        """A connection with credentials that are refused."""
        _not_offered("there are no wrong credentials")

    async def add_image(self, name: str) -> str:
        """Let someone else have an image of this name. Answers what a ProviderConfig says to mean it."""
        _not_offered("nobody else has images")

    async def add_network(self, name: str) -> str:
        """Let there be another network. Answers what a ProviderConfig says to mean it."""
        _not_offered("there are no further networks")

    def refused(self, order: MachineOrder) -> MachineOrder:
        """The order, changed so that the infrastructure refuses it."""
        _not_offered("nothing is refused")

    async def fill(self) -> None:
        """Let there be no room for another machine."""
        _not_offered("there is always room")

    def load_balancers(self, provider: Provider) -> LoadBalancers:
        _not_offered("there are no load balancers")

    def images(self, provider: Provider) -> Images:
        _not_offered("there are no images")

    def brought(self, order: ImageOrder) -> ImageOrder:
        """The order, changed into one for an image that the infrastructure is able to fetch."""
        return order


def _not_offered(why: str) -> NoReturn:
    pytest.skip(why)
