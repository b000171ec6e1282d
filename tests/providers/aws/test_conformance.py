"""AWS keeps the provider contract."""

from __future__ import annotations

import pytest

from butler.providers.testing import ConformanceKit


@pytest.mark.timeout(600)  # botocore and moto are slow, and some rules make a thousand calls
class TestAws(ConformanceKit):
    """With the account that every test here gets."""
