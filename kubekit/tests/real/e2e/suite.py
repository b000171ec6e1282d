"""Kubernetes' own end-to-end tests, `e2e.test`, on one of the two API servers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from testbed.running import servers
from testbed.running.processes import eventually, program, running
from testbed.running.servers import Cluster
from tests.real.e2e import reports, selection

_KUBECTL = Path(sys.executable).parent / "kubectl"
_PATIENCE = 3600
_WORKLOADS = ("deployment", "replicaset", "replicationcontroller", "job", "cronjob", "disruption")
"""Controllers that the embedded server leaves to others; tests of garbage collection need some."""


def run(on: str, folder: Path, focus: str = "") -> reports.Report:
    """All tests of the selection, or those of them whose names match `focus`."""
    with _server(on, folder) as cluster:
        _make_node(cluster)
        report = folder / "report.json"
        with running("e2e.test", _command(cluster, report, focus), folder) as suite:
            suite.process.wait(_PATIENCE)
        if not report.exists():
            suite.check()
        return reports.read(on, report, selection.DIFFERENT if on == "embedded" else {})


@contextmanager
def _server(on: str, folder: Path) -> Iterator[Cluster]:
    if on == "real":
        with servers.real(folder) as cluster:
            yield cluster
        return
    with servers.embedded(folder) as cluster:
        command = [
            program("kube-controller-manager"),
            f"--kubeconfig={cluster.kubeconfig}",
            "--leader-elect=false",
            "--use-service-account-credentials=false",
            "--secure-port=0",
            f"--controllers={','.join(f'{one}-controller' for one in _WORKLOADS)}",
        ]
        with running("kube-controller-manager", command, folder):
            yield cluster


def _command(cluster: Cluster, report: Path, focus: str) -> list[str]:
    focused = [focus] if focus else selection.AREAS.values()
    return [
        program("e2e.test"),
        f"--kubeconfig={cluster.kubeconfig}",
        f"--kubectl-path={_KUBECTL}",
        "--provider=skeleton",
        "--disable-log-dump",
        "--node-schedulable-timeout=30s",
        "--ginkgo.no-color",
        "--ginkgo.silence-skips",
        "--ginkgo.seed=1",
        f"--ginkgo.timeout={_PATIENCE}s",
        f"--ginkgo.json-report={report}",
        *(f"--ginkgo.focus={one}" for one in focused),
        *(f"--ginkgo.skip={one}" for one in selection.LEFT_OUT),
    ]


def _make_node(cluster: Cluster) -> None:
    """The suite begins only once a node is ready; nothing ever runs on it."""
    metadata = {"name": "nobody"}
    _kubectl(cluster, "create", "-f", "-", given={"apiVersion": "v1", "kind": "Node", "metadata": metadata})
    status = {
        "conditions": [{"type": "Ready", "status": "True", "reason": "Testbed", "message": ""}],
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        "capacity": {"cpu": "8", "memory": "16Gi", "pods": "110"},
        "allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"},
    }
    node = "node/nobody"
    _kubectl(cluster, "patch", node, "--subresource=status", "--type=merge", "-p", _json({"status": status}))
    # A new node is tainted until its kubelet reports, which nothing here waits for.
    _kubectl(cluster, "patch", node, "--type=merge", "-p", _json({"spec": {"taints": None}}))
    eventually(
        lambda: "default" in _kubectl(cluster, "get", "serviceaccounts", "-n", "default", "-o", "name"),
        "controllers are at work",
    )


def _kubectl(cluster: Cluster, *arguments: str, given: Any = None) -> str:
    command = [str(_KUBECTL), f"--kubeconfig={cluster.kubeconfig}", *arguments]
    ended = subprocess.run(command, input=_json(given), capture_output=True, text=True, check=False)
    if ended.returncode:
        raise RuntimeError(f"kubectl {' '.join(arguments)}: {ended.stderr}")
    return ended.stdout


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
