"""butlerctl as people run it, against an API server that knows Butler's kinds and on which nobody but the test acts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from butler.api import KINDS
from butler.engines.capi.kinds import Machine
from kubekit.model import crd
from kubekit.model.resource import Resource
from testbed.running.embedded import (
    BIN,
    BUTLER,
    PATIENCE,
    Kubectl,
    Ran,
    ServerProcess,
    kubectl_for,
    start_server,
    stop_server,
)

PROVIDER = {
    "apiVersion": "butler.butlerlabs.dev/v1alpha1",
    "kind": "ProviderConfig",
    "metadata": {"name": "simulated", "namespace": "butler-system"},
    "spec": {"provider": "simulated", "simulated": {}},
}


@pytest.fixture(scope="session")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with Butler's kinds, one provider, and no controllers."""
    server = start_server(tmp_path_factory.mktemp("platform"), program=BUTLER)
    kubectl = kubectl_for(server.kubeconfig)
    kinds: list[type[Resource]] = [*KINDS, Machine]
    namespaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        for name in ("butler-system", "butler-tenants")
    ]
    kubectl("create", "-f", "-", stdin=yaml.safe_dump_all([*map(crd.definition, kinds), *namespaces]))
    kubectl("create", "-f", "-", stdin=json.dumps(PROVIDER))
    yield server
    stop_server(server)


@dataclass
class User:
    """Someone with a home directory of their own who types commands."""

    home: Path
    kubectl: Kubectl
    environ: dict[str, str]
    running: list[subprocess.Popen[str]] = field(default_factory=list)

    def __call__(self, *arguments: str, stdin: str = "", fails: Any = 0, **environ: str) -> Ran:
        """Run butlerctl; fails the test unless it ends with the exit code `fails`."""
        return self._run("butlerctl", *arguments, stdin=stdin, fails=fails, **environ)

    def adm(self, *arguments: str, stdin: str = "", fails: Any = 0, **environ: str) -> Ran:
        """The same with butleradm."""
        return self._run("butleradm", *arguments, stdin=stdin, fails=fails, **environ)

    def _run(self, program: str, *arguments: str, stdin: str, fails: Any, **environ: str) -> Ran:
        done = subprocess.run(
            [str(BIN / program), *arguments], env=self.environ | environ, input=stdin,
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert done.returncode == fails, f"{program} {' '.join(arguments)}: {done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr, done.stderr
        return Ran(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str, **environ: str) -> Started:
        """Run butlerctl in the background, to talk with while it runs."""
        process = subprocess.Popen(
            [str(BIN / "butlerctl"), *arguments], env=self.environ | environ,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1,
        )  # fmt: skip
        self.running.append(process)
        return Started(process)

    def cluster(self, prefix: str = "c", **spec: Any) -> str:
        """Make a cluster with a name of its own."""
        name = f"{prefix}-{uuid.uuid4().hex[:8]}"
        body = {
            "apiVersion": "butler.butlerlabs.dev/v1alpha1",
            "kind": "TenantCluster",
            "metadata": {"name": name, "namespace": "butler-tenants"},
            "spec": {
                "kubernetesVersion": "v1.32.2",
                "workers": {"replicas": 3},
                "providerConfigRef": {"name": "simulated"},
                **spec,
            },
        }
        self.kubectl("create", "-f", "-", stdin=json.dumps(body))
        return name

    def status(self, name: str, **status: Any) -> None:
        """Write a cluster's status, as its controller would."""
        change = json.dumps({"status": status})
        self.kubectl(
            "patch", "tenantcluster", name, "-n", "butler-tenants", "--subresource=status", "--type=merge", "-p", change
        )

    def read(self, name: str) -> dict[str, Any]:
        found = self.kubectl("get", "tenantcluster", name, "-n", "butler-tenants", "-o", "json").out
        loaded: dict[str, Any] = json.loads(found)
        return loaded

    def exists(self, name: str) -> bool:
        listed = self.kubectl("get", "tenantclusters", "-n", "butler-tenants", "-o", "name").out
        return f"/{name}\n" in listed


@dataclass
class Started:
    """A command that is running."""

    process: subprocess.Popen[str]

    def err_until(self, text: str) -> str:
        """Everything on stderr up to a line with this text."""
        assert self.process.stderr is not None
        return _until(self.process.stderr, text)

    def out_until(self, text: str) -> str:
        assert self.process.stdout is not None
        return _until(self.process.stdout, text)

    def interrupt(self) -> Ran:
        """Press Ctrl-C, and again when nothing happens: Python notices a signal that comes right before it waits only
        with the next one."""
        for _ in range(3):
            self.process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                out, err = self.process.communicate(timeout=30)
                return Ran(self.process.returncode, out, err)
        raise AssertionError("Ctrl-C does not end it")

    def end(self) -> Ran:
        out, err = self.process.communicate(timeout=PATIENCE)
        return Ran(self.process.returncode, out, err)


def _until(stream: Any, text: str) -> str:
    seen = []
    for line in stream:
        seen.append(line)
        if text in line:
            return "".join(seen)
    raise AssertionError(f"{text!r} never came: {''.join(seen)}")


def condition(type_: str, holds: bool, message: str = "", reason: str = "Testing") -> dict[str, str]:
    return {
        "type": type_,
        "status": "True" if holds else "False",
        "reason": reason,
        "message": message,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }


def running(**more: Any) -> dict[str, Any]:
    """The status of a cluster that is as it should be."""
    return {
        "phase": "Running",
        "observedGeneration": 1,
        "conditions": [condition("Accepted", True), condition("Ready", True, "everything is as asked")],
        "workerNodesDesired": 3,
        "workerNodesReady": 3,
        "observedState": {"kubernetesVersion": "v1.32.2"},
        **more,
    }


@pytest.fixture
def user(platform: ServerProcess, bytecode: Path, tmp_path: Path) -> Iterator[User]:
    """A user whose KUBECONFIG names the platform."""
    home = tmp_path / "home"
    home.mkdir()
    environ = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    environ |= {"HOME": str(home), "KUBECONFIG": str(platform.kubeconfig), "COLUMNS": "120", "LINES": "40"}
    environ["PYTHONPYCACHEPREFIX"] = str(bytecode)
    for name in (
        "PYTHONDONTWRITEBYTECODE",
        "BUTLER_HOME",
        "BUTLER_NAMESPACE",
        "NO_COLOR",
        "BUTLER_NO_COLOR",
        "EDITOR",
        "VISUAL",
    ):
        environ.pop(name, None)
    one = User(home, kubectl_for(platform.kubeconfig), environ)
    yield one
    for process in one.running:
        process.kill()
        process.communicate()


@pytest.fixture
def own_providers(user: User) -> Iterator[None]:
    """Whatever providers a test makes go with it: other tests count on the only one there is."""
    yield
    listed = user.kubectl("get", "providerconfigs", "-n", "butler-system", "-o", "name").out.split()
    if made := [name for name in listed if not name.endswith("/simulated")]:
        user.kubectl("delete", "-n", "butler-system", *made)
