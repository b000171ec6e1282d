"""AWS keeps the provider contract."""

from __future__ import annotations

from butler.providers.testing import ConformanceKit


class TestAws(ConformanceKit):
    """With the account that every test here gets."""
