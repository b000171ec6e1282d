"""Fixtures of both houses: a server as a process, a real one, and kubectl for them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from testbed.running import servers as real_servers
from testbed.running.embedded import Kubectl, Ran, ServerProcess, kubectl_for, start_server, stop_server


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


@pytest.fixture
def kubectl(server_process: ServerProcess) -> Kubectl:
    """Runs a stock kubectl as administrator; fails the test when it fails, unless `fails=True`."""
    return kubectl_for(server_process.kubeconfig)


@pytest.fixture
def namespace(kubectl: Kubectl, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace for one test."""
    name = "t-" + "".join(c if c.isalnum() else "-" for c in request.node.name.lower())[-50:].strip("-")
    kubectl("create", "namespace", name)
    yield name
    kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture
def here(kubectl: Kubectl, namespace: str) -> Kubectl:
    """kubectl in this test's namespace."""

    def run(*arguments: str, **options: str) -> Ran:
        return kubectl("--namespace", namespace, *arguments, **options)

    return run
