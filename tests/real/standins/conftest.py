"""Two records of the same lives: with the real Cluster API, and with its stand-ins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from butler.simulation.infrastructure import kinds
from kubekit.model import crd
from testbed.running.embedded import BUTLER, kubectl_for, start_server, stop_server
from testbed.running.servers import Cluster
from tests.real import managers
from tests.real.standins import running
from tests.real.standins.life import LIVES
from tests.real.standins.recording import Record


@pytest.fixture(scope="session")
def provider_kinds(cluster_api: Cluster) -> Iterator[None]:
    """The kinds of the providers that tests play, as Cluster API wants to have them."""
    simulated = [crd.definition(kind) for kind in kinds.KINDS]
    definitions = [*simulated, *managers.manifests("kamaji-control-plane", "crds")]
    names = [one["metadata"]["name"] for one in definitions]
    with managers.installed(cluster_api, definitions):
        kubectl_for(cluster_api.kubeconfig)("wait", "--for=condition=Established", "crd", *names)
        yield


@pytest.fixture(scope="session")
def tenants(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """An API for the tenant of each life: how to reach it."""
    servers = {life: start_server(tmp_path_factory.mktemp(life), program=BUTLER) for life in LIVES}
    yield {life: one.kubeconfig for life, one in servers.items()}
    for one in servers.values():
        stop_server(one)


@pytest.fixture(scope="session")
def really(cluster_api: Cluster, provider_kinds: None, tenants: dict[str, Path]) -> Record:
    """The lives with Cluster API's own managers."""
    return running.with_managers(cluster_api.kubeconfig, tenants)


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """The lives with our stand-ins."""
    return running.with_standins(tmp_path_factory.mktemp("standins"), running.QUICK)
