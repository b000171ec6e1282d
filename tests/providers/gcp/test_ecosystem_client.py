"""Google's own client drives the same fake, so the fake speaks Google's language and not only ours."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from urllib.parse import urlsplit

import pytest
from google.api_core import exceptions
from google.auth.transport.requests import Request
from google.cloud import compute_v1
from google.oauth2.credentials import Credentials
from google.oauth2.service_account import Credentials as ServiceAccount

from butler.providers.testing.web import serving
from tests.providers.clocks import HandClock
from tests.providers.gcp.fake import Google
from tests.providers.gcp.fake_issuer import key_file
from tests.providers.gcp.fake_project import PROJECT
from tests.providers.gcp.harness import GcpHarness
from tests.providers.gcp.worlds import brought_up, connected

ZONE, PLACE = "us-central1-a", {"project": PROJECT, "zone": "us-central1-a"}
Answer = TypeVar("Answer")
TOKEN = "55555555-5555-4555-8555-555555555555"


class TodaysClock(HandClock):
    """Google's client signs with today's date."""

    def __init__(self) -> None:
        super().__init__()
        self._began = datetime.now(UTC)

    def now(self) -> datetime:
        return self._began + timedelta(seconds=self.monotonic())


class Client:
    """The clients of google-cloud-compute, with a token that google-auth got for the service account."""

    def __init__(self, url: str) -> None:
        scopes = ["https://www.googleapis.com/auth/cloud-platform"]
        account = ServiceAccount.from_service_account_info(json.loads(key_file(url)), scopes=scopes)
        account.refresh(Request())
        self._options = {
            "host": urlsplit(url).netloc,
            "url_scheme": "http",
            "credentials": Credentials(token=account.token),
        }
        self.instances = self._of(compute_v1.InstancesClient)
        self.operations = self._of(compute_v1.ZoneOperationsClient)
        self.disks = self._of(compute_v1.DisksClient)
        self.images = self._of(compute_v1.ImagesClient)

    def _of(self, client: Any) -> Any:
        return client(transport=client.get_transport_class("rest")(**self._options))

    def finished(self, operation: Any) -> Any:
        """An operation when it is over."""
        return self.operations.wait(operation=operation.name, **PLACE)


@pytest.fixture
async def world() -> AsyncIterator[GcpHarness]:
    google = Google(clock=TodaysClock())
    async with serving(google.app()) as url:
        yield GcpHarness(google, url)


async def told(world: GcpHarness, act: Callable[[Client], Answer]) -> Answer:
    """What a program that uses Google's client, in a thread of its own, comes to."""
    return await asyncio.to_thread(lambda: act(Client(world.url)))


def instance(name: str) -> Any:
    """What Google's own examples ask for."""
    disk = compute_v1.AttachedDisk(
        boot=True,
        auto_delete=True,
        initialize_params=compute_v1.AttachedDiskInitializeParams(
            source_image="projects/talos-images/global/images/family/talos",
            disk_size_gb=20,
            disk_type=f"zones/{ZONE}/diskTypes/pd-balanced",
        ),
    )
    return compute_v1.Instance(
        name=name,
        machine_type=f"zones/{ZONE}/machineTypes/e2-standard-2",
        disks=[disk],
        labels={"butler-token": TOKEN},
        network_interfaces=[compute_v1.NetworkInterface(network=f"projects/{PROJECT}/global/networks/default")],
        metadata=compute_v1.Metadata(items=[compute_v1.Items(key="user-data", value="#cloud-config")]),
    )


async def test_googles_client_makes_looks_at_and_deletes_a_machine(world: GcpHarness) -> None:
    def life(client: Client) -> list[str]:
        seen = []
        operation = client.instances.insert_unary(instance_resource=instance("vm-1"), **PLACE)
        assert operation.status.name in ("PENDING", "RUNNING")
        assert client.finished(operation).status.name == "DONE"
        seen.append(client.instances.get(instance="vm-1", **PLACE).status)
        client.finished(client.instances.stop_unary(instance="vm-1", **PLACE))
        seen.append(client.instances.get(instance="vm-1", **PLACE).status)
        client.finished(client.instances.start_unary(instance="vm-1", **PLACE))
        seen.append(client.instances.get(instance="vm-1", **PLACE).status)
        seen += [one.name for one in client.instances.list(**PLACE)]
        client.finished(client.instances.delete_unary(instance="vm-1", **PLACE))
        seen += [one.name for one in client.instances.list(**PLACE)]
        return seen

    assert await told(world, life) == ["RUNNING", "TERMINATED", "RUNNING", "vm-1"]


async def test_googles_client_sees_what_the_provider_made(world: GcpHarness) -> None:
    order = world.order("ours")
    machine = await brought_up(world, order)
    await world.pass_time(10)

    def look(client: Client) -> tuple[Any, list[str], str]:
        found = client.instances.get(instance="ours", **PLACE)
        request = compute_v1.AggregatedListInstancesRequest(
            project=PROJECT, filter=f'labels.butler-token = "{order.token}"'
        )
        scopes = client.instances.aggregated_list(request=request)
        names = [one.name for _, held in scopes for one in held.instances]
        return found, names, next(iter(client.disks.list(**PLACE))).labels["butler-token"]

    found, names, disk_token = await told(world, look)
    assert (found.name, found.status, names, disk_token) == ("ours", "RUNNING", ["ours"], order.token)
    assert found.network_interfaces[0].network_i_p == machine.addresses[0]
    assert found.network_interfaces[0].access_configs[0].nat_i_p == machine.addresses[1]
    assert {one.key: one.value for one in found.metadata.items} == {"user-data": order.user_data}


async def test_the_provider_takes_over_what_googles_client_made_with_its_mark(world: GcpHarness) -> None:
    def make(client: Client) -> Any:
        return client.finished(client.instances.insert_unary(instance_resource=instance("vm-1"), **PLACE))

    await told(world, make)
    await world.pass_time(10)
    async with connected(world) as provider:
        found = await provider.find("vm-1", TOKEN)
        assert found is not None
        assert found.id == f"gce://{PROJECT}/{ZONE}/vm-1"
        assert not await provider.delete("vm-1", TOKEN)
        await world.pass_time(10)
        assert await provider.delete("vm-1", TOKEN)


async def test_googles_client_understands_pages_and_refusals(world: GcpHarness) -> None:
    for number in range(7):
        await world.add_image(f"image-{number}")

    def look(client: Client) -> list[str]:
        with pytest.raises(exceptions.NotFound, match="was not found"):
            client.instances.get(instance="nobody", **PLACE)
        wrong = instance("vm-2")
        wrong.machine_type = "zones/us-central1-a/machineTypes/none"
        with pytest.raises(exceptions.BadRequest, match="machineType"):
            client.instances.insert_unary(instance_resource=wrong, **PLACE)
        return [one.name for one in client.images.list(project="talos-images") if one.name.startswith("image-")]

    assert await told(world, look) == [f"image-{number}" for number in range(7)]
