"""What tests with kubectl and with the Python client share."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
import pytest
import yaml

from kubekit.server.serve.server import Server
from kubekit.server.store.store import Store
from testbed.running.embedded import ServerProcess
from tests.http_api import Api, admin_context

if TYPE_CHECKING:
    from kubernetes import client

Editor = Callable[[str], str]


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return Store(tmp_path / "state.db" if request.param == "file" else None)


@pytest.fixture
def editor(tmp_path: Path) -> Editor:
    """An $EDITOR that runs a sed script over the file and keeps what it was shown."""

    def make(script: str) -> str:
        program = tmp_path / "editor"
        program.write_text(f'#!/bin/sh\ncp "$1" {tmp_path}/shown\nsed -i "{script}" "$1"\n')
        program.chmod(0o755)
        return str(program)

    return make


@pytest.fixture
def connection(server_process: ServerProcess) -> Iterator[client.ApiClient]:
    """The official Python client, as administrator."""
    from kubernetes import config  # noqa: PLC0415 - it takes longer to import than most tests to run

    with config.new_client_from_config(str(server_process.kubeconfig)) as made:
        yield made


@pytest.fixture
def core(connection: client.ApiClient) -> client.CoreV1Api:
    from kubernetes import client  # noqa: PLC0415 - as above

    return client.CoreV1Api(connection)


@pytest.fixture
def team(core: client.CoreV1Api) -> Iterator[str]:
    """A namespace for one test, made by the Python client."""
    name = f"py-{uuid.uuid4().hex[:8]}"
    core.create_namespace({"metadata": {"name": name}})
    yield name
    core.delete_namespace(name)


@pytest.fixture
async def api(server: Server) -> AsyncIterator[Api]:
    """The root API as administrator."""
    config = yaml.safe_load(server.admin_kubeconfig())
    connector = aiohttp.TCPConnector(ssl=admin_context(config), limit=0)
    async with aiohttp.ClientSession(connector=connector, read_bufsize=2**22) as session:
        yield Api(session, server.url)
