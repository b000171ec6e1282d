"""Servers for tests: one per worker as a process of its own, or one per test in the test's own event loop."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
import yaml

from kubekit.server.serve.server import Server
from tests.http_api import Api, admin_context

pytest_plugins = ["testbed.running.fixtures"]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that runs the tests in the background has Ctrl-C ignored, by all the commands that they start as well.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    """A server of its own in this test's event loop."""
    async with Server(tmp_path / "data") as running:
        yield running


@pytest.fixture
async def api(server: Server) -> AsyncIterator[Api]:
    """The root API as administrator."""
    config = yaml.safe_load(server.admin_kubeconfig())
    connector = aiohttp.TCPConnector(ssl=admin_context(config), limit=0)
    async with aiohttp.ClientSession(connector=connector, read_bufsize=2**22) as session:
        yield Api(session, server.url)
