"""Nutanix keeps the provider contract, in both versions of its API."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from butler.providers.testing import ConformanceKit, Harness
from butler.providers.testing.web import serving
from tests.providers.nutanix.fake import Prism
from tests.providers.nutanix.fake_web import app
from tests.providers.nutanix.harness import NutanixHarness


class TestNutanixV3(ConformanceKit):
    @pytest.fixture
    async def harness(self) -> AsyncIterator[Harness]:
        prism = Prism(offers_v4=False)
        async with serving(app(prism)) as url:
            yield NutanixHarness(prism, url)


class TestNutanixV4(ConformanceKit):
    @pytest.fixture
    async def harness(self) -> AsyncIterator[Harness]:
        prism = Prism()
        async with serving(app(prism)) as url:
            yield NutanixHarness(prism, url)
