"""An account of the fake AWS for every test that asks for one."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.providers.aws.harness import AwsHarness, aws_account


@pytest.fixture
async def harness() -> AsyncIterator[AwsHarness]:
    async with aws_account() as made:
        yield made
