"""Harvesters for tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kubekit.server.serve.server import Server
from tests.providers.harvester.harness import HarvesterHarness, embedded


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The keys of an API server."""
    folder = tmp_path_factory.mktemp("keys")

    async def made() -> None:
        async with Server(folder):
            pass

    asyncio.run(made())
    return folder / "pki"


@pytest.fixture
async def harness(keys: Path, tmp_path: Path) -> AsyncIterator[HarvesterHarness]:
    async with embedded(keys, tmp_path / "server") as made:
        yield made
