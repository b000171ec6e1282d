"""Google Cloud keeps the provider contract."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from butler.providers.testing import ConformanceKit, Harness
from butler.providers.testing.web import serving
from tests.providers.gcp.fake import Google
from tests.providers.gcp.harness import GcpHarness


class TestGcp(ConformanceKit):
    @pytest.fixture
    async def harness(self) -> AsyncIterator[Harness]:
        google = Google()
        async with serving(google.app()) as url:
            yield GcpHarness(google, url)
