"""Real programs for tests, each started once and stopped for certain.

`on` says which API server; a test that uses one of these runs once on each."""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed.running import servers
from testbed.running.embedded import Kubectl, kubectl_for
from testbed.running.servers import Cluster
from tests.real import managers


@pytest.fixture(scope="session", params=["real", "embedded"])
def on(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def kubernetes(on: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """An API server with its controllers."""
    if on == "real":
        yield request.getfixturevalue("real_server")
        return
    with servers.embedded(tmp_path_factory.mktemp("embedded")) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def one_at_a_time() -> Iterator[None]:
    """Held by whoever starts programs that listen on fixed ports, also in another test run.

    Waiting for it counts as time of the test, so those that use it are given plenty."""
    with Path(tempfile.gettempdir(), "butler-testbed.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def cluster_api(kubernetes: Cluster, one_at_a_time: None) -> Iterator[Cluster]:
    """An API server on which Cluster API runs, with machines in memory."""
    with managers.cluster_api(kubernetes):
        yield kubernetes


@pytest.fixture(scope="session")
def kamaji(kubernetes: Cluster, one_at_a_time: None) -> Iterator[Cluster]:
    """An API server on which Kamaji runs."""
    with managers.kamaji(kubernetes):
        yield kubernetes


@pytest.fixture
def kubectl(kubernetes: Cluster) -> Kubectl:
    """As administrator of whichever server it is."""
    return kubectl_for(kubernetes.kubeconfig)
