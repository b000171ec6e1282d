"""What a test started ends with it, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from testbed import places
from testbed.running.processes import eventually, running

pytestmark = [pytest.mark.real]

START = """
import sys, time
from pathlib import Path
from testbed.running.processes import running

with running("sleep", ["sleep", "1000"], Path(sys.argv[1])) as started:
    print(started.process.pid, flush=True)
    time.sleep(1000)
"""


def is_alive(pid: int) -> bool:
    state = Path(f"/proc/{pid}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_program_ends_with_the_block(tmp_path: Path) -> None:
    with running("sleep", ["sleep", "1000"], tmp_path) as started:
        assert is_alive(started.process.pid)
    assert not is_alive(started.process.pid)


def test_a_program_that_does_not_listen_is_killed(tmp_path: Path) -> None:
    with running(
        "stubborn", ["bash", "-c", "trap '' TERM; echo on; while true; do sleep 1; done"], tmp_path
    ) as started:
        eventually(started.log.read_text, "it is deaf")
    assert not is_alive(started.process.pid)


def test_a_program_ends_when_the_test_run_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", START, str(tmp_path)], cwd=places.HERE.parent, stdout=subprocess.PIPE
    ) as run:
        assert run.stdout is not None
        pid = int(run.stdout.readline())
        assert is_alive(pid)
        os.kill(run.pid, signal.SIGKILL)
        eventually(lambda: not is_alive(pid), "the program has ended", 10)


def test_one_that_ended_by_itself_says_why(tmp_path: Path) -> None:
    with running("broken", ["bash", "-c", "echo no such flag; exit 3"], tmp_path) as started:
        started.process.wait(10)
        with pytest.raises(RuntimeError, match=r"broken ended with 3:\nno such flag"):
            started.check()
