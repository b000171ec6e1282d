"""What all tests share."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from butler.product import PRODUCT
from kubekit.server.serve.server import Server

pytest_plugins = ["kubekit.testing.plugin", "testbed.running.fixtures"]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that runs the tests in the background has Ctrl-C ignored, by all the commands that they start as well.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    """A server of its own in this test's event loop."""
    async with Server(tmp_path / "data", product=PRODUCT) as running:
        yield running


@pytest.fixture(scope="session")
def bytecode(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where commands keep what they compiled, whatever the environment says: most of their time is reading code."""
    return tmp_path_factory.mktemp("bytecode")
