"""Staying until something is done: plain lines, the moving picture on a terminal, patience and Ctrl-C."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import uuid
from contextlib import suppress

import pytest

from testbed.running.embedded import BIN
from tests.cli.conftest import User, condition, running


def hold(user: User, name: str, *finalizers: str) -> None:
    change = json.dumps({"metadata": {"finalizers": list(finalizers) or None}})
    user.kubectl("patch", "tenantcluster", name, "-n", "butler-tenants", "--type=merge", "-p", change)


def test_creation_is_told_line_by_line_until_the_cluster_runs(user: User) -> None:
    name = f"w-{uuid.uuid4().hex[:8]}"
    started = user.start("cluster", "create", name, "--workers", "3", "--wait")
    started.err_until("Pending")
    starting = [condition("Accepted", True), condition("ControlPlaneReady", False, "the API server starts")]
    user.status(name, phase="Provisioning", observedGeneration=1, conditions=starting)
    told = started.err_until("Control plane: the API server starts")
    assert re.search(r"^ +\d+s  Provisioning$", told, re.MULTILINE)
    user.status(name, **running(observedState={"kubernetesVersion": "v1.30.2"}, controlPlaneEndpoint="10.0.0.1:6443"))
    ended = started.end()
    assert ended.code == 0
    assert ended.out.splitlines()[-1] == (
        f"✓ cluster butler-tenants/{name} is ready: Kubernetes v1.30.2, 3 of 3 workers ready, API at 10.0.0.1:6443"
    )
    assert "\x1b" not in told + ended.err


def test_a_status_from_before_the_change_is_not_the_end(user: User) -> None:
    name = user.cluster()
    user.status(name, **running())
    started = user.start("cluster", "scale", name, "-w", "5", "--wait")
    before = started.err_until("Updating (v1.32.2, workers 3/3)")
    assert "Running" not in before, "nobody has looked at the change yet"
    assert "Request" not in before, "that was done before anyone looked"
    scaling = [condition("Accepted", True), condition("WorkersReady", False, "3 of 5 workers are ready")]
    user.status(name, phase="Updating", observedGeneration=2, workerNodesDesired=5, conditions=scaling)
    assert "Running" not in started.err_until("Workers: 3 of 5 workers are ready")
    user.status(name, **running(observedGeneration=2, workerNodesDesired=5, workerNodesReady=5))
    ended = started.end()
    assert (ended.code, "5 of 5 workers ready" in ended.out) == (0, True)


def test_a_cluster_that_fails_ends_the_wait_with_its_reason(user: User) -> None:
    name = user.cluster()
    user.status(name, **running())
    started = user.start("cluster", "upgrade", name, "--version", "v1.32.9", "--wait")
    assert "Running" not in started.err_until("Updating")
    refused = [condition("Accepted", False, "the provider is gone"), condition("Ready", True)]
    user.status(name, phase="Running", observedGeneration=2, conditions=refused)
    ended = started.end()
    assert ended.code == 7
    assert f"the provider is gone; `butlerctl cluster why {name}` says more" in ended.err


def test_too_many_workers_end_the_wait_with_the_reason(user: User) -> None:
    name = user.cluster()
    user.status(name, **running())
    started = user.start("cluster", "scale", name, "-w", "50", "--wait")
    started.err_until("Updating")
    refused = [condition("QuotaSatisfied", False, "50 workers, and 9 are allowed"), condition("Ready", False)]
    user.status(name, phase="Running", observedGeneration=2, conditions=refused)
    ended = started.end()
    assert (ended.code, "50 workers, and 9 are allowed" in ended.err) == (7, True)


def test_what_is_refused_stays_so_when_it_is_asked_for_again(user: User) -> None:
    name = user.cluster(workers={"replicas": 50})
    refused = [condition("QuotaSatisfied", False, "50 workers, and 9 are allowed"), condition("Ready", False)]
    user.status(name, **running(observedGeneration=1, conditions=refused))
    for more in ((), ("--wait",)):
        ended = user("cluster", "scale", name, "-w", "50", *more, fails=7)
        assert f"cannot be scaled: 50 workers, and 9 are allowed; `butlerctl cluster why {name}` says more" in ended.err


def test_what_is_under_way_already_is_waited_for_too(user: User) -> None:
    name = user.cluster(workers={"replicas": 3})
    user.status(name, phase="Updating", observedGeneration=1, conditions=[condition("Ready", False)])
    started = user.start("cluster", "scale", name, "-w", "3", "--wait")
    started.err_until("Updating")
    user.status(name, **running(observedGeneration=1))
    ended = started.end()
    assert ended.code == 0
    assert "already; nothing to do" in ended.out
    assert "is scaled" in ended.out


def test_patience_that_ends_is_exit_code_5(user: User) -> None:
    name = user.cluster()
    user.status(name, phase="Provisioning", conditions=[condition("Ready", False, "workers: waiting")])
    ended = user("cluster", "edit", name, "--workers", "4", "--wait", "--timeout", "0.2", fails=5)
    assert "not done after 0s; it is Provisioning: workers: waiting; `butlerctl cluster why" in ended.err


def test_ctrl_c_says_how_to_go_on(user: User) -> None:
    name = user.cluster()
    started = user.start("cluster", "scale", name, "-w", "4", "--wait")
    started.err_until("Pending")
    ended = started.interrupt()
    assert ended.code == 130
    assert f"the cluster goes on without you; `butlerctl cluster watch {name}`" in ended.err


def test_destroying_waits_until_the_cluster_is_gone(user: User) -> None:
    name = user.cluster()
    hold(user, name, "test.example.com/hold")
    started = user.start("cluster", "destroy", name, "--yes")
    started.err_until("Deleting")
    user.status(name, phase="Deleting", conditions=[condition("Ready", False, "machines go", "Deleting")])
    started.err_until("machines go")
    user.status(name, phase="Deleting", conditions=[condition("Ready", False, "the namespace goes", "Deleting")])
    assert "done: machines go" in started.err_until("the namespace goes")
    hold(user, name)
    ended = started.end()
    assert (ended.code, ended.out) == (0, f"✓ cluster butler-tenants/{name} is gone\n")


def test_destroying_needs_the_name_typed(user: User) -> None:
    name = user.cluster()
    asked = user("cluster", "destroy", name, stdin="something else\n", fails=1)
    assert "all workloads and volumes" in asked.err
    assert "nothing was deleted" in asked.err
    unattended = user("cluster", "destroy", name, stdin="", fails=2)
    assert "nobody is there to answer, and nothing was done; --yes does it without a question" in unattended.err
    assert user.exists(name)
    user("cluster", "destroy", name, stdin=f"{name}\n")
    assert not user.exists(name)


def test_ctrl_c_ends_the_question_for_the_name(user: User) -> None:
    name = user.cluster()
    words = [str(BIN / "butlerctl"), "cluster", "destroy", name]
    with subprocess.Popen(words, env=user.environ, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        asked = ""
        while not asked.endswith("to delete it: "):
            asked += process.stderr.read(1)
        assert _interrupted(process) == 130
    assert user.exists(name)


def _interrupted(process: subprocess.Popen[str]) -> int:
    """The exit code after Ctrl-C. One that comes in the instant before Python begins to read is noticed only with the
    next, so whoever sees nothing happen presses it again."""
    for _ in range(3):
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            return process.wait(timeout=30)
    raise AssertionError("Ctrl-C does not end it")


def test_a_watch_tells_changes_with_their_time_and_ends_with_the_cluster(user: User) -> None:
    name = user.cluster()
    started = user.start("cluster", "watch", name)
    assert re.match(r"\d\d:\d\d:\d\d  phase Pending", started.out_until("Pending"))
    user.status(name, phase="Provisioning", conditions=[condition("ControlPlaneReady", False, "starting")])
    assert "phase Provisioning" in started.out_until("ControlPlaneReady False: starting")
    user.status(name, **running())
    told = started.out_until("Ready True: everything is as asked")
    assert "workers 3/3" in told
    user("cluster", "destroy", name, "--yes", "--no-wait")
    ended = started.end()
    assert (ended.code, ended.out.splitlines()[-1][10:]) == (0, "deleted")


class Terminal:
    """A command on a pseudo-terminal."""

    def __init__(self, user: User, *arguments: str, **environ: str) -> None:
        self.master, slave = pty.openpty()
        environment = user.environ | {"TERM": "xterm-256color"} | environ
        self.process = subprocess.Popen(
            [str(BIN / "butlerctl"), *arguments], env=environment, stdin=slave, stdout=slave, stderr=slave, text=True
        )
        user.running.append(self.process)
        os.close(slave)
        self.seen = ""

    def until(self, text: str) -> str:
        """What was written up to this text, since the last time."""
        while text not in self.seen:
            self.seen += self._read()
        before, _, self.seen = self.seen.partition(text)
        return before + text

    def rest(self) -> str:
        try:
            while True:
                self.seen += self._read()
        except EOFError:
            self.process.wait(30)
            os.close(self.master)
            return self.seen

    def _read(self) -> str:
        try:
            found = os.read(self.master, 65536)
        except OSError:
            found = b""
        if not found:
            raise EOFError(self.seen)
        return found.decode()


@pytest.mark.parametrize("environ", [{}, {"NO_COLOR": "1"}, {"BUTLER_NO_COLOR": "1"}])
def test_on_a_terminal_the_steps_are_drawn_over_themselves(user: User, environ: dict[str, str]) -> None:
    name = user.cluster()
    terminal = Terminal(user, "cluster", "scale", name, "-w", "4", "--wait", **environ)
    assert "\x1b[?25l" in terminal.until("Addons")
    states = [condition("Accepted", True), condition("ControlPlaneReady", False, "the API server starts")]
    user.status(name, phase="Provisioning", observedGeneration=2, conditions=states)
    terminal.until("the API server starts")
    # The spinner turns by itself, without anything happening to the cluster.
    assert re.search(r"\x1b\[\d+A", terminal.until("the API server starts"))
    user.status(name, **running(observedGeneration=2))
    rest = terminal.rest()
    assert "is scaled" in rest
    assert "\x1b[?25h" in rest
    assert terminal.process.returncode == 0
    colours = re.findall(r"\x1b\[[0-9;]+m", rest)
    assert bool(colours) is not bool(environ)


def test_phases_have_colours_on_a_terminal_only(user: User) -> None:
    name = user.cluster()
    user.status(name, **running())
    assert "\x1b[32mRunning\x1b[0m" in Terminal(user, "cluster", "get", name).rest()
    assert "\x1b" not in Terminal(user, "cluster", "get", name, NO_COLOR="1").rest()
    assert "\x1b" not in user("cluster", "get", name).out


def test_a_dumb_terminal_gets_plain_lines(user: User) -> None:
    name = user.cluster()
    shown = Terminal(user, "cluster", "scale", name, "-w", "4", "--wait", "--timeout", "0.1", TERM="dumb").rest()
    assert "\x1b" not in shown
