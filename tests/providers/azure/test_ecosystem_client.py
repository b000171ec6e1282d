"""Azure's own clients find their way around the fake."""

from __future__ import annotations

from collections.abc import AsyncIterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError

from butler.providers.testing.driver import made
from testbed.running import loopback_tls
from tests.providers.azure.fake_market import MANAGED
from tests.providers.azure.fake_things import LOCATION, SUBNET, SUBSCRIPTION
from tests.providers.azure.harness import AzureHarness, running

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

RG = "Butler-RG"
KEY = "ssh-rsa " + "A" * 372
SCOPES = ["https://management.azure.com/.default"]
Clients = tuple[Any, Any]


class Static:
    """A credential that has its token already."""

    async def get_token(self, *scopes: str, **_: Any) -> Any:
        return AccessToken("static", 4_000_000_000)

    async def close(self) -> None: ...


@pytest.fixture
async def harness() -> AsyncIterator[AzureHarness]:
    async with running() as harness:
        # These clients wait by themselves, so time passes with every call.
        harness.azure.moves_by = 4.0
        yield harness


@pytest.fixture
async def clients(harness: AzureHarness, tmp_path: Path) -> AsyncIterator[Clients]:
    # They take seconds to import, and are not to be in the way of who runs other tests.
    compute_client = import_module("azure.mgmt.compute.aio").ComputeManagementClient
    network_client = import_module("azure.mgmt.network.aio").NetworkManagementClient
    authority = tmp_path / "ca.pem"
    authority.write_text(loopback_tls.authority())
    more: Any = {
        "base_url": harness.url,
        "credential_scopes": SCOPES,
        "connection_verify": str(authority),
        "polling_interval": 0,
        "retry_total": 0,
    }
    async with (
        compute_client(Static(), SUBSCRIPTION, **more) as compute,
        network_client(Static(), SUBSCRIPTION, **more) as network,
    ):
        yield compute, network


def nic() -> dict[str, Any]:
    address = {"subnet": {"id": SUBNET}, "privateIPAllocationMethod": "Dynamic"}
    return {"location": LOCATION, "properties": {"ipConfigurations": [{"name": "one", "properties": address}]}}


def vm(nic_id: str) -> dict[str, Any]:
    key = {"path": "/home/me/.ssh/authorized_keys", "keyData": KEY}
    return {
        "location": LOCATION,
        "tags": {"owner": "me"},
        "properties": {
            "hardwareProfile": {"vmSize": "Standard_D2s_v5"},
            "storageProfile": {
                "imageReference": {"id": MANAGED},
                "osDisk": {"name": "mine-os", "createOption": "FromImage", "managedDisk": {}, "deleteOption": "Delete"},
            },
            "osProfile": {
                "computerName": "mine",
                "adminUsername": "me",
                "linuxConfiguration": {"disablePasswordAuthentication": True, "ssh": {"publicKeys": [key]}},
            },
            "networkProfile": {"networkInterfaces": [{"id": nic_id, "properties": {"primary": True}}]},
        },
    }


async def create(clients: Clients) -> Any:
    compute, network = clients
    card = await (await network.network_interfaces.begin_create_or_update(RG, "mine-nic", nic())).result()
    return await (await compute.virtual_machines.begin_create_or_update(RG, "mine", vm(card.id))).result()


async def power(clients: Clients) -> list[str]:
    view = await clients[0].virtual_machines.instance_view(RG, "mine")
    return [one.code for one in view.statuses]


async def test_a_machine_is_made_listed_and_read(clients: Clients) -> None:
    compute, network = clients
    found = await create(clients)
    assert (found.name, found.properties.provisioning_state) == ("mine", "Succeeded")
    assert [one.name async for one in compute.virtual_machines.list(RG)] == ["mine"]
    read = await compute.virtual_machines.get(RG, "mine")
    assert (read.tags, read.properties.hardware_profile.vm_size) == ({"owner": "me"}, "Standard_D2s_v5")
    card = await network.network_interfaces.get(RG, "mine-nic")
    assert card.properties.ip_configurations[0].properties.private_ip_address.startswith("10.9.")


async def test_a_machine_is_switched_off_and_on(clients: Clients) -> None:
    compute, _ = clients
    await create(clients)
    await (await compute.virtual_machines.begin_power_off(RG, "mine")).result()
    assert "PowerState/stopped" in await power(clients)
    await (await compute.virtual_machines.begin_start(RG, "mine")).result()
    assert "PowerState/running" in await power(clients)


async def test_a_machine_is_deleted_and_leaves_what_it_was_told_to_leave(clients: Clients) -> None:
    compute, network = clients
    await create(clients)
    await (await compute.virtual_machines.begin_delete(RG, "mine")).result()
    with pytest.raises(ResourceNotFoundError):
        await compute.virtual_machines.get(RG, "mine")
    assert [one.name async for one in network.network_interfaces.list(RG)] == ["mine-nic"]
    await (await network.network_interfaces.begin_delete(RG, "mine-nic")).result()
    assert [one async for one in network.network_interfaces.list(RG)] == []
    assert [one async for one in compute.disks.list_by_resource_group(RG)] == []


async def test_what_butler_made_is_seen_by_others(harness: AzureHarness, clients: Clients) -> None:
    compute, network = clients
    harness.azure.moves_by = 0.0
    orders = [await made(harness, f"butlers-{number}") for number in range(4)]
    listed = {one.name: one.tags["butler-token"] async for one in compute.virtual_machines.list(RG)}
    assert listed == {order.name: order.token for order in orders}
    assert len([one async for one in network.network_interfaces.list(RG)]) == 4


async def test_a_load_balancer_is_made_and_deleted(clients: Clients) -> None:
    _, network = clients
    address = {"location": LOCATION, "sku": {"name": "Standard"}, "properties": {"publicIPAllocationMethod": "Static"}}
    made = await (await network.public_ip_addresses.begin_create_or_update(RG, "front", address)).result()
    frontend = {"name": "front", "properties": {"publicIPAddress": {"id": made.id}}}
    body = {"location": LOCATION, "sku": {"name": "Standard"}, "properties": {"frontendIPConfigurations": [frontend]}}
    balancer = await (await network.load_balancers.begin_create_or_update(RG, "lb", body)).result()
    assert balancer.properties.provisioning_state == "Succeeded"
    await (await network.load_balancers.begin_delete(RG, "lb")).result()
    await (await network.public_ip_addresses.begin_delete(RG, "front")).result()
    assert [one async for one in network.public_ip_addresses.list(RG)] == []


async def test_a_refusal_is_understood(clients: Clients) -> None:
    with pytest.raises(HttpResponseError) as raised:
        await clients[0].virtual_machines.begin_create_or_update(RG, "mine", {**vm("/none"), "colour": "red"})
    assert raised.value.error is not None
    assert raised.value.error.code == "InvalidRequestContent"


async def test_sizes_and_limits_are_read(clients: Clients) -> None:
    compute, _ = clients
    skus = [one async for one in compute.resource_skus.list(filter=f"location eq '{LOCATION}'")]
    assert "Standard_D2s_v5" in [one.name for one in skus]
    usages = {one.name.value: one.limit async for one in compute.usage.list(LOCATION)}
    assert usages["cores"] == 200
