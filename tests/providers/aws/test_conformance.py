"""AWS keeps the provider contract."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from butler.providers.testing import ConformanceKit, Harness
from tests.providers.aws.harness import aws_account


class TestAws(ConformanceKit):
    @pytest.fixture
    async def harness(self) -> AsyncIterator[Harness]:
        async with aws_account() as harness:
            yield harness
