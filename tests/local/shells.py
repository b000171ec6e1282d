"""A user at a terminal, for tests of commands."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from pathlib import Path
from typing import Any

from butler.local.home import Home, Remembered
from testbed.running.embedded import BIN, PATIENCE, Ran


class Shell:
    """A user with a home of their own, who types commands."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.data = home / "local"
        self.environ = {**os.environ, "BUTLER_HOME": str(home), "HOME": str(home)}
        for name in ("KUBECONFIG", "BUTLER_NAMESPACE"):
            self.environ.pop(name, None)

    def butleradm(self, *arguments: str, answer: str = "") -> Ran:
        return self.run("butleradm", *arguments, answer=answer)

    def butlerctl(self, *arguments: str) -> Ran:
        return self.run("butlerctl", *arguments)

    def kubectl(self, *arguments: str) -> Ran:
        """As the platform's administrator."""
        return self.run("kubectl", "--kubeconfig", str(self.data / "kubeconfig"), *arguments)

    def run(self, program: str, *arguments: str, answer: str = "") -> Ran:
        done = subprocess.run(
            [str(BIN / program), *arguments],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            env=self.environ,
            input=answer,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def up(self, *arguments: str) -> Ran:
        """Start a platform in the background, on a port of its own and then always on that; nothing takes time, and
        addons are only written down."""
        port = [] if (self.data / "settings.json").exists() else ["--port", "0"]
        is_real = "--kubeconfig" in arguments and "--simulate" not in arguments
        record = [] if is_real else ["--record-addons"]
        ran = self.butleradm("up", "--detach", "--fast", *record, *port, *arguments)
        assert ran.code == 0, ran.err
        return ran

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a platform in the foreground, and wait until it has said where it is."""
        process = subprocess.Popen(
            [str(BIN / "butleradm"), "up", "--fast", "--record-addons", "--port", "0", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environ,
        )
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("Try:"):
                break
        return process

    def remember_free_port(self) -> None:
        """As if a platform had been here that was the only one to want a port."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            Home(self.data).remember(Remembered(port=free.getsockname()[1]))

    def announcement(self) -> dict[str, Any]:
        """What other programs learn of the platform."""
        found: dict[str, Any] = json.loads((self.home / "local.json").read_bytes())
        return found

    def stop(self) -> None:
        """Leave nothing running."""
        self.butleradm("down")
