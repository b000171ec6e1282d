"""The log of a platform tells the life of a cluster, in a few lines that people can read."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from butler.api.cluster import TenantCluster
from butler.local import logs
from butler.local.home import Home
from butler.local.platform import Options, running
from butler.simulation.delays import NONE
from tests.local.shells import Shell
from tests.local.worlds import NAME, TENANTS, create, destroy, is_gone, runs, scale, until, upgrade

KEY = f"{TENANTS}/{NAME}"


async def test_a_life_is_told_line_by_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "butler")
    async with running(Home(tmp_path / "data"), Options(delays=NONE)) as platform:
        client = platform.client
        await create(client)
        await until(client, runs("v1.31.4", 2))
        await scale(client)
        await until(client, runs("v1.31.4", 3))
        await upgrade(client)
        await until(client, runs("v1.32.2", 3))
        await client.patch(TenantCluster, NAME, {"spec": {"providerConfigRef": {"name": "no"}}}, TENANTS)
        await until(client, lambda one: one is not None and _is_refused(one))
        await destroy(client)
        await until(client, is_gone)
    told = [line.removeprefix(f"{KEY} ") for line in caplog.messages if line.startswith(KEY)]
    milestones = (
        "ClusterRequested: somebody asks for it",
        "Accepted: uses provider simulated",
        "ControlPlaneReady: Kubernetes v1.31.4 answers",
        "ClusterReady: workers ready: 2",
        "ClusterScaling: from 2 to 3 workers",
        "ControlPlaneReady: Kubernetes v1.32.2 answers",
        "ClusterUpdated: workers ready: 3",
        'ProviderConfigNotFound: spec.providerConfigRef.name: Not found: "no"',
        "ClusterDeleting: ",
        "ClusterDeleted: nothing is left of it",
    )
    found = iter(told)
    for milestone in milestones:
        assert any(line.startswith(milestone) for line in found), f"{milestone}: {told}"
    assert len(told) < 50, "no flood"
    warned = [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING]
    assert any(f"{KEY} ProviderConfigNotFound" in line for line in warned)


def _is_refused(cluster: TenantCluster) -> bool:
    accepted = cluster.status.condition("Accepted")
    return accepted is not None and accepted.status == "False"


def test_only_what_happened_is_written(tmp_path: Path) -> None:
    root, ours = logging.getLogger(), logging.getLogger("butler")
    handlers, levels = root.handlers[:], (root.level, ours.level)
    try:
        ours.setLevel(logging.DEBUG)
        logs.write_to(tmp_path / "log")
        logging.getLogger("butler.cli").debug("a request")
        logging.getLogger("butler.clusters").info("a life")
        logs.end()
    finally:
        root.handlers[:] = handlers
        root.setLevel(levels[0])
        ours.setLevel(levels[1])
    assert [line.split(" ", 3)[-1] for line in (tmp_path / "log").read_text().splitlines()] == [
        "   butler.clusters a life"
    ]


def test_the_log_is_shown_by_a_command(shell: Shell) -> None:
    assert shell.butleradm("logs").code == 3
    shell.data.mkdir(parents=True)
    (shell.data / "log").write_text("one\ntwo\nthree\n")
    assert shell.butleradm("logs").out == "one\ntwo\nthree\n"
    assert shell.butleradm("logs", "--tail", "2").out == "two\nthree\n"
