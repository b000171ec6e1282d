"""A MachineRequest on every infrastructure: the controllers, the provider, its fake, and nothing between them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from butler.api.machine import MachinePhase, MachineRequest
from butler.api.provider import ProviderConfig
from butler.providers.testing import Harness
from butler.runtime.clock import SystemChance
from tests.controllers.requests_world import World
from tests.providers.fakes import FAKES, Fake
from tests.providers.hurry import RATE, HurriedClock, hurried

CANARY = "canary-in-user-data-e33a"


@pytest.mark.parametrize("kind", FAKES)
def test_a_request_becomes_a_machine_and_leaves_nothing(kind: str) -> None:
    async def story() -> None:
        async with FAKES[kind]() as fake, _ageing(fake.harness), _world() as world, asyncio.timeout(600):
            await _connect(world, fake)
            await world.machine(userData=f"#cloud-config\npassword: {CANARY}\n")
            while (request := await world.request()).status.phase is not MachinePhase.RUNNING:
                assert request.status.phase is not MachinePhase.FAILED, request.status.failure_message
                await asyncio.sleep(1)
            assert re.fullmatch(fake.harness.provider_id, request.status.provider_id or "")
            assert request.status.ip_address
            (seen,) = await fake.harness.machines()
            assert seen.token == request.metadata.uid
            await world.remove(MachineRequest, "cp-0")
            while await world.exists(MachineRequest, "cp-0"):  # noqa: ASYNC110 -- nothing tells
                await asyncio.sleep(1)
            assert (await fake.harness.machines(), await fake.harness.leftovers()) == ([], [])
            said = await world.everything_said()
            assert not [secret for secret in (*fake.harness.secrets, CANARY) if secret in said]

    hurried(story())


async def _connect(world: World, fake: Fake) -> None:
    """Its Secret and its ProviderConfig, until that is ready."""
    spec = msgspec.to_builtins(fake.config.spec)
    await world.secret(spec["credentialsRef"]["name"], **fake.credentials)
    await world.config(**spec)
    while not (config := await world.now(ProviderConfig, "lab")).status.ready:
        ready = config.status.condition("Ready")
        assert ready is None or ready.reason == "ProviderUnavailable", ready
        await asyncio.sleep(1)


@asynccontextmanager
async def _world() -> AsyncIterator[World]:
    world = World(cast(Any, SimpleNamespace(clock=HurriedClock(), chance=SystemChance())))
    # An answer takes as long as ever.
    world.surroundings = replace(world.surroundings, patience=world.surroundings.patience * RATE)
    world.start()
    yield world
    await world.end()


@asynccontextmanager
async def _ageing(harness: Harness) -> AsyncIterator[None]:
    """Time passes for the infrastructure too."""

    async def age() -> None:
        while True:
            await asyncio.sleep(1)
            await harness.pass_time(1)

    task = asyncio.create_task(age())
    yield
    task.cancel()
