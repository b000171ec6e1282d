"""What all tests share."""

from __future__ import annotations

import signal
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from butler.local.home import DEFAULT_PORT
from butler.product import PRODUCT
from kubekit.server.serve.server import Server

pytest_plugins = ["kubekit.testing.plugin", "testbed.running.fixtures"]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that runs the tests in the background has Ctrl-C ignored, by all the commands that they start as well.
    signal.signal(signal.SIGINT, signal.default_int_handler)

_OF_THE_USER = ("KUBECONFIG", "BUTLER_NAMESPACE")


@pytest.fixture(scope="session", autouse=True)
def beside_a_platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Whoever runs the tests may have a platform, so there always is something on its port, and no test finds it."""
    with pytest.MonkeyPatch.context() as patch, socket.socket() as taken:
        for name in _OF_THE_USER:
            patch.delenv(name, raising=False)
        patch.setenv("BUTLER_HOME", str(tmp_path_factory.mktemp("butler")))
        with suppress(OSError):
            taken.bind(("127.0.0.1", DEFAULT_PORT))
            taken.listen()
        yield


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    """A server of its own in this test's event loop."""
    async with Server(tmp_path / "data", product=PRODUCT) as running:
        yield running


@pytest.fixture(scope="session")
def bytecode(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where commands keep what they compiled, whatever the environment says: most of their time is reading code."""
    return tmp_path_factory.mktemp("bytecode")
