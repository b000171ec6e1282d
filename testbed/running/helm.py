"""Stock Helm: version 3, which a package brings, and version 4, which the testbed builds."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from testbed.running.embedded import BIN, Ran
from testbed.running.processes import program

VERSIONS = ("3", pytest.param("4", marks=pytest.mark.real))
"""Parameters for tests that run once with each."""


def helm_of(version: str) -> Path:
    """Where that version is. Raises when it is not there."""
    if version == "4":
        return Path(program("helm"))
    found = BIN / "helm" if (BIN / "helm").exists() else shutil.which("helm")
    if found is None:
        raise FileNotFoundError("there is no helm beside this Python or on PATH")
    return Path(found)


class Helm:
    """Helm as its users run it, pointed at one namespace."""

    def __init__(self, version: str, kubeconfig: Path, namespace: str, home: Path) -> None:
        self.version, self.path = version, helm_of(version)
        self._arguments = ("--kubeconfig", str(kubeconfig), "--namespace", namespace)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("HELM_")}
        self._environment = {**kept, "HOME": str(home), "GOGC": "off"}

    def __call__(self, *arguments: str, fails: bool = False) -> Ran:
        done = subprocess.run(
            [str(self.path), *arguments, *self._arguments], env=self._environment,
            capture_output=True, text=True, timeout=50, check=False,
        )  # fmt: skip
        assert (done.returncode != 0) is fails, f"helm {' '.join(arguments)}: {done.stdout}{done.stderr}"
        return Ran(done.returncode, done.stdout, done.stderr)

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "--output", "json").out)
