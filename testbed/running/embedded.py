"""Our own server as a process, and kubectl for whatever server there is."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

BIN = Path(sys.executable).parent
KUBEKIT = (sys.executable, "-m", "kubekit.server")
BUTLER = (str(BIN / "butleradm"), "apiserver")
PATIENCE = 120.0
"""Seconds after which a command hangs: many times what any takes, so that a slow computer is no reason to fail."""


@dataclass
class ServerProcess:
    """A server as people run it."""

    data: Path
    process: subprocess.Popen[str]

    @property
    def kubeconfig(self) -> Path:
        return self.data / "kubeconfig"


def start_server(data: Path, *arguments: str, program: tuple[str, ...] = KUBEKIT) -> ServerProcess:
    """Start it and wait until it says where it serves."""
    process = subprocess.Popen(
        [*program, "--data", str(data), "--port", "0", *arguments],
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
    server.process.wait(PATIENCE)
    assert server.process.stderr is not None
    server.process.stderr.close()


@dataclass
class Ran:
    """What a command answered."""

    code: int
    out: str
    err: str


Kubectl = Callable[..., Ran]


def kubectl_for(kubeconfig: Path) -> Kubectl:
    # Its own cache and no preferences: what another server on the same port or the user once said does not matter.
    # A process that lives so briefly need not collect its garbage, either.
    fixed = {**os.environ, "KUBECACHEDIR": str(kubeconfig.parent / "kubectl-cache"), "KUBERC": "off", "GOGC": "off"}

    def run(
        *arguments: str, stdin: str | None = None, fails: bool = False, timeout: float = PATIENCE, **environment: str
    ) -> Ran:
        done = subprocess.run(
            [str(BIN / "kubectl"), "--kubeconfig", str(kubeconfig), *arguments], env=fixed | environment,
            input=stdin, capture_output=True, text=True, timeout=timeout, check=False,
        )  # fmt: skip
        assert (done.returncode != 0) is fails, f"kubectl {' '.join(arguments)}: {done.stdout}{done.stderr}"
        return Ran(done.returncode, done.stdout, done.stderr)

    return run
