"""What the controller runtime does, next to kopf on the same server in the same run."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from bench import servers
from bench.measures import cluster, crd
from bench.operators import SENT
from bench.table import Table
from kubekit.client import kubeconfig
from kubekit.client.http import HttpClient
from kubekit.client.protocol import Selection
from kubekit.model.resource import Address

_CRDS = Address("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False)
_NAMESPACES = Address("", "v1", "Namespace", "namespaces", False)
_CLUSTERS = Address("butler.butlerlabs.dev", "v1alpha1", "TenantCluster", "tenantclusters", True)
_IDLE_SECONDS = 10.0
_LONGEST = 180.0
_SETTINGS = 14
"""As many free-form values as make an object of 4 kB with what the server adds to it."""


class _Meta(msgspec.Struct, rename="camel"):
    name: str = ""
    resource_version: str = ""


class _Status(msgspec.Struct):
    phase: str = ""


class _Phase(msgspec.Struct):
    """As little of a TenantCluster as it takes to see that it was handled."""

    address: ClassVar[Address] = _CLUSTERS
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    status: _Status = msgspec.field(default_factory=_Status)


async def all_of(table: Table, scale: float, peer: bool) -> None:
    count = int(10_000 * scale)
    with servers.butler() as server:
        async with HttpClient(kubeconfig.load(server.kubeconfig)) as client:
            await client.apply(crd(), _CRDS, manager="bench")
            for name in ("butler", "kopf") if peer else ("butler",):
                await _fill(client, name, count)
                try:
                    await _measure(client, server, name, table, count)
                except TimeoutError:
                    print(f"left out: {name} has not handled everything after {_LONGEST:.0f}s", flush=True)


class Operator:
    """One of the operators as a process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, question: str) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{question}\n")
        self._process.stdin.flush()
        return self.hear()

    def hear(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def cpu(self) -> float:
        """Seconds of CPU so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak(self) -> float:
        """The most MB it ever had."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return float(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6


@contextmanager
def operator(name: str, config: Path) -> Iterator[Operator]:
    command = [sys.executable, "-m", "bench.operators", name, str(config), name]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            yield Operator(process)
        finally:
            process.kill()


async def _measure(client: HttpClient, server: servers.Running, name: str, table: Table, count: int) -> None:
    with operator(name, server.kubeconfig) as peer:
        peer.hear()
        started = time.monotonic()
        await _until_written(client, name, count)
        taken = time.monotonic() - started
        table.add("objects handled, a status write each", name, count / taken, "/s")
        table.add(f"{count:,} objects handled", name, taken, "s", more_is_better=False)
        table.add("CPU per object handled", name, peer.cpu() / count * 1e6, "µs", more_is_better=False)
        table.add("peak memory", name, peer.peak(), "MB", more_is_better=False)
        await asyncio.sleep(5)
        if (synced := peer.ask("sync")) is not None:
            table.add("objects synced", name, synced["objects"] / synced["seconds"], "/s")
            grown = synced["megabytes"] * 10_000 / synced["objects"]
            table.add("memory per 10,000 cached objects", name, grown, "MB", more_is_better=False)
        await _idleness(peer, name, table)
        await _wake_ups(client, peer, name, table)


async def _until_written(client: HttpClient, namespace: str, count: int) -> None:
    written: set[str] = set()
    selection = Selection(namespace=namespace)
    async with asyncio.timeout(_LONGEST):
        while len(written) < count:
            async with aclosing(client.watch(_Phase, selection)) as events:
                async for event in events:
                    if event.item is not None and event.item.status.phase == "Ready":
                        written.add(event.item.metadata.name)
                        if len(written) >= count:
                            return


async def _idleness(peer: Operator, name: str, table: Table) -> None:
    cpu, requests = peer.cpu(), peer.ask("requests")
    await asyncio.sleep(_IDLE_SECONDS)
    table.add("CPU while idle", name, (peer.cpu() - cpu) / _IDLE_SECONDS * 100, "%", more_is_better=False)
    if requests is not None:
        table.add(
            f"requests in {_IDLE_SECONDS:.0f} s while idle (the lease)", name, peer.ask("requests") - requests,
            more_is_better=False,
        )  # fmt: skip


async def _wake_ups(client: HttpClient, peer: Operator, name: str, table: Table) -> None:
    for index in range(200):
        change = {"metadata": {"annotations": {SENT: str(time.monotonic())}}}
        await client.patch(_CLUSTERS, _name(index), change, name, manager="bench")
        await asyncio.sleep(0.01)
    await asyncio.sleep(5)
    latencies = sorted(peer.ask("latencies"))
    if latencies:
        table.add("wake-up p50", name, statistics.median(latencies) * 1000, "ms", more_is_better=False)
        table.add("wake-up p99", name, latencies[int(len(latencies) * 0.99)] * 1000, "ms", more_is_better=False)


async def _fill(client: HttpClient, namespace: str, count: int) -> None:
    await client.apply({"metadata": {"name": namespace}}, _NAMESPACES, manager="bench")
    names = iter(range(count))

    async def create() -> None:
        for index in names:
            made = cluster(_name(index), _SETTINGS)
            made["metadata"]["namespace"] = namespace
            await client.create(made, _CLUSTERS, manager="bench")

    await asyncio.gather(*(create() for _ in range(32)))


def _name(index: int) -> str:
    return f"held-{index:05}"
