"""Requests on every infrastructure: the controllers, the provider, its fake, and nothing between them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import msgspec
import pytest

from butler.api.config import ButlerConfig
from butler.api.machine import ImageSync, LoadBalancerRequest, MachineRequest
from butler.api.provider import ProviderConfig
from butler.providers.testing import Harness
from kubekit.clock import SystemChance
from tests.controllers.requests_world import SYSTEM, World
from tests.providers.fakes import FAKES, Fake
from tests.providers.hurry import RATE, HurriedClock, hurried

CANARY = "canary-in-user-data-e33a"
SCHEMATIC = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"
PATIENCE = 50 * RATE
R = TypeVar("R", MachineRequest, LoadBalancerRequest, ImageSync)


@pytest.mark.parametrize("kind", FAKES)
def test_a_request_becomes_a_machine_and_leaves_nothing(kind: str) -> None:
    async def story() -> None:
        async with FAKES[kind]() as fake, _world(fake) as world:
            await world.machine(userData=f"#cloud-config\npassword: {CANARY}\n")
            machine = await _reached(world, MachineRequest, "cp-0", "Running")
            assert re.fullmatch(fake.harness.provider_id, machine.status.provider_id or "")
            assert machine.status.ip_address
            (seen,) = await fake.harness.machines()
            assert seen.token == machine.metadata.uid
            await _removed(world, MachineRequest, "cp-0")
            assert (await fake.harness.machines(), await fake.harness.leftovers()) == ([], [])
            said = await world.everything_said()
            assert not [secret for secret in (*fake.harness.secrets, CANARY) if secret in said]

    hurried(story())


@pytest.mark.parametrize("kind", ["aws", "azure", "gcp"])
def test_a_request_becomes_a_load_balancer_before_a_machine(kind: str) -> None:
    async def story() -> None:
        async with FAKES[kind]() as fake, _world(fake) as world:
            await world.machine()
            machine = await _reached(world, MachineRequest, "cp-0", "Running")
            target = {"instanceID": machine.status.provider_id, "instanceName": "cp-0", "ip": machine.status.ip_address}
            spec = {"clusterName": "mgmt", "providerConfigRef": {"name": "lab"}, "targets": [target]}
            await _ask(world, LoadBalancerRequest, "mgmt", spec)
            balancer = await _reached(world, LoadBalancerRequest, "mgmt", "Ready")
            assert balancer.status.endpoint
            assert balancer.status.registered_targets == 1
            await _removed(world, LoadBalancerRequest, "mgmt")
            await _removed(world, MachineRequest, "cp-0")
            assert (await fake.harness.machines(), await fake.harness.leftovers()) == ([], [])

    hurried(story())


@pytest.mark.parametrize("kind", ["harvester", "nutanix-v3", "nutanix-v4", "proxmox"])
def test_an_image_is_brought_where_machines_boot_from_it(kind: str) -> None:
    async def story() -> None:
        async with FAKES[kind]() as fake, _world(fake) as world:
            factory = {"imageFactory": {"url": "https://factory.example.com"}}
            await world.client.create({"metadata": {"name": "butler"}, "spec": factory}, ButlerConfig.address)
            wanted = {"schematicID": SCHEMATIC, "version": "v1.9.0"}
            await _ask(world, ImageSync, "talos", {"factoryRef": wanted, "providerConfigRef": {"name": "lab"}})
            image = (await _reached(world, ImageSync, "talos", "Ready")).status.provider_image_ref
            assert image
            await world.machine(image=image)
            await _reached(world, MachineRequest, "cp-0", "Running")
            await _removed(world, MachineRequest, "cp-0")
            await _removed(world, ImageSync, "talos")
            assert (await fake.harness.machines(), await fake.harness.leftovers()) == ([], [])

    hurried(story())


async def _ask(world: World, kind: type[R], name: str, spec: dict[str, Any]) -> None:
    await world.client.create({"metadata": {"name": name, "namespace": SYSTEM}, "spec": spec}, kind.address)


async def _reached(world: World, kind: type[R], name: str, phase: str) -> R:
    async with asyncio.timeout(PATIENCE):
        while (request := await world.now(kind, name)).status.phase is None or request.status.phase.value != phase:
            assert request.status.failure_message is None
            await asyncio.sleep(1)
    return request


async def _removed(world: World, kind: type[R], name: str) -> None:
    await world.remove(kind, name)
    async with asyncio.timeout(PATIENCE):
        while await world.exists(kind, name):  # noqa: ASYNC110 -- nothing tells
            await asyncio.sleep(1)


@asynccontextmanager
async def _world(fake: Fake) -> AsyncIterator[World]:
    """The controllers, with an account that is ready, on an infrastructure for which time passes too."""
    world = World(cast(Any, SimpleNamespace(clock=HurriedClock(), chance=SystemChance())))
    # An answer takes as long as ever.
    world.surroundings = replace(world.surroundings, patience=world.surroundings.patience * RATE)
    world.start()
    ageing = asyncio.create_task(_age(fake.harness))
    spec = msgspec.to_builtins(fake.config.spec)
    await world.secret(spec["credentialsRef"]["name"], **fake.credentials)
    await world.config(**spec)
    async with asyncio.timeout(PATIENCE):
        while not (config := await world.now(ProviderConfig, "lab")).status.ready:
            ready = config.status.condition("Ready")
            assert ready is None or ready.reason == "ProviderUnavailable", ready
            await asyncio.sleep(1)
    yield world
    ageing.cancel()
    await world.end()


async def _age(harness: Harness) -> None:
    while True:
        await asyncio.sleep(1)
        await harness.pass_time(1)
