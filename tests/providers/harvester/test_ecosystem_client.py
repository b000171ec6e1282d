"""Kubernetes' own Python client drives the same fake: what it is shown, our provider is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client as kubernetes
from kubernetes import config, dynamic

from butler.providers.contract import Power
from butler.providers.testing.driver import connected, driving
from tests.providers.harvester.harness import HarvesterHarness

VM: dict[str, Any] = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachine",
    "metadata": {"name": "by-hand", "namespace": "default", "labels": {"made-by": "kubernetes"}},
    "spec": {
        "runStrategy": "RerunOnFailure",
        "template": {
            "spec": {
                "domain": {
                    "cpu": {"cores": 2},
                    "devices": {"disks": [], "interfaces": [{"name": "default", "bridge": {}}]},
                    "resources": {"limits": {"cpu": "2", "memory": "2148Mi"}},
                },
                "networks": [{"name": "default", "multus": {"networkName": "default/workloads"}}],
            }
        },
    },
}


class Client:
    """The official client, in threads as it knows no other way."""

    def __init__(self, harness: HarvesterHarness, folder: Path) -> None:
        content = yaml.safe_load(harness.fake.kubeconfig(harness.fake.operator))
        self.api = config.new_client_from_config_dict(content)
        self._objects = kubernetes.CustomObjectsApi(self.api)
        self._folder = folder

    async def __call__(self, verb: str, *arguments: Any, plural: str = "virtualmachines") -> Any:
        function: Callable[..., Any] = getattr(self._objects, f"{verb}_namespaced_custom_object")
        return await asyncio.to_thread(function, "kubevirt.io", "v1", "default", plural, *arguments)

    async def power(self, verb: str) -> None:
        path = f"/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines/by-hand/{verb}"
        await asyncio.to_thread((await self.dynamic()).request, "put", path, body={}, serialize=False)

    async def dynamic(self) -> Any:
        return await asyncio.to_thread(dynamic.DynamicClient, self.api, str(self._folder / "discovered"))


@pytest.fixture
async def operator(harness: HarvesterHarness, tmp_path: Path) -> AsyncIterator[Client]:
    made = Client(harness, tmp_path)
    yield made
    await asyncio.to_thread(made.api.close)


async def test_the_official_client_takes_a_vm_through_its_life(harness: HarvesterHarness, operator: Client) -> None:
    await operator("create", VM)
    for _ in range(4):
        await harness.pass_time(10)
    (listed,) = (await operator("list"))["items"]
    assert listed["metadata"]["labels"] == {"made-by": "kubernetes"}
    assert listed["status"]["printableStatus"] == "Running"
    # Harvester takes what it reserves off the limit.
    assert listed["spec"]["template"]["spec"]["domain"]["memory"] == {"guest": "2048Mi"}
    instance = await operator("get", "by-hand", plural="virtualmachineinstances")
    assert instance["status"]["interfaces"][0]["ipAddress"] == "10.40.0.1"

    await operator.power("stop")
    await harness.pass_time(10)
    assert (await operator("get", "by-hand"))["status"]["printableStatus"] == "Stopped"
    await operator.power("start")
    for _ in range(4):
        await harness.pass_time(10)
    assert (await operator("get", "by-hand"))["status"]["printableStatus"] == "Running"

    await operator("delete", "by-hand")
    assert (await operator("get", "by-hand"))["metadata"]["deletionTimestamp"]
    for _ in range(3):
        await harness.pass_time(10)
    with pytest.raises(kubernetes.ApiException) as raised:
        await operator("get", "by-hand")
    assert raised.value.status == 404


async def test_unknown_fields_and_wrong_types_are_refused(harness: HarvesterHarness, operator: Client) -> None:
    for change in ({"runStrategie": "Always"}, {"runStrategy": 7}):
        with pytest.raises(kubernetes.ApiException) as raised:
            await operator("create", {**VM, "spec": {**VM["spec"], **change}})
        assert raised.value.status in (400, 422)
    assert (await operator("list"))["items"] == []


async def test_the_official_client_and_the_provider_see_one_machine(
    harness: HarvesterHarness, operator: Client
) -> None:
    order = harness.order("by-hand")
    async with driving(harness) as driver:
        machine = await driver.bring_up(order)
    seen = await operator("get", "by-hand")
    assert machine.id == f"harvester://{seen['metadata']['uid']}"
    await operator.power("stop")
    await harness.pass_time(10)
    async with connected(harness) as provider:
        found = await provider.find(order.name, order.token)
    assert found is not None
    assert found.power is Power.STOPPED


async def test_kinds_are_discovered(harness: HarvesterHarness, operator: Client) -> None:
    resources = (await operator.dynamic()).resources
    images = await asyncio.to_thread(resources.get, api_version="harvesterhci.io/v1beta1", kind="VirtualMachineImage")
    listed = await asyncio.to_thread(images.get, namespace="default")
    assert [one.spec.displayName for one in listed.items] == ["talos-1.9"]
