"""Platforms for tests: as a process, the way people start them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local.shells import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """A user; whatever platform they leave running is stopped."""
    one = Shell(tmp_path / "home")
    yield one
    one.butleradm("down")
