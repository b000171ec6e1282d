"""butleradm up, down, status, doctor and version, as people type them."""

from __future__ import annotations

import json
import os
import signal
import socket
from pathlib import Path
from typing import Any

import pytest
import yaml

from butler.apiserver.server import lock
from tests.local.shells import Shell


def up(shell: Shell, *arguments: str) -> None:
    ran = shell.butleradm("up", "--detach", "--fast", "--empty", "--port", "0", *arguments)
    assert ran.code == 0, ran.err


def findings(shell: Shell) -> dict[str, dict[str, str]]:
    return {one["subject"]: one for one in json.loads(shell.butleradm("doctor", "-o", "json").out)}


def test_a_platform_starts_says_where_it_is_and_stops(shell: Shell) -> None:
    ran = shell.butleradm("up", "--detach", "--fast", "--empty", "--port", "0")
    assert ran.code == 0, ran.err
    told = json.loads((shell.home / "local.json").read_bytes())
    assert told["url"] in ran.out
    assert f"export KUBECONFIG={shell.data}/kubeconfig" in ran.out
    assert (shell.data / "kubeconfig").stat().st_mode & 0o777 == 0o600
    stopped = shell.butleradm("down")
    assert (stopped.code, stopped.out) == (0, f"Stopped process {told['pid']}.\n")
    assert not (shell.home / "local.json").exists()


def test_a_second_start_says_that_the_platform_runs_already(shell: Shell) -> None:
    up(shell)
    pid = json.loads((shell.home / "local.json").read_bytes())["pid"]
    again = shell.butleradm("up")
    assert again.code == 0
    assert f"runs already, as process {pid}" in again.err
    assert "export KUBECONFIG=" in again.out


def test_the_port_stays_the_same(shell: Shell) -> None:
    up(shell)
    before = json.loads((shell.home / "local.json").read_bytes())["url"]
    shell.butleradm("down")
    assert shell.butleradm("up", "--detach", "--fast").code == 0
    assert json.loads((shell.home / "local.json").read_bytes())["url"] == before


