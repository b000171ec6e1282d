"""Harvester keeps the provider contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from butler.providers.testing import ConformanceKit, Harness
from butler.providers.testing.rules.deletion import DeletingRules
from tests.providers.harvester.fake import STORAGE_CLASS
from tests.providers.harvester.harness import embedded


class TestHarvester(ConformanceKit):
    @pytest.fixture
    async def harness(self, keys: Path, tmp_path: Path) -> AsyncIterator[Harness]:
        async with embedded(keys, tmp_path / "server") as made:
            yield made


class TestHarvesterWhoseImagesAreCloned(DeletingRules):
    """Disks are made in another way then; all else is the same."""

    @pytest.fixture
    async def harness(self, keys: Path, tmp_path: Path) -> AsyncIterator[Harness]:
        async with embedded(keys, tmp_path / "server", image_name="default/cloned") as made:
            await made.fake.add_image("cloned", backend="cdi", targetStorageClassName=STORAGE_CLASS)
            yield made
