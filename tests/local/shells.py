"""A user at a terminal, for tests of commands."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.conftest import BIN, Ran


class Shell:
    """A user with a home of their own, who types commands."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.data = home / "local"
        self.environ = {**os.environ, "BUTLER_HOME": str(home)}
        for name in ("KUBECONFIG", "BUTLER_NAMESPACE"):
            self.environ.pop(name, None)

    def butleradm(self, *arguments: str, answer: str = "") -> Ran:
        return self.run("butleradm", *arguments, answer=answer)

    def butlerctl(self, *arguments: str) -> Ran:
        return self.run("butlerctl", *arguments)

    def run(self, program: str, *arguments: str, answer: str = "") -> Ran:
        done = subprocess.run(
            [str(BIN / program), *arguments],
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
            env=self.environ,
            input=answer,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """`butleradm up` in the foreground."""
        return subprocess.Popen(
            [str(BIN / "butleradm"), "up", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environ,
        )
