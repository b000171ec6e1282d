"""Harvester keeps the provider contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from butler.providers.testing import ConformanceKit, Harness
from tests.providers.harvester.harness import embedded


class TestHarvester(ConformanceKit):
    @pytest.fixture
    async def harness(self, keys: Path, tmp_path: Path) -> AsyncIterator[Harness]:
        async with embedded(keys, tmp_path / "server") as made:
            yield made
