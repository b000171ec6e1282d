"""kwok plays the nodes of a cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from testbed.running.embedded import Kubectl
from testbed.running.servers import Cluster
from tests.real import managers

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]


@pytest.fixture
def node(kubernetes: Cluster, kubectl: Kubectl) -> Iterator[str]:
    """A node that kwok looks after."""
    with managers.kwok(kubernetes):
        object_ = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "kwok-0"}}
        kubectl("create", "-f", "-", stdin=json.dumps(object_))
        yield "kwok-0"
        kubectl("delete", "node", "kwok-0")


def test_a_node_is_ready_and_its_pod_runs_and_goes(node: str, kubectl: Kubectl, namespace: str) -> None:
    kubectl("wait", f"node/{node}", "--for=condition=Ready", "--timeout=30s", timeout=40)
    spec = {
        "nodeName": node,
        "automountServiceAccountToken": False,
        "containers": [{"name": "main", "image": "example.com/none"}],
    }
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one", "namespace": namespace}, "spec": spec}
    kubectl("create", "-f", "-", stdin=json.dumps(pod))
    kubectl("-n", namespace, "wait", "pod/one", "--for=condition=Ready", "--timeout=30s", timeout=40)
    assert kubectl("-n", namespace, "get", "pod", "one", "-o", "jsonpath={.status.phase}").out == "Running"

    kubectl("-n", namespace, "delete", "pod", "one", "--timeout=30s", timeout=40)
