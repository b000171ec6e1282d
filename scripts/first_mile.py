#!/usr/bin/env python3
"""Measures the way from nothing to a running cluster: a fresh clone, empty package caches, `make up`.

What is committed is measured, with the Python that runs this, and with uv where there is one. Nothing is left behind.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
OURS = ("BUTLER_HOME", "MAKEFLAGS", "MAKELEVEL", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "VIRTUAL_ENV")
"""What somebody who comes for the first time has not set."""
Moment = tuple[str, float]


def main() -> None:
    tool = "uv" if shutil.which("uv") else "pip"
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"Python {sys.version.split()[0]}, {tool}, {os.cpu_count()} processors, load {load}")
    with TemporaryDirectory(prefix="butler-first-mile-") as folder:
        show(measure(Path(folder)))


def measure(folder: Path) -> list[Moment]:
    """When each part was done, first the beginning."""
    clone, data = folder / "clone", folder / "data"
    began = time.time()
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    moments = [("", began), ("clone", time.time())]
    environment = fresh(folder)
    python = getattr(sys, "_base_executable", sys.executable)
    command = ["make", f"PYTHON={python}", "up", f"ARGS=--detach --data {data} --port 0"]
    try:
        subprocess.run(command, cwd=clone, env=environment, check=True, stdin=subprocess.DEVNULL)
        return [*moments, *traces(clone / ".venv", data)]
    finally:
        if (butleradm := clone / ".venv" / "bin" / "butleradm").exists():
            subprocess.run([butleradm, "down", "--data", data], env=environment, check=False)


def fresh(folder: Path) -> dict[str, str]:
    """The environment of somebody who has nothing yet."""
    kept = {name: value for name, value in os.environ.items() if name not in OURS}
    return kept | {
        "BUTLER_HOME": str(folder / "home"),
        "PIP_NO_CACHE_DIR": "1",
        "UV_CACHE_DIR": str(folder / "uv"),
    }


def traces(venv: Path, data: Path) -> list[Moment]:
    """What the files of each part say about when it was done."""
    return [
        ("virtual environment", last_change([venv / "pyvenv.cfg"])),
        ("packages", last_change(venv.glob("lib/python*/site-packages/*.dist-info/RECORD"))),
        ("bytecode", last_change([venv / ".ready-to-run"])),
        ("platform ready", last_change([data / "running.json"])),
        ("demo Running", last_change([data / "demo.kubeconfig"])),
    ]


def last_change(files: Iterable[Path]) -> float:
    return max(file.stat().st_mtime for file in files)


def show(moments: list[Moment]) -> None:
    for (_, before), (name, moment) in pairwise(moments):
        print(f"{name:<20} {moment - before:6.1f} s")
    print(f"{'all of it':<20} {moments[-1][1] - moments[0][1]:6.1f} s")


if __name__ == "__main__":
    main()
