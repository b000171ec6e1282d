"""The servers under measurement: ours, and kube-apiserver with etcd where `make testbed` has built them."""

from __future__ import annotations

import base64
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import Request, urlopen

import yaml

from bench.client import Endpoint

_TESTBED = Path(__file__).parent.parent / "testbed" / "build"
_TOKEN = "bench-administrator"


@dataclass
class Running:
    """A server that is ready, and what it took."""

    name: str
    endpoint: Endpoint
    ready_seconds: float
    pids: list[int]
    kubeconfig: Path = Path()
    """The administrator's, where there is one."""

    def memory(self) -> float:
        """MB resident, over all its processes."""
        return sum(_resident(pid) for pid in self.pids)


@contextmanager
def butler() -> Iterator[Running]:
    """Ours, on a new data directory."""
    data = Path(tempfile.mkdtemp(prefix="butler-bench-"))
    port = free_port()
    command = [str(Path(sys.executable).parent / "butleradm"), "apiserver", "--data", str(data), "--port", str(port)]
    with _process(command, data / "log") as process:
        # The first start also makes the keys; what is measured is the start of an existing server.
        _wait_ready(process, f"https://127.0.0.1:{port}", ssl._create_unverified_context())
        process.terminate()
        process.wait()
    started = time.perf_counter()
    with _process(command, data / "log") as process:
        _wait_ready(process, f"https://127.0.0.1:{port}", ssl._create_unverified_context())
        ready = time.perf_counter() - started
        yield Running("butler", _endpoint(data / "kubeconfig"), ready, [process.pid], data / "kubeconfig")
    shutil.rmtree(data)


@contextmanager
def kubernetes() -> Iterator[Running]:
    """kube-apiserver and etcd, with syncing to disk as in production. Raises FileNotFoundError when not built."""
    programs = testbed()
    data = Path(tempfile.mkdtemp(prefix="kubernetes-bench-"))
    client, peer, port = free_port(), free_port(), free_port()
    (data / "tokens.csv").write_text(f"{_TOKEN},admin,admin,system:masters\n")
    subprocess.run(["openssl", "genrsa", "-out", data / "sa.key", "2048"], check=True, capture_output=True)
    etcd = [
        str(programs / "etcd"),
        f"--data-dir={data}/etcd",
        f"--listen-client-urls=http://127.0.0.1:{client}",
        f"--advertise-client-urls=http://127.0.0.1:{client}",
        f"--listen-peer-urls=http://127.0.0.1:{peer}",
        f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
        f"--initial-cluster=default=http://127.0.0.1:{peer}",
    ]
    api = [
        str(programs / "kube-apiserver"),
        f"--etcd-servers=http://127.0.0.1:{client}",
        f"--secure-port={port}",
        "--bind-address=127.0.0.1",
        f"--cert-dir={data}/certs",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={data}/sa.key",
        f"--service-account-signing-key-file={data}/sa.key",
        "--service-cluster-ip-range=10.0.0.0/24",
        f"--token-auth-file={data}/tokens.csv",
        "--authorization-mode=RBAC",
    ]
    context = ssl._create_unverified_context()
    started = time.perf_counter()
    with _process(etcd, data / "etcd.log") as first, _process(api, data / "log") as second:
        _wait_ready(second, f"https://127.0.0.1:{port}", context, _TOKEN)
        ready = time.perf_counter() - started
        endpoint = Endpoint(f"https://127.0.0.1:{port}", context, _TOKEN)
        yield Running("kube-apiserver", endpoint, ready, [first.pid, second.pid])
    shutil.rmtree(data)


def testbed() -> Path:
    """Where the real programs are. Raises FileNotFoundError when they are not built."""
    if shutil.which("go") is None:
        raise FileNotFoundError("kube-apiserver: Go is not installed, so it cannot have been built")
    built = subprocess.run([str(_TESTBED), "--where"], check=True, capture_output=True, text=True).stdout.strip()
    if not (Path(built) / "kube-apiserver").exists():
        raise FileNotFoundError("kube-apiserver is not built; `make testbed` does that")
    return Path(built)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _process(command: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait_ready(process: subprocess.Popen[bytes], url: str, context: ssl.SSLContext, token: str = "") -> None:
    request = Request(f"{url}/readyz", headers={"Authorization": f"Bearer {token}"} if token else {})
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urlopen(request, context=context, timeout=5) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.01)
    raise TimeoutError(f"{url} did not become ready: {process.args!r} ended with {process.poll()}")


def _endpoint(kubeconfig: Path) -> Endpoint:
    config = yaml.safe_load(kubeconfig.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
    context.check_hostname = False
    with tempfile.TemporaryDirectory() as scratch:
        certificate, key = Path(scratch, "crt"), Path(scratch, "key")
        certificate.write_bytes(base64.b64decode(user["client-certificate-data"]))
        key.write_bytes(base64.b64decode(user["client-key-data"]))
        context.load_cert_chain(certificate, key)
    return Endpoint(cluster["server"], context)


def _resident(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
