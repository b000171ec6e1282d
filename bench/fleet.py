"""The local platform with many clusters: how long, how many writes, how much memory, and what it costs at rest."""

from __future__ import annotations

import asyncio
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import msgspec

from bench.table import Table
from butler.api.cluster import ClusterPhase, TenantCluster
from butler.engines.core import Secret
from butler.engines.tenants import admin_kubeconfig_secret, kubeconfig_in, over_https
from kubekit.client import kubeconfig
from kubekit.client.http import HttpClient
from kubekit.client.protocol import Selection, Signal
from kubekit.model.resource import Address

_NODES = Address("", "v1", "Node", "nodes", False)
NAMESPACE = "butler-tenants"
WORKERS = 3
IDLE_SECONDS = 60.0
_LONGEST = 600.0
BIN = Path(sys.executable).parent


@dataclass
class Local:
    """A platform that runs as a process of its own."""

    pid: int
    kubeconfig: Path
    health: str
    ready_seconds: float
    environment: dict[str, str]

    def memory(self) -> float:
        """Most MB that were ever resident."""
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{self.pid}/status").read_text())
        assert found is not None
        return int(found[1]) / 1024

    def cpu(self) -> float:
        """Seconds of processor time so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def cpu_of_helm(self) -> float:
        """Seconds of processor time of the runs of Helm that have ended."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")

    def requests(self) -> float:
        """Requests of all controllers so far."""
        text = urlopen(f"{self.health}/metrics").read().decode()
        return sum(
            float(line.rpartition(" ")[2])
            for line in text.splitlines()
            if line.startswith("rest_client_requests_total{")
        )


@contextmanager
def platform(*arguments: str, environ: Mapping[str, str] = os.environ) -> Iterator[Local]:
    """A platform without clusters, in which simulated things take no time; what it is told says what becomes of
    addons."""
    with tempfile.TemporaryDirectory(prefix="butler-bench-") as home:
        environment = {**environ, "BUTLER_HOME": home}
        try:
            yield up(environment, "--empty", "--port", "0", *arguments)
        finally:
            down(environment)


def up(environment: dict[str, str], *arguments: str) -> Local:
    """Start a platform at its home, and wait until it is ready."""
    started = time.perf_counter()
    _butleradm(environment, "up", "--fast", "--detach", *arguments)
    ready = time.perf_counter() - started
    announced = msgspec.json.decode((Path(environment["BUTLER_HOME"]) / "local.json").read_bytes())
    return Local(announced["pid"], Path(announced["kubeconfig"]), announced["health"], ready, environment)


def down(environment: dict[str, str]) -> None:
    _butleradm(environment, "down")


def _butleradm(environment: dict[str, str], *arguments: str) -> None:
    subprocess.run([str(BIN / "butleradm"), *arguments], env=environment, check=True, capture_output=True)


async def all_of(table: Table, scale: float, peer: bool) -> None:
    with platform("--record-addons") as local:
        table.add("up, until ready", "butler", local.ready_seconds, "s", more_is_better=False)
        async with client_of(local) as client:
            await _one_by_one(client, table, max(3, int(20 * scale)))
    for count in (max(5, int(200 * scale)), max(10, int(1000 * scale))):
        with platform("--record-addons") as local:
            async with client_of(local) as client:
                await _at_once(client, local, table, count)
                if count >= 1000 * scale:
                    await _at_rest(client, local, table, count)
                    await _node_changes(client, table, count)
                    _commands(local, table, count, peer)


@asynccontextmanager
async def client_of(local: Local) -> AsyncIterator[HttpClient]:
    async with HttpClient(kubeconfig.load(local.kubeconfig)) as client:
        yield client


async def kubeconfig_of(client: HttpClient, name: str) -> bytes:
    """By which the administrator of a tenant's cluster gets in."""
    cluster = await client.get(TenantCluster, name, NAMESPACE)
    secret = await client.get(Secret, admin_kubeconfig_secret(name), cluster.status.tenant_namespace or "")
    return kubeconfig_in(secret)


def _cluster(name: str) -> dict[str, Any]:
    return cluster(name, {"workers": {"replicas": WORKERS}})


def cluster(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": TenantCluster.address.api_version,
        "kind": "TenantCluster",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"kubernetesVersion": "v1.30.2", **spec},
    }


async def _one_by_one(client: HttpClient, table: Table, count: int) -> None:
    """Each cluster alone, from its creation to Running."""
    times = []
    for number in range(count):
        async with asyncio.timeout(_LONGEST), asyncio.TaskGroup() as group:
            started = time.perf_counter()
            watching = group.create_task(all_are(client, {f"one-{number}"}, is_running))
            await client.create(_cluster(f"one-{number}"), TenantCluster.address)
            await watching
            times.append(time.perf_counter() - started)
    _percentiles(table, "create to Running, one at a time", times)


