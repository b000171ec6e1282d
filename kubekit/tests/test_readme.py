"""What the README shows, as it stands there."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from testbed.running.embedded import ServerProcess, kubectl_for
from tests.programs import code_on, on_any_port, running

README = Path(__file__).parents[1] / "README.md"
GREETING = """
apiVersion: example.com/v1
kind: Greeting
metadata: {name: first, namespace: default}
spec: {name: World}
"""


@pytest.mark.parametrize(("block", "most"), [(0, 20), (1, 10)], ids=["controller", "test"])
def test_the_code_is_short(block: int, most: int) -> None:
    lines = code_on(README)[block].splitlines()
    assert len([line for line in lines if line.strip() and not line.startswith("from ")]) <= most


def test_the_controller_works_with_kubectl(tmp_path: Path, server_process: ServerProcess) -> None:
    script = tmp_path / "greetings.py"
    script.write_text(on_any_port(code_on(README)[0]))
    kubectl = kubectl_for(server_process.kubeconfig)
    with running(script, server_process.kubeconfig) as program:
        program.until("started")
        kubectl("apply", "-f", "-", stdin=GREETING)
        kubectl("wait", "greeting/first", "--for=condition=Ready", "--timeout=20s")
        assert kubectl("get", "configmap", "first", "-o", "jsonpath={.data.text}").out == "Hello, World!"
        program.process.send_signal(signal.SIGTERM)
        assert program.ended()[0] == 0


def test_its_test_passes(tmp_path: Path) -> None:
    controller, test = code_on(README)[:2]
    (tmp_path / "greetings.py").write_text(controller)
    (tmp_path / "test_greetings.py").write_text(test)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "kubekit.testing.plugin", "-p", "no:asyncio", "."],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_a_test_that_expects_something_else_fails(tmp_path: Path) -> None:
    controller, test = code_on(README)[:2]
    (tmp_path / "greetings.py").write_text(controller.replace("Hello", "Good day"))
    (tmp_path / "test_greetings.py").write_text(test)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "kubekit.testing.plugin", "-p", "no:asyncio", "."],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "1 failed" in done.stdout, done.stdout + done.stderr
