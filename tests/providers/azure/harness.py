"""Azure under the conformance kit."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from butler.api.provider import ProviderConfig, ProviderConfigSpec
from butler.api.sections.azure import AzureSection
from butler.api.shared import ProviderType, SecretRef
from butler.providers import registry
from butler.providers.azure.vm import MARK, USER_DATA_LIMIT
from butler.providers.contract import MachineOrder, Provider, Surroundings
from butler.providers.loadbalancer import LoadBalancers
from butler.providers.testing import Harness, Seen
from butler.providers.testing.web import serving
from kubekit.model.resource import ObjectMeta
from testbed.running import loopback_tls
from tests.providers.azure.fake import CLIENT, SECRET, TENANT, Azure
from tests.providers.azure.fake_market import GALLERY, MANAGED, SIZES
from tests.providers.azure.fake_shapes import Json
from tests.providers.azure.fake_things import BOOT, GROUP, LOCATION, SUBSCRIPTION, Thing

CREDENTIALS = {"tenantID": TENANT, "clientID": CLIENT, "clientSecret": SECRET}


def config(url: str, **more: Any) -> ProviderConfig:
    given: dict[str, Any] = {
        "subscription_id": SUBSCRIPTION,
        "resource_group": "Butler-RG",
        "location": LOCATION,
        "vnet_name": "machines",
        "subnet_name": "nodes",
        "image_urn": MANAGED,
        "endpoint": url,
        "authority": url,
        "ca_bundle": loopback_tls.authority(),
        **more,
    }
    spec = ProviderConfigSpec(
        provider=ProviderType.AZURE,
        credentials_ref=SecretRef(name="azure-credentials", namespace="butler-system"),
        azure=AzureSection(**given),
    )
    return ProviderConfig(metadata=ObjectMeta(name="azure", namespace="butler-system"), spec=spec)


@asynccontextmanager
async def running() -> AsyncIterator[AzureHarness]:
    """A fake that answers by TLS."""
    azure = Azure()
    async with serving(azure.app(), loopback_tls.context()) as url:
        yield AzureHarness(azure, url)


class AzureHarness(Harness):
    provider_id = (
        rf"azure:///subscriptions/{SUBSCRIPTION}/resourceGroups/butler-rg"
        r"/providers/Microsoft\.Compute/virtualMachines/[a-z0-9-]+"
    )
    secrets = (SECRET, "bearer-canary-")
    user_data_limit = USER_DATA_LIMIT

    def __init__(self, azure: Azure, url: str) -> None:
        self.azure, self.url, self.faults = azure, url, azure.faults

    async def connect(self) -> Provider:
        return self.connected()

    async def connect_wrongly(self) -> Provider:
        return self.connected(clientSecret="wrong")

    def connected(self, section: Json | None = None, **credentials: str) -> Provider:
        surroundings = Surroundings()
        return registry.connect(config(self.url, **(section or {})), {**CREDENTIALS, **credentials}, surroundings)

    async def machines(self) -> list[Seen]:
        return [_seen(one) for one in self.azure.existing("virtualmachines")]

    async def leftovers(self) -> list[str]:
        tokens = {_token(one) for one in self.azure.existing("virtualmachines")}
        ours = [one for one in self.azure.existing() if one.kind != "virtualmachines" and _token(one)]
        return sorted(f"{one.kind} {one.name}" for one in ours if _token(one) not in tokens)

    async def pass_time(self, seconds: float) -> None:
        self.azure.now += seconds

    async def was_booted_with(self, token: str, user_data: str) -> bool:
        given = self.vm(token).properties["osProfile"].get("customData", "")
        return base64.b64decode(given).decode() == user_data

    async def lose(self, token: str) -> None:
        self.vm(token).gone_at = self.azure.now

    async def stop(self, token: str) -> None:
        self.vm(token).power = "deallocated"

    async def add_stranger(self, name: str) -> None:
        storage = {"osDisk": {"managedDisk": {"id": "/a-disk"}}}
        facts = {"storageProfile": storage, "networkProfile": {"networkInterfaces": []}}
        size = {"hardwareProfile": {"vmSize": "Standard_D2s_v5"}, "osProfile": {}}
        path = f"{GROUP}/providers/Microsoft.Compute/virtualMachines/{name}"
        self.azure.add(path, "virtualmachines", {"location": LOCATION, "properties": {**facts, **size}}, BOOT)
        self.azure.now += BOOT

    async def add_image(self, name: str) -> str:
        path = f"{GALLERY}/images/{name}"
        self.azure.add(path, "galleries/images", {"location": LOCATION, "properties": {"osType": "Linux"}})
        return path

    async def add_network(self, name: str) -> str:
        vnet = f"{GROUP}/providers/Microsoft.Network/virtualNetworks/{name}"
        subnet = {"id": f"{vnet}/subnets/only", "name": "only", "properties": {"addressPrefix": "10.77.0.0/24"}}
        self.azure.add(vnet, "virtualnetworks", {"location": LOCATION, "properties": {"subnets": [subnet]}})
        return str(subnet["id"])

    def refused(self, order: MachineOrder) -> MachineOrder:
        return replace(order, image=f"{GROUP}/providers/Microsoft.Compute/images/no-such")

    async def fill(self) -> None:
        self.azure.cores = 0

    def load_balancers(self, provider: Provider) -> LoadBalancers:
        found = registry.load_balancers("azure", provider)
        assert found is not None
        return found

    def vm(self, token: str) -> Thing:
        return next(one for one in self.azure.existing("virtualmachines") if _token(one) == token)


def _token(thing: Thing) -> str:
    return str(thing.body.get("tags", {}).get(MARK, ""))


def _seen(vm: Thing) -> Seen:
    name = vm.properties["hardwareProfile"]["vmSize"]
    size = next(one for one in SIZES if one["name"] == name)
    able = {one["name"]: one["value"] for one in size["capabilities"]}
    storage = vm.properties["storageProfile"]
    return Seen(
        name=vm.name,
        token=_token(vm),
        cpu=int(able["vCPUs"]),
        memory_mb=int(able["MemoryGB"]) * 1024,
        disk_gb=storage["osDisk"].get("diskSizeGB"),
        extra_disks=tuple(one["diskSizeGB"] for one in storage.get("dataDisks", ())),
        labels=vm.body.get("tags", {}),
        image=storage.get("imageReference", {}).get("id"),
    )
