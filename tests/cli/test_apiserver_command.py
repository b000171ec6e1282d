"""`butleradm apiserver` on the command line: files, refusals, exit codes, backups."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from testbed.running.embedded import BIN, BUTLER, Ran, kubectl_for, start_server, stop_server


def butleradm(*arguments: str) -> Ran:
    done = subprocess.run([str(BIN / "butleradm"), *arguments], capture_output=True, text=True, timeout=60, check=False)
    return Ran(done.returncode, done.stdout, done.stderr)


def test_the_kubeconfig_and_the_keys_are_for_their_owner_only(tmp_path: Path) -> None:
    server = start_server(tmp_path / "data", program=BUTLER)
    stop_server(server)
    assert server.kubeconfig.stat().st_mode & 0o777 == 0o600
    assert server.data.stat().st_mode & 0o777 == 0o700
    for key in (server.data / "pki").rglob("*.key"):
        assert key.stat().st_mode & 0o777 == 0o600, key


def test_a_second_process_on_the_same_data_is_refused(tmp_path: Path) -> None:
    server = start_server(tmp_path / "data", program=BUTLER)
    second = butleradm("apiserver", "--data", str(tmp_path / "data"), "--port", "0")
    stop_server(server)
    assert second.code == 1
    assert f"already in use by process {server.process.pid}" in second.err


def test_a_taken_port_is_named(tmp_path: Path) -> None:
    server = start_server(tmp_path / "one", program=BUTLER)
    kubeconfig = server.kubeconfig.read_text()
    port = kubeconfig.split("https://127.0.0.1:")[1].split()[0]
    second = butleradm("apiserver", "--data", str(tmp_path / "two"), "--port", port)
    stop_server(server)
    assert (second.code, port in second.err) == (1, True)


def test_damaged_data_is_reported_in_one_line_and_kept(tmp_path: Path) -> None:
    stop_server(start_server(tmp_path / "data", program=BUTLER))
    (tmp_path / "data" / "state.db").write_bytes(b"garbage" * 1000)
    refused = butleradm("apiserver", "--data", str(tmp_path / "data"), "--port", "0")
    assert refused.code == 1
    assert "state.db" in refused.err
    assert len(refused.err.strip().splitlines()) == 1
    assert (tmp_path / "data" / "state.db").read_bytes() == b"garbage" * 1000


def test_a_backup_of_a_running_server_restores_to_one_that_its_clients_recognise(tmp_path: Path) -> None:
    server = start_server(tmp_path / "data", program=BUTLER)
    kubectl = kubectl_for(server.kubeconfig)
    kubectl("create", "configmap", "kept", "--from-literal=a=1")
    made = butleradm("apiserver", "--data", str(tmp_path / "data"), "backup", str(tmp_path / "backup"))
    assert made.code == 0, made.err
    assert "objects at revision" in made.out
    kubectl("create", "configmap", "later", "--from-literal=a=1")
    stop_server(server)
    assert butleradm("apiserver", "restore", "--check", str(tmp_path / "backup")).code == 0
    restored = butleradm("apiserver", "restore", "--data", str(tmp_path / "again"), str(tmp_path / "backup"))
    assert restored.code == 0, restored.err
    server = start_server(tmp_path / "again", program=BUTLER)
    kubectl = kubectl_for(server.kubeconfig)
    assert kubectl("get", "configmap", "kept", "-o", "jsonpath={.data.a}").out == "1"
    kubectl("get", "configmap", "later", fails=True)
    stop_server(server)


def test_a_restore_into_existing_data_changes_nothing(tmp_path: Path) -> None:
    stop_server(start_server(tmp_path / "data", program=BUTLER))
    butleradm("apiserver", "--data", str(tmp_path / "data"), "backup", str(tmp_path / "backup"))
    refused = butleradm("apiserver", "restore", "--data", str(tmp_path / "data"), str(tmp_path / "backup"))
    assert (refused.code, "not empty" in refused.err) == (1, True)


def test_a_backup_overwrites_nothing(tmp_path: Path) -> None:
    stop_server(start_server(tmp_path / "data", program=BUTLER))
    (tmp_path / "backup").write_text("precious")
    refused = butleradm("apiserver", "--data", str(tmp_path / "data"), "backup", str(tmp_path / "backup"))
    assert (refused.code, "overwrites nothing" in refused.err) == (1, True)
    assert (tmp_path / "backup").read_text() == "precious"


def test_what_can_be_read_of_damaged_data_is_brought_out_and_the_rest_is_named(tmp_path: Path) -> None:
    server = start_server(tmp_path / "data", program=BUTLER)
    kubectl = kubectl_for(server.kubeconfig)
    for name in ("kept", "broken"):
        kubectl("create", "configmap", name, f"--from-literal=text={name}-and-more")
    stop_server(server)
    path = tmp_path / "data" / "state.db"
    path.write_bytes(path.read_bytes().replace(b"broken-and-more", b"broken-and-less"))
    refused = butleradm("apiserver", "--data", str(tmp_path / "data"), "--port", "0")
    assert (refused.code, "salvage what can be read" in refused.err) == (1, True)
    salvaged = butleradm("apiserver", "salvage", "--data", str(tmp_path / "data"), str(tmp_path / "new"), "-o", "json")
    assert salvaged.code == 0, salvaged.err
    assert json.loads(salvaged.out)["lost"] == [{"space": "root", "resource": "/configmaps", "key": "default/broken"}]
    assert "reading" in salvaged.err
    again = butleradm("apiserver", "salvage", "--data", str(tmp_path / "data"), str(tmp_path / "new"))
    assert (again.code, "not empty" in again.err) == (1, True)
    told = butleradm("apiserver", "salvage", "--data", str(tmp_path / "data"), str(tmp_path / "other"))
    assert "1 lost:\n  root /configmaps default/broken\n" in told.out
    server = start_server(tmp_path / "new", program=BUTLER)
    kubectl = kubectl_for(server.kubeconfig)
    assert kubectl("get", "configmap", "kept", "-o", "jsonpath={.data.text}").out == "kept-and-more"
    kubectl("get", "configmap", "broken", fails=True)
    stop_server(server)


def test_every_command_has_help_with_an_example() -> None:
    for words in ([], ["apiserver"], ["apiserver", "backup"], ["apiserver", "restore"], ["apiserver", "salvage"]):
        shown = butleradm(*words, "--help")
        assert shown.code == 0
        assert "Example:" in shown.out, words


def test_wrong_usage_is_exit_code_2() -> None:
    assert butleradm("apiserver", "--port", "many").code == 2
    assert butleradm("nonsense").code == 2


def test_the_command_line_starts_without_an_http_library() -> None:
    program = "import sys, butler.cli.adm; sys.exit('aiohttp' in sys.modules or 'msgspec' in sys.modules)"
    assert subprocess.run([str(BIN / "python"), "-c", program], check=False).returncode == 0
