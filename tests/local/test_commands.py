"""butleradm up, down, status and version, as people type them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest
import yaml

from kubekit.server.store import data_lock
from testbed.running.embedded import BIN, PATIENCE
from tests.local.shells import Shell


def test_a_second_start_says_that_the_platform_runs_already(started: Shell) -> None:
    again = started.butleradm("up")
    assert again.code == 0
    told = started.announcement()
    assert f"runs already, as process {told['pid']}" in again.err
    assert told["url"] in again.out
    assert f"export KUBECONFIG={started.data}/kubeconfig" in again.out
    assert "stays where it is" not in again.err
    moved = started.butleradm("up", "--host", "127.0.0.3", "--port", "0").err
    assert "It stays where it is; `butleradm down && butleradm up --detach --host 127.0.0.3` starts it anew." in moved


def test_its_kubeconfig_is_for_its_owner_only(started: Shell) -> None:
    assert (started.data / "kubeconfig").stat().st_mode & 0o777 == 0o600


def test_the_status_of_a_platform_that_is_well(started: Shell) -> None:
    ran = started.butleradm("status", "-o", "json")
    report = json.loads(ran.out)
    assert ran.code == 0, ran.out
    assert (report["running"], report["healthy"], report["problems"]) == (True, True, [])
    assert report["controllers"]["ready"] == report["controllers"]["total"] > 10
    assert report["dataBytes"] > 100_000
    assert yaml.safe_load(started.butleradm("status", "-o", "yaml").out)["pid"] == report["pid"]
    assert report["url"] in started.butleradm("status").out


def test_the_status_of_a_platform_whose_process_hangs_is_a_failure(started: Shell) -> None:
    pid = started.announcement()["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        ran = started.butleradm("status", "-o", "json")
    finally:
        os.kill(pid, signal.SIGCONT)
    assert ran.code == 1
    assert "does not answer" in json.loads(ran.out)["problems"][0]


def test_the_version_names_the_platform_that_runs(started: Shell) -> None:
    found = json.loads(started.butleradm("version", "-o", "json").out)
    assert found["platform"] == found["butler"]
    assert found["api"].startswith("v1.")


def test_the_doctor_finds_nothing_wrong_with_a_platform_that_is_well(started: Shell) -> None:
    ran = started.butleradm("doctor")
    assert ran.code == 0, ran.out
    assert "FAIL" not in ran.out
    found = {one["subject"] for one in json.loads(started.butleradm("doctor", "-o", "json").out)}
    assert {"API", "definitions", "controllers", "machines"} <= found


def test_the_doctor_fails_and_names_the_remedy(started: Shell) -> None:
    kubeconfig = started.data / "kubeconfig"
    kubeconfig.chmod(0o644)
    ran = started.butleradm("doctor")
    kubeconfig.chmod(0o600)
    assert ran.code == 1
    assert f"→ chmod 600 {kubeconfig}" in ran.out


def test_nobody_writes_while_nothing_happens(started: Shell) -> None:
    """One second says little about hours, but whatever polls does so at least this often in --fast mode."""
    before = started.kubectl("get", "--raw", "/api/v1/namespaces").out
    after = started.kubectl("get", "--raw", "/api/v1/namespaces").out
    assert json.loads(before)["metadata"]["resourceVersion"] == json.loads(after)["metadata"]["resourceVersion"]


def test_a_platform_starts_again_on_its_port_and_says_that_it_goes_on(shell: Shell) -> None:
    shell.up("--empty")
    before = shell.announcement()
    stopped = shell.butleradm("down")
    assert (stopped.code, stopped.out) == (0, f"Stopped process {before['pid']}.\n")
    assert not (shell.home / "local.json").exists()
    again = shell.butleradm("up", "--detach", "--fast")
    assert again.code == 0, again.err
    assert shell.announcement()["url"] == before["url"]
    assert "There are no clusters yet." in again.err


@pytest.mark.parametrize("way", [[], ["--detach"]])
def test_a_port_of_another_program_is_named(shell: Shell, way: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ran = shell.butleradm("up", "--empty", "--port", port, *way)
    assert ran.code == 1
    said = f"butleradm: port {port} is used by another program; choose another with --port, or any: "
    assert ran.err.splitlines()[1:] == [f"{said}`butleradm up --port 0`"]


@pytest.mark.parametrize("way", [[], ["--detach"]])
def test_a_directory_that_cannot_be_made_is_named(shell: Shell, tmp_path: Path, way: list[str]) -> None:
    (tmp_path / "file").touch()
    ran = shell.butleradm("up", "--empty", "--data", str(tmp_path / "file" / "data"), *way)
    assert ran.code == 1
    assert ran.err.splitlines() == [
        f"Starting Butler, with its data in {tmp_path}/file/data ...",
        f"butleradm: {tmp_path}/file/data: Not a directory",
    ]


def test_data_that_another_process_holds_is_left_alone(shell: Shell) -> None:
    shell.data.mkdir(parents=True)
    held = data_lock.take(shell.data)
    data_lock.note_holder(held)
    ran = shell.butleradm("up", "--empty", "--port", "0")
    os.close(held)
    assert ran.code == 1
    assert f"already in use by process {os.getpid()}" in ran.err


def test_ctrl_c_stops_within_seconds_and_keeps_the_data(shell: Shell) -> None:
    process = shell.start("--empty")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert "Stopped. The data is in" in err
    assert (shell.data / "state.db").exists()


def test_data_is_removed_only_when_that_is_confirmed(shell: Shell) -> None:
    process = shell.start("--empty")
    refused = shell.butleradm("down", "--purge", answer="n\n")
    assert refused.code != 0
    assert process.poll() is None
    assert shell.butleradm("down", "--purge", "--yes").code == 0
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert not shell.data.exists()


def test_stopping_what_does_not_run_is_no_error(shell: Shell) -> None:
    ran = shell.butleradm("down")
    assert (ran.code, "No platform runs" in ran.out) == (0, True)


def test_nothing_but_a_data_directory_is_removed(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear").write_text("...")
    ran = shell.butleradm("down", "--purge", "--yes", "--data", str(tmp_path / "letters"))
    assert ran.code == 1
    assert (tmp_path / "letters" / "dear").exists()


def test_the_status_without_a_platform_is_a_failure(shell: Shell) -> None:
    ran = shell.butleradm("status")
    assert ran.code == 1
    assert "does not run" in ran.out
    assert "butleradm up" in ran.out


def test_the_doctor_without_a_platform_looks_at_the_computer(shell: Shell) -> None:
    shell.remember_free_port()
    ran = shell.butleradm("doctor")
    assert ran.code == 0, ran.out
    assert "does not run" in ran.out
    assert "API" not in ran.out


def test_the_version_without_a_platform_says_so(shell: Shell) -> None:
    assert "none runs here" in shell.butleradm("version").out


@pytest.mark.parametrize("command", ["up", "down", "status", "doctor", "version"])
def test_help_comes_with_an_example(shell: Shell, command: str) -> None:
    ran = shell.butleradm(command, "--help")
    assert (ran.code, "Example:" in ran.out) == (0, True)


def test_wrong_usage_is_exit_code_2(shell: Shell) -> None:
    assert shell.butleradm("up", "--simulate").code == 2
    assert shell.butleradm("up", "--port", "many").code == 2


def test_help_is_shown_without_loading_the_platform() -> None:
    program = "import sys, butler.local.commands; sys.exit('aiohttp' in sys.modules or 'msgspec' in sys.modules)"
    assert subprocess.run([str(BIN / "python"), "-c", program], check=False).returncode == 0


def test_a_start_that_is_refused_leaves_nothing_behind(shell: Shell, tmp_path: Path) -> None:
    shell.home = tmp_path / "new"
    shell.environ["BUTLER_HOME"] = str(shell.home)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert shell.butleradm("up", "--empty", "--port", port).code == 1
    assert not shell.home.exists()
