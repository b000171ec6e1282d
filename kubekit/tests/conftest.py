"""Servers for tests: one per worker as a process of its own, or one per test in the test's own event loop."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kubekit.server.serve.server import Server

pytest_plugins = ["kubekit.testing.plugin", "testbed.running.fixtures"]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that runs the tests in the background has Ctrl-C ignored, by all the commands that they start as well.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    """A server of its own in this test's event loop."""
    async with Server(tmp_path / "data") as running:
        yield running