async def _at_once(client: HttpClient, local: Local, table: Table, count: int) -> None:
    """All clusters at the same time."""
    names = {f"many-{number}" for number in range(count)}
    before, cpu = await revision(client), local.cpu()
    started = time.perf_counter()
    async with asyncio.timeout(_LONGEST), asyncio.TaskGroup() as group:
        watching = group.create_task(all_are(client, names, is_running))
        for part in parts(sorted(names), 32):
            group.create_task(create(client, map(_cluster, part)))
        await watching
    label = f"{count:,} clusters at once"
    table.add(f"{label}: all Running", "butler", time.perf_counter() - started, "s", more_is_better=False)
    table.add(f"{label}: CPU per cluster", "butler", (local.cpu() - cpu) / count * 1000, "ms", more_is_better=False)
    writes = (await revision(client) - before) / count
    table.add(f"{label}: writes per cluster", "butler", writes, more_is_better=False)
    table.add(f"{label}: most memory", "butler", local.memory(), "MB", more_is_better=False)


async def _at_rest(client: HttpClient, local: Local, table: Table, count: int) -> None:
    """Nothing happens, and so nothing should be done."""
    await asyncio.sleep(5)
    before, requests, cpu = await revision(client), local.requests(), local.cpu()
    await asyncio.sleep(IDLE_SECONDS)
    label = f"{count:,} clusters, {IDLE_SECONDS:.0f} s at rest"
    table.add(f"{label}: writes", "butler", await revision(client) - before, more_is_better=False)
    table.add(f"{label}: requests", "butler", local.requests() - requests, more_is_better=False)
    table.add(f"{label}: CPU", "butler", (local.cpu() - cpu) * 1000, "ms", more_is_better=False)


async def _node_changes(client: HttpClient, table: Table, count: int) -> None:
    """A node says it is not ready; how long until its cluster's status does."""
    times = []
    for number in range(0, count, max(1, count // 100)):
        name = f"many-{number}"
        tenant = over_https(kubeconfig.self_contained(await kubeconfig_of(client, name), name))
        try:
            times.append(await _node_change(client, tenant, name))
        finally:
            await tenant.close()
    _percentiles(table, f"{count:,} clusters: node change to status", times)


async def _node_change(client: HttpClient, tenant: Any, name: str) -> float:
    node = (await tenant.list(_NODES)).items[0]
    conditions = [
        {**one, "status": "False", "reason": "KubeletNotReady"} if one["type"] == "Ready" else one
        for one in node["status"]["conditions"]
    ]
    selection = Selection(NAMESPACE, fields=f"metadata.name={name}")
    version = (await client.list(TenantCluster, selection)).version
    async with asyncio.timeout(60), aclosing(client.watch(TenantCluster, selection, version=version)) as events:
        started = time.perf_counter()
        await tenant.patch(
            _NODES, node["metadata"]["name"], {"status": {"conditions": conditions}}, subresource="status"
        )
        async for event in events:
            if event.item is not None and event.item.status.worker_nodes_ready == WORKERS - 1:
                return time.perf_counter() - started
    raise RuntimeError("the watch ended")


def _commands(local: Local, table: Table, count: int, peer: bool) -> None:
    """What a person waits for, next to kubectl."""
    environment = {**local.environment, "KUBECONFIG": str(local.kubeconfig)}
    listing, help_text = f"list {count:,} clusters, wall time", "help, wall time"
    programs = {
        "butler": (["butlerctl", "cluster", "list"], ["butlerctl", "--help"]),
        "kubectl": (["kubectl", "get", "tenantclusters", "-n", NAMESPACE], ["kubectl", "--help"]),
    }
    for column, commands in programs.items():
        if column == "butler" or peer:
            for row, command in zip((listing, help_text), commands, strict=True):
                table.add(row, column, _wall(command, environment), "ms", more_is_better=False)


def _wall(command: list[str], environment: dict[str, str]) -> float:
    times = []
    for _ in range(7):
        started = time.perf_counter()
        subprocess.run([str(BIN / command[0]), *command[1:]], env=environment, check=True, capture_output=True)
        times.append(time.perf_counter() - started)
    return statistics.median(times) * 1000


async def create(client: HttpClient, clusters: Iterable[dict[str, Any]]) -> None:
    for one in clusters:
        await client.create(one, TenantCluster.address)


async def all_are(client: HttpClient, waiting: set[str], done: Callable[[TenantCluster], bool]) -> None:
    """Until that was once true of each cluster."""
    selection = Selection(NAMESPACE)
    listed = await client.list(TenantCluster, selection)
    waiting = waiting - {one.metadata.name for one in listed.items if done(one)}
    async with aclosing(client.watch(TenantCluster, selection, version=listed.version)) as events:
        while waiting:
            event = await anext(events)
            if event.signal is not Signal.BOOKMARK and event.item is not None and done(event.item):
                waiting.discard(event.item.metadata.name)


def is_running(cluster: TenantCluster) -> bool:
    return cluster.status.phase is ClusterPhase.RUNNING


async def revision(client: HttpClient) -> int:
    """Everything that was ever written, over all APIs of the process."""
    return int((await client.list(TenantCluster, Selection("default"))).version)


def parts(names: list[str], count: int) -> Iterator[list[str]]:
    for first in range(count):
        if part := names[first::count]:
            yield part


def _percentiles(table: Table, row: str, times: list[float]) -> None:
    ordered = sorted(times)
    table.add(f"{row}, p50", "butler", statistics.median(ordered) * 1000, "ms", more_is_better=False)
    table.add(f"{row}, p99", "butler", ordered[int(len(ordered) * 0.99)] * 1000, "ms", more_is_better=False)
