"""Clusters with addons by real Helm: how long, what it costs, and that nothing is done when nothing changes."""

from __future__ import annotations

import asyncio
import os
import re
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import fleet
from bench.fleet import Local
from bench.table import Table
from butler.api.cluster import TenantCluster
from butler.engines.helm import program
from butler.engines.tenants import over_https
from butler.simulation.installer import CHARTS
from kubekit.client import kubeconfig
from kubekit.client.http import HttpClient
from kubekit.model.resource import Address

ADDONS = 5
_CLUSTERS = 200
_LONGEST = 3600.0
_SPEC = {"workers": {"replicas": 1}, "addons": {"metricsServer": {"enabled": False}}}
"""Of the six that every cluster has, one is not wanted."""
_AT_ONCE = 4
"""Runs of Helm, as Butler has them."""
_BY_HAND = "helm by hand"
_RECORD = re.compile(r"sh\.helm\.release\.v1\.(?P<name>.+)\.v(?P<revision>\d+)")
_SECRETS = Address.of("v1", "Secret")

Releases = frozenset[tuple[str, str, str]]
"""Namespace, name and revision of each that a cluster has."""


async def all_of(table: Table, scale: float, peer: bool) -> None:
    count = max(4, int(_CLUSTERS * scale))
    label = f"{count} clusters, {ADDONS} addons each"
    with _counted() as runs, fleet.platform(environ=runs.environ) as local:
        releases = await _install(local, runs, table, label, count)
        async with fleet.client_of(local) as client:
            await _at_rest(client, local, runs, table, label)
        await _started_again(local, runs, table, label, releases)
    if peer:
        with fleet.platform("--record-addons") as local:
            async with fleet.client_of(local) as client:
                await _by_hand(client, local, table, label, count, next(iter(releases.values())))


@dataclass(frozen=True)
class Runs:
    """Each run of Helm leaves a line with its verb: a script of that name is the first on PATH."""

    folder: Path

    @property
    def environ(self) -> dict[str, str]:
        return {**os.environ, "PATH": f"{self.folder}:{os.environ.get('PATH', '')}"}

    def count(self) -> int:
        """So far, beside those that only ask which version it is."""
        return sum(verb != "version" for verb in (self.folder / "log").read_text().split())


@contextmanager
def _counted() -> Iterator[Runs]:
    with tempfile.TemporaryDirectory(prefix="butler-bench-helm-") as name:
        folder = Path(name)
        (folder / "log").touch()
        script = folder / "helm"
        script.write_text(f'#!/bin/sh\necho "$1" >>{folder}/log\nexec {program.find()} "$@"\n')
        script.chmod(0o700)
        yield Runs(folder)


async def _install(local: Local, runs: Runs, table: Table, label: str, count: int) -> dict[str, Releases]:
    """All clusters at the same time, until each has all its addons. Answers with the releases by cluster."""
    async with fleet.client_of(local) as client:
        before, cpu, helm = await fleet.revision(client), local.cpu(), local.cpu_of_helm()
        started = time.perf_counter()
        names = await _create(client, count)
        await _until_healthy(client, names)
        taken = time.perf_counter() - started
        table.add(f"{label}: all Running, all Healthy", "butler", taken, "s", more_is_better=False)
        for what, seconds in (("Butler", local.cpu() - cpu), ("Helm", local.cpu_of_helm() - helm)):
            table.add(f"{label}: CPU of {what} per cluster", "butler", seconds / count, "s", more_is_better=False)
        table.add(f"{label}: runs of Helm", "butler", runs.count(), more_is_better=False)
        writes = (await fleet.revision(client) - before) / count
        table.add(f"{label}: writes per cluster", "butler", writes, more_is_better=False)
        table.add(f"{label}: most memory", "butler", local.memory(), "MB", more_is_better=False)
        return {name: await _releases(client, name) for name in names}


async def _create(client: HttpClient, count: int) -> list[str]:
    names = [f"many-{number}" for number in range(count)]
    async with asyncio.TaskGroup() as group:
        for part in fleet.parts(names, 32):
            group.create_task(fleet.create(client, [fleet.cluster(name, _SPEC) for name in part]))
    return names


async def _until_healthy(client: HttpClient, names: list[str]) -> None:
    async with asyncio.timeout(_LONGEST):
        await fleet.all_are(client, set(names), _is_healthy)


