"""Both versions of the fake under the conformance kit."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from butler.api.normalise import normalise
from butler.api.provider import ProviderConfig, ProviderConfigSpec
from butler.api.sections.nutanix import NutanixSection
from butler.api.shared import ProviderType, SecretRef
from butler.providers import registry
from butler.providers.contract import MachineOrder, Provider, Surroundings
from butler.providers.images import Images
from butler.providers.nutanix.vm import token_of
from butler.providers.testing import Harness, Seen
from kubekit.clock import SeededChance
from kubekit.model.resource import ObjectMeta
from tests.providers.nutanix.fake import CLUSTER, IMAGE, PASSWORD, SUBNET, USER, Disk, Image, Prism, Subnet, Vm

CREDENTIALS = {"username": USER, "password": PASSWORD}
PLACES: Mapping[str, Any] = {"cluster_uuid": CLUSTER, "subnet_uuid": SUBNET, "image_uuid": IMAGE}
_LONG_AGO = -1000.0
_CHANCE = SeededChance(7)
"""Of all connections together: ids of requests must not come twice."""


def config(url: str | None, **section: Any) -> ProviderConfig:
    """A ProviderConfig, normalised as it comes to a provider."""
    spec = ProviderConfigSpec(
        provider=ProviderType.NUTANIX,
        credentials_ref=SecretRef(name="nutanix-credentials", namespace="butler-system"),
        nutanix=NutanixSection(endpoint=url, **(section or PLACES)),
    )
    made = normalise(ProviderConfig(metadata=ObjectMeta(name="nutanix", namespace="butler-system"), spec=spec))
    assert isinstance(made, ProviderConfig)
    return made


def connected(
    url: str, credentials: Mapping[str, str] = CREDENTIALS, patience: float = 10.0, **section: Any
) -> Provider:
    surroundings = Surroundings(chance=_CHANCE, patience=patience)
    return registry.connect(config(url, **section), credentials, surroundings)


class NutanixHarness(Harness):
    provider_id = r"nutanix://[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    secrets: ClassVar[tuple[str, ...]] = (
        PASSWORD,
        base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode(),
    )
    user_data_limit = 96_000

    def __init__(self, prism: Prism, url: str) -> None:
        self.prism, self.url, self.faults = prism, url, prism.faults

    async def connect(self) -> Provider:
        # Where silence is to come it should not last; elsewhere a busy computer is no reason to fail.
        return connected(self.url)

    async def connect_wrongly(self) -> Provider:
        return connected(self.url, {**CREDENTIALS, "password": "wrong"})

    async def machines(self) -> list[Seen]:
        return [
            Seen(
                name=vm.name,
                token=token_of(vm.description),
                cpu=vm.sockets * vm.cores,
                memory_mb=vm.memory_mb,
                disk_gb=next((disk.size // 2**30 for disk in vm.disks), None),
                extra_disks=tuple(disk.size // 2**30 for disk in vm.disks[1:]),
                labels=dict(part.split("=") for part in vm.description.split("; ") if "=" in part),
                image=next((disk.image for disk in vm.disks), None),
            )
            for vm in self.prism.existing()
        ]

    async def leftovers(self) -> list[str]:
        self.prism.settle()
        return [f"failed VM {vm.name}" for vm in self.prism.vms.values() if vm.failure]

    async def pass_time(self, seconds: float) -> None:
        self.prism.now += seconds

    async def was_booted_with(self, token: str, user_data: str) -> bool:
        return base64.b64decode(self._vm(token).user_data or "").decode() == user_data

    async def lose(self, token: str) -> None:
        self._vm(token).gone_at = self.prism.now

    async def stop(self, token: str) -> None:
        vm = self._vm(token)
        vm.is_on, vm.version = False, vm.version + 1

    async def add_stranger(self, name: str) -> None:
        add_stranger(self.prism, name)

    async def add_image(self, name: str) -> str:
        uuid = self.prism.new_uuid()
        self.prism.images[uuid] = Image(uuid, name, "of someone else", size=2**30)
        return uuid

    async def add_network(self, name: str) -> str:
        uuid = self.prism.new_uuid()
        self.prism.subnets[uuid] = Subnet(uuid, name)
        return uuid

    def refused(self, order: MachineOrder) -> MachineOrder:
        return replace(order, cpu=65)

    async def fill(self) -> None:
        self.prism.has_room = False

    def images(self, provider: Provider) -> Images:
        found = registry.images("nutanix", provider)
        assert found is not None
        return found

    def _vm(self, token: str) -> Vm:
        return next(vm for vm in self.prism.existing() if token_of(vm.description) == token)


def add_stranger(prism: Prism, name: str) -> Vm:
    """A VM that someone else made long ago."""
    vm = Vm(
        uuid=prism.new_uuid(), name=name, description="of someone else", cluster=CLUSTER, sockets=1, cores=1,
        memory_mb=1024, boot="LEGACY", subnets=[SUBNET], disks=[Disk(2**30)], number=prism.next_number(),
        posted_at=_LONG_AGO, is_made=True, made_at=_LONG_AGO, is_on=True, on_at=_LONG_AGO,
    )  # fmt: skip
    prism.vms[vm.uuid] = vm
    return vm
