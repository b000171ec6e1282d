"""Programs that run as long as a test needs them, and not a moment longer."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar
from urllib.request import Request, urlopen

from testbed import places

T = TypeVar("T")
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


class Running:
    """A program that was started."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process, self.log = process, log

    def check(self) -> None:
        """Raises when it has ended, with the last it said."""
        if self.process.poll() is not None:
            last = "\n".join(self.log.read_text(errors="replace").splitlines()[-20:])
            raise RuntimeError(f"{self.log.stem} ended with {self.process.returncode}:\n{last}")

    def stop(self) -> None:
        # Nothing it would save is of use to anyone.
        for patience, sign in ((2, signal.SIGTERM), (10, signal.SIGKILL)):
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, sign)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(patience)
                return


def program(name: str) -> str:
    """Where a program of the testbed is."""
    found = places.where() / name
    if not found.exists():
        raise FileNotFoundError(f"{name} is not built; `make testbed` does that")
    return str(found)


@contextmanager
def running(name: str, command: list[str], folder: Path, **environment: str) -> Iterator[Running]:
    """A program in a process group of its own, which the kernel ends should this process be killed."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / f"{name}.log"
    with log.open("wb") as output:
        # The function between fork and exec is one system call, and tests start programs from one thread.
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=folder,
            env=os.environ | environment, start_new_session=True, preexec_fn=_die_with_parent,  # noqa: PLW1509
        )  # fmt: skip
    started = Running(process, log)
    try:
        yield started
    finally:
        started.stop()


def _die_with_parent() -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def until_ready(one: Running, url: str, token: str = "", seconds: float = 60) -> None:
    """Wait until it answers 200."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}

    def answers() -> bool:
        one.check()
        with (
            suppress(OSError),
            urlopen(Request(url, headers=headers), context=ssl._create_unverified_context(), timeout=5) as answer,
        ):
            return bool(answer.status == 200)
        return False

    eventually(answers, f"{one.log.stem} is ready at {url}", seconds, pause=0.05)


def eventually(look: Callable[[], T], what: str, seconds: float = 60, pause: float = 0.2) -> T:
    """What `look` answers once it is something. Other people's programs tell nobody when they are done."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {seconds:.0f} s: {what}; last seen: {found!r}")
        time.sleep(pause)
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
