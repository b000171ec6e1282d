"""Flux's source-controller, an operator of another project, does its work."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from testbed.running.embedded import Kubectl
from testbed.running.servers import Cluster
from tests.real import managers

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

INDEX = """
apiVersion: v1
entries:
  shop: [{apiVersion: v2, name: shop, version: 1.0.0, urls: [shop-1.0.0.tgz]}]
"""


@pytest.fixture
def charts(tmp_path: Path) -> Iterator[str]:
    """A chart repository on loopback."""
    (tmp_path / "index.yaml").write_text(INDEX)
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        serving.join()


@pytest.fixture
def flux(kubernetes: Cluster) -> Iterator[None]:
    with managers.source_controller(kubernetes):
        yield


def test_a_chart_repository_is_fetched(flux: None, charts: str, kubectl: Kubectl, namespace: str) -> None:
    repository = {
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "HelmRepository",
        "metadata": {"name": "charts", "namespace": namespace},
        "spec": {"url": charts, "interval": "1h"},
    }
    kubectl("create", "-f", "-", stdin=json.dumps(repository))
    kubectl("-n", namespace, "wait", "helmrepository/charts", "--for=condition=Ready", "--timeout=60s", timeout=70)
    found = json.loads(kubectl("-n", namespace, "get", "helmrepository", "charts", "-o", "json").out)
    assert found["status"]["artifact"]["digest"].startswith("sha256:")
    assert found["metadata"]["finalizers"] == ["finalizers.fluxcd.io"]
    kubectl("-n", namespace, "delete", "helmrepository", "charts", "--timeout=30s", timeout=40)
