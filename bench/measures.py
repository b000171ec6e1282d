"""What is measured of a running server."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import yaml

from bench.client import Connection
from bench.servers import Running
from bench.table import Table

GROUP = "/apis/butler.butlerlabs.dev/v1alpha1"
NAMESPACE = "bench"
CLUSTERS = f"{GROUP}/namespaces/{NAMESPACE}/tenantclusters"
_CRD = Path(__file__).parent.parent / "deploy" / "crds" / "tenantclusters.yaml"
_WATCHED = re.compile(rb'"name":"(watched-[0-9]{4})"')
_APPLY = "application/apply-patch+yaml"


def crd() -> Any:
    """The definition of TenantCluster."""
    return yaml.safe_load(_CRD.read_text())


def cluster(name: str, settings: int = 16) -> dict[str, Any]:
    """A TenantCluster of about 4 kB as it is stored, with the record of who owns its 70 fields."""
    made: dict[str, Any] = {
        "apiVersion": "butler.butlerlabs.dev/v1alpha1",
        "kind": "TenantCluster",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": {"app": "bench", "tier": name[-1]}},
        "spec": {
            "kubernetesVersion": "v1.32.2",
            "teamRef": {"name": "platform"},
            "providerConfigRef": {"name": "harvester-prod", "namespace": "butler-system"},
            "controlPlane": {"replicas": 1, "certSANs": ["a.example.com", "b.example.com"]},
            "workers": {"replicas": 3, "machineTemplate": {"cpu": 4, "memory": "8Gi", "diskSize": "40Gi"}},
            "networking": {"podCIDR": "10.244.0.0/16", "serviceCIDR": "10.96.0.0/12"},
            "addons": {"cni": {"provider": "cilium", "version": "1.17.0", "values": {}}},
        },
    }
    values = made["spec"]["addons"]["cni"]["values"]
    for index in range(settings):
        values[f"setting{index:03}"] = {"enabled": True, "level": index, "text": "x" * 40}
    return made


async def all_of(server: Running, table: Table, scale: float) -> None:
    name = server.name
    table.add("start to ready", name, server.ready_seconds, "s", more_is_better=False)
    await asyncio.sleep(2)
    table.add("memory, idle", name, server.memory(), "MB", more_is_better=False)
    await _prepare(server)
    before = server.memory()
    await _fill(server, 10_000)
    table.add("memory per 10,000 objects", name, server.memory() - before, "MB", more_is_better=False)
    await _listing(server, table)
    for clients in (1, 32):
        count = int((1000 if clients == 1 else 6000) * scale)
        await _throughput(server, table, clients, count)
    await _watching(server, table, int(300 * scale) or 30)
    await _burst(server, table, int(1000 * scale) or 100)
    table.add("memory, after the run", name, server.memory(), "MB", more_is_better=False)


async def _prepare(server: Running) -> None:
    connection = await Connection(server.endpoint).open()
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    await _expect(connection.request("POST", "/api/v1/namespaces", _encode(namespace)), 201)
    definition = crd()
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    await _expect(connection.request("POST", crds, _encode(definition)), 201)
    for _ in range(200):
        status, _body = await connection.request("GET", CLUSTERS)
        if status == 200:
            break
        await asyncio.sleep(0.05)
    await _expect(connection.request("POST", CLUSTERS, _encode(cluster("warm-up"))), 201)
    connection.close()


async def _throughput(server: Running, table: Table, clients: int, count: int) -> None:
    names = [f"c{clients}-{index:05}" for index in range(count)]
    bodies = {name: cluster(name) for name in names}
    word = f"{clients} client{'s' if clients > 1 else ''}"

    async def create(connection: Connection, name: str) -> None:
        await _expect(connection.request("POST", CLUSTERS, _encode(bodies[name])), 201)

    async def get(connection: Connection, name: str) -> None:
        await _expect(connection.request("GET", f"{CLUSTERS}/{name}"), 200)

    async def update(connection: Connection, name: str) -> None:
        _, body = await _expect(connection.request("GET", f"{CLUSTERS}/{name}"), 200)
        changed = msgspec.json.decode(body)
        changed["spec"]["workers"]["replicas"] += 1
        await _expect(connection.request("PUT", f"{CLUSTERS}/{name}", _encode(changed)), 200)

    async def apply(connection: Connection, name: str) -> None:
        wanted = cluster_with_replicas(bodies[name], 5)
        path = f"{CLUSTERS}/{name}?fieldManager=bench-apply&force=true"
        await _expect(connection.request("PATCH", path, _encode(wanted), _APPLY), 200)

    steps: dict[str, Callable[[Connection, str], Awaitable[None]]] = {
        "creates": create,
        "gets": get,
        "updates (get and put)": update,
        "applies": apply,
    }
    for step, work in steps.items():
        rate = await _rate(server, clients, names, work)
        table.add(f"{step}, {word}", server.name, rate, "/s")


def cluster_with_replicas(body: dict[str, Any], replicas: int) -> dict[str, Any]:
    spec = {**body["spec"], "workers": {**body["spec"]["workers"], "replicas": replicas}}
    return {**body, "spec": spec}


async def _rate(
    server: Running, clients: int, names: list[str], work: Callable[[Connection, str], Awaitable[None]]
) -> float:
    connections = [await Connection(server.endpoint).open() for _ in range(clients)]
    waiting: Iterator[str] = iter(names)

    async def client(connection: Connection) -> None:
        for name in waiting:
            await work(connection, name)

    started = time.perf_counter()
    await asyncio.gather(*(client(connection) for connection in connections))
    taken = time.perf_counter() - started
    for connection in connections:
        connection.close()
    return len(names) / taken


async def _watching(server: Running, table: Table, writes: int) -> None:
    """From sending a write to each of 100 watchers having its event."""
    arrivals = _Arrivals()
    watchers = await _watchers(server, arrivals)
    connection = await Connection(server.endpoint).open()
    sent: dict[str, float] = {}
    for index in range(writes):
        name = f"watched-{index:04}"
        sent[name] = time.perf_counter()
        await _expect(connection.request("POST", CLUSTERS, _encode(cluster(name))), 201)
        await asyncio.sleep(0.01)
    await asyncio.sleep(1)
    for watcher in watchers:
        watcher.close()
    connection.close()
    delays = sorted(moment - sent[name] for name, moment in arrivals.moments if name in sent)
    _say_missing(server, len(delays), writes * len(watchers))
    for share, word in ((0.5, "p50"), (0.99, "p99")):
        value = delays[min(int(len(delays) * share), len(delays) - 1)] * 1000
        table.add(f"watch delivery, 100 watchers, {word}", server.name, value, "ms", more_is_better=False)


async def _burst(server: Running, table: Table, writes: int) -> None:
    """Events that 100 watchers get per second while 32 clients create as fast as they can."""
    arrivals = _Arrivals()
    watchers = await _watchers(server, arrivals)
    bodies = {name: _encode(cluster(name)) for name in (f"watched-{5000 + index}" for index in range(writes))}

    async def create(connection: Connection, name: str) -> None:
        await _expect(connection.request("POST", CLUSTERS, bodies[name]), 201)

    started = time.perf_counter()
    await _rate(server, 32, list(bodies), create)
    await arrivals.reach(writes * len(watchers))
    taken = arrivals.moments[-1][1] - started
    for watcher in watchers:
        watcher.close()
    _say_missing(server, len(arrivals.moments), writes * len(watchers))
    table.add("watch events, 100 watchers, 32 clients", server.name, len(arrivals.moments) / taken, "/s")


def _say_missing(server: Running, arrived: int, expected: int) -> None:
    """A server may end watches whose clients are slow."""
    if arrived != expected:
        print(f"  {server.name}: {arrived} of {expected} watch events arrived")


async def _watchers(server: Running, arrivals: _Arrivals) -> list[_Watcher]:
    watchers = [_Watcher(server, arrivals) for _ in range(100)]
    for watcher in watchers:
        await watcher.open()
    return watchers


class _Arrivals:
    """Which event came when, over all watchers."""

    def __init__(self) -> None:
        self.moments: list[tuple[str, float]] = []
        self._wanted, self._reached = 0, asyncio.Event()

    def note(self, name: str, moment: float) -> None:
        self.moments.append((name, moment))
        if len(self.moments) == self._wanted:
            self._reached.set()

    async def reach(self, count: int) -> None:
        """Until so many have come; half a minute at most."""
        self._wanted = count
        if len(self.moments) < count:
            with suppress(TimeoutError):
                async with asyncio.timeout(30):
                    await self._reached.wait()


class _Watcher(asyncio.Protocol):
    def __init__(self, server: Running, arrivals: _Arrivals) -> None:
        self._server, self._arrivals, self._rest = server, arrivals, b""
        self._transport: asyncio.Transport | None = None

    async def open(self) -> None:
        endpoint, loop = self._server.endpoint, asyncio.get_running_loop()
        await loop.create_connection(
            lambda: self, endpoint.host, endpoint.port, ssl=endpoint.tls, server_hostname=endpoint.host
        )
        assert self._transport is not None
        authorization = f"Authorization: Bearer {endpoint.token}\r\n" if endpoint.token else ""
        path = (
            f"{CLUSTERS}?watch=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=false&allowWatchBookmarks=true"
        )
        self._transport.write(f"GET {path} HTTP/1.1\r\nHost: x\r\n{authorization}\r\n".encode())
        await asyncio.sleep(0.02)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        now, data, end = time.perf_counter(), self._rest + data, 0
        for match in _WATCHED.finditer(data):
            self._arrivals.note(match[1].decode(), now)
            end = match.end()
        self._rest = data[max(end, len(data) - 32) :]


async def _fill(server: Running, count: int) -> None:
    names = [f"held-{index:05}" for index in range(count)]

    async def create(connection: Connection, name: str) -> None:
        await _expect(connection.request("POST", CLUSTERS, _encode(cluster(name))), 201)

    await _rate(server, 32, names, create)


async def _listing(server: Running, table: Table) -> None:
    connection = await Connection(server.endpoint).open()
    taken = []
    for _ in range(3):
        started = time.perf_counter()
        await _expect(connection.request("GET", f"{CLUSTERS}?limit=10000"), 200)
        taken.append(time.perf_counter() - started)
    table.add("list of 10,000", server.name, min(taken) * 1000, "ms", more_is_better=False)
    connection.close()


async def _expect(answer: Awaitable[tuple[int, bytes]], status: int) -> tuple[int, bytes]:
    got = await answer
    if got[0] != status:
        raise RuntimeError(f"expected {status}, got {got[0]}: {got[1][:500]!r}")
    return got


def _encode(value: Any) -> bytes:
    return msgspec.json.encode(value)