def _is_healthy(cluster: TenantCluster) -> bool:
    state = cluster.status.observed_state
    addons = [one.status for one in state.addons] if state is not None else []
    return fleet.is_running(cluster) and addons == ["Healthy"] * ADDONS


async def _releases(client: HttpClient, name: str) -> Releases:
    tenant = over_https(kubeconfig.self_contained(await fleet.kubeconfig_of(client, name), name))
    try:
        secrets = (await tenant.list(_SECRETS)).items
    finally:
        await tenant.close()
    return frozenset(
        (one["metadata"]["namespace"], match["name"], match["revision"])
        for one in secrets
        if (match := _RECORD.fullmatch(one["metadata"]["name"]))
    )


async def _at_rest(client: HttpClient, local: Local, runs: Runs, table: Table, label: str) -> None:
    """Clusters are looked after meanwhile, each every ten minutes, and nothing has to be done."""
    await asyncio.sleep(5)
    before, cpu, helm = await fleet.revision(client), local.cpu(), runs.count()
    await asyncio.sleep(fleet.IDLE_SECONDS)
    label = f"{label}, {fleet.IDLE_SECONDS:.0f} s at rest"
    table.add(f"{label}: runs of Helm", "butler", runs.count() - helm, more_is_better=False)
    table.add(f"{label}: writes", "butler", await fleet.revision(client) - before, more_is_better=False)
    table.add(f"{label}: CPU", "butler", (local.cpu() - cpu) * 1000, "ms", more_is_better=False)


async def _started_again(local: Local, runs: Runs, table: Table, label: str, releases: dict[str, Releases]) -> None:
    """On the same data: what was installed is there, so nothing is installed."""
    fleet.down(local.environment)
    helm = runs.count()
    again = fleet.up(local.environment)
    async with fleet.client_of(again) as client:
        await _until_healthy(client, list(releases))
        await asyncio.sleep(fleet.IDLE_SECONDS)
        await _until_healthy(client, list(releases))
        changed = sum([await _releases(client, name) != before for name, before in releases.items()])
    label = f"{label}, started again"
    table.add(f"{label}: until ready", "butler", again.ready_seconds, "s", more_is_better=False)
    table.add(f"{label}, {fleet.IDLE_SECONDS:.0f} s: runs of Helm", "butler", runs.count() - helm, more_is_better=False)
    table.add(f"{label}: clusters with other revisions", "butler", changed, more_is_better=False)


async def _by_hand(client: HttpClient, local: Local, table: Table, label: str, count: int, releases: Releases) -> None:
    """The same charts into the same number of clusters that run already, and nobody waits until anything works."""
    part = min(count, max(4, count // 5))
    names = await _create(client, part)
    await fleet.all_are(client, set(names), fleet.is_running)
    with tempfile.TemporaryDirectory(prefix="butler-bench-by-hand-") as folder:
        configs = [Path(folder) / name for name in names]
        for config in configs:
            config.write_bytes(await fleet.kubeconfig_of(client, config.name))
        turns, helm = asyncio.Semaphore(_AT_ONCE), program.find()

        async def install(config: Path, namespace: str, name: str) -> None:
            async with turns:
                await _run(
                    helm, "upgrade", name, CHARTS / name, "--install", "--create-namespace", "--namespace", namespace,
                    "--kubeconfig", config,
                )  # fmt: skip

        started, cpu, used = time.perf_counter(), local.cpu(), _cpu_of_children()
        async with asyncio.TaskGroup() as group:
            for config in configs:
                for namespace, name, _ in releases:
                    group.create_task(install(config, namespace, name))
        taken = time.perf_counter() - started
    print(f"  {_BY_HAND}: measured with {part} clusters, multiplied", flush=True)
    table.add(f"{label}: all Running, all Healthy", _BY_HAND, taken * count / part, "s", more_is_better=False)
    table.add(f"{label}: CPU of Butler per cluster", _BY_HAND, (local.cpu() - cpu) / part, "s", more_is_better=False)
    spent = (_cpu_of_children() - used) / part
    table.add(f"{label}: CPU of Helm per cluster", _BY_HAND, spent, "s", more_is_better=False)
    table.add(f"{label}: runs of Helm", _BY_HAND, count * len(releases), more_is_better=False)


async def _run(*command: Any) -> None:
    process = await asyncio.create_subprocess_exec(
        *map(str, command), stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
    )
    _, said = await process.communicate()
    if process.returncode:
        raise RuntimeError(said.decode())


def _cpu_of_children() -> float:
    """Seconds of those that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
