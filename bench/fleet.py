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
from collections.abc import AsyncIterator, Iterator
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
_NAMESPACE = "butler-tenants"
WORKERS = 3
_IDLE_SECONDS = 60.0
_LONGEST = 600.0
_BIN = Path(sys.executable).parent


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

    def requests(self) -> float:
        """Requests of all controllers so far."""
        text = urlopen(f"{self.health}/metrics").read().decode()
        return sum(
            float(line.rpartition(" ")[2])
            for line in text.splitlines()
            if line.startswith("rest_client_requests_total{")
        )


@contextmanager
def platform() -> Iterator[Local]:
    """A platform without clusters, in which simulated things take no time."""
    with tempfile.TemporaryDirectory(prefix="butler-bench-") as home:
        environment = {**os.environ, "BUTLER_HOME": home}
        command = [str(_BIN / "butleradm"), "up", "--empty", "--fast", "--record-addons", "--port", "0", "--detach"]
        started = time.perf_counter()
        subprocess.run(command, env=environment, check=True, capture_output=True)
        ready = time.perf_counter() - started
        announced = msgspec.json.decode((Path(home) / "local.json").read_bytes())
        try:
            yield Local(announced["pid"], Path(announced["kubeconfig"]), announced["health"], ready, environment)
        finally:
            subprocess.run([str(_BIN / "butleradm"), "down"], env=environment, check=True, capture_output=True)


async def all_of(table: Table, scale: float, peer: bool) -> None:
    with platform() as local:
        table.add("up, until ready", "butler", local.ready_seconds, "s", more_is_better=False)
        async with _client(local) as client:
            await _one_by_one(client, table, max(3, int(20 * scale)))
    for count in (max(5, int(200 * scale)), max(10, int(1000 * scale))):
        with platform() as local:
            async with _client(local) as client:
                await _at_once(client, local, table, count)
                if count >= 1000 * scale:
                    await _at_rest(client, local, table, count)
                    await _node_changes(client, table, count)
                    _commands(local, table, count, peer)


@asynccontextmanager
async def _client(local: Local) -> AsyncIterator[HttpClient]:
    async with HttpClient(kubeconfig.load(local.kubeconfig)) as client:
        yield client


def _cluster(name: str) -> dict[str, Any]:
    return {
        "apiVersion": TenantCluster.address.api_version,
        "kind": "TenantCluster",
        "metadata": {"name": name, "namespace": _NAMESPACE},
        "spec": {"kubernetesVersion": "v1.30.2", "workers": {"replicas": WORKERS}},
    }


async def _one_by_one(client: HttpClient, table: Table, count: int) -> None:
    """Each cluster alone, from its creation to Running."""
    times = []
    for number in range(count):
        async with asyncio.timeout(_LONGEST), asyncio.TaskGroup() as group:
            started = time.perf_counter()
            watching = group.create_task(_all_running(client, {f"one-{number}"}))
            await client.create(_cluster(f"one-{number}"), TenantCluster.address)
            await watching
            times.append(time.perf_counter() - started)
    _percentiles(table, "create to Running, one at a time", times)


async def _at_once(client: HttpClient, local: Local, table: Table, count: int) -> None:
    """All clusters at the same time."""
    names = {f"many-{number}" for number in range(count)}
    before, cpu = await _revision(client), local.cpu()
    started = time.perf_counter()
    async with asyncio.timeout(_LONGEST), asyncio.TaskGroup() as group:
        watching = group.create_task(_all_running(client, set(names)))
        for part in _parts(sorted(names), 32):
            group.create_task(_create(client, part))
        await watching
    label = f"{count:,} clusters at once"
    table.add(f"{label}: all Running", "butler", time.perf_counter() - started, "s", more_is_better=False)
    table.add(f"{label}: CPU per cluster", "butler", (local.cpu() - cpu) / count * 1000, "ms", more_is_better=False)
    writes = (await _revision(client) - before) / count
    table.add(f"{label}: writes per cluster", "butler", writes, more_is_better=False)
    table.add(f"{label}: most memory", "butler", local.memory(), "MB", more_is_better=False)


async def _at_rest(client: HttpClient, local: Local, table: Table, count: int) -> None:
    """Nothing happens, and so nothing should be done."""
    await asyncio.sleep(5)
    before, requests, cpu = await _revision(client), local.requests(), local.cpu()
    await asyncio.sleep(_IDLE_SECONDS)
    label = f"{count:,} clusters, {_IDLE_SECONDS:.0f} s at rest"
    table.add(f"{label}: writes", "butler", await _revision(client) - before, more_is_better=False)
    table.add(f"{label}: requests", "butler", local.requests() - requests, more_is_better=False)
    table.add(f"{label}: CPU", "butler", (local.cpu() - cpu) * 1000, "ms", more_is_better=False)


async def _node_changes(client: HttpClient, table: Table, count: int) -> None:
    """A node says it is not ready; how long until its cluster's status does."""
    times = []
    for number in range(0, count, max(1, count // 100)):
        name = f"many-{number}"
        cluster = await client.get(TenantCluster, name, _NAMESPACE)
        namespace = cluster.status.tenant_namespace or ""
        secret = await client.get(Secret, admin_kubeconfig_secret(name), namespace)
        tenant = over_https(kubeconfig.self_contained(kubeconfig_in(secret), name))
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
    selection = Selection(_NAMESPACE, fields=f"metadata.name={name}")
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
        "kubectl": (["kubectl", "get", "tenantclusters", "-n", _NAMESPACE], ["kubectl", "--help"]),
    }
    for column, commands in programs.items():
        if column == "butler" or peer:
            for row, command in zip((listing, help_text), commands, strict=True):
                table.add(row, column, _wall(command, environment), "ms", more_is_better=False)


def _wall(command: list[str], environment: dict[str, str]) -> float:
    times = []
    for _ in range(7):
        started = time.perf_counter()
        subprocess.run([str(_BIN / command[0]), *command[1:]], env=environment, check=True, capture_output=True)
        times.append(time.perf_counter() - started)
    return statistics.median(times) * 1000


async def _create(client: HttpClient, names: list[str]) -> None:
    for name in names:
        await client.create(_cluster(name), TenantCluster.address)


async def _all_running(client: HttpClient, waiting: set[str]) -> None:
    selection = Selection(_NAMESPACE)
    listed = await client.list(TenantCluster, selection)
    async with aclosing(client.watch(TenantCluster, selection, version=listed.version)) as events:
        async for event in events:
            if event.signal is Signal.BOOKMARK or event.item is None:
                continue
            if event.item.status.phase is ClusterPhase.RUNNING:
                waiting.discard(event.item.metadata.name)
            if not waiting:
                return
    raise RuntimeError("the watch ended")


async def _revision(client: HttpClient) -> int:
    """Everything that was ever written, over all APIs of the process."""
    return int((await client.list(TenantCluster, Selection("default"))).version)


def _parts(names: list[str], count: int) -> Iterator[list[str]]:
    for first in range(count):
        if part := names[first::count]:
            yield part


def _percentiles(table: Table, row: str, times: list[float]) -> None:
    ordered = sorted(times)
    table.add(f"{row}, p50", "butler", statistics.median(ordered) * 1000, "ms", more_is_better=False)
    table.add(f"{row}, p99", "butler", ordered[int(len(ordered) * 0.99)] * 1000, "ms", more_is_better=False)
