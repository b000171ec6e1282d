"""The two API servers that a test can run on: Kubernetes' own, and ours."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from testbed.running.certificates import Authority
from testbed.running.processes import free_port, program, running, until_ready

_TOKEN = "testbed-administrator"
# Nodes here have no kubelet, and stay as a test made them.
_CONTROLLERS = "*,-nodeipam,-service-lb-controller,-node-lifecycle-controller"


@dataclass(frozen=True)
class Cluster:
    """An API server with its controllers, and an administrator's way in."""

    on: str
    """"real" or "embedded"."""
    folder: Path
    kubeconfig: Path


@contextmanager
def real(folder: Path, controllers: str = _CONTROLLERS) -> Iterator[Cluster]:
    """etcd, kube-apiserver and kube-controller-manager with an empty store."""
    port = free_port()
    Authority().pair.write(folder, "service-accounts")
    (folder / "tokens.csv").write_text(f"{_TOKEN},admin,admin,system:masters\n")
    with ExitStack() as stack:
        etcd = stack.enter_context(etcd_on(folder))
        api = stack.enter_context(running("kube-apiserver", _api_server(folder, etcd, port), folder))
        until_ready(api, f"https://127.0.0.1:{port}/readyz", _TOKEN)
        kubeconfig = _write_kubeconfig(folder, port)
        stack.enter_context(
            running("kube-controller-manager", _controller_manager(folder, kubeconfig, controllers), folder)
        )
        yield Cluster("real", folder, kubeconfig)


@contextmanager
def embedded(folder: Path) -> Iterator[Cluster]:
    """`butleradm apiserver` on an empty data directory."""
    port, data = free_port(), folder / "data"
    command = [str(Path(sys.executable).parent / "butleradm"), "apiserver", "--data", str(data), "--port", str(port)]
    with running("butleradm", command, folder) as server:
        until_ready(server, f"https://127.0.0.1:{port}/readyz")
        yield Cluster("embedded", folder, data / "kubeconfig")


@contextmanager
def etcd_on(folder: Path, *security: str) -> Iterator[str]:
    """An etcd of its own; answers its address. `security` are flags that make it speak TLS."""
    client, peer = free_port(), free_port()
    address = f"{'https' if security else 'http'}://127.0.0.1:{client}"
    command = [
        program("etcd"),
        f"--data-dir={folder}/etcd",
        f"--listen-client-urls={address}",
        f"--advertise-client-urls={address}",
        f"--listen-peer-urls=http://127.0.0.1:{peer}",
        f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
        f"--initial-cluster=default=http://127.0.0.1:{peer}",
        # Nothing here survives the test anyway.
        "--unsafe-no-fsync",
        *security,
    ]
    with running("etcd", command, folder):
        yield address


def _api_server(folder: Path, etcd: str, port: int) -> list[str]:
    return [
        program("kube-apiserver"),
        f"--etcd-servers={etcd}",
        f"--secure-port={port}",
        "--bind-address=127.0.0.1",
        f"--cert-dir={folder}/certs",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={folder}/service-accounts.key",
        f"--service-account-signing-key-file={folder}/service-accounts.key",
        "--service-cluster-ip-range=10.0.0.0/24",
        f"--token-auth-file={folder}/tokens.csv",
        "--authorization-mode=RBAC",
        "--allow-privileged=true",
    ]


def _controller_manager(folder: Path, kubeconfig: Path, controllers: str) -> list[str]:
    return [
        program("kube-controller-manager"),
        f"--kubeconfig={kubeconfig}",
        f"--service-account-private-key-file={folder}/service-accounts.key",
        f"--root-ca-file={folder}/certs/apiserver.crt",
        "--leader-elect=false",
        "--use-service-account-credentials=false",
        "--secure-port=0",
        f"--controllers={controllers}",
    ]


def _write_kubeconfig(folder: Path, port: int) -> Path:
    """JSON is YAML. The server signs its own certificate, with its authority in the same file."""
    cluster = {"server": f"https://127.0.0.1:{port}", "certificate-authority": f"{folder}/certs/apiserver.crt"}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "real", "cluster": cluster}],
        "users": [{"name": "admin", "user": {"token": _TOKEN}}],
        "contexts": [{"name": "real", "context": {"cluster": "real", "user": "admin"}}],
        "current-context": "real",
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(config, indent=2))
    return path