@pytest.mark.parametrize("way", [[], ["--detach"]])
def test_a_port_of_another_program_is_named(shell: Shell, way: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ran = shell.butleradm("up", "--empty", "--port", port, *way)
    assert ran.code == 1
    assert ran.err == f"butleradm: port {port} is used by another program; choose another: butleradm up --port N\n"


def test_data_that_another_process_holds_is_left_alone(shell: Shell) -> None:
    shell.data.mkdir(parents=True)
    held = lock(shell.data)
    ran = shell.butleradm("up", "--empty", "--port", "0")
    os.close(held)
    assert ran.code == 1
    assert f"already in use by process {os.getpid()}" in ran.err


def test_ctrl_c_stops_within_seconds_and_keeps_the_data(shell: Shell) -> None:
    process = shell.start("--fast", "--empty", "--port", "0")
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("Try:"):
            break
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "Stopped. The data is in" in err
    assert (shell.data / "state.db").exists()


def test_what_is_started_in_the_foreground_can_be_stopped_from_elsewhere(shell: Shell) -> None:
    process = shell.start("--fast", "--empty", "--port", "0")
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("Try:"):
            break
    assert shell.butleradm("down").code == 0
    process.communicate(timeout=20)
    assert process.returncode == 0


def test_stopping_what_does_not_run_is_no_error(shell: Shell) -> None:
    ran = shell.butleradm("down")
    assert (ran.code, "No platform runs" in ran.out) == (0, True)


def test_data_is_removed_only_when_that_is_confirmed(shell: Shell) -> None:
    up(shell)
    refused = shell.butleradm("down", "--purge", answer="n\n")
    assert refused.code != 0
    assert shell.butleradm("status").code == 0
    assert shell.butleradm("down", "--purge", "--yes").code == 0
    assert not shell.data.exists()


def test_nothing_but_a_data_directory_is_removed(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear").write_text("...")
    ran = shell.butleradm("down", "--purge", "--yes", "--data", str(tmp_path / "letters"))
    assert ran.code == 1
    assert (tmp_path / "letters" / "dear").exists()


def test_the_status_of_a_platform_that_is_well(shell: Shell) -> None:
    up(shell)
    ran = shell.butleradm("status", "-o", "json")
    report = json.loads(ran.out)
    assert ran.code == 0, ran.out
    assert (report["running"], report["healthy"], report["problems"]) == (True, True, [])
    assert report["controllers"]["ready"] == report["controllers"]["total"] > 10
    assert report["dataBytes"] > 100_000
    assert yaml.safe_load(shell.butleradm("status", "-o", "yaml").out)["pid"] == report["pid"]
    assert report["url"] in shell.butleradm("status").out


def test_the_status_without_a_platform_is_a_failure(shell: Shell) -> None:
    ran = shell.butleradm("status")
    assert ran.code == 1
    assert "does not run" in ran.out
    assert "butleradm up" in ran.out


def test_the_status_of_a_platform_whose_process_hangs_is_a_failure(shell: Shell) -> None:
    up(shell)
    pid = json.loads((shell.home / "local.json").read_bytes())["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        ran = shell.butleradm("status", "-o", "json")
    finally:
        os.kill(pid, signal.SIGCONT)
    assert ran.code == 1
    assert "does not answer" in json.loads(ran.out)["problems"][0]


def test_the_version_names_the_platform_that_runs(shell: Shell) -> None:
    assert json.loads(shell.butleradm("version", "-o", "json").out)["platform"] is None
    up(shell)
    found = json.loads(shell.butleradm("version", "-o", "json").out)
    assert found["platform"] == found["butler"]
    assert found["api"].startswith("v1.")


def test_the_doctor_finds_nothing_wrong_with_a_new_platform(shell: Shell) -> None:
    up(shell)
    ran = shell.butleradm("doctor")
    assert ran.code == 0, ran.out
    assert "FAIL" not in ran.out
    assert {"API", "definitions", "controllers", "machines"} <= findings(shell).keys()


def test_the_doctor_without_a_platform_looks_at_the_computer(shell: Shell) -> None:
    ran = shell.butleradm("doctor")
    assert ran.code == 0, ran.out
    assert findings(shell)["platform"]["verdict"] == "note"


def check(shell: Shell, subject: str, remedy: str) -> None:
    ran = shell.butleradm("doctor")
    found: dict[str, Any] = findings(shell)[subject]
    assert (ran.code, found["verdict"]) == (1, "fail"), ran.out
    assert remedy in found["remedy"]


def test_the_doctor_finds_a_kubeconfig_that_others_can_read(shell: Shell) -> None:
    up(shell)
    (shell.data / "kubeconfig").chmod(0o644)
    check(shell, "kubeconfig", "chmod 600")


def test_the_doctor_finds_a_kubeconfig_that_is_none(shell: Shell) -> None:
    up(shell)
    (shell.data / "kubeconfig").write_text("{")
    check(shell, "kubeconfig", "butleradm down")


def test_the_doctor_finds_a_data_directory_that_is_open_to_all(shell: Shell) -> None:
    up(shell)
    shell.data.chmod(0o755)
    check(shell, "data", "chmod 700")


def test_the_doctor_finds_that_the_port_is_taken(shell: Shell) -> None:
    up(shell)
    port = int(json.loads((shell.home / "local.json").read_bytes())["url"].rpartition(":")[2])
    shell.butleradm("down")
    with socket.create_server(("127.0.0.1", port)):
        check(shell, "port", "--port")


def test_the_doctor_finds_a_process_that_is_no_platform_on_the_data(shell: Shell) -> None:
    shell.data.mkdir(parents=True, mode=0o700)
    held = lock(shell.data)
    check(shell, "platform", f"kill {os.getpid()}")
    os.close(held)


def test_the_doctor_finds_a_clock_that_went_back(shell: Shell) -> None:
    up(shell)
    shell.butleradm("down")
    later = (shell.data / "state.db").stat().st_mtime + 86400
    os.utime(shell.data / "state.db", (later, later))
    check(shell, "clock", "set the clock")


def test_the_doctor_finds_a_definition_of_another_version(shell: Shell) -> None:
    up(shell)
    name = "teams.butler.butlerlabs.dev"
    environ = {"KUBECONFIG": str(shell.data / "kubeconfig")}
    shell.environ |= environ
    change = '[{"op": "remove", "path": "/spec/names/shortNames"}]'
    changed = shell.run("kubectl", "patch", "crd", name, "--type=json", "-p", change)
    if changed.code:
        change = '[{"op": "replace", "path": "/spec/versions/0/additionalPrinterColumns", "value": []}]'
        changed = shell.run("kubectl", "patch", "crd", name, "--type=json", "-p", change)
    assert changed.code == 0, changed.err
    check(shell, "definitions", "butleradm down")


@pytest.mark.parametrize("command", ["up", "down", "status", "doctor", "version"])
def test_help_comes_with_an_example(shell: Shell, command: str) -> None:
    ran = shell.butleradm(command, "--help")
    assert (ran.code, "Example:" in ran.out) == (0, True)


def test_wrong_usage_is_exit_code_2(shell: Shell) -> None:
    assert shell.butleradm("up", "--simulate").code == 2
    assert shell.butleradm("up", "--port", "many").code == 2
