"""A management API in memory on which the stand-ins for Cluster API work."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from butler.simulation.delays import NONE, Delays
from kubekit.testing.deterministic_loop import Loop
from tests.simulation.capi_world import World, opened


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the servers of this worker's worlds have their keys, which take a moment to make."""
    return tmp_path_factory.mktemp("keys")


@pytest.fixture
def delays() -> Delays:
    """How long what is simulated takes; a test may have this as a parameter."""
    return NONE


@pytest.fixture
async def world(kubekit_loop: Loop, keys: Path, delays: Delays) -> AsyncIterator[World]:
    async with opened(kubekit_loop, keys, delays) as made:
        yield made
