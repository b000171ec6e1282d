"""Servers for tests: one per worker as a process of its own, or one per test in the test's own event loop."""

from __future__ import annotations

import base64
import json
import os
import signal
import ssl
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from butler.apiserver.server import Server
from tests.real import servers as real_servers

BIN = Path(sys.executable).parent

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that runs the tests in the background has Ctrl-C ignored, by all the commands that they start as well.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass
class ServerProcess:
    """`butleradm apiserver` as people run it."""

    data: Path
    process: subprocess.Popen[str]

    @property
    def kubeconfig(self) -> Path:
        return self.data / "kubeconfig"


def start_server(data: Path, *arguments: str) -> ServerProcess:
    """Start it and wait until it says where it serves."""
    process = subprocess.Popen(
        [str(BIN / "butleradm"), "apiserver", "--data", str(data), "--port", "0", *arguments],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if line.startswith("export KUBECONFIG"):
            return ServerProcess(data, process)
    process.wait()
    process.stderr.close()
    raise RuntimeError(f"the server did not start: {''.join(lines)}")


def stop_server(server: ServerProcess) -> None:
    server.process.terminate()
    server.process.wait(20)
    assert server.process.stderr is not None
    server.process.stderr.close()


@pytest.fixture(scope="session")
def server_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server all tests of this worker share: each uses names of its own."""
    server = start_server(tmp_path_factory.mktemp("apiserver"))
    yield server
    stop_server(server)


@pytest.fixture(scope="session")
def real_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[real_servers.Cluster]:
    """Kubernetes itself, one for all tests; those that use it carry the mark `real`."""
    with real_servers.real(tmp_path_factory.mktemp("real")) as running:
        yield running


@dataclass
class Ran:
    """What a command answered."""

    code: int
    out: str
    err: str


Kubectl = Callable[..., Ran]


@pytest.fixture
def kubectl(server_process: ServerProcess) -> Kubectl:
    """Runs a stock kubectl as administrator; fails the test when it fails, unless `fails=True`."""
    return kubectl_for(server_process.kubeconfig)


def kubectl_for(kubeconfig: Path) -> Kubectl:
    # Its own cache and no preferences: what another server on the same port or the user once said does not matter.
    # A process that lives so briefly need not collect its garbage, either.
    fixed = {**os.environ, "KUBECACHEDIR": str(kubeconfig.parent / "kubectl-cache"), "KUBERC": "off", "GOGC": "off"}

    def run(
        *arguments: str, stdin: str | None = None, fails: bool = False, timeout: float = 30, **environment: str
    ) -> Ran:
        done = subprocess.run(
            [str(BIN / "kubectl"), "--kubeconfig", str(kubeconfig), *arguments], env=fixed | environment,
            input=stdin, capture_output=True, text=True, timeout=timeout, check=False,
        )  # fmt: skip
        assert (done.returncode != 0) is fails, f"kubectl {' '.join(arguments)}: {done.stdout}{done.stderr}"
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def namespace(kubectl: Kubectl, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace for one test."""
    name = "t-" + "".join(c if c.isalnum() else "-" for c in request.node.name.lower())[-50:].strip("-")
    kubectl("create", "namespace", name)
    yield name
    kubectl("delete", "namespace", name, "--wait=false")


@dataclass
class Answered:
    """An HTTP answer."""

    status: int
    body: Any
    headers: Any


class Api:
    """Plain HTTP to a server, for tests that look at what goes over the wire."""

    def __init__(self, session: aiohttp.ClientSession, url: str, headers: dict[str, str] | None = None) -> None:
        self.session, self.url, self.headers = session, url, headers or {}

    async def __call__(
        self, method: str, path: str, body: Any = None, content_type: str = "application/json", **headers: str
    ) -> Answered:
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.session.request(
            method, f"{self.url}{path}", data=data, headers={"Content-Type": content_type, **self.headers, **named}
        ) as answer:
            content = await answer.read()
            is_json = answer.content_type == "application/json"
            return Answered(answer.status, json.loads(content) if is_json and content else content, answer.headers)

    async def watch(self, path: str, count: int) -> list[dict[str, Any]]:
        """The first `count` events of a watch."""
        events: list[dict[str, Any]] = []
        async with self.session.get(f"{self.url}{path}", headers=self.headers) as answer:
            assert answer.status == 200, await answer.read()
            while len(events) < count:
                events.append(json.loads(await answer.content.readline()))
        return events


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


def admin_context(config: dict[str, Any]) -> ssl.SSLContext:
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
    with tempfile.TemporaryDirectory() as scratch:
        certificate, key = Path(scratch, "crt"), Path(scratch, "key")
        certificate.write_bytes(base64.b64decode(user["client-certificate-data"]))
        key.write_bytes(base64.b64decode(user["client-key-data"]))
        context.load_cert_chain(certificate, key)
    return context
