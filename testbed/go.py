"""Call Go in one of the folders here, with patience for downloads."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from testbed.places import HERE

ATTEMPTS = 4
PAUSE = 5.0
"""Seconds before trying again; a little more each time."""
_ENVIRONMENT = {"GOFLAGS": "-mod=readonly -buildvcs=false", "GOWORK": "off"}


class BuildFailed(Exception):
    """What Go said last, in one line."""


def is_installed() -> bool:
    return shutil.which("go") is not None


def run_go(folder: str, *arguments: str, tick: Callable[[], None] = lambda: None) -> str:
    """What Go prints. Calls `tick` every second.

    A download may fail once; what was fetched and compiled is kept, so trying again is cheap. Raises BuildFailed."""
    for attempt in range(1, ATTEMPTS + 1):
        code, printed, said = _run(folder, arguments, tick)
        if code == 0:
            return printed
        last = said.strip().splitlines()[-1] if said.strip() else f"go ended with {code}"
        if attempt < ATTEMPTS:
            print(f"testbed: trying again: {last}", file=sys.stderr)
            time.sleep(PAUSE * attempt)
    raise BuildFailed(last)


def _run(folder: str, arguments: tuple[str, ...], tick: Callable[[], None]) -> tuple[int, str, str]:
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        with subprocess.Popen(
            ["go", *arguments], cwd=HERE / folder, env=os.environ | _ENVIRONMENT, stdout=out, stderr=err
        ) as process:  # fmt: skip
            while True:
                try:
                    process.wait(1)
                    break
                except subprocess.TimeoutExpired:
                    tick()
                except BaseException:
                    process.terminate()
                    raise
        out.seek(0)
        err.seek(0)
        return process.returncode, out.read(), err.read()
