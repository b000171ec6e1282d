"""Requests to providers on the local platform, with exactly the rights its controllers declare."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from butler.api.machine import ImageSync, LoadBalancerRequest, MachineRequest
from butler.local.home import Home
from butler.local.platform import Options, Platform, running
from butler.local.system import SIMULATED
from butler.simulation.delays import NONE
from kubekit.errors import NotFound

SYSTEM = "butler-system"


@pytest.fixture
async def platform(tmp_path: Path) -> AsyncIterator[Platform]:
    async with running(Home(tmp_path / "data"), Options(delays=NONE)) as platform:
        yield platform


async def seen(platform: Platform, kind: Any, name: str, phase: str) -> Any:
    """The object, once it is in a phase; None once it is gone."""
    async with asyncio.timeout(100):
        while True:
            try:
                found: Any = await platform.client.get(kind, name, SYSTEM)
            except NotFound:
                return None
            if found.status.phase is not None and found.status.phase.value == phase:
                return found
            await asyncio.sleep(0.01)


async def test_a_machine_and_a_load_balancer_come_and_go(platform: Platform) -> None:
    provider = {"name": SIMULATED}
    machine = {
        "providerRef": provider,
        "machineName": "cp-0",
        "role": "worker",
        "cpu": 2,
        "memoryMB": 2048,
        "diskGB": 20,
    }
    balancer = {"clusterName": "mgmt", "providerConfigRef": provider, "targets": [{"ip": "10.0.0.1"}]}
    for kind, spec in ((MachineRequest, machine), (LoadBalancerRequest, balancer)):
        meta = {"name": "one", "namespace": SYSTEM}
        await platform.client.create({"metadata": meta, "spec": spec}, kind.address)
    assert (await seen(platform, MachineRequest, "one", "Running")).status.ip_address
    assert (await seen(platform, LoadBalancerRequest, "one", "Ready")).status.registered_targets == 1
    for kind in (MachineRequest, LoadBalancerRequest):
        await platform.client.delete(kind, "one", SYSTEM)
        assert await seen(platform, kind, "one", "never") is None
    counters = [manager.metrics.requests for manager in platform.managers]
    assert sum(counter.get("403", verb) for counter in counters for verb in ("GET", "POST", "PATCH")) == 0


async def test_an_image_waits_for_a_factory(platform: Platform) -> None:
    spec = {
        "factoryRef": {"schematicID": "376567988ad3", "version": "v1.9.0"},
        "providerConfigRef": {"name": SIMULATED},
    }
    meta = {"name": "talos", "namespace": SYSTEM}
    await platform.client.create({"metadata": meta, "spec": spec}, ImageSync.address)
    failed = await seen(platform, ImageSync, "talos", "Failed")
    assert failed.status.failure_reason == "ImageFactoryNotConfigured"
