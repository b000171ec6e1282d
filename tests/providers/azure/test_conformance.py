"""Azure keeps the provider contract."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from butler.providers.testing import ConformanceKit, Harness
from tests.providers.azure.harness import running


class TestAzure(ConformanceKit):
    @pytest.fixture
    async def harness(self) -> AsyncIterator[Harness]:
        async with running() as harness:
            yield harness
