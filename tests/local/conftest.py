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
    one.stop()


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A user whose platform runs, for all tests of a module that leave it as it was."""
    one = Shell(tmp_path_factory.mktemp("started") / "home")
    one.up("--empty")
    yield one
    one.stop()
