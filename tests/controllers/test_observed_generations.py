"""Accounts and requests say of which generation they speak, and each of their conditions does."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from butler.api.config import ButlerConfig
from butler.api.machine import ImageSync, LoadBalancerRequest, MachineRequest
from butler.api.provider import ProviderConfig
from kubekit.model.resource import Resource
from tests.controllers.requests_world import SYSTEM, World

REF = {"providerConfigRef": {"name": "lab"}}
REQUESTS: list[tuple[type[Resource], dict[str, Any]]] = [
    (MachineRequest, {**REF, "machineName": "a", "role": "worker", "cpu": 2, "memoryMB": 4096, "diskGB": 20}),
    (LoadBalancerRequest, {**REF, "clusterName": "a"}),
    (ImageSync, {**REF, "factoryRef": {"schematicID": "376567988ad37013", "version": "v1.9.0"}}),
]


def generations(status: Any) -> tuple[int | None, set[int | None]]:
    return status.observed_generation, {one.observed_generation for one in status.conditions}


@pytest.mark.parametrize(("kind", "spec"), REQUESTS, ids=lambda value: getattr(value, "__name__", ""))
async def test_a_request_does(world: World, kind: type[Any], spec: dict[str, Any]) -> None:
    """It fails, is put right, and comes to be."""
    factory = {"imageFactory": {"url": "https://factory.example.com/"}}
    await world.client.create({"metadata": {"name": "butler"}, "spec": factory}, ButlerConfig.address)
    wanted = {"metadata": {"name": "a", "namespace": SYSTEM}, "spec": spec}
    await world.client.create(wanted, kind.address)
    await asyncio.sleep(5)
    assert generations((await world.now(kind, "a")).status) == (1, {1})
    await world.config(simulated={"bootDelay": "0s"})
    await asyncio.sleep(5)
    if kind is LoadBalancerRequest:
        await world.client.patch(kind, "a", {"spec": {"targets": [{"ip": "10.0.0.1"}]}}, SYSTEM)
    await asyncio.sleep(30)
    found = await world.now(kind, "a")
    assert found.status.phase.value in ("Running", "Ready")
    assert generations(found.status) == (found.metadata.generation, {found.metadata.generation})


async def test_so_does_an_account(world: World) -> None:
    await world.config()
    await asyncio.sleep(5)
    assert generations((await world.now(ProviderConfig, "lab")).status) == (1, {1})
    pools = {"mode": "ipam", "poolRefs": [{"name": "none"}]}
    await world.client.patch(ProviderConfig, "lab", {"spec": {"network": pools}}, SYSTEM)
    await asyncio.sleep(5)
    assert generations((await world.now(ProviderConfig, "lab")).status) == (2, {2})
