"""From nothing to a running cluster, and on after the worst."""

from __future__ import annotations

import os
import signal

import pytest

from butler.local.home import Home
from tests.local.shells import Shell


def test_a_new_platform_makes_a_first_cluster_that_can_be_used(shell: Shell) -> None:
    ran = shell.up()
    assert "Running (v1.32.2, workers 2/2)" in ran.err
    kubeconfig = shell.data / "demo.kubeconfig"
    assert str(kubeconfig) in ran.out
    assert "are simulated" in ran.out
    assert kubeconfig.stat().st_mode & 0o777 == 0o600
    nodes = shell.run("kubectl", "--kubeconfig", str(kubeconfig), "get", "nodes", "--no-headers").out.splitlines()
    assert [line.split()[1::3] for line in nodes] == [["Ready", "v1.32.2"]] * 2
    assert shell.butlerctl("cluster", "list").out.split()[-5:-1] == ["demo", "Running", "v1.32.2", "2/2"]


def test_a_first_cluster_that_was_deleted_does_not_come_back(shell: Shell) -> None:
    shell.up()
    assert shell.butlerctl("cluster", "destroy", "demo", "--yes", "--wait").code == 0
    shell.stop()
    again = shell.up()
    assert "There are no clusters yet." in again.err
    assert shell.butlerctl("cluster", "get", "demo").code == 3


def kill(shell: Shell) -> None:
    """As if the power had failed."""
    os.kill(shell.announcement()["pid"], signal.SIGKILL)
    while Home(shell.data).is_held():
        pass


def becomes(shell: Shell, what: str) -> None:
    waited = shell.kubectl("wait", "tenantcluster/shop", "-n", "butler-tenants", f"--for={what}", "--timeout=100s")
    assert waited.code == 0, waited.err


@pytest.mark.timeout(600)
def test_a_process_that_is_killed_in_the_middle_of_everything_loses_nothing(shell: Shell) -> None:
    shell.up("--empty")
    for command, outcome in (
        ("create shop --workers 2 --k8s-version v1.31.4", "jsonpath={.status.phase}=Running"),
        ("scale shop --workers 3", "jsonpath={.status.workerNodesReady}=3"),
        ("upgrade shop --version v1.32.2", "jsonpath={.status.observedState.kubernetesVersion}=v1.32.2"),
        ("destroy shop --yes --no-wait", "delete"),
    ):
        asked = shell.butlerctl("cluster", *command.split())
        assert asked.code == 0, asked.err
        kill(shell)
        shell.up()
        becomes(shell, outcome)
    examined = shell.butleradm("doctor")
    assert examined.code == 0, examined.out
    assert "0, each with an owner" in examined.out
    left = shell.kubectl("get", "namespaces", "-o", "name").out
    assert "shop" not in left
