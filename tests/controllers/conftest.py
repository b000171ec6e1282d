"""Worlds in which requests to providers are answered."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from kubekit.testing.deterministic_loop import Loop
from tests.controllers.requests_world import World


@pytest.fixture
async def idle_world(kubekit_loop: Loop) -> AsyncIterator[World]:
    """One whose controllers the test starts."""
    made = World(kubekit_loop)
    yield made
    await made.end()


@pytest.fixture
async def world(idle_world: World) -> World:
    """One whose controllers run."""
    idle_world.start()
    return idle_world
