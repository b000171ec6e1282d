"""Suggestions to somebody who has no platform yet, or one that does not answer."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

from butler import advice
from testbed.running.embedded import BIN, BUTLER, start_server, stop_server
from tests.advice.stages import User, shown_in
from tests.advice.trials import Trials

TRIALS = Trials()
STARTED = "Try:"
HOLDER = """
import sys
from pathlib import Path
from kubekit.server.store import data_lock
held = data_lock.take(Path(sys.argv[1]))
data_lock.note_holder(held)
print("held", flush=True)
sys.stdin.read()
"""


@TRIALS.of(advice.start)
def no_platform(user: User) -> None:
    command = shown_in(user.screen("butleradm status"), advice.start)
    assert command in user.screen("butleradm doctor")
    assert command in user.screen("butlerctl cluster list")
    assert STARTED in user.stays(f"{command} --empty --fast", STARTED)


@TRIALS.of(advice.start_elsewhere)
def a_port_that_is_taken(user: User) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        shown = user.screen(f"butleradm up --port {taken.getsockname()[1]}")
        assert STARTED in user.stays(f"{shown_in(shown, advice.start_elsewhere)} --empty --fast", STARTED)


@TRIALS.of(advice.who_listens)
def a_port_of_somebody_else(user: User) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        data = user.home / "other"
        data.mkdir(mode=0o700)
        (data / "settings.json").write_text(json.dumps({"port": port}))
        shown = user.screen(f"butleradm doctor --data {data}")
        assert f":{port}" in user.does(shown_in(shown, advice.who_listens))


@TRIALS.of(advice.end_process)
def data_that_somebody_holds(user: User) -> None:
    data = user.home / "held"
    data.mkdir(mode=0o700)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(data)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    user.does(shown_in(user.screen(f"butleradm doctor --data {data}"), advice.end_process))
    holder.communicate(timeout=10)
    assert holder.returncode < 0


@TRIALS.of(advice.platform_status)
def a_platform_that_does_not_answer(user: User) -> None:
    kubeconfig = user.home / "dead.kubeconfig"
    cluster = {"name": "a", "cluster": {"server": "https://127.0.0.1:1"}}
    context = {"name": "a", "context": {"cluster": "a"}}
    kubeconfig.write_text(json.dumps({"clusters": [cluster], "contexts": [context], "current-context": "a"}))
    announced = {"data": str(user.data), "kubeconfig": str(kubeconfig), "pid": os.getpid()}
    announcement = user.home / "local.json"
    announcement.write_text(json.dumps(announced))
    ran = user.typed(shown_in(user.screen("butlerctl cluster list"), advice.platform_status))
    announcement.unlink()
    assert (ran.code, "does not run" in ran.out) == (1, True)


@TRIALS.of(advice.start_on)
def an_api_that_is_no_platform(user: User) -> None:
    server = start_server(user.home / "cluster", program=BUTLER)
    try:
        _on(user, server.kubeconfig)
    finally:
        stop_server(server)


def _on(user: User, kubeconfig: Path) -> None:
    shown = user.screen(f"butlerctl cluster list --kubeconfig {kubeconfig}")
    refused = user.typed(shown_in(shown, advice.start_on))
    assert (refused.code, "the cluster lacks Cluster API" in refused.err) == (1, True)
    definitions = f"{BIN}/kubectl --kubeconfig {kubeconfig} get crds -o name"
    assert user.typed(definitions).out == ""
    command = shown_in(refused.err, advice.simulate_on)
    assert STARTED in user.stays(f"{command} --empty --fast --port 0", STARTED)
    assert "tenantclusters" in user.does(definitions)


@TRIALS.of(advice.simulate_on)
def an_api_without_engines(user: User) -> None:
    """Part of `an_api_that_is_no_platform`."""
