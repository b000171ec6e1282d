"""Where commands are shown and typed: a user at a shell, with a platform that runs, or an API on which nobody acts."""

from __future__ import annotations

import inspect
import json
import os
import re
import signal
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from butler.local.home import Home, Running
from testbed.running.embedded import BIN, Ran, ServerProcess
from tests.local.shells import Shell

GROUP = "butler.butlerlabs.dev/v1alpha1"
TENANTS, SYSTEM = "butler-tenants", "butler-system"
PATIENCE = 50
_MARK = "XYZZY"
_BETWEEN_BACKTICKS = re.compile(r"`([^`]+)`")
_COLUMNS = re.compile(r"\s{2,}")


class User(Shell):
    """Types what they see, in a directory of their own."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        home.mkdir(parents=True, exist_ok=True)
        self.environ |= {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}
        # Most of the time of a command is reading code.
        self.environ["PYTHONPYCACHEPREFIX"] = str(home.parent.parent / "bytecode")
        for name in ("BUTLER_NO_COLOR", "PYTHONDONTWRITEBYTECODE"):
            self.environ.pop(name, None)
        self.first_screen = ""

    def typed(self, command: str, **environ: str) -> Ran:
        """What a shell makes of it."""
        done = subprocess.run(
            ["sh", "-c", command], cwd=self.home, env=self.environ | environ, capture_output=True, text=True,
            timeout=PATIENCE, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return Ran(done.returncode, done.stdout, done.stderr)

    def screen(self, command: str, **environ: str) -> str:
        """Everything that is shown by it."""
        ran = self.typed(command, **environ)
        return ran.out + ran.err

    def does(self, command: str, **environ: str) -> str:
        """The same, for commands that have to work."""
        ran = self.typed(command, **environ)
        assert ran.code == 0, f"{command}: {ran.out}{ran.err}"
        return ran.out + ran.err

    def stays(self, command: str, until: str) -> str:
        """Type something that goes on until Ctrl-C, which is pressed once it has said something."""
        return self.meanwhile(command, until, lambda process: process.send_signal(signal.SIGINT))

    def meanwhile(self, command: str, until: str, then: Callable[[subprocess.Popen[str]], None]) -> str:
        """Type something, and do something else once it has said something; answers all that it says."""
        said = []
        with subprocess.Popen(
            ["sh", "-c", f"exec {command}"], cwd=self.home, env=self.environ, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
        ) as process:  # fmt: skip
            assert process.stdout is not None
            for line in process.stdout:
                said.append(line)
                if until in line:
                    then(process)
        return "".join(said)

    def apply(self, kind: str, name: str, namespace: str, spec: dict[str, Any], **meta: Any) -> None:
        body = {
            "apiVersion": GROUP,
            "kind": kind,
            "metadata": {"name": name, "namespace": namespace, **meta},
            "spec": spec,
        }
        path = self.home / f"{name}.yaml"
        path.write_text(yaml.safe_dump(body))
        self.does(f"kubectl --kubeconfig {self.data}/kubeconfig apply -f {path}")

    def kubectl_does(self, command: str) -> str:
        return self.does(f"kubectl --kubeconfig {self.data}/kubeconfig {command}")

    def comes(self, command: str, text: str) -> str:
        """The screen of a command, as soon as it has some text on it."""
        for _ in range(40):
            if text in (shown := self.screen(command)):
                return shown
        raise AssertionError(f"{command} does not show {text!r}: {shown}")

    def running_cluster(self, name: str = "run") -> str:
        """A cluster that works; made when first wanted."""
        if self.typed(f"butlerctl cluster get {name}").code:
            self.does(f"butlerctl cluster create {name} --workers 1 --k8s-version v1.32.2 --wait")
        return name

    def refused_cluster(self, name: str, **spec: Any) -> str:
        """One that its controller refuses, or holds."""
        self.apply("TenantCluster", name, TENANTS, {"kubernetesVersion": "v1.32.2", "workers": {"replicas": 1}, **spec})
        return name

    def is_absent(self, name: str) -> None:
        self.typed(f"butlerctl cluster destroy {name} --yes")


def shown_in(screen: str, suggestion: Callable[..., str]) -> str:
    """The command of this kind on a screen: between backticks, or a column of its own."""
    wanted = suggestion(*(_MARK for _ in inspect.signature(suggestion).parameters))
    pattern = re.compile(re.escape(wanted).replace(_MARK, ".*"))
    columns = [piece.removeprefix("→ ") for line in screen.splitlines() for piece in _COLUMNS.split(line)]
    found = [one for one in (*_BETWEEN_BACKTICKS.findall(screen), *columns) if pattern.fullmatch(one)]
    assert found, f"no {wanted} in:\n{screen}"
    return str(found[0])


def announce(user: User, server: ServerProcess) -> None:
    """Let a bare API pass for the platform of a user."""
    user.data = server.data
    running = Running(
        data=str(server.data), kubeconfig=str(server.kubeconfig), pid=server.process.pid, health="http://127.0.0.1:1",
        url=str(yaml.safe_load(server.kubeconfig.read_text())["clusters"][0]["cluster"]["server"]),
        started=datetime.now(UTC), version="1",
    )  # fmt: skip
    os.environ["BUTLER_HOME"], before = str(user.home), os.environ["BUTLER_HOME"]
    Home(server.data).announce(running)
    os.environ["BUTLER_HOME"] = before


def status_of(user: User, kind: str, name: str, namespace: str, **status: Any) -> None:
    """Write it, as a controller would."""
    change = json.dumps({"status": status})
    user.kubectl_does(f"patch {kind} {name} -n {namespace} --subresource=status --type=merge -p '{change}'")
